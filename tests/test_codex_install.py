"""`install`, `uninstall` and `doctor` for Codex: hooks that its user has to trust, and skills."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import wait_for
from world import SISYPHUS, Json, World

from sisyphus.clients.codex import app_server
from sisyphus.clients.finding import Finding, Level
from sisyphus.ground import processes
from sisyphus.hook.event import EVENTS

COMMANDS = {file.stem for file in (Path(__file__).parents[1] / "commands").glob("*.md")}
TRUST = "Start `codex` once and choose *Trust all*"
INSTALL = ("install", "--client", "codex", "--yes")
START = f"{shlex.quote(sys.executable)} -I -m sisyphus"
UNINSTALL = ("uninstall", "--client", "codex", "--yes")

FAKE = """#!PYTHON
import json, os, sys
if sys.argv[1:] == ["--version"]:
    sys.exit(print("codex-cli 0.169.0"))
answers = json.load(open("ANSWERS"))
assert sys.argv[1] == "app-server"
home = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "hooks/list" and "says" in answers:
        sys.exit(print(answers["says"]))
    if message["method"] == "hooks/list":
        (project,) = message["params"]["cwds"]
        hooks, warnings = [], []
        for folder in [home] + [project + "/.codex"] * answers.get("trusts_project", True):
            path = folder + "/hooks.json"
            content = json.load(open(path)) if os.path.exists(path) else {}
            if content.keys() - {"description", "hooks"}:
                warnings.append("failed to parse hooks config " + path + ": unknown field")
                continue
            for groups in content.get("hooks", {}).values():
                for hook in [hook for group in groups for hook in group["hooks"]]:
                    state = {"trustStatus": "trusted", "enabled": True, **answers["state"]}
                    hooks.append({"command": hook["command"], "sourcePath": path, **state})
        hooks += answers.get("more", [])
        data = [{"cwd": project, "hooks": hooks, "warnings": warnings, "errors": []}]
        print(json.dumps({"method": "configWarning", "params": {}}))
        print(json.dumps({"id": message["id"], "result": {"data": data}}), flush=True)
    elif "id" in message:
        print(json.dumps({"id": message["id"], "result": {}}), flush=True)
