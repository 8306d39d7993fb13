"""`install` and `uninstall`: what they write into a client's settings, and leave alone there."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from world import Terminal, World, begin_git

from sisyphus.clients import entry
from sisyphus.ground import files

Json = dict[str, Any]

CHECKOUT = Path(__file__).parents[1]

START = f"{shlex.quote(sys.executable)} -I -m sisyphus"
"""How `install` starts this sisyphus: its Python, without what the environment adds."""

FOREIGN: Json = {
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done", "timeout": 5}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}],
    },
    "unknown": {"key": [1, 2.5, None]},
    "permissions": {"allow": []},
}


def settings_file(world: World) -> Path:
    return world.claude / "settings.json"


def local_file(world: World) -> Path:
    return world.project / ".claude" / "settings.local.json"


def read(file: Path) -> Json:
    settings: Json = json.loads(file.read_text())
    return settings


def our_commands(settings: Json) -> list[str]:
    return [
        hook["command"]
        for groups in settings.get("hooks", {}).values()
        for group in groups
        for hook in group["hooks"]
        if " hook " in hook["command"]
    ]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file and folder below one, except our own state."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if ".sisyphus" not in path.parts
    }


def git_init(world: World) -> None:
    shutil.rmtree(world.project / ".git")
    subprocess.run(["git", "init", "-q", world.project], check=True)


def git_status(world: World) -> str:
    words = ["git", "-C", str(world.project), "status", "--porcelain", "-uall"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


# ---------------------------------------------------------------- hooks


def test_every_hook_of_the_plugin_is_wired_and_runs(world: World) -> None:
    answer = world.cli("install", "--yes")

    assert answer.code == 0, answer
    settings = read(settings_file(world))
    wanted = json.loads((Path(world.cli("plugin-path").out.strip()) / "hooks.json").read_text())
    assert settings["hooks"].keys() == wanted["hooks"].keys()
    assert settings["hooks"]["Stop"][0]["hooks"][0]["timeout"] == 900
    for command in our_commands(settings):
        assert entry.call(command)[0] == START


def test_foreign_entries_stay_as_they_are(world: World) -> None:
    world.write(settings_file(world), json.dumps(FOREIGN, indent=4))

    world.cli("install", "--yes")

    text = settings_file(world).read_text()
    settings = json.loads(text)
    assert list(settings)[:4] == list(FOREIGN)
    assert settings["hooks"]["Stop"][0] == FOREIGN["hooks"]["Stop"][0]
    assert settings["hooks"]["PreToolUse"] == FOREIGN["hooks"]["PreToolUse"]
    assert settings["unknown"] == FOREIGN["unknown"]
    assert text == json.dumps(settings, indent=4)


def test_a_second_install_changes_nothing(world: World) -> None:
    world.cli("install", "--yes")
    before = tree(world.home)

    answer = world.cli("install")

    assert "Nothing to do" in answer.out
    assert answer.code == 0
    assert tree(world.home) == before


def test_entries_of_an_earlier_install_are_replaced(world: World) -> None:
    old: Json = {
        "hooks": {
            "Notification": [{"hooks": [{"type": "command", "command": "sisyphus hook gone"}]}],
            "Stop": [
                {
                    "hooks": [
                        {"type": "command", "command": "say done"},
                        {"type": "command", "command": "'/old place/sisyphus' hook stop"},
                        {"type": "command", "command": "python3 -m sisyphus hook stop"},
                        {"type": "command", "command": "python3 -P -m sisyphus hook stop"},
                    ]
                }
            ],
        },
        "statusLine": {"type": "command", "command": "/old/sisyphus statusline", "padding": 0},
    }
    world.write(settings_file(world), json.dumps(old))

    world.cli("install", "--yes")

    settings = read(settings_file(world))
    assert "Notification" not in settings["hooks"]
    assert settings["hooks"]["Stop"][0] == {"hooks": [{"type": "command", "command": "say done"}]}
    assert [c for c in our_commands(settings) if " stop " in c] == [f"{START} hook stop || :"]
    assert settings["statusLine"]["command"] == f"{START} statusline"
    assert settings["statusLine"]["padding"] == 0
    assert "Nothing to do" in world.cli("install").out


@pytest.mark.parametrize("command", ["my-sisyphus hook stop", "echo sisyphus hook stop", "a 'b"])
def test_a_hook_that_only_looks_like_ours_stays(world: World, command: str) -> None:
    foreign = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}}
    before = json.dumps(foreign, indent=2)
    world.write(settings_file(world), before)

    world.cli("install", "--yes")
    world.cli("uninstall", "--yes")

    assert settings_file(world).read_text() == before


def test_odd_entries_stay(world: World) -> None:
    odd: Json = {"hooks": {"Stop": [None, 7, {"hooks": "x"}, {"hooks": [None, {"command": []}]}]}}
    before = json.dumps(odd | {"key": "\x7f", "statusLine": None}, ensure_ascii=False)
    world.write(settings_file(world), before)

    world.cli("install", "--yes")
    world.cli("uninstall", "--yes")

    assert settings_file(world).read_text() == before


def run_script(world: World, script: Path, *words: str) -> None:
    env = {"HOME": str(world.home), "PATH": "/usr/bin:/bin"}
    subprocess.run([script, *words], env=env, check=True, capture_output=True, cwd=world.project)


def test_a_path_with_spaces_works_from_any_shell(world: World) -> None:
    environment = world.root / "my tools"
    environment.symlink_to(sys.prefix)
    python = environment / "bin" / "python"
    run_script(world, python, "-m", "sisyphus", "install", "--yes")
    hook = read(settings_file(world))["hooks"]["SessionStart"][0]["hooks"][0]
    world.write("README.md", "MARK\n")

    done = subprocess.run(
        ["/bin/sh", "-c", hook["command"]],
        input=json.dumps(world.payload("SessionStart.startup")),
        env={"HOME": str(world.home), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert hook["command"].startswith(f"{shlex.quote(str(python))} -I -m sisyphus hook ")
    assert "MARK" in done.stdout


# ---------------------------------------------------------------- asking


def test_without_a_terminal_it_needs_yes(world: World) -> None:
    for command in ("install", "uninstall"):
        answer = world.cli(command)

        assert answer.code == 1
        assert "--yes" in answer.err
        assert not settings_file(world).exists() or command == "uninstall"
        world.cli("install", "--yes")


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("\n", 0), ("n\n", 1)])
def test_on_a_terminal_it_asks(
    world: World, monkeypatch: pytest.MonkeyPatch, typed: str, code: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))

    answer = world.cli("install")

    assert answer.code == code
    assert settings_file(world).exists() is (code == 0)
    assert world.ours.exists() is (code == 0)


def test_a_file_that_changes_while_it_asks_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(Terminal):
        def isatty(self) -> bool:
            world.write(settings_file(world), '{"model": "opus"}')
            return True

    monkeypatch.setattr(sys, "stdin", Slow("y\n"))

    answer = world.cli("install")

    assert "settings.json has changed in the meantime" in answer.err
    assert read(settings_file(world)) == {"model": "opus"}


@pytest.mark.parametrize("is_installed", [False, True])
def test_a_dry_run_writes_no_byte(world: World, is_installed: bool) -> None:
    world.rule("py.md", "MARK", applies_to="*.py")
    world.rule("bad.md", "MARK", applies_to=7, priority="x")
    if is_installed:
        world.cli("install", "--yes")
        world.rule("js.md", "MARK", applies_to="*.js")
    before = {path: path.stat().st_mtime_ns for path in world.root.rglob("*")}

    for command in ("install", "uninstall"):
        answer = world.cli(command, "--dry-run")
        assert answer.code == 0, answer

    assert {path: path.stat().st_mtime_ns for path in world.root.rglob("*")} == before


def test_a_dry_run_names_every_change(world: World) -> None:
    world.rule("py.md", "MARK", applies_to="*.py")

    output = world.cli("install", "--dry-run").out

    for words in (
        "~/.claude/settings.json", "hooks: SessionStart,", f"statusLine: {START} statusline",
        f"claudeMdExcludes: {world.project}/.claude/rules/py.md", "~/.claude/commands: ",
        "ralph-loop.md", "dry run",
    ):  # fmt: skip
        assert words in output, output


def test_a_model_may_install_and_not_uninstall(world: World) -> None:
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")

    assert world.cli("install", "--yes").code == 0
    answer = world.cli("uninstall", "--yes")

    assert answer.code == 1
    assert "another terminal" in answer.err
    assert our_commands(read(settings_file(world)))


# ---------------------------------------------------------------- uninstall


@pytest.mark.parametrize(
    "style",
    [
        {"indent": 2}, {"indent": 4}, {"indent": "\t"}, {}, {"separators": (",", ":")},
        {"indent": 2, "ensure_ascii": False},
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_uninstall_gives_the_same_bytes_back(
    world: World, style: Json, end: str, line_end: str, mark: str
) -> None:
    text = json.dumps({**FOREIGN, "greeting": "héllo"}, **style) + end
    before = (mark + text.replace("\n", line_end)).encode()
    world.write(settings_file(world), before)

    world.cli("install", "--yes")
    assert our_commands(json.loads(settings_file(world).read_text("utf-8-sig")))
    world.cli("uninstall", "--yes")

    assert settings_file(world).read_bytes() == before


ODD = b'{ "model":"opus",\n\n  "env": {"A":"1"} }'


def test_uninstall_gives_any_layout_back_where_nobody_wrote_since(world: World) -> None:
    world.write(settings_file(world), ODD)

    for _ in range(2):
        world.cli("install", "--yes")
    world.rule("py.md", "MARK", applies_to="*.py")  # a second install changes the settings
    world.cli("install", "--yes")
    assert read(settings_file(world))["claudeMdExcludes"]
    world.cli("uninstall", "--yes")

    assert settings_file(world).read_bytes() == ODD


@pytest.mark.parametrize("installs", [1, 2])
def test_uninstall_keeps_what_somebody_wrote_since(world: World, installs: int) -> None:
    world.write(settings_file(world), ODD)
    world.cli("install", "--yes")
    settings = read(settings_file(world)) | {"theme": "dark"}
    for number in range(installs):
        if number:
            settings["hooks"].pop("Stop")
        world.write(settings_file(world), json.dumps(settings))
        if number:
            world.cli("install", "--yes")

    world.cli("uninstall", "--yes")

    assert read(settings_file(world)) == {"model": "opus", "env": {"A": "1"}, "theme": "dark"}


def test_uninstall_leaves_nothing_but_the_state(world: World) -> None:
    before = tree(world.root)

    world.cli("install", "--yes")
    answer = world.cli("uninstall", "--yes")

    assert [path for path in tree(world.root) if path not in before] == ["home/.claude"]
    assert "stay in ~/.claude/.sisyphus, where `sisyphus purge` removes" in answer.out
    assert ".boulder.json" not in answer.out
    assert "Nothing to remove" in world.cli("uninstall").out


def test_uninstall_names_the_file_for_other_programs_that_it_leaves(world: World) -> None:
    world.cli("install", "--yes")
    world.write("PLAN.md", "# Shop\n\n- [ ] total\n")
    world.start()

    answer = world.cli("uninstall", "--yes")

    assert world.boulder_file()
    assert "handoffs and the like in your projects and ~/.claude/.boulder.json." in answer.out


def test_uninstall_leaves_foreign_hooks_in_a_group_of_ours(world: World) -> None:
    world.cli("install", "--yes")
    settings = read(settings_file(world))
    theirs = {"type": "command", "command": "say done"}
    settings["hooks"]["Stop"][0]["hooks"].append(theirs)
    settings["statusLine"]["command"] = "mine"
    world.write(settings_file(world), json.dumps(settings))

    world.cli("uninstall", "--yes")

    assert read(settings_file(world)) == {
        "hooks": {"Stop": [{"hooks": [theirs]}]}, "statusLine": settings["statusLine"]
    }  # fmt: skip


def test_uninstall_works_without_a_record_of_the_install(world: World) -> None:
    world.cli("install", "--yes")
    lose_database(world)

    world.cli("uninstall", "--yes")

    assert read(settings_file(world)) == {}
    assert not list(world.claude.glob("commands/*"))


def test_uninstall_names_the_other_places(world: World) -> None:
    world.cli("install", "--yes")
    world.cli("install", "--yes", "--scope", "local")

    answer = world.cli("uninstall", "--yes")

    assert f"--scope local --project {world.project}" in answer.out
    assert "--scope user" not in world.cli("uninstall").out


def test_uninstall_works_on_a_full_disk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record cannot be removed then, and is no reason to stay."""
    before = tree(world.project)
    world.cli("install", "--yes", "--scope", "local")
    disk = list(os.statvfs("/"))
    disk[4] = 0  # free blocks
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(disk))

    answer = world.cli("uninstall", "--yes", "--scope", "local")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.count("The record of this install could not be removed") == 1
    assert tree(world.project) == before


