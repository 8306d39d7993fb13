from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import put

from doctor.scene import told
from sisyphus import __version__
from sisyphus.doctor import skew
from sisyphus.doctor.trial import Tried
from sisyphus.install import marks

if TYPE_CHECKING:
    from doctor.scene import Scene

ON = {"enabledPlugins": {"sisyphus@market": True}}


def test_the_plugin_is_of_this_version(scene: Scene) -> None:
    scene.settings(ON)
    scene.plugin("sisyphus", version=__version__)

    assert [one.state for one in skew.plugins(scene.case())] == ["ok"]


def test_a_plugin_of_another_version_is_told(scene: Scene) -> None:
    scene.settings(ON)
    scene.plugin("sisyphus", version="0.0.1")

    ((state, text),) = told(skew.plugins(scene.case()))

    assert (state, text.endswith(f"is of 0.0.1; this is {__version__}")) == ("warning", True)


def test_a_plugin_that_is_gone_is_a_problem(scene: Scene) -> None:
    scene.settings(ON)

    assert told(skew.plugins(scene.case())) == [
        (
            "problem",
            "sisyphus@market is switched on, but it is not installed: its hooks do not run",
        )
    ]


def test_a_marketplace_folder_that_was_moved_is_a_problem(scene: Scene) -> None:
    scene.settings(ON)
    source = {"source": "directory", "path": "/no/such"}
    known = {"market": {"source": source, "installLocation": "/no/such"}}
    put(scene.claude / "plugins/known_marketplaces.json", json.dumps(known))
    scene.plugin("sisyphus", version=__version__)

    ((state, text),) = told(skew.plugins(scene.case()))

    assert (state, "/no/such is gone" in text) == ("problem", True)


def test_of_a_marketplace_folder_the_source_counts_and_not_the_copy(scene: Scene) -> None:
    scene.settings(ON)
    folder = scene.folder / "market"
    source = {"source": "directory", "path": str(folder)}
    known = {"market": {"source": source, "installLocation": str(folder)}}
    put(scene.claude / "plugins/known_marketplaces.json", json.dumps(known))
    offer = {"plugins": [{"name": "sisyphus", "source": "./one"}]}
    put(folder / ".claude-plugin/marketplace.json", json.dumps(offer))
    put(folder / "one/.claude-plugin/plugin.json", '{"version": "9.9"}')
    scene.plugin("sisyphus", version=__version__)

    ((_, text),) = told(skew.plugins(scene.case()))

    assert text.endswith(f"/market/one is of 9.9; this is {__version__}")


@pytest.mark.parametrize("values", [{}, {"enabledPlugins": {"sisyphus@market": False}}])
def test_a_plugin_that_is_off_is_nobodys_concern(scene: Scene, values: dict[str, object]) -> None:
    scene.settings(values)

    assert list(skew.plugins(scene.case())) == []


def test_hooks_of_another_installation_are_told(scene: Scene) -> None:
    other = scene.program("elsewhere/sisyphus")
    scene.wire(program=other)
    scene.trials.answers[f"{other} --version"] = Tried(0, "sisyphus 0.0.1\n")
    scene.trials.answers = dict(reversed(scene.trials.answers.items()))

    ((state, text),) = told(skew.programs(scene.case()))

    assert state == "warning"
    assert text == f"the hooks start {other}, sisyphus 0.0.1; this is {__version__}"


def test_a_program_that_a_project_names_is_not_started(scene: Scene) -> None:
    other = scene.program("elsewhere/sisyphus")
    scene.wire(scene.project / ".claude/settings.json", other)

    list(skew.programs(scene.case()))

    assert scene.trials.ran == []


VERSIONS = [
    pytest.param("0.0.1", "warning", id="older"),
    pytest.param("99.0", "warning", id="newer"),
    pytest.param(__version__, "ok", id="this one"),
]


@pytest.mark.parametrize(("version", "state"), VERSIONS)
def test_the_version_of_slash_commands(scene: Scene, version: str, state: str) -> None:
    text = marks.marked("---\ndescription: x\n---\n\nBody\n", version)
    put(scene.claude / "commands/ralph-loop.md", text)

    assert [one.state for one in skew.commands(scene.case())] == [state]


def test_those_of_opencode_are_looked_at_as_well(scene: Scene) -> None:
    text = marks.marked("---\ndescription: x\n---\n\nBody\n", "0.0.1")
    put(scene.project / ".opencode/commands/ralph-loop.md", text)

    ((_, told_of),) = told(skew.commands(scene.case()))

    assert told_of.startswith("1 slash command not of ")


def test_commands_of_others_are_nobodys_concern(scene: Scene) -> None:
    put(scene.claude / "commands/mine.md", "Body\n")

    assert list(skew.commands(scene.case())) == []
