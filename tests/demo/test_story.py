from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.demo.stage import Stage
from sisyphus.demo.story import Step, play

if TYPE_CHECKING:
    from pathlib import Path


def test_every_step_answers_as_it_should(tmp_path: Path) -> None:
    results = list(play(Stage(tmp_path)))

    assert [result.step.title for result in results if not result.ok] == []
    assert len(results) == 10


def test_the_story_stays_in_its_folder(tmp_path: Path, home: Path) -> None:
    list(play(Stage(tmp_path)))

    assert list(home.iterdir()) == []


def test_a_step_that_answers_otherwise_is_not_ok(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    played = play(stage)
    next(played)
    (stage.project / ".claude/rules/python.md").unlink()

    result = next(played)

    assert result.step.title == "A rule arrives when it matters"
    assert not result.ok


def test_a_step_knows_what_happens_and_which_hook_answers(tmp_path: Path) -> None:
    steps: list[Step] = [result.step for result in play(Stage(tmp_path))]

    events = {step.event for step in steps}
    assert events == {"session-start", "post-tool-use", "stop"}
    assert all(step.happens for step in steps)
