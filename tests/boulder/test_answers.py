from __future__ import annotations

import pytest

from boulder.scene import DAY, PLAN, Scene
from sisyphus.boulder import actions, answers
from sisyphus.boulder.actions import status_of_file
from sisyphus.boulder.store import Plans

CLEARED = [
    pytest.param("- [ ] a\n", True, id="open"),
    pytest.param("- [x] a\n", False, id="complete"),
    pytest.param("text\n", False, id="no tasks"),
]


@pytest.mark.parametrize(("text", "comes_back"), CLEARED)
def test_a_way_back_is_told_where_there_is_one(scene: Scene, text: str, comes_back: bool) -> None:
    plan = scene.write(f"# Docs\n{text}")
    answer = answers.cleared(status_of_file(str(plan)))
    assert answer.startswith(f"Boulder cleared: Docs ({plan}).")
    assert ("It comes back by `sisyphus boulder start`" in answer) is comes_back


def test_a_stale_plan_comes_back_as_well(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.end()
    scene.now += 15 * DAY
    assert "It comes back" in answers.cleared(actions.clear(scene.space()))


def test_what_was_enforced_and_is_no_more_is_said(scene: Scene) -> None:
    scene.edit(PLAN)
    begun = answers.enforced(actions.enforce(scene.space(), on=True))
    ended = answers.enforced(actions.enforce(scene.space(), on=False))
    assert begun.startswith("Boulder enforced: Ship it (")
    assert "`sisyphus boulder enforce off` ends it." in begun
    assert ended.startswith("Boulder not enforced any more: Ship it (")


def test_a_checkpoint_is_repeated_with_the_plan_it_is_of(scene: Scene) -> None:
    scene.edit(PLAN)
    found = actions.checkpoint(scene.space(), "x" * 400)
    assert answers.noted(found) == f"Checkpoint of Ship it: {'x' * 299}…"


def _plans(count: int) -> Plans:
    found = {
        f"/p/{n:02}.md": {"plan_name": f"Plan\n{n:02}", "started_at": f"2026-01-{n + 1:02}"}
        for n in range(count)
    }
    return Plans({"plans": found}, "/p")


def test_of_many_plans_the_newest_ten_are_named() -> None:
    answer = answers.not_followed(_plans(13))
    assert answer.startswith("no plan is chosen in /p, which has Plan 12 (12.md), Plan 11 (11.md),")
    assert "Plan 03 (03.md) and 3 more. `sisyphus boulder start NAME`" in answer


def test_ten_plans_are_all() -> None:
    assert "more" not in answers.not_followed(_plans(10))
