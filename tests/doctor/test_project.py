from __future__ import annotations

from typing import TYPE_CHECKING

from making import put

from doctor.scene import told
from sisyphus.doctor import project

if TYPE_CHECKING:
    from doctor.scene import Scene


def test_findings_in_rules_are_counted(scene: Scene) -> None:
    put(scene.project / ".claude/rules/x.md", "---\napplies_to: '*.nothing'\n---\nx\n")

    ((state, text),) = told(project.rules(scene.case()))

    assert state == "warning"
    assert text.endswith("in the rule files of this project")


def test_a_misspelled_setting_is_told_with_the_one_that_is_meant(scene: Scene) -> None:
    put(scene.ours / "config.toml", "[ralph]\nbackgroundwait = 3\n")

    (found,) = project.config(scene.case())

    assert found.state == "warning"
    assert found.text.startswith("~/.claude/.sisyphus/config.toml: ralph.backgroundwait: ")
    assert "ralph.background_wait" in found.hint


def test_a_config_that_is_no_toml_is_told(scene: Scene) -> None:
    put(scene.project / ".claude/sisyphus.toml", "[ralph\n")

    ((state, text),) = told(project.config(scene.case()))

    assert (state, text.startswith(".claude/sisyphus.toml: ")) == ("warning", True)


def test_where_nothing_is_wrong_nothing_is_told(scene: Scene) -> None:
    assert told([*project.rules(scene.case()), *project.config(scene.case())]) == []
