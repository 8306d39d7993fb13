"""`install`, `uninstall` and `doctor` for Qwen Code: hooks in its settings, and slash commands."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from world import SISYPHUS, Json, World

from sisyphus.clients.finding import Level
from sisyphus.clients.qwen import native
from sisyphus.hook.event import EVENTS

COMMANDS = {file.name for file in (Path(__file__).parents[1] / "commands").glob("*.md")}
INSTALL = ("install", "--client", "qwen", "--yes")
START = f"{shlex.quote(sys.executable)} -I -m sisyphus"
UNINSTALL = ("uninstall", "--client", "qwen", "--yes")

FOREIGN = """\
{ "ui": { "theme": "x" },
  "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ] } }
"""


@pytest.fixture
def qwen(world: World) -> Path:
    """The folder of Qwen Code of a user who has it, and the program on the PATH."""
    folder = world.home / ".qwen"
    folder.mkdir()
    program = world.write(world.root / "bin" / "qwen", "#!/bin/sh\necho 0.24.4\n")
    program.chmod(0o755)
    folders = [str(program.parent), str(SISYPHUS.parent), os.environ["PATH"]]
    world.setenv("PATH", os.pathsep.join(folders))
    return folder


def is_wired(world: World) -> bool:
    """Tells whether a file that can be used has our hooks."""
    found = world.cli("status", "--json").json["wiring"]["clients"]["qwen"]
    return any(not each["problem"] for each in found["sources"])


def commands(file: Path) -> list[str]:
    groups = [group for each in json.loads(file.read_text())["hooks"].values() for group in each]
    return [hook["command"] for group in groups for hook in group["hooks"]]


def test_hooks_are_wired_and_commands_are_there(world: World, qwen: Path) -> None:
    reply = world.cli(*INSTALL)

    assert reply.code == 0, reply
    assert "Every session of Qwen Code" in reply.out
    assert set(os.listdir(qwen / "commands")) == COMMANDS
    assert not (world.claude / "settings.json").exists()
    for command in commands(qwen / "settings.json"):
        start, _, rest = command.partition(" hook ")
        event, *options = rest.partition(" || ")[0].split()
        assert (start, options) == (START, ["--client", "qwen"])
        assert event in EVENTS


def test_the_clients_own_sign_stands_for_the_arguments(world: World, qwen: Path) -> None:
    world.cli(*INSTALL)

    assert "\n{{args}}\n" in (qwen / "commands/ralph-loop.md").read_text()
    for file in (qwen / "commands").iterdir():
        assert "$ARGUMENTS" not in file.read_text()


def test_every_client_that_is_here_is_wired(world: World, qwen: Path) -> None:
    world.has_claude_code()
    assert "Every session of Claude Code and Qwen Code" in world.cli("install", "--yes").out


def test_without_qwen_code_nothing_is_written_for_it(world: World) -> None:
    world.cli("install", "--yes")

    assert not (world.home / ".qwen").exists()


@pytest.mark.parametrize("content", [None, FOREIGN, "{}", '{"hooks": {}}'])
def test_uninstall_gives_everything_back(world: World, qwen: Path, content: str | None) -> None:
    file = qwen / "settings.json"
    if content is not None:
        file.write_text(content)
    world.cli(*INSTALL)
    assert "Nothing to do" in world.cli(*INSTALL).out

    world.cli(*UNINSTALL)

    assert (file.read_text() if file.exists() else None) == content
    assert not (qwen / "commands").exists()


@pytest.mark.parametrize("chosen", [None, 20, 100])
def test_loops_get_room_unless_the_user_has_chosen(
    world: World, qwen: Path, chosen: int | None
) -> None:
    """Somebody else has written the file since, so it is not given back as it was."""
    file = qwen / "settings.json"
    before = {} if chosen is None else {"stopHookBlockingCap": chosen}
    file.write_text(json.dumps(before))
    out = world.cli(*INSTALL).out
    world.cli(*INSTALL)
    change(world, theme="dark")

    assert json.loads(file.read_text())["stopHookBlockingCap"] == (chosen or 100)
    assert ("stopHookBlockingCap: 100" in out) == (chosen is None)
    world.cli(*UNINSTALL)
    assert json.loads(file.read_text()) == {**before, "theme": "dark"}


def test_what_the_user_has_changed_in_it_stays(world: World, qwen: Path) -> None:
    world.cli(*INSTALL)
    change(world, stopHookBlockingCap=50)
    world.cli(*INSTALL)
    world.cli(*UNINSTALL)

    assert json.loads((qwen / "settings.json").read_text()) == {"stopHookBlockingCap": 50}


def test_a_project_has_what_the_user_has_chosen(world: World, qwen: Path) -> None:
    """All others who share it need it there."""
    (qwen / "settings.json").write_text('{"stopHookBlockingCap": 20}')
    file = world.project / ".qwen/settings.json"

    world.cli(*INSTALL, "--scope", "local")
    assert "stopHookBlockingCap" not in file.read_text()
    world.cli(*UNINSTALL, "--scope", "local")
    world.cli(*INSTALL, "--scope", "project")
    assert json.loads(file.read_text())["stopHookBlockingCap"] == 100


def test_settings_with_comments_stay_as_they_are(world: World, qwen: Path) -> None:
    (qwen / "settings.json").write_text('{ // mine\n "ui": {} }\n')

    reply = world.cli(*INSTALL)

    assert reply.code == 1
    assert "not valid JSON" in reply.err
    assert "// mine" in (qwen / "settings.json").read_text()


def test_a_project_alone(world: World, qwen: Path) -> None:
    world.cli(*INSTALL, "--scope", "local")

    assert commands(world.project / ".qwen/settings.json")
    assert not (qwen / "settings.json").exists()
    world.cli(*UNINSTALL, "--scope", "local")
    assert not (world.project / ".qwen").exists()


def test_settings_outside_of_the_project_are_not_the_projects(world: World, qwen: Path) -> None:
    world.cli(*INSTALL, "--scope", "local")
    assert is_wired(world)
    folder = world.project / ".qwen"
    folder.rename(world.root / "elsewhere")
    folder.symlink_to(world.root / "elsewhere")

    assert not is_wired(world)
    assert not native.settings(str(world.project))


def test_status_says_what_wires_it(world: World, qwen: Path) -> None:
    world.cli(*INSTALL)

    assert "Qwen Code is wired by ~/.qwen/settings.json." in world.cli("status").out


# ---------------------------------------------------------------- doctor


def change(world: World, **keys: object) -> None:
    file = world.home / ".qwen/settings.json"
    content: Json = json.loads(file.read_text())
    file.write_text(json.dumps({**content, **keys}))


def without_stop(world: World) -> None:
    hooks = json.loads((world.home / ".qwen/settings.json").read_text())["hooks"]
    del hooks["Stop"]
    change(world, hooks=hooks)


def moved(world: World) -> None:
    file = world.home / ".qwen/settings.json"
    file.write_text(file.read_text().replace(START, "/gone/sisyphus"))


def slower(world: World) -> None:
    file = world.home / ".qwen/settings.json"
    file.write_text(file.read_text().replace("900", "901"))


def twice(world: World) -> None:
    text = (world.home / ".qwen/settings.json").read_text()
    world.write(".qwen/settings.json", text.replace(START, "sisyphus"))


def without_program(world: World) -> None:
    (world.root / "bin" / "qwen").unlink()


def old(world: World) -> None:
    (world.root / "bin" / "qwen").write_text("#!/bin/sh\necho 0.20.0\n")


def without_a_command(world: World) -> None:
    (world.home / ".qwen/commands/ralph-loop.md").unlink()


def without_hooks(world: World) -> None:
    (world.home / ".qwen/settings.json").unlink()


def with_a_wrong_entry(world: World) -> None:
    hooks = json.loads((world.home / ".qwen/settings.json").read_text())["hooks"]
    change(world, hooks={**hooks, "Foo": {}})


BREAKS: dict[str, tuple[Callable[[World], object], Level]] = {
    "not wired in ~/.qwen/settings.json: Stop": (without_stop, Level.PROBLEM),
    "there is no such program": (moved, Level.PROBLEM),
    "has other hooks than this version installs: Stop": (slower, Level.WARNING),
    "wired twice, by": (twice, Level.WARNING),
    "there is no `qwen` on the PATH": (without_program, Level.WARNING),
    "needs 0.24.4 or later": (old, Level.WARNING),
    "missing in ~/.qwen/commands: ralph-loop.md": (without_a_command, Level.WARNING),
    "there are no hooks to answer them": (without_hooks, Level.WARNING),
    "has disableAllHooks": (lambda world: change(world, disableAllHooks="true"), Level.PROBLEM),
    '"hooks" has an entry "Foo" that is not a list': (with_a_wrong_entry, Level.PROBLEM),
    "cannot read ~/.qwen/settings.json": (
        lambda world: world.write(world.home / ".qwen/settings.json", "{ // x"),
        Level.PROBLEM,
    ),
}


def findings(world: World) -> dict[str, list[str]]:
    """What doctor says of Qwen Code, by level."""
    rows = json.loads(world.cli("doctor", "--json").out)["findings"]
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["subject"].startswith("Qwen Code"):
            found.setdefault(row["level"], []).append(row["text"])
    return found


@pytest.mark.parametrize("text", BREAKS)
def test_doctor_finds(world: World, qwen: Path, text: str) -> None:
    do, level = BREAKS[text]
    world.cli("install", "--yes")
    assert findings(world).keys() == {"good"}

    do(world)

    assert any(text in each for each in findings(world)[level])


def test_the_project_may_switch_hooks_on_again(world: World, qwen: Path) -> None:
    world.cli("install", "--yes")
    change(world, disableAllHooks=True)
    world.write(".qwen/settings.json", '{"disableAllHooks": false}')

    assert findings(world).keys() == {"good"}


def test_doctor_says_how_long_a_loop_can_be(world: World, qwen: Path) -> None:
    world.cli(*INSTALL)
    assert not any("iterations" in each for each in findings(world)["good"])

    change(world, stopHookBlockingCap=8)

    assert any("after 7 iterations" in each for each in findings(world)["good"])