"""
"""A `codex` that answers as 0.169.0 does. What it trusts is in a file."""


@pytest.fixture
def codex(world: World) -> Path:
    """The folder of Codex of a user who has it, and the program on the PATH."""
    folder = world.home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text('model = "gpt-5.5"\n')
    answer(world)
    text = FAKE.replace("PYTHON", sys.executable).replace("ANSWERS", f"{world.root}/codex.json")
    program = world.write(world.root / "bin" / "codex", text)
    program.chmod(0o755)
    folders = [str(program.parent), str(SISYPHUS.parent), os.environ["PATH"]]
    world.setenv("PATH", os.pathsep.join(folders))
    return folder


def answer(world: World, *, state: Json | None = None, **more: object) -> None:
    """Sets what the program says. state: of each hook."""
    file = world.root / "codex.json"
    file.write_text(json.dumps({"state": state or {}, **more}))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file and folder below one, except our own state."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if ".sisyphus" not in path.parts
    }


def read(file: Path) -> Json:
    content: Json = json.loads(file.read_text())
    return content


def is_wired(world: World) -> bool:
    """Tells whether a file that can be used has our hooks."""
    found = world.cli("status", "--json").json["wiring"]["clients"]["codex"]
    return any(not each["problem"] for each in found["sources"])


def commands(file: Path) -> list[str]:
    groups = [group for each in read(file)["hooks"].values() for group in each]
    return [hook["command"] for group in groups for hook in group["hooks"]]


# ---------------------------------------------------------------- what is there


def test_hooks_are_wired_and_skills_are_there(world: World, codex: Path) -> None:
    reply = world.cli(*INSTALL)

    assert reply.code == 0, reply
    assert TRUST in reply.out
    assert '`$ralph-loop "TASK"`, or `$start-work`' in reply.out
    assert read(codex / "hooks.json").keys() == {"hooks"}
    assert set(os.listdir(codex / "skills")) == COMMANDS
    assert (codex / "config.toml").read_text() == 'model = "gpt-5.5"\n'
    assert not (world.claude / "settings.json").exists()


def test_each_hook_names_its_event_and_the_client(world: World, codex: Path) -> None:
    world.cli(*INSTALL)

    for command in commands(codex / "hooks.json"):
        start, _, rest = command.partition(" hook ")
        event, *options = rest.partition(" || ")[0].split()
        assert (start, options) == (START, ["--client", "codex"])
        assert event in EVENTS


def test_texts_for_the_model_are_not_cut(world: World, codex: Path) -> None:
    world.cli(*INSTALL)

    hooks = read(codex / "hooks.json")["hooks"]
    limits = {
        event for event, (group, *_) in hooks.items() if "additionalContextLimit" in str(group)
    }
    assert limits == {"SessionStart", "UserPromptSubmit", "PostToolUse"}
    assert [group["hooks"][0].get("async", False) for group in hooks["Stop"]] == [False, True]


def test_a_skill_says_where_its_task_is(world: World, codex: Path) -> None:
    world.cli(*INSTALL)

    folder = codex / "skills" / "ralph-loop"
    text = (folder / "SKILL.md").read_text()
    assert text.startswith(
        "---\nname: ralph-loop\ndescription: Keep working on a task until it is done\n"
        "author: sisyphus\n---\n\nWork"
    )
    assert "after `$ralph-loop`" in text
    policy = (folder / "agents" / "openai.yaml").read_text()
    assert "allow_implicit_invocation: false" in policy
    for skill in (codex / "skills").glob("*/SKILL.md"):
        assert "$ARGUMENTS" not in skill.read_text()


def test_every_client_that_is_here_is_wired(world: World, codex: Path) -> None:
    world.has_claude_code()
    (world.home / ".config" / "opencode").mkdir(parents=True)

    out = world.cli("install", "--yes").out

    assert "Every session of Claude Code, OpenCode and Codex" in out
    assert "`/start-work` to follow a PLAN.md (in Codex with `$` for `/`)" in out
    assert (codex / "hooks.json").exists()


def test_a_client_that_is_not_here_is_not_wired(world: World, codex: Path) -> None:
    """Our own folder lies in that of Claude Code, and is no trace of it."""
    world.cli("boulder", "status")
    (world.ours).mkdir(parents=True, exist_ok=True)

    assert "Every session of Codex that" in world.cli("install", "--yes").out
    assert not (world.claude / "settings.json").exists()


def test_a_project_that_somebody_else_has_wired_says_nothing_of_its_user(
    world: World, codex: Path
) -> None:
    world.cli("install", "--scope", "project", "--client", "claude-code", "--yes")

    assert "Every session of Codex that" in world.cli("install", "--yes").out
    assert not (world.claude / "settings.json").exists()
    assert "What wires it is for those who have it." in world.cli("doctor", "-v").out
    world.cli("uninstall", "--scope", "project", "--yes")
    assert not (world.project / ".claude" / "settings.json").exists()


def test_without_codex_nothing_is_written_for_it(world: World) -> None:
    out = world.cli("install", "--yes").out

    assert "Codex" not in out
    assert not (world.home / ".codex").exists()


def test_its_home_can_be_elsewhere(world: World, codex: Path) -> None:
    world.setenv("CODEX_HOME", str(world.root / "other"))

    world.cli(*INSTALL)

    assert (world.root / "other" / "hooks.json").exists()
    assert not (codex / "hooks.json").exists()
    world.cli(*UNINSTALL)
    assert not (world.root / "other").exists()


# ---------------------------------------------------------------- the same guarantees

FOREIGN = """\
{ "description": "mine",
  "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ] } }
"""


@pytest.mark.parametrize("content", [None, FOREIGN, "{}", '{"hooks": {}}', '{"description": "x"}'])
def test_uninstall_gives_everything_back(world: World, codex: Path, content: str | None) -> None:
    if content is not None:
        world.write(codex / "hooks.json", content)
    world.write(codex / "skills" / "mine" / "SKILL.md", "mine\n")
    before = tree(codex)

    world.cli(*INSTALL)
    installed = tree(codex)

    assert "Nothing to do" in world.cli(*INSTALL).out
    assert tree(codex) == installed != before
    world.cli(*UNINSTALL)
    assert tree(codex) == before
    assert "Nothing to remove" in world.cli(*UNINSTALL).out


def test_ours_come_after_the_users(world: World, codex: Path) -> None:
    """Codex trusts a hook by its place in the file."""
    world.write(codex / "hooks.json", FOREIGN)

    world.cli(*INSTALL)

    stops = read(codex / "hooks.json")["hooks"]["Stop"]
    assert [group["hooks"][0]["command"].split()[-5:-2] for group in stops] == [
        [],
        ["stop", "--client", "codex"],
        ["idle", "--client", "codex"],
    ]


def test_hooks_that_codex_will_ask_about_again_are_named(world: World, codex: Path) -> None:
    world.cli(*INSTALL)
    file = codex / "hooks.json"
    content = read(file)
    mine = {"hooks": [{"type": "command", "command": "say done"}]}
    content["hooks"]["Stop"].append(mine)
    file.write_text(json.dumps(content))

    out = world.cli(*UNINSTALL).out

    assert "Other hooks in ~/.codex/hooks.json get another place there" in out
    assert read(file) == {"hooks": {"Stop": [mine]}}
    assert "another place" not in world.cli(*INSTALL).out
    assert "another place" not in world.cli(*UNINSTALL).out


@pytest.mark.parametrize("content", ['{"hooks": [', '{"hooks": {"Stop": 1}}', "[]", b"\xff\xfe{"])
def test_a_broken_file_stays(world: World, codex: Path, content: str | bytes) -> None:
    file = world.write(codex / "hooks.json", content)
    before = tree(codex)

    reply = world.cli(*INSTALL)

    assert reply.code == 1
    assert "~/.codex/hooks.json cannot be edited" in reply.err
    assert tree(codex) == before
    assert file.read_bytes() == (content if isinstance(content, bytes) else content.encode())


def test_a_key_for_which_codex_drops_the_file_is_named(world: World, codex: Path) -> None:
    world.write(codex / "hooks.json", '{"foo": 1}')
    before = tree(codex)

    answer = world.cli(*INSTALL)

    assert answer.code == 1
    assert answer.err == (
        "error: ~/.codex/hooks.json does nothing: Codex does not know its key foo. For that Codex "
        "ignores the whole file. Nothing was changed. Correct the file and run the command again.\n"
    )
    assert "Done" not in answer.out
    assert tree(codex) == before


def test_the_other_clients_go_on_where_codex_drops_its_file(world: World, codex: Path) -> None:
    (world.home / ".claude").mkdir(exist_ok=True)
    world.has_claude_code()
    world.write(codex / "hooks.json", '{"foo": 1, "bar": 2}')

    answer = world.cli("install", "--yes")

    assert answer.code == 1
    assert "does nothing: Codex does not know its keys foo, bar." in answer.out
    assert "Codex is left out, the others go on. Correct the file" in answer.out
    assert "Done" in answer.out
    assert not (codex / "skills").exists()


def test_hooks_are_taken_out_of_a_file_that_codex_drops(world: World, codex: Path) -> None:
    world.cli(*INSTALL)
    world.write(codex / "hooks.json", json.dumps(read(codex / "hooks.json") | {"foo": 1}))

    assert world.cli(*INSTALL).code == 1
    assert world.cli(*UNINSTALL).code == 0

    assert read(codex / "hooks.json") == {"foo": 1}


def test_a_users_own_skill_stays_with_what_is_beside_it(world: World, codex: Path) -> None:
    world.write(codex / "skills" / "enforce" / "SKILL.md", "mine\n")

    out = world.cli(*INSTALL).out

    assert "~/.codex/skills/enforce/SKILL.md is your own file" in out
    assert os.listdir(codex / "skills" / "enforce") == ["SKILL.md"]
    world.cli(*UNINSTALL)
    assert tree(codex / "skills") == {"enforce": b"", "enforce/SKILL.md": b"mine\n"}


def test_a_dry_run_writes_nothing(world: World, codex: Path) -> None:
    before = tree(world.home)

    out = world.cli("install", "--client", "codex", "--dry-run").out

    assert "  ~/.codex/skills: boulder-clear, boulder-hold" in out
    assert tree(world.home) == before


def test_a_session_of_an_agent_cannot_uninstall(world: World, codex: Path) -> None:
    world.cli(*INSTALL)
    world.setenv("CODEX_SESSION_ID", "0198a2b4-1111-7222-8333-444455556666")

    assert "another terminal" in world.cli(*UNINSTALL).err
    assert (codex / "hooks.json").exists()


# ---------------------------------------------------------------- a home of its own


def test_hooks_carry_a_home_that_is_not_the_default(world: World, codex: Path) -> None:
    """Codex may run them in a server that does not have the user's environment."""
    home = world.root / "my home"
    world.setenv("CLAUDE_CONFIG_DIR", str(home))
    before = tree(codex)

    world.cli(*INSTALL)
    command = next(each for each in commands(codex / "hooks.json") if "session-start" in each)
    subprocess.run(
        ["/bin/sh", "-c", command],
        input=json.dumps({"session_id": "s1", "cwd": str(world.project), "source": "startup"}),
        env={"HOME": str(world.home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert (home / ".sisyphus" / "sisyphus.db").exists()
    assert not (world.claude / ".sisyphus").exists()
    assert bad(world) == []
    assert "Nothing to do" in world.cli(*INSTALL).out
    world.cli(*UNINSTALL)
    assert tree(codex) == before


def test_the_home_is_not_for_those_who_share_a_project(world: World, codex: Path) -> None:
    world.setenv("CLAUDE_CONFIG_DIR", str(world.root / "mine"))

    out = world.cli(*INSTALL, "--scope", "project").out

    assert "has to trust the project and its hooks" in out
    found = commands(world.project / ".codex" / "hooks.json")
    assert all("WARNINGS= sisyphus hook " in each for each in found)


# ---------------------------------------------------------------- one project


def test_a_project_alone_and_git_sees_nothing(world: World, codex: Path) -> None:
    shutil.rmtree(world.project / ".git")
    git = ["git", "-C", str(world.project)]
    subprocess.run([*git, "init", "-q"], check=True)
    before = tree(world.project)

    reply = world.cli(*INSTALL, "--scope", "local")

    assert reply.code == 0, reply
    assert (world.project / ".codex" / "hooks.json").exists()
    assert not (codex / "hooks.json").exists()
    status = subprocess.check_output([*git, "status", "--porcelain", "-uall"], text=True)
    assert status == ""
    assert "Nothing to do" in world.cli(*INSTALL, "--scope", "local").out
    world.cli(*UNINSTALL, "--scope", "local")
    assert tree(world.project) == before


def test_a_file_outside_of_the_project_is_not_the_projects(world: World, codex: Path) -> None:
    world.cli(*INSTALL, "--scope", "local")
    assert is_wired(world)
    folder = world.project / ".codex"
    folder.rename(world.root / "elsewhere")
    folder.symlink_to(world.root / "elsewhere")

    assert not is_wired(world)
    assert "it is outside" in world.cli("doctor", "-v").out


def test_it_is_taken_out_when_codex_is_gone(world: World) -> None:
    world.cli(*INSTALL, "--scope", "local")

    world.cli("uninstall", "--scope", "local", "--yes")

    assert not (world.project / ".codex").exists()


def test_both_files_are_named(world: World, codex: Path) -> None:
    world.cli(*INSTALL)

    out = world.cli(*INSTALL, "--scope", "local").out

    assert "~/.codex/hooks.json has hooks of sisyphus, too. Codex runs both" in out


# ---------------------------------------------------------------- status


def test_status_names_the_hooks(world: World, codex: Path) -> None:
    assert world.cli("status", "--json").json["wiring"]["clients"]["codex"]["sources"] == []
    world.cli(*INSTALL)

    (source,) = world.cli("status", "--json").json["wiring"]["clients"]["codex"]["sources"]
    assert (source["file"], source["is_current"]) == (str(codex / "hooks.json"), True)
    shown = world.cli("status").out
    assert "\nCodex is wired by ~/.codex/hooks.json.\nIt has not called sisyphus yet." in shown
    assert "*Trust all*" in shown
    assert "No client is wired" not in shown
    world.cli(*INSTALL, "--scope", "local")
    assert "Codex is wired by ~/.codex/hooks.json and " in world.cli("status").out


@pytest.mark.parametrize("is_another_wired", [False, True])
def test_status_names_the_key_for_which_codex_drops_the_file(
    world: World, codex: Path, *, is_another_wired: bool
) -> None:
    if is_another_wired:
        world.has_claude_code()
        world.cli("install", "--client", "claude-code", "--yes")
    world.cli(*INSTALL)
    world.write(codex / "hooks.json", json.dumps(read(codex / "hooks.json") | {"foo": 1}))

    shown = world.cli("status").out

    assert "~/.codex/hooks.json: Codex does not know its key foo." in shown
    assert "Codex is wired" not in shown


# ---------------------------------------------------------------- doctor


def findings(world: World) -> list[Finding]:
    reply = world.cli("doctor", "--json")
    assert not reply.err
    return [
        Finding(each["subject"], Level(each["level"]), each["text"], each["mend"])
        for each in reply.json["findings"]
    ]


def bad(world: World) -> list[Finding]:
    return [each for each in findings(world) if each.level is not Level.GOOD]


def test_after_trust_all_is_well(world: World, codex: Path) -> None:
    world.cli(*INSTALL)

    out = world.cli("doctor", "-v").out

    assert bad(world) == []
    assert "✓ Codex: 0.169.0, " in out
    assert "✓ Codex hooks: 9 trusted hooks, wired by ~/.codex/hooks.json.\n" in out
    assert "✓ Codex skills: all 12 are in ~/.codex/skills.\n" in out


@pytest.mark.parametrize("scope", ["local", "project"])
def test_after_install_in_a_project_all_is_well(world: World, codex: Path, scope: str) -> None:
    world.cli(*INSTALL, "--scope", scope)

    assert bad(world) == []


def test_a_client_that_is_not_wired_beside_another_is_no_warning(world: World, codex: Path) -> None:
    world.write(world.root / "bin" / "claude", "#!/bin/sh\necho 2.1.329\n").chmod(0o755)
    world.cli("install", "--client", "claude-code", "--yes")

    assert bad(world) == []
    assert "`sisyphus install --client codex`" in [
        each.mend.split(": ")[-1].removesuffix(".") for each in findings(world)
    ]


def state(**of_each: object) -> Callable[[World], object]:
    return lambda world: answer(world, state=of_each)


def edited(old: str, new: str) -> Callable[[World], object]:
    def edit(world: World) -> None:
        file = world.home / ".codex" / "hooks.json"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return edit


def written(name: str, text: str) -> Callable[[World], object]:
    return lambda world: world.write(world.home / ".codex" / name, text)


def in_the_project_too(world: World) -> None:
    world.cli(*INSTALL, "--scope", "local")


def in_the_project_alone(world: World) -> None:
    world.cli(*UNINSTALL)
    world.cli(*INSTALL, "--scope", "local")
    answer(world, trusts_project=False)


def in_its_settings_too(world: World) -> None:
    hook = {"command": "sisyphus hook stop", "sourcePath": str(world.home / ".codex/config.toml")}
    answer(world, more=[hook])


AGAIN = "`sisyphus install --client codex`, then start `codex`"

BROKEN: dict[str, tuple[Callable[[World], object], str, str, str, str]] = {
    "not trusted": (
        state(trustStatus="untrusted"), "Codex hooks", "problem",
        "not trusted: 9 of 9 in ~/.codex/hooks.json. Codex skips them.", "*Trust all*",
    ),
    "changed since": (
        state(trustStatus="modified"), "Codex hooks", "problem",
        "changed since you trusted them: 9 of 9", "*Trust all*",
    ),
    "switched off": (
        state(enabled=False), "Codex hooks", "problem", "switched off: 9 of 9", "`/hooks`",
    ),
    "hooks are off": (
        written("config.toml", "[features]\nhooks = false\n"), "Codex settings", "problem",
        "~/.codex/config.toml has `hooks = false`", "`[features]`",
    ),
    "the project is not trusted": (
        in_the_project_alone, "Codex hooks", "problem", "does not trust this project",
        "Start `codex` here",
    ),
    "nothing is listed": (
        lambda world: answer(world, says='{"id": 1, "result": {"data": [{"hooks": []}]}}'),
        "Codex hooks", "problem", "runs no hook of ~/.codex/hooks.json", "`codex features list`",
    ),
    "it does not answer": (
        lambda world: answer(world, says="Segmentation fault"), "Codex hooks", "warning",
        "unknown: `codex app-server` did not answer", "`/hooks`",
    ),
    "it answers something else": (
        lambda world: answer(world, says='{"id": 1, "result": {"data": 7}}'), "Codex hooks",
        "warning", "unknown", "`/hooks`",
    ),
    "an unknown key": (
        edited('"hooks": {', '"foo": 1, "hooks": {'), "Codex hooks", "problem",
        "a key that Codex does not know, foo: no hook of it runs", "Take foo out",
    ),
    "broken": (
        written("hooks.json", "{"), "Codex hooks", "problem", "it is not valid JSON",
        "Correct the file",
    ),
    "an event is missing": (
        edited('"Interrupt"', '"Disrupt"'), "Codex hooks", "problem",
        "not wired in ~/.codex/hooks.json: Interrupt.", AGAIN,
    ),
    "another timeout": (
        edited("900", "901"), "Codex hooks", "warning", "has other hooks than this version", AGAIN,
    ),
    "the program is gone": (
        edited(START, "/gone/sisyphus"), "Codex hooks", "problem",
        "starts /gone/sisyphus, and there is no such program", AGAIN,
    ),
    "another home": (
        edited(START, f"env CLAUDE_CONFIG_DIR=/there {START}"), "Codex hooks",
        "warning", "keep what they know in /there, and this command looks in ~/.claude.", AGAIN,
    ),
    "wired twice": (
        in_the_project_too, "Codex hooks", "warning", "wired twice, by ~/.codex/hooks.json and ",
        "`sisyphus uninstall --client codex --scope local`",
    ),
    "wired in its settings, too": (
        in_its_settings_too, "Codex hooks", "warning", "also by ~/.codex/config.toml", "Take",
    ),
    "a skill is gone": (
        lambda world: (world.home / ".codex/skills/ralph/SKILL.md").unlink(), "Codex skills",
        "warning", "missing in ~/.codex/skills: ralph/SKILL.md.", "install --client codex`",
    ),
    "skills without hooks": (
        written("hooks.json", "{}"), "Codex skills", "warning", "12 are in ~/.codex/skills, and",
        "`sisyphus install --client codex`",
    ),
    "an older Codex": (
        lambda world: world.write(world.root / "bin" / "codex", "#!/bin/sh\necho 0.100.0\n"),
        "Codex", "warning", "0.169.0 or later", "`codex update`",
    ),
    "no Codex": (
        lambda world: (world.root / "bin" / "codex").unlink(), "Codex", "warning",
        "no `codex` on the PATH", "`sisyphus uninstall --client codex`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_named_with_its_mend(world: World, codex: Path, name: str) -> None:
    world.cli(*INSTALL)
    breaks, subject, level, text, mend = BROKEN[name]
    breaks(world)
    before = tree(world.root)

    found = bad(world)

    assert tree(world.root) == before
    matching = [
        each
        for each in found
        if (each.subject, each.level) == (subject, level) and text in each.text
    ]
    assert matching, found
    assert mend in matching[0].mend
    assert all(each.mend for each in found)


def test_an_unknown_key_is_said_once(world: World, codex: Path) -> None:
    """Codex complains of it, too."""
    world.cli(*INSTALL)
    edited('"hooks": {', '"foo": 1, "hooks": {')(world)

    assert len(bad(world)) == 1


def test_what_is_shared_has_no_home_of_ours(world: World, codex: Path) -> None:
    shutil.rmtree(world.project / ".git")
    git = ["git", "-C", str(world.project)]
    subprocess.run([*git, "init", "-q"], check=True)
    world.setenv("CLAUDE_CONFIG_DIR", str(world.root / "mine"))
    world.cli(*INSTALL, "--scope", "project")
    subprocess.run([*git, "add", "."], check=True)

    assert bad(world) == []
    file = world.project / ".codex" / "hooks.json"
    file.write_text(file.read_text().replace("900", "901"))
    assert "`sisyphus install --client codex --scope project`" in bad(world)[0].mend

    world.cli(*INSTALL, "--scope", "project")  # it writes the bare name
    world.setenv("PATH", os.pathsep.join([str(world.root / "bin"), "/usr/bin", "/bin"]))
    assert "`uv tool update-shell`" in bad(world)[0].mend


@pytest.mark.parametrize("scope", ["project", "local"])
@pytest.mark.parametrize("keeps", ["user", "project"])
def test_one_of_two_files_can_be_taken_out(
    world: World, codex: Path, scope: str, keeps: str
) -> None:
    """Nobody has added the project's file to git yet."""
    shutil.rmtree(world.project / ".git")
    subprocess.run(["git", "-C", str(world.project), "init", "-q"], check=True)
    world.cli(*INSTALL)
    world.cli(*INSTALL, "--scope", scope)
    files = {
        "user": (codex / "hooks.json", "`sisyphus uninstall --client codex` (~/.codex/"),
        "project": (
            world.project / ".codex" / "hooks.json",
            f"`sisyphus uninstall --client codex --scope {scope}` ({world.project}/.codex/",
        ),
    }
    (twice,) = (each for each in bad(world) if "twice" in each.text)
    assert all(way in twice.mend for _, way in files.values())
    users_is_first = twice.mend.index("`sisyphus uninstall --client codex`") < 30
    assert users_is_first == (scope == "project"), "what is shared is others', too"
    ((gone, way),) = (files[name] for name in files if name != keeps)

    world.cli(*way.split("`")[1].split()[1:], "--yes")

    assert not gone.exists()
    assert commands(files[keeps][0])
    assert not [each for each in bad(world) if "twice" in each.text]


def test_what_git_would_add_is_installed_for_everybody(world: World, codex: Path) -> None:
    shutil.rmtree(world.project / ".git")
    subprocess.run(["git", "-C", str(world.project), "init", "-q"], check=True)
    world.cli(*INSTALL, "--scope", "project")
    file = world.project / ".codex" / "hooks.json"
    before = commands(file)
    file.write_text(file.read_text().replace("900", "901"))

    mend = bad(world)[0].mend
    assert "`sisyphus install --client codex --scope project`" in mend
    world.cli(*mend.split("`")[1].split()[1:], "--yes")

    assert sorted(commands(file)) == sorted(before), "the bare name"
    assert bad(world) == []


def test_a_server_that_hangs_is_ended_with_its_children(world: World) -> None:
    program = world.write("codex", "#!/bin/sh\nsleep 600 & echo $! > child; wait\n")
    program.chmod(0o755)
    world.setenv("HOME", str(world.project))

    assert app_server.ask(str(program), "hooks/list", {}, seconds=0.2) is None

    child = int((world.project / "child").read_text())
    wait_for(lambda: not processes.key(child))


@pytest.mark.parametrize(
    "name", ["an event is missing", "another timeout", "the program is gone", "another home"]
)
def test_the_mend_mends_it(world: World, codex: Path, name: str) -> None:
    world.cli(*INSTALL)
    BROKEN[name][0](world)
    mend = bad(world)[0].mend

    world.cli(*mend.split("`")[1].split()[1:], "--yes")

    assert bad(world) == []


def test_a_program_of_the_project_is_not_run(world: World, codex: Path) -> None:
    world.cli(*INSTALL)
    (world.root / "bin" / "codex").unlink()
    mark = world.root / "mark"
    world.write("bin/codex", f"#!/bin/sh\ntouch {mark}\n").chmod(0o755)
    world.setenv("PATH", f"{world.project / 'bin'}{os.pathsep}{os.environ['PATH']}")

    findings(world)

    assert not mark.exists()


@pytest.mark.parametrize(
    "content",
    [
        '{"hooks": {"Stop": [null, 7, {"hooks": "x"}, {"hooks": [null, {"command": []}]}]}}',
        '{"\\u001b[31m": 1, "hooks": {"Stop\\u001b": [{"hooks": [{"command": '
        '"/tmp/\\u0007/sisyphus hook \\u001b[2J"}]}]}}',
        "[" * 100_000,
        '{"hooks": {"Stop": [{"hooks": [{"command": "sisyphus \'hook"}]}]}}',
        '{"hooks": {"Stop": [{"hooks": [{"command": "env CLAUDE_CONFIG_DIR= sisyphus hook x"}]}]}}',
    ],
)
def test_hostile_hooks_of_a_project(world: World, codex: Path, content: str) -> None:
    world.write(".codex/hooks.json", content)

    reply = world.cli("doctor", "-v")

    assert reply.err == ""
    assert all(line.isprintable() for line in reply.out.splitlines())
    assert max(map(len, reply.out.splitlines())) < 1_000
    assert world.log() == ""
    assert world.cli("status").code == 0


def test_doctor_looks_at_one_client(world: World, codex: Path) -> None:
    world.cli("install", "--yes")

    out = world.cli("doctor", "--client", "codex", "-v").out

    assert "Codex skills" in out
    assert "Claude Code" not in out
