"""`install`, `uninstall` and `doctor` for Copilot CLI: a file of hooks, and skills."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from world import SISYPHUS, Json, World

from sisyphus.clients.copilot import payload
from sisyphus.clients.finding import Level
from sisyphus.hook.event import EVENTS

COMMANDS = {file.stem for file in (Path(__file__).parents[1] / "commands").glob("*.md")}
INSTALL = ("install", "--client", "copilot", "--yes")
START = f"{shlex.quote(sys.executable)} -I -m sisyphus"
UNINSTALL = ("uninstall", "--client", "copilot", "--yes")
WIRED = {
    "SessionStart", "UserPromptSubmit", "Notification", "PostToolUse", "Stop", "PreCompact",
    "SessionEnd",
}  # fmt: skip

FOREIGN = """\
{ "version": 1,
  "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ] } }
"""


@pytest.fixture
def copilot(world: World) -> Path:
    """The folder of Copilot CLI of a user who has it, and the program on the PATH."""
    folder = world.home / ".copilot"
    folder.mkdir()
    answer = "GitHub Copilot CLI 1.0.102."
    program = world.write(world.root / "bin" / "copilot", f"#!/bin/sh\necho '{answer}'\n")
    program.chmod(0o755)
    folders = [str(program.parent), str(SISYPHUS.parent), os.environ["PATH"]]
    world.setenv("PATH", os.pathsep.join(folders))
    return folder


def hooks_file(world: World) -> Path:
    return world.home / ".copilot/hooks/sisyphus.json"


def trust(world: World, folder: Path) -> None:
    """The user trusts a folder, as the client writes it down."""
    config = json.dumps({"trustedFolders": [str(folder)]})
    world.write(world.home / ".copilot/config.json", f"// Managed by the client.\n{config}\n")


def commands(file: Path) -> list[str]:
    groups = [group for each in json.loads(file.read_text())["hooks"].values() for group in each]
    return [hook["command"] for group in groups for hook in group["hooks"]]


def test_hooks_are_wired_and_skills_are_there(world: World, copilot: Path) -> None:
    reply = world.cli(*INSTALL)

    assert reply.code == 0, reply
    assert "Every session of Copilot CLI" in reply.out
    assert set(os.listdir(copilot / "skills")) == COMMANDS
    assert not (world.claude / "settings.json").exists()
    content = json.loads(hooks_file(world).read_text())
    assert content["version"] == 1
    assert content["hooks"].keys() == WIRED
    for command in commands(hooks_file(world)):
        start, _, rest = command.partition(" hook ")
        event, *options = rest.partition(" || ")[0].split()
        assert (start, options) == (START, ["--client", "copilot"])
        assert event in EVENTS


def test_a_skill_is_the_users_and_marks_what_he_types(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)

    for name in COMMANDS:
        text = (copilot / "skills" / name / "SKILL.md").read_text()
        head, _, body = text.removeprefix("---\n").partition("---\n")
        assert f"name: {name}\n" in head
        assert "description: " in head
        assert "author: sisyphus\n" in head
        assert "disable-model-invocation: true\n" in head
        assert body.count("<arguments>$ARGUMENTS</arguments>") == body.count("$ARGUMENTS") == 1
        sent = f'The user explicitly invoked the "/{name}" skill.\n\n{body}\n</skill-context>'
        command = payload.command_of(sent.replace("$ARGUMENTS", 'a  "b" $c'))
        assert command
        assert (command.name, command.arguments) == (name, 'a  "b" $c')


def test_every_client_that_is_here_is_wired(world: World, copilot: Path) -> None:
    world.has_claude_code()
    assert "Every session of Claude Code and Copilot CLI" in world.cli("install", "--yes").out


def test_without_copilot_cli_nothing_is_written_for_it(world: World) -> None:
    world.cli("install", "--yes")

    assert not (world.home / ".copilot").exists()


def test_its_folder_by_the_variable(world: World, copilot: Path) -> None:
    world.setenv("COPILOT_HOME", str(world.root / "other"))

    world.cli(*INSTALL)

    assert commands(world.root / "other/hooks/sisyphus.json")
    assert not os.listdir(copilot)


@pytest.mark.parametrize(
    "content", [None, FOREIGN, "{}", '{"hooks": {}}', '{"version": 1}', '{"version": 1, "x": 2}']
)
def test_uninstall_gives_everything_back(world: World, copilot: Path, content: str | None) -> None:
    file = hooks_file(world)
    if content is not None:
        world.write(file, content)
    world.cli(*INSTALL)
    assert "Nothing to do" in world.cli(*INSTALL).out

    world.cli(*UNINSTALL)

    assert (file.read_text() if file.exists() else None) == content
    assert file.parent.exists() == (content is not None)
    assert not (copilot / "skills").exists()


@pytest.mark.parametrize(
    ("added", "left"),
    [
        ({}, None),
        ({"mine": 1}, {"version": 1, "mine": 1}),
        ({"version": 2}, {"version": 2}),
        ({"hooks": {"Stop": []}}, {"version": 1, "hooks": {"Stop": []}}),
    ],
)
def test_what_somebody_has_written_since_stays(
    world: World, copilot: Path, added: Json, left: Json | None
) -> None:
    world.cli(*INSTALL)
    change(world, **added)

    world.cli(*UNINSTALL)

    file = hooks_file(world)
    assert (json.loads(file.read_text()) if file.exists() else None) == left


def test_somebody_elses_hooks_in_our_file_keep_the_version(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)
    foreign = json.loads(FOREIGN)
    content = json.loads(hooks_file(world).read_text())
    content["hooks"]["Stop"] += foreign["hooks"]["Stop"]
    hooks_file(world).write_text(json.dumps(content))

    world.cli(*UNINSTALL)

    assert json.loads(hooks_file(world).read_text()) == foreign


def test_a_file_beside_ours_stays(world: World, copilot: Path) -> None:
    other = world.write(copilot / "hooks/other.json", FOREIGN)
    skill = world.write(copilot / "skills/mine/SKILL.md", "---\nname: mine\n---\n")

    world.cli(*INSTALL)
    assert other.read_text() == FOREIGN
    world.cli(*UNINSTALL)

    assert other.read_text() == FOREIGN
    assert skill.exists()
    assert os.listdir(copilot / "hooks") == ["other.json"]
    assert os.listdir(copilot / "skills") == ["mine"]


def test_a_skill_of_the_user_with_our_name_stays(world: World, copilot: Path) -> None:
    skill = world.write(copilot / "skills/ralph-loop/SKILL.md", "---\nname: mine\n---\n")

    assert "ralph-loop" in world.cli(*INSTALL).out
    world.cli(*UNINSTALL)

    assert skill.read_text() == "---\nname: mine\n---\n"


def test_a_file_with_comments_stays_as_it_is(world: World, copilot: Path) -> None:
    file = world.write(hooks_file(world), '{ // mine\n "version": 1 }\n')

    reply = world.cli(*INSTALL)

    assert reply.code == 1
    assert "not valid JSON" in reply.err
    assert "// mine" in file.read_text()


@pytest.mark.parametrize("scope", ["local", "project"])
def test_a_project_alone(world: World, copilot: Path, scope: str) -> None:
    reply = world.cli(*INSTALL, "--scope", scope)

    folder = world.project / ".github"
    lines = commands(folder / "hooks/sisyphus.json")
    assert {line.startswith(f"{START} hook ") for line in lines} == {scope == "local"}
    assert set(os.listdir(folder / "skills")) == COMMANDS
    assert not os.listdir(copilot)
    assert ("for those who trust the project's folder" in reply.out) == (scope == "project")
    world.cli(*UNINSTALL, "--scope", scope)
    assert not folder.exists()


def test_a_projects_own_files_stay(world: World, copilot: Path) -> None:
    other = world.write(".github/hooks/ci.json", FOREIGN)
    world.write(".github/workflows/ci.yml")

    world.cli(*INSTALL, "--scope", "project")
    world.cli(*UNINSTALL, "--scope", "project")

    assert other.read_text() == FOREIGN
    assert sorted(os.listdir(world.project / ".github")) == ["hooks", "workflows"]
    assert os.listdir(world.project / ".github/hooks") == ["ci.json"]


def test_a_file_outside_of_the_project_is_not_the_projects(world: World, copilot: Path) -> None:
    world.cli(*INSTALL, "--scope", "local")
    assert is_wired(world)
    folder = world.project / ".github"
    folder.rename(world.root / "elsewhere")
    folder.symlink_to(world.root / "elsewhere")

    assert not is_wired(world)


def is_wired(world: World) -> bool:
    """Tells whether a file that can be used has our hooks."""
    found = world.cli("status", "--json").json["wiring"]["clients"]["copilot"]
    return any(not each["problem"] for each in found["sources"])


def test_both_of_them_run(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)

    reply = world.cli(*INSTALL, "--scope", "project")

    assert "~/.copilot/hooks/sisyphus.json has hooks of sisyphus, too." in reply.out
    assert "runs both at each event" in reply.out


def test_status_says_what_wires_it(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)

    out = world.cli("status").out
    assert "Copilot CLI is wired by ~/.copilot/hooks/sisyphus.json." in out


# ---------------------------------------------------------------- doctor


def change(world: World, **keys: object) -> None:
    content: Json = json.loads(hooks_file(world).read_text())
    hooks_file(world).write_text(json.dumps({**content, **keys}))


def without(event: str) -> Callable[[World], object]:
    def do(world: World) -> None:
        hooks = json.loads(hooks_file(world).read_text())["hooks"]
        del hooks[event]
        change(world, hooks=hooks)

    return do


def without_the_start_after_a_compaction(world: World) -> None:
    hooks = json.loads(hooks_file(world).read_text())["hooks"]
    hooks["PreCompact"].pop()
    change(world, hooks=hooks)


def replaced(old: str, new: str) -> Callable[[World], object]:
    def do(world: World) -> None:
        text = hooks_file(world).read_text()
        assert old in text
        hooks_file(world).write_text(text.replace(old, new))

    return do


def twice(world: World) -> None:
    trust(world, world.project)
    text = hooks_file(world).read_text()
    world.write(".github/hooks/sisyphus.json", text.replace(START, "sisyphus"))


def without_program(world: World) -> None:
    (world.root / "bin" / "copilot").unlink()


def old(world: World) -> None:
    (world.root / "bin" / "copilot").write_text("#!/bin/sh\necho 'GitHub Copilot CLI 1.0.9.'\n")


def without_a_skill(world: World) -> None:
    (world.home / ".copilot/skills/ralph-loop/SKILL.md").unlink()


def with_another_skill(world: World) -> None:
    file = world.home / ".copilot/skills/ralph-loop/SKILL.md"
    file.write_text(file.read_text() + "More.\n")


def without_hooks(world: World) -> None:
    hooks_file(world).unlink()


def with_a_wrong_entry(world: World) -> None:
    hooks = json.loads(hooks_file(world).read_text())["hooks"]
    change(world, hooks={**hooks, "Foo": {}})


def broken(world: World) -> None:
    hooks_file(world).write_text("{ // x")


NAME = "~/.copilot/hooks/sisyphus.json"
BREAKS: dict[str, tuple[Callable[[World], object], Level]] = {
    f"not wired in {NAME}: Stop": (without("Stop"), Level.PROBLEM),
    f"not wired in {NAME}: PreCompact": (without_the_start_after_a_compaction, Level.PROBLEM),
    "there is no such program": (replaced(START, "/gone/sisyphus"), Level.PROBLEM),
    "has other hooks than this version installs: Stop": (replaced("900", "901"), Level.WARNING),
    f"wired twice, by {NAME} and": (twice, Level.WARNING),
    "there is no `copilot` on the PATH": (without_program, Level.WARNING),
    "needs 1.0.102 or later": (old, Level.WARNING),
    "missing in ~/.copilot/skills: ralph-loop": (without_a_skill, Level.WARNING),
    "ralph-loop": (with_another_skill, Level.WARNING),
    "there are no hooks to answer them": (without_hooks, Level.WARNING),
    '"hooks" has an entry "Foo" that is not a list': (with_a_wrong_entry, Level.PROBLEM),
    f"{NAME} cannot be used": (broken, Level.PROBLEM),
    f"{NAME} has disableAllHooks: no hook in it runs": (
        lambda world: change(world, disableAllHooks=True),
        Level.PROBLEM,
    ),
}


def findings(world: World) -> dict[str, list[Json]]:
    """What doctor says of Copilot CLI, by level."""
    found: dict[str, list[Json]] = {}
    for row in json.loads(world.cli("doctor", "--json").out)["findings"]:
        if row["subject"].startswith("Copilot CLI"):
            found.setdefault(row["level"], []).append(row)
    return found


@pytest.mark.parametrize("text", BREAKS)
def test_doctor_finds(world: World, copilot: Path, text: str) -> None:
    do, level = BREAKS[text]
    world.cli("install", "--yes")
    assert findings(world).keys() == {"good"}

    do(world)

    assert any(text in each["text"] for each in findings(world)[level])


@pytest.mark.parametrize("scope", ["local", "project"])
def test_doctor_says_that_a_project_is_not_trusted(world: World, copilot: Path, scope: str) -> None:
    world.cli(*INSTALL, "--scope", scope)

    (problem,) = findings(world)[Level.PROBLEM]

    assert "you have not trusted" in problem["text"]
    assert ".github/hooks/sisyphus.json runs." in problem["text"]
    assert "Start `copilot` there" in problem["mend"]
    trust(world, world.root)
    assert Level.PROBLEM not in findings(world)


CLAUDES, OWN = ".claude/settings.json", ".github/copilot/settings.json"
CLAUDES_LOCAL, OWN_LOCAL = ".claude/settings.local.json", ".github/copilot/settings.local.json"


@pytest.mark.parametrize(
    ("settings", "is_trusted", "off"),
    [
        ({CLAUDES: True}, True, CLAUDES),
        ({CLAUDES_LOCAL: True}, True, CLAUDES_LOCAL),
        ({OWN: True}, True, OWN),
        ({OWN_LOCAL: True}, True, OWN_LOCAL),
        ({OWN: True}, False, ""),
        ({OWN: "true"}, True, ""),
        ({OWN: True, OWN_LOCAL: False}, True, ""),
        ({CLAUDES: True, CLAUDES_LOCAL: False}, True, ""),
        ({CLAUDES_LOCAL: True, OWN: False}, True, ""),
        ({CLAUDES_LOCAL: False, OWN: True}, True, OWN),
    ],
)
def test_a_projects_settings_switch_off_all_hooks(
    world: World, copilot: Path, settings: Json, is_trusted: bool, off: str
) -> None:
    world.cli(*INSTALL)
    trust(world, world.project if is_trusted else world.home)
    for name, value in settings.items():
        world.write(name, json.dumps({"disableAllHooks": value}))

    found = [each["text"] for each in findings(world).get(Level.PROBLEM, [])]

    assert len(found) == bool(off)
    assert all(f"{off} has disableAllHooks: no hook runs." in each for each in found)


def test_the_users_settings_switch_off_none(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)
    (copilot / "settings.json").write_text('{"disableAllHooks": true}')

    assert findings(world).keys() == {"good"}


def test_the_users_own_hooks_need_no_trust(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)

    assert findings(world).keys() == {"good"}


def test_hooks_of_another_version_are_replaced(world: World, copilot: Path) -> None:
    world.cli(*INSTALL)
    replaced("900", "901")(world)

    assert "Nothing to do" not in world.cli(*INSTALL).out

    assert findings(world).keys() == {"good"}
