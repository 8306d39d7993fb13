from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import put

from doctor.scene import told
from sisyphus.doctor import neighbours

if TYPE_CHECKING:
    from doctor.scene import Scene


@pytest.mark.parametrize("name", ["ralph-loop", "ralph-wiggum", "oh-my-claudecode"])
def test_a_plugin_that_loops_as_well_is_named(scene: Scene, name: str) -> None:
    scene.settings({"enabledPlugins": {f"{name}@some": True, "tidy@some": True}})

    (found,) = neighbours.loops(scene.case())

    assert found.state == "warning"
    assert found.text.startswith(f"the plugin {name}@some is on: ")
    assert f"`claude plugin disable {name}@some`" in found.hint


QUIET = [
    pytest.param({}, id="nothing"),
    pytest.param({"enabledPlugins": {"ralph-loop@some": False}}, id="switched off"),
    pytest.param({"enabledPlugins": {"my-ralph-loop@some": True}}, id="another name"),
    pytest.param({"enabledPlugins": ["ralph-loop@some"]}, id="no object"),
]


@pytest.mark.parametrize("values", QUIET)
def test_others_are_none(scene: Scene, values: dict[str, object]) -> None:
    scene.settings(values)

    assert told(neighbours.loops(scene.case())) == []


def test_the_project_may_switch_it_off(scene: Scene) -> None:
    scene.settings({"enabledPlugins": {"ralph-loop@some": True}})
    values = {"enabledPlugins": {"ralph-loop@some": False}}
    scene.settings(values, scene.project / ".claude/settings.json")

    assert told(neighbours.loops(scene.case())) == []


def test_a_hook_that_was_copied_is_found(scene: Scene) -> None:
    entry = {"type": "command", "command": "bash ~/src/ralph-wiggum/hooks/stop-hook.sh"}
    scene.settings({"hooks": {"Stop": [{"hooks": [entry]}]}})

    ((_, text),) = told(neighbours.loops(scene.case()))

    assert text.startswith("a hook in ~/.claude/settings.json is on: two loops")


@pytest.mark.parametrize("entry", ["oh-my-opencode", "oh-my-opencode@3.1.0"])
def test_a_plugin_of_opencode_is_found(scene: Scene, entry: str) -> None:
    text = f'{{\n  // mine\n  "plugin": ["{entry}"],\n}}\n'
    put(scene.home / ".config/opencode/opencode.jsonc", text)

    ((_, told_of),) = told(neighbours.loops(scene.case()))

    assert told_of.startswith("oh-my-opencode in ~/.config/opencode/opencode.jsonc is on: ")


def _typed_goal(scene: Scene) -> None:
    line = {"type": "user", "message": {"content": "<command-name>/goal</command-name>"}}
    put(scene.claude / "projects/p/s1.jsonl", json.dumps(line) + "\n")


def test_a_goal_beside_a_loop_is_named(scene: Scene) -> None:
    _typed_goal(scene)
    put(scene.ours / "ralph/loops/ralph-loop.s1.local.md", "---\n")

    ((_, text),) = told(neighbours.loops(scene.case()))

    assert text == "session s1 has the client's own /goal beside a loop of ours"


def test_a_goal_alone_is_the_clients(scene: Scene) -> None:
    _typed_goal(scene)

    assert told(neighbours.loops(scene.case())) == []


WRITABLE = [
    pytest.param(["~/.claude/.sisyphus"], True, id="ours"),
    pytest.param(["~/.claude/"], True, id="the folder above"),
    pytest.param(["~/.claude/**"], True, id="all below it"),
    pytest.param(["~/.claude/.sis"], False, id="half a name"),
    pytest.param(["~/work"], False, id="another one"),
    pytest.param([3], False, id="no path"),
    pytest.param("~/.claude", False, id="no list"),
]


@pytest.mark.parametrize(("paths", "is_well"), WRITABLE)
def test_the_sandbox_must_let_us_write(scene: Scene, paths: object, is_well: bool) -> None:
    scene.settings({"sandbox": {"enabled": True, "filesystem": {"allowWrite": paths}}})

    (found,) = neighbours.sandbox(scene.case())

    assert found.state == ("ok" if is_well else "warning")


def test_it_is_said_how_the_sandbox_lets_us_write(scene: Scene) -> None:
    scene.settings({"sandbox": {"enabled": True}})

    (found,) = neighbours.sandbox(scene.case())

    assert '{"allowWrite": ["~/.claude/.sisyphus"]}' in found.hint


OUTSIDE = [
    pytest.param(["git", "sisyphus:*"], True, id="with any words"),
    pytest.param(["sisyphus *"], True, id="with any words, otherwise"),
    pytest.param(["sisyphus-other"], False, id="another one"),
    pytest.param([3], False, id="no text"),
    pytest.param("sisyphus", False, id="no list"),
]


@pytest.mark.parametrize(("commands", "is_well"), OUTSIDE)
def test_what_runs_outside_the_sandbox_may_write(
    scene: Scene, commands: object, is_well: bool
) -> None:
    scene.settings({"sandbox": {"enabled": True, "excludedCommands": commands}})

    assert (told(neighbours.sandbox(scene.case())) == []) is is_well


@pytest.mark.parametrize("value", [{"enabled": False}, {"enabled": "yes"}, {}, "on", None])
def test_without_a_sandbox_nothing_is_told(scene: Scene, value: object) -> None:
    scene.settings({"sandbox": value})

    assert told(neighbours.sandbox(scene.case())) == []
