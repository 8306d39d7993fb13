from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from boulder.scene import DAY, DONE, PLAN, Scene
from sisyphus.boulder import actions, report
from sisyphus.boulder.look import Look
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

STATES = [
    pytest.param(PLAN, "active", id="open tasks"),
    pytest.param(DONE, "complete", id="all done"),
    pytest.param("# No tasks\n", "no_tasks", id="no tasks"),
]


@pytest.mark.parametrize(("text", "state"), STATES)
def test_a_plan_is_reported_as_its_file_stands(scene: Scene, text: str, state: str) -> None:
    look = Look(str(scene.write(text)), str(scene.project))
    assert report.of_look(look)["state"] == state


def test_a_plan_without_a_record_has_no_memory(scene: Scene) -> None:
    status = report.of_look(Look(str(scene.write(PLAN)), str(scene.project)))
    assert (status["started_at"], status["session_ids"]) == (None, [])


def test_of_a_plan_that_is_gone_the_remembered_counts_are_reported(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    plan.unlink()
    status = actions.status(scene.space())
    assert (status["state"], status["plan_name"]) == ("missing", "Ship it")
    assert (status["progress"]["completed"], status["progress"]["total"]) == (1, 3)


def test_a_plan_that_nobody_touched_is_reported_as_stale(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    scene.end()
    scene.now += 15 * DAY
    assert actions.status(scene.space())["state"] == "stale"


def test_a_plan_that_cannot_be_read_is_no_report(project: Path) -> None:
    path = project / "PLAN.md"
    path.write_bytes(b"\0")
    with pytest.raises(SisyphusError, match="binary"):
        report.readable(Look(str(path), str(project)))
