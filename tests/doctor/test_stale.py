from __future__ import annotations

import os
from typing import TYPE_CHECKING

from making import put

from doctor.scene import NOW, told
from sisyphus.boulder import actions
from sisyphus.doctor import stale
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.store import LoopStore, loop_path
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from doctor.scene import Scene

DAY = 86_400


def _loop(scene: Scene, hours: float) -> None:
    with LoopStore(str(scene.ours), "s1") as held:
        held.save([Loop("s1", "abcde", "Fix\nit")])
    path = loop_path(str(scene.ours), "s1")
    os.utime(path, (NOW - hours * 3_600, NOW - hours * 3_600))


def test_a_loop_that_nobody_runs_is_told_with_what_ends_it(scene: Scene) -> None:
    _loop(scene, 5)

    (found,) = stale.loops(scene.case())

    assert (found.state, found.text) == (
        "warning",
        "loop abcde (Fix it) has been silent for over 4 h and its client has gone",
    )
    assert "`sisyphus ralph cancel abcde`" in found.hint
    assert "claude --resume s1" in found.hint


def test_a_loop_of_this_hour_is_well(scene: Scene) -> None:
    _loop(scene, 1)

    assert [one.text for one in stale.loops(scene.case())] == ["1 under way"]


def _plan(scene: Scene, days: float) -> None:
    plan = put(scene.project / ".claude/PLAN.md", "# Shop\n- [ ] a\n")
    moment = NOW - days * DAY
    os.utime(plan, (moment, moment))
    actions.start(Workspace(str(scene.project), now=moment))


def test_a_plan_that_nobody_touches_is_told(scene: Scene) -> None:
    _plan(scene, 15)

    (found,) = stale.plans(scene.case())

    assert (found.state, found.text) == (
        "warning",
        "1 plan is untouched for over 14 days: Shop",
    )
    assert "`sisyphus boulder clear`" in found.hint


def test_a_plan_of_this_week_is_well(scene: Scene) -> None:
    _plan(scene, 3)

    assert [one.text for one in stale.plans(scene.case())] == ["1 followed"]


def test_a_plan_that_is_gone_is_told(scene: Scene) -> None:
    _plan(scene, 3)
    (scene.project / ".claude/PLAN.md").unlink()

    ((_, text),) = told(stale.plans(scene.case()))

    assert text == "1 plan is gone or unreadable: Shop"