@pytest.mark.parametrize("scope", ["user", "project"])
def test_folders_that_were_there_before_stay(world: World, scope: str) -> None:
    for folder in (
        world.home / ".config" / "opencode",
        world.claude / "commands",
        world.project / ".claude",
        world.project / ".opencode" / "plugins",
    ):
        folder.mkdir(parents=True)
    before = tree(world.root)

    world.cli("install", "--yes", "--scope", scope)
    assert tree(world.root) != before
    world.cli("install", "--yes", "--scope", scope)
    world.cli("uninstall", "--yes", "--scope", scope)

    assert tree(world.root) == before


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_client_that_fails_leaves_the_others_record(
    world: World, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Claude Code's files are written, and OpenCode's cannot be."""
    config = world.home / ".config" / "opencode"
    config.mkdir(parents=True)
    world.has_claude_code()
    before = tree(world.root)
    replace = files.replace

    def full(path: str, *more: Any) -> None:
        if ".config" in path:
            raise OSError(28, "No space left on device")
        replace(path, *more)

    with monkeypatch.context() as patch:
        patch.setattr(files, "replace", full)
        answer = world.cli("install", "--yes")
    assert "cannot be changed: No space left on device" in answer.err
    assert our_commands(read(settings_file(world)))

    if command == "install":
        world.cli("install", "--yes")
    world.cli("uninstall", "--yes")

    assert {path for path in tree(world.root) if path not in before} <= {
        "home/.claude", *[f"home/.config/opencode/{each}" for each in ("command", "plugins")]
    }  # fmt: skip


@pytest.mark.parametrize("client", ["claude-code", "opencode", "codex"])
def test_what_is_for_everybody_is_said_once_and_of_the_client(world: World, client: str) -> None:
    world.cli("install", "--client", client, "--scope", "project", "--yes", "--dry-run")

    out = world.cli("install", "--client", client, "--scope", "project", "--yes").out

    assert out.startswith(f"sisyphus install adds, for everybody who has {world.project}:\n")
    assert out.count("needs the command `sisyphus` on the PATH") == 1
    assert ("Claude Code" in out) is (client == "claude-code")
    assert ("trust the project" in out) is (client == "codex")


def test_what_all_clients_need_is_said_once(world: World) -> None:
    world.has_claude_code()
    (world.home / ".config" / "opencode").mkdir(parents=True)

    out = world.cli("install", "--scope", "project", "--yes").out

    assert out.count("needs the command `sisyphus` on the PATH") == 1
    assert "Claude Code says so" in out
    assert "loads rules" not in out  # there are none


def test_other_places_are_named_as_a_shell_reads_them(world: World) -> None:
    """Each has the scope and the client with which `uninstall` finds it."""
    (world.home / ".config" / "opencode").mkdir(parents=True)
    world.project = world.new_project("a shop")
    git_init(world)
    for client, scope in (("claude-code", "local"), ("opencode", "project")):
        words = ("--client", client, "--scope", scope, "--project", world.project)
        assert world.cli("install", "--yes", *words).code == 0
    subprocess.run(["git", "-C", world.project, "add", ".opencode"], check=True)

    out = world.cli("uninstall", "--client", "codex", "--yes").out

    for command in [line.split("`")[1] for line in out.splitlines() if "also installed" in line]:
        answer = world.cli(*shlex.split(command)[1:], "--yes")
        assert "Nothing to remove" not in answer.out, command
    assert not (world.project / ".claude").exists()
    assert not (world.project / ".opencode").exists()


@pytest.mark.parametrize("scope", ["local", "project"])
@pytest.mark.parametrize(
    ("client", "own"),
    [
        ("qwen", ""),
        ("qwen", ".qwen/settings.json"),
        ("copilot", ""),
        ("copilot", ".github/hooks/sisyphus.json"),
        ("codex", ""),
        ("codex", ".codex/hooks.json"),
        ("opencode", ""),
    ],
)
def test_the_scope_is_known_if_the_user_had_a_file_there(
    world: World, client: str, own: str, scope: str
) -> None:
    """own: a file that git does not know. Git shows it afterwards, too."""
    git_init(world)
    if own:
        world.write(own, "{}")
    before = tree(world.project)
    world.cli("install", "--client", client, "--scope", scope, "--yes")
    if scope == "local":
        assert git_status(world) == (f"?? {own}\n" if own else "")

    next(world.project.rglob("*ralph-loop*")).rename(world.root / "gone")
    mends = [each["mend"] for each in world.cli("doctor", "--json").json["findings"]]
    named = {mend.split("--scope ")[1].split("`")[0] for mend in mends if "--scope" in mend}
    assert named == {scope}
    world.cli("install", "--client", client, "--scope", scope, "--yes")
    out = world.cli("uninstall", "--yes").out
    (command,) = [line.split("`")[1] for line in out.splitlines() if "also installed" in line]
    assert command == f"sisyphus uninstall --scope {scope} --project {world.project}"
    world.cli(*shlex.split(command)[1:], "--yes")

    assert tree(world.project) == before


def test_what_git_tracks_is_for_everybody(world: World) -> None:
    """A pull has put the team's files in the place of the user's."""
    git_init(world)
    world.cli("install", "--client", "codex", "--scope", "local", "--yes")
    subprocess.run(["git", "-C", world.project, "add", "--force", ".codex"], check=True)

    out = world.cli("uninstall", "--yes").out

    assert f"`sisyphus uninstall --scope project --project {world.project}`" in out


def test_a_project_that_is_gone_is_not_named(world: World) -> None:
    other = world.new_project("other")
    world.cli("install", "--scope", "local", "--project", other, "--yes")
    assert "also installed" in world.cli("uninstall", "--yes").out

    shutil.rmtree(other)

    assert "also installed" not in world.cli("uninstall", "--yes").out


def test_a_client_whose_folder_is_gone_is_forgotten(world: World) -> None:
    (world.home / ".qwen").mkdir()
    world.cli("install", "--client", "qwen", "--yes")
    shutil.rmtree(world.home / ".qwen")
    assert "also installed" in world.cli("uninstall", "--client", "codex").out
    world.cli("uninstall", "--dry-run")
    assert "also installed" in world.cli("uninstall", "--client", "codex").out

    assert "Nothing to remove" in world.cli("uninstall").out

    assert "also installed" not in world.cli("uninstall", "--client", "codex").out
    assert not (world.home / ".qwen").exists()


# ---------------------------------------------------------------- a file that cannot be edited


COMMENTED = "{ // mine\n}\n"


def qwen_settings(world: World, text: str) -> Path:
    return world.write(world.home / ".qwen" / "settings.json", text)


def test_a_broken_file_of_one_client_leaves_the_others_to_install(world: World) -> None:
    world.has_claude_code()
    broken = qwen_settings(world, COMMENTED)

    answer = world.cli("install", "--yes")

    assert (answer.code, answer.err) == (1, "")
    assert "~/.qwen/settings.json cannot be edited: it is not valid JSON" in answer.out
    assert "Qwen Code is left out, the others go on." in answer.out
    assert "Nothing was changed" not in answer.out
    assert "Every session of Claude Code that" in answer.out
    assert our_commands(read(settings_file(world)))
    assert tree(broken.parent) == {"settings.json": COMMENTED.encode()}
    again = world.cli("install")
    assert ("Nothing to do" in again.out, again.code) == (True, 1)
    broken.write_text("{}")
    assert world.cli("install", "--yes").code == 0


def test_a_read_only_file_of_one_client_leaves_the_others_to_install(world: World) -> None:
    world.has_claude_code()
    qwen_settings(world, "{}").chmod(0o444)

    answer = world.cli("install", "--yes")

    assert answer.code == 1
    assert "~/.qwen/settings.json cannot be written: it is read-only. Qwen Code" in answer.out
    assert our_commands(read(settings_file(world)))


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_a_broken_file_is_an_error_if_its_client_is_named(world: World, command: str) -> None:
    world.has_claude_code()
    qwen_settings(world, COMMENTED)

    answer = world.cli(command, "--client", "qwen", "--yes")

    assert answer.code == 1
    assert "cannot be edited: it is not valid JSON" in answer.err
    assert "Nothing was changed. Correct the file" in answer.err


def test_without_any_client_it_says_what_it_is_for(world: World) -> None:
    out = world.cli("install", "--yes").out

    assert "no client here that sisyphus knows" in out
    assert "Done. Every session of Claude Code will use sisyphus. " in out
    assert "no client here" not in world.cli("install", "--yes", "--client", "codex").out


def test_uninstall_names_what_others_have_installed_in_the_project(world: World) -> None:
    world.has_claude_code()
    world.cli("install", "--yes", "--scope", "project")
    for each in world.ours.glob("sisyphus.db*"):  # as for somebody else, who has the project, too
        each.unlink()

    out = world.cli("uninstall", "--yes").out

    assert f"also installed for {world.project}: `sisyphus uninstall --scope project --p" in out


def test_it_is_an_error_if_no_client_can_be_wired(world: World) -> None:
    qwen_settings(world, COMMENTED)
    world.write(settings_file(world), "{")

    answer = world.cli("install", "--yes")

    assert answer.code == 1
    assert "~/.claude/settings.json cannot be edited" in answer.err


def test_uninstall_is_silent_about_a_broken_file_that_never_was_ours(world: World) -> None:
    world.has_claude_code()
    world.cli("install", "--yes")
    qwen_settings(world, COMMENTED)

    answer = world.cli("uninstall", "--yes")

    assert (answer.code, answer.err) == (0, "")
    assert "qwen" not in answer.out.lower()
    assert not settings_file(world).exists()
    assert "Nothing to remove" in world.cli("uninstall", "--yes").out


@pytest.mark.parametrize("has_record", [True, False])
def test_uninstall_names_a_broken_file_of_ours(world: World, has_record: bool) -> None:
    """It takes the others out first. A second one has nothing else to do."""
    world.write(settings_file(world), "{}")
    file = qwen_settings(world, "{}")
    world.cli("install", "--yes")
    file.write_text(COMMENTED + file.read_text())
    if not has_record:
        lose_database(world)

    answer = world.cli("uninstall", "--yes")

    assert answer.code == 0
    assert "~/.qwen/settings.json cannot be edited" in answer.out
    assert "Qwen Code is left out, the others go on." in answer.out
    assert "also installed" not in answer.out
    assert read(settings_file(world)) == {}
    assert "~/.qwen/settings.json cannot be edited" in world.cli("uninstall", "--yes").err


# ---------------------------------------------------------------- a lost database


def lose_database(world: World) -> None:
    for file in world.ours.glob("sisyphus.db*"):
        file.unlink()


def test_slash_commands_work_without_a_record_of_the_install(world: World) -> None:
    world.cli("install", "--yes")
    lose_database(world)

    assert "started" in world.prompt(text='/ralph-loop "Fix it." --completion-promise DONE').message
    assert "cancelled" in world.prompt(text="/cancel-ralph").reason


def test_a_users_own_command_of_that_name_starts_no_loop(world: World) -> None:
    world.write(world.claude / "commands" / "ralph-loop.md", "mine\n")
    world.cli("install", "--yes")

    world.prompt(text='/ralph-loop "Fix it." --completion-promise DONE')

    assert world.loops() == []


@pytest.mark.parametrize("again", [False, True])
def test_excludes_are_known_as_ours_without_a_record(world: World, again: bool) -> None:
    world.rule("py.md", "MARK", applies_to="*.py")
    other = world.new_project("other (2)")
    world.rule(f"{other}/.claude/rules/js.md", "MARK", globs="*.js")
    theirs = ["**/old.md", f"{world.project}/.claude/rules/native.md"]
    world.rule("native.md", "native", paths="*.py")
    world.write(settings_file(world), json.dumps({"claudeMdExcludes": theirs}))
    world.cli("install", "--yes")
    world.cli("install", "--yes", "--project", other)
    assert len(read(settings_file(world))["claudeMdExcludes"]) == 4
    lose_database(world)
    if again:
        assert "Nothing to do" in world.cli("install").out
        (world.project / ".claude" / "rules" / "py.md").unlink()

    world.cli("uninstall", "--yes")

    assert read(settings_file(world)) == {"claudeMdExcludes": theirs}


def test_an_exclude_that_was_there_before_is_not_ours(world: World) -> None:
    rule = world.rule("py.md", "MARK", applies_to="*.py")
    before = json.dumps({"claudeMdExcludes": [str(rule)]})
    world.write(settings_file(world), before)

    world.cli("install", "--yes")
    world.cli("uninstall", "--yes")

    assert settings_file(world).read_text() == before


# ---------------------------------------------------------------- the file itself


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1} // mine', "not valid JSON (line 1 has a comment, and JSON has none)"),
        ('{\n  // mine\n  "a": 1}', "line 2 has a comment"),
        ('{"a": [1,\n /* mine */ 2]}', "line 2 has a comment"),
        ('{"a": 1\n # mine\n}', "line 2 has a comment"),
        ('{"a": [\n1,\n\n]}', "line 2 ends with a comma too many"),
        ('{"a": "},",\n}\n', "line 1 ends with a comma too many"),
        ('{"a": 1\n "b": 2}', "line 2, column 2: Expecting ',' delimiter"),
        ("[]", "not a JSON object"),
        ('{"a": 1,\n"hooks": []}', 'line 2: "hooks" is not an object'),
        ('{\n"hooks": {\n"Stop": {}}}', 'line 3: "hooks" has an entry "Stop" that is not a list'),
        ('{"hooks": {"Stop": [],\n "_c": "text"}}', 'line 2: "hooks" has an entry "_c" that is'),
        ('{\n"claudeMdExcludes": "x"}', 'line 2: "claudeMdExcludes" is not a list'),
        ('{"a": 1, "a": 2}', "twice"),
        ("\udcff", "not UTF-8"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a": 1e400}', "its number 1e400 would lose digits"),
        ('{"a": -1e400}', "would lose digits"),
        ('{"a": 1e-400}', "would lose digits"),
        ('{"a": [0.1234567890123456789]}', "would lose digits"),
        ('{"a": 1e99999999999999999999}', "would lose digits"),
        (f'{{"a": 1{"0" * 5_000}}}', "not valid JSON"),
    ],
)
def test_settings_that_cannot_be_edited_are_refused(world: World, text: str, why: str) -> None:
    world.write(settings_file(world), text.encode("utf-8", "surrogateescape"))
    before = tree(world.root)

    answer = world.cli("install", "--yes")

    assert answer.code == 1
    assert "~/.claude/settings.json cannot be edited" in answer.err
    assert why in answer.err
    assert "Nothing was changed" in answer.err
    assert tree(world.root) == before


GUARD = {"type": "command", "command": "guard"}

IGNORED: list[tuple[Json, str]] = [
    # settings, and what Claude Code 2.1.329 drops them for
    ({"permissions": {"allow": "Bash"}}, '"permissions.allow" is a text, not a list'),
    ({"permissions": {"deny": {}}}, '"permissions.deny" is an object, not a list'),
    ({"permissions": None}, '"permissions" is null, not an object'),
    ({"env": []}, '"env" is a list, not an object'),
    ({"model": 1}, '"model" is a number, not a text'),
    ({"cleanupPeriodDays": "30"}, '"cleanupPeriodDays" is a text, not a number'),
    ({"cleanupPeriodDays": True}, '"cleanupPeriodDays" is true or false, not a number'),
    ({"disableAllHooks": "no"}, '"disableAllHooks" is a text, not true or false'),
    ({"statusLine": "date"}, '"statusLine" is a text, not an object'),
    ({"claudeMdExcludes": ["a", 1]}, '"claudeMdExcludes.1" is a number, not a text'),
    ({"hooks": {"PreToolUse": [GUARD]}}, '"hooks.PreToolUse.0" has no list "hooks"'),
    ({"hooks": {"PermissionRequest": ["x"]}}, '"hooks.PermissionRequest.0" is a text'),
    ({"hooks": {"PreToolUse": [{"matcher": {}, "hooks": []}]}}, 'a "matcher" that is not a text'),
    (
        {"hooks": {"PreToolUse": [{"hooks": []}, {"hooks": [GUARD, {"command": "x"}]}]}},
        '"hooks.PreToolUse.1.hooks.1" has no "type"',
    ),
    ({"hooks": {"PreToolUse": [{"hooks": [{"type": "command"}]}]}}, 'has no text "command"'),
    ({"hooks": {"PreToolUse": [{"hooks": [GUARD | {"timeout": "9"}]}]}}, 'a "timeout" that is not'),
]


@pytest.mark.parametrize(("settings", "why"), IGNORED)
def test_settings_that_the_client_ignores_get_no_hooks(
    world: World, settings: Json, why: str
) -> None:
    world.write(settings_file(world), json.dumps(settings))
    before = tree(world.root)

    answer = world.cli("install", "--yes")

    assert answer.code == 1
    assert "~/.claude/settings.json does nothing: line 1: " in answer.err
    assert why in answer.err
    assert "For that Claude Code ignores the whole file. Nothing was changed. Correct" in answer.err
    assert tree(world.root) == before


def test_the_line_of_what_the_client_ignores_a_file_for_is_named(world: World) -> None:
    settings = {
        "model": "permissions",
        "x": [{"allow": {}}, []],
        "permissions": {"deny": [], "allow": 1},
    }
    text = json.dumps(settings, indent=2)
    world.write(settings_file(world), text)
    line = 1 + [each.strip() for each in text.splitlines()].index('"allow": 1')

    assert f'line {line}: "permissions.allow" is a number' in world.cli("install", "--yes").err


def test_doctor_names_the_line_of_an_entry_that_is_no_list(world: World) -> None:
    world.write(settings_file(world), '{\n"hooks": {\n"PreToolUse": {"Bash": ["./a.sh"]}}}')

    shown = world.cli("doctor").out

    assert 'cannot be used: line 3: "hooks" has an entry "PreToolUse" that is not a list' in shown


@pytest.mark.parametrize(
    "settings",
    [
        {"permissions": {"allow": [1, "Bash("], "defaultMode": "later"}},
        {"env": {"A": 1}, "attribution": False, "zzz": 1},
        {"hooks": {"PostToolUse": [GUARD, "x", {"matcher": {}, "hooks": [7]}]}},
        {"hooks": {"Stop": [GUARD | {"timeout": "9"}], "Zzz": []}},
    ],
)
def test_what_the_client_passes_over_alone_is_no_obstacle(world: World, settings: Json) -> None:
    world.write(settings_file(world), json.dumps(settings))

    assert world.cli("install", "--yes").code == 0

    assert " hook session-start" in settings_file(world).read_text()
    world.cli("uninstall", "--yes")
    assert read(settings_file(world)) == settings


def test_uninstall_takes_hooks_out_of_a_file_that_the_client_ignores(world: World) -> None:
    world.cli("install", "--yes")
    broken = read(settings_file(world)) | {"model": 1}
    world.write(settings_file(world), json.dumps(broken))

    assert "does nothing: line 1" in world.cli("install", "--yes").err
    (source,) = world.cli("status", "--json").json["wiring"]["clients"]["claude-code"]["sources"]
    assert source["problem"] == 'line 1: "model" is a number, not a text'
    assert world.cli("uninstall", "--yes").code == 0

    assert read(settings_file(world)) == {"model": 1}


@pytest.mark.parametrize("number", ["0.1", "-0.0", "1.50", "1e5", "2.5E-7", "9007199254740993"])
def test_numbers_stay(world: World, number: str) -> None:
    world.write(settings_file(world), f'{{"a": {number}}}')

    assert world.cli("install", "--yes").code == 0

    assert str(read(settings_file(world))["a"]) == str(json.loads(number))


def test_it_says_that_the_file_gets_another_layout(world: World) -> None:
    world.write(settings_file(world), '{ "model":"opus" }')

    assert "regular layout" in world.cli("install", "--dry-run").out


def test_a_dry_run_shows_how_lines_change(world: World) -> None:
    world.write(settings_file(world), json.dumps(FOREIGN, indent=2))

    out = world.cli("install", "--dry-run").out

    assert "--- ~/.claude/settings.json" in out
    assert '+    "SessionStart": [' in out
    world.cli("install", "--yes")
    assert '-    "SessionStart": [' in world.cli("uninstall", "--dry-run").out


def test_a_link_stays_a_link_and_modes_stay(world: World) -> None:
    target = world.write(world.root / "dotfiles" / "claude.json", "{}\n")
    target.chmod(0o640)
    world.claude.mkdir()
    settings_file(world).symlink_to(target)

    world.cli("install", "--yes")

    assert settings_file(world).readlink() == target
    assert our_commands(read(target))
    assert target.stat().st_mode & 0o777 == 0o640
    assert os.listdir(target.parent) == ["claude.json"]


@pytest.mark.parametrize("place", ["settings.json", ""])
def test_read_only_files_and_folders_stay(world: World, place: str) -> None:
    file = world.write(settings_file(world), "{}")
    mode = (world.claude / place).stat().st_mode
    (world.claude / place).chmod(mode & 0o555)

    answer = world.cli("install", "--yes")
    (world.claude / place).chmod(mode)

    assert answer.code == 1
    assert f"{place} cannot be written: it is read-only" in answer.err
    assert "Make it writable, or add the hooks where you manage it." in answer.err
    assert file.read_text() == "{}"
    assert os.listdir(world.claude) == ["settings.json"]


# ---------------------------------------------------------------- slash commands, status line


def test_a_users_own_command_stays(world: World) -> None:
    own = world.write(world.claude / "commands" / "checkpoint.md", "mine\n")

    answer = world.cli("install", "--yes")
    copied = world.claude / "commands" / "ralph-loop.md"

    assert "checkpoint.md is your own file" in answer.out
    assert copied.exists()
    copied.write_text("edited\n")
    assert "ralph-loop.md has been edited" in world.cli("uninstall", "--yes").out
    assert own.read_text() == "mine\n"
    assert sorted(os.listdir(own.parent)) == ["checkpoint.md", "ralph-loop.md"]


@pytest.mark.parametrize("has_own", [False, True])
def test_a_status_line_is_set_if_there_is_none(world: World, has_own: bool) -> None:
    own = {"type": "command", "command": "my-line"}
    world.write(settings_file(world), json.dumps({"statusLine": own} if has_own else {}))
    ours = {"type": "command", "command": f"{START} statusline", "refreshInterval": 30}

    answer = world.cli("install", "--yes")
    assert read(settings_file(world))["statusLine"] == (own if has_own else ours)
    assert ("You have a status line, my-line" in answer.out) is has_own

    world.cli("uninstall", "--yes")
    assert read(settings_file(world)) == ({"statusLine": own} if has_own else {})


@pytest.mark.parametrize(("before", "after"), [(5, 30), (1, 1), (60, 60)])
def test_the_interval_of_an_earlier_version_is_replaced(
    world: World, before: int, after: int
) -> None:
    """A status line every five seconds was what we cost most. What a user has chosen stays."""
    line = {"type": "command", "command": "sisyphus statusline", "refreshInterval": before}
    world.write(settings_file(world), json.dumps({"statusLine": line}))

    world.cli("install", "--yes")

    assert read(settings_file(world))["statusLine"]["refreshInterval"] == after


# ---------------------------------------------------------------- one project


def test_a_project_alone_and_git_sees_nothing(world: World) -> None:
    git_init(world)
    before = tree(world.project)

    answer = world.cli("install", "--scope", "local", "--yes")

    assert answer.code == 0, answer
    assert our_commands(read(local_file(world)))
    assert (world.project / ".claude" / "commands" / "ralph-loop.md").exists()
    assert not settings_file(world).exists()
    assert git_status(world) == ""
    assert "Nothing to do" in world.cli("install", "--scope", "local").out
    world.cli("uninstall", "--scope", "local", "--yes")
    assert tree(world.project) == before


def test_a_project_for_everybody(world: World) -> None:
    git_init(world)
    before = tree(world.project)
    world.rule("py.md", "MARK", applies_to="*.py")

    answer = world.cli("install", "--scope", "project", "--yes")

    settings = read(world.project / ".claude" / "settings.json")
    assert our_commands(settings) == our_commands(json.loads((CHECKOUT / "hooks.json").read_text()))
    assert "claudeMdExcludes" not in settings
    assert "?? .claude/commands/ralph-loop.md" in git_status(world)
    assert "needs the command `sisyphus`" in answer.out
    assert "prevents that on one machine" in answer.out
    world.cli("uninstall", "--scope", "project", "--yes")
    (world.project / ".claude" / "rules" / "py.md").unlink()
    (world.project / ".claude" / "rules").rmdir()
    (world.project / ".claude").rmdir()
    assert tree(world.project) == before


@pytest.mark.parametrize("client", ["claude-code", "qwen", "codex", "opencode", "copilot"])
def test_a_project_for_one_becomes_one_for_everybody(world: World, client: str) -> None:
    """Claude Code's local settings stay beside those of the project: they are the user's alone."""
    git_init(world)
    exclude = world.write(".git/info/exclude", "*.log\n")
    world.cli("install", "--client", client, "--scope", "local", "--yes")
    assert git_status(world) == ""

    world.cli("install", "--client", client, "--scope", "project", "--yes")

    own = {".claude/settings.local.json"} if client == "claude-code" else set()
    shown = {line.removeprefix("?? ") for line in git_status(world).splitlines()}
    written = {
        str(path.relative_to(world.project))
        for path in world.project.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    assert shown == written - own
    hidden = "# sisyphus install\n/.claude/settings.local.json\n# end of sisyphus install\n"
    assert exclude.read_text() == "*.log\n" + (hidden if own else "")
    world.cli("uninstall", "--client", client, "--scope", "project", "--yes")
    assert git_status(world) == ""
    world.cli("uninstall", "--client", client, "--scope", "local", "--yes")
    assert exclude.read_text() == "*.log\n"


def test_what_a_team_has_stays_when_one_user_leaves(world: World) -> None:
    git_init(world)
    world.cli("install", "--scope", "project", "--yes")
    git = ["git", "-C", str(world.project)]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run(
        [*git, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "a"], check=True
    )

    world.cli("install", "--scope", "local", "--yes")
    assert git_status(world) == ""
    answer = world.cli("uninstall", "--scope", "local", "--yes")

    assert git_status(world) == ""
    assert f"sisyphus uninstall --scope project --project {world.project}" in answer.out


def test_without_git_its_files_are_hidden_too(world: World) -> None:
    git_init(world)
    path = os.environ["PATH"]
    world.setenv("PATH", "")
    world.cli("install", "--scope", "local", "--yes")
    world.setenv("PATH", path)

    assert git_status(world) == ""
    assert "Nothing to do" in world.cli("install", "--scope", "local").out


@pytest.mark.parametrize(
    ("scope", "where"), [("user", ""), ("local", " in ~/shop"), ("project", " in ~/shop")]
)
def test_it_says_which_sessions_use_it(world: World, scope: str, where: str) -> None:
    world.has_claude_code()
    shop = str(world.home / "shop")
    begin_git(world.home / "shop")

    out = world.cli("install", "--yes", "--scope", scope, "--project", shop).out

    assert f"Every session of Claude Code{where} that starts from now on uses sisyphus." in out


def test_a_projects_own_files_are_not_hidden(world: World) -> None:
    git_init(world)
    mine = world.write(".git/info/exclude", "*.log")
    world.write(".claude/commands/checkpoint.md", "mine\n")

    world.cli("install", "--scope", "local", "--yes")

    assert git_status(world) == "?? .claude/commands/checkpoint.md\n"
    with mine.open("a") as file:
        file.write("*.tmp\n")
    assert "Nothing to do" in world.cli("install", "--scope", "local").out
    world.cli("uninstall", "--scope", "local", "--yes")
    assert mine.read_text() == "*.log\n*.tmp\n"


def test_a_project_leaves_the_users_status_line(world: World) -> None:
    world.write(settings_file(world), '{"statusLine": {"type": "command", "command": "mine"}}')

    answer = world.cli("install", "--scope", "local", "--yes")

    assert "statusLine" not in read(local_file(world))
    assert "You have a status line, mine" in answer.out


def test_a_second_scope_is_named(world: World) -> None:
    assert "too" not in world.cli("install", "--yes").out

    answer = world.cli("install", "--scope", "local", "--dry-run")

    assert "~/.claude/settings.json has hooks of sisyphus, too" in answer.out
    assert "status line" not in answer.out


@pytest.mark.parametrize("place", ["", "/"])
def test_the_home_folder_is_no_project(world: World, place: str) -> None:
    folder = place or world.home

    answer = world.cli("install", "--scope", "local", "--yes", "--project", folder)

    assert answer.code == 1
    assert f"{folder} cannot be a project" in answer.err
    assert tree(world.home) == {}


def test_a_link_out_of_the_project_is_not_followed(world: World) -> None:
    target = world.write(world.root / "other.json", "{}")
    local_file(world).parent.mkdir()
    local_file(world).symlink_to(target)

    answer = world.cli("install", "--scope", "local", "--yes")

    assert answer.code == 1
    assert "leads out of the project" in answer.err
    assert target.read_text() == "{}"


# ---------------------------------------------------------------- rules and the plugin


@pytest.mark.parametrize(("scope", "file"), [("user", settings_file), ("local", local_file)])
def test_the_client_does_not_load_rules_that_we_send(world: World, scope: str, file: Any) -> None:
    world.rule("py.md", "MARK", applies_to="*.py")
    world.rule("native.md", "native", paths="*.py")
    world.rule("always.md", "always")
    theirs = world.write(file(world), '{"claudeMdExcludes": ["**/old.md"]}')

    world.cli("install", "--yes", "--scope", scope)

    glob = f"{world.project}/.claude/rules/py.md"
    assert read(theirs)["claudeMdExcludes"] == ["**/old.md", glob]
    assert "also loads" not in world.cli("rules", "lint").out
    assert "MARK" in world.read("a.py").text
    assert "Nothing to do" in world.cli("install", "--scope", scope).out
    world.cli("uninstall", "--yes", "--scope", scope)
    assert read(theirs) == {"claudeMdExcludes": ["**/old.md"]}


def test_a_rule_in_the_home_folder_is_excluded_too(world: World) -> None:
    rule = world.rule(f"{world.claude}/rules/py.md", "MARK", applies_to="*.py")

    answer = world.cli("install", "--yes")

    assert "once in each project that has such rules" in answer.out
    assert read(settings_file(world))["claudeMdExcludes"] == [str(rule)]
    assert "MARK" in world.read("a.py").text


def test_a_rule_that_comes_later_is_excluded_by_a_second_install(world: World) -> None:
    world.cli("install", "--yes")
    world.rule("py.md", "MARK", globs="*.py")

    world.cli("install", "--yes")
    assert len(read(settings_file(world))["claudeMdExcludes"]) == 1

    world.cli("uninstall", "--yes")
    assert not settings_file(world).exists()


@pytest.mark.parametrize(("version", "is_old"), [("2.0.9", True), ("2.1.329", False)])
def test_a_client_that_is_too_old_is_named(world: World, version: str, is_old: bool) -> None:
    program = world.write(world.root / "bin" / "claude", f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)
    world.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    out = world.cli("install", "--yes").out

    assert ("sisyphus needs 2.1.329 or later" in out) == is_old


def test_uninstall_names_what_stays_in_the_shell(world: World) -> None:
    world.write(world.home / ".bashrc", "source ~/.bash_completions/sisyphus.sh\n")
    world.cli("install", "--yes")

    out = world.cli("uninstall", "--yes").out

    assert "~/.bashrc completes sisyphus at the Tab key. Take that out of it by hand." in out


def test_uninstall_says_to_delete_a_file_that_is_ours_alone(world: World) -> None:
    mark = "_SISYPHUS_COMPLETE=complete_bash\n"
    world.write(world.home / ".bash_completions" / "sisyphus.sh", mark)
    world.cli("install", "--yes")

    out = world.cli("uninstall", "--yes").out

    assert "sisyphus.sh completes sisyphus at the Tab key. Delete that file." in out


def test_root_in_the_home_of_somebody_else_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.has_claude_code()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    if os.getuid() == 0:
        assert "You are root" not in world.cli("install", "--dry-run").out
        os.chown(world.claude, 1, -1)
    owner = pwd.getpwuid(world.claude.stat().st_uid).pw_name

    out = world.cli("install", "--yes").out

    assert f"You are root, and ~/.claude is of {owner}, who may" in out
    assert our_commands(read(settings_file(world)))


def test_a_plugin_that_is_enabled_too_is_named(world: World) -> None:
    world.write(settings_file(world), '{"enabledPlugins": {"sisyphus@shop": true}}')

    answer = world.cli("install", "--yes")

    assert "sisyphus@shop is enabled, too" in answer.out
    assert "the plugin's say nothing" in answer.out


def test_the_plugins_folder_is_complete(world: World) -> None:
    folder = Path(world.cli("plugin-path").out.strip())

    assert (folder / ".claude-plugin" / "plugin.json").is_file()
    assert (folder / "commands" / "ralph-loop.md").is_file()
    assert (folder / "skills" / "sisyphus" / "SKILL.md").is_file()
