from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from boulder.scene import DAY, DONE, PLAN, Scene, is_silent, model, user
from sisyphus.boulder import actions
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Json

NOTHING: Json = {
    "state": "none",
    "active_plan": None,
    "project_root": None,
    "plan_name": None,
    "started_at": None,
    "session_ids": [],
    "progress": {
        "total": 0,
        "completed": 0,
        "blocked": 0,
        "in_progress": 0,
        "cancelled": 0,
        "steps_total": 0,
        "steps_completed": 0,
    },
    "next_task": None,
    "waves": [],
    "stories": [],
    "checkpoint": None,
    "todos": [],
}
KORD = """\
# Docs

## Wave 1 — Base

### S01: README
- [x] one
  - [x] step
- [~] two

## Wave 2

- [/] three
- [-] four
"""


def test_the_status_of_nothing(scene: Scene) -> None:
    assert actions.status(scene.space()) == NOTHING
    assert not scene.home.exists()


def test_the_status_of_a_plan_is_that_of_its_file_now(scene: Scene) -> None:
    scene.edit(PLAN)
    plan = scene.write(KORD)

    assert actions.status(scene.space()) == {
        "state": "active",
        "active_plan": str(plan),
        "project_root": str(scene.project),
        "plan_name": "Docs",
        "started_at": "2001-09-09T01:46:41Z",
        "session_ids": ["s1"],
        "progress": {
            "total": 3,
            "completed": 1,
            "blocked": 1,
            "in_progress": 1,
            "cancelled": 1,
            "steps_total": 1,
            "steps_completed": 1,
        },
        "next_task": "three",
        "waves": [
            {"number": 1, "name": "Base", "total": 2, "completed": 1},
            {"number": 2, "name": "", "total": 1, "completed": 0},
        ],
        "stories": [
            {
                "id": "S01",
                "title": "README",
                "wave": 1,
                "status": "blocked",
                "total": 2,
                "completed": 1,
            }
        ],
        "checkpoint": None,
        "todos": [],
    }
    assert scene.in_use
    assert scene.in_use["progress"] == {"total": 3, "completed": 1}


def _age(scene: Scene) -> None:
    scene.end()
    scene.now += 15 * DAY


STATES: dict[str, Callable[[Scene], object]] = {
    "active": lambda _: None,
    "complete": lambda scene: scene.write(DONE),
    "no_tasks": lambda scene: scene.write("# Nothing\n"),
    "missing": lambda scene: (scene.project / ".claude/PLAN.md").unlink(),
    "stale": _age,
}


@pytest.mark.parametrize("state", STATES)
def test_a_plan_is_in_one_of_these_states(scene: Scene, state: str) -> None:
    scene.edit(PLAN)
    STATES[state](scene)
    assert actions.status(scene.space())["state"] == state


def test_of_a_plan_that_is_gone_the_record_tells(scene: Scene) -> None:
    scene.edit(PLAN)
    (scene.project / ".claude/PLAN.md").unlink()
    found = actions.status(scene.space())
    assert (found["plan_name"], found["progress"]["completed"]) == ("Ship it", 1)


def test_without_a_plan_here_the_status_is_that_of_the_plan_in_use(
    scene: Scene, other: Path
) -> None:
    scene.edit(PLAN)
    assert actions.status(scene.space(str(other)))["plan_name"] == "Ship it"
    assert actions.status(scene.space(str(other)), elsewhere=False)["state"] == "none"


def test_the_status_of_a_plan_that_cannot_be_read_says_why(scene: Scene) -> None:
    scene.edit(PLAN)
    (scene.project / ".claude/PLAN.md").write_bytes(b"\xff")
    with pytest.raises(SisyphusError, match="not UTF-8"):
        actions.status(scene.space())


FILES = [
    pytest.param(PLAN, "active", id="open"),
    pytest.param(DONE, "complete", id="complete"),
    pytest.param("text", "no_tasks", id="no tasks"),
    pytest.param(None, "missing", id="missing"),
]


@pytest.mark.parametrize(("text", "state"), FILES)
def test_any_plan_file_has_a_status_and_nothing_is_written(
    scene: Scene, text: str | None, state: str
) -> None:
    path = scene.project / "docs/todo.md"
    if text is not None:
        scene.write(text, "docs/todo.md")
    found = actions.status_of_file(str(path))
    assert (found["state"], found["active_plan"], found["project_root"], found["started_at"]) == (
        state,
        str(path),
        str(scene.project),
        None,
    )
    assert not scene.home.exists()


def test_clear_forgets_the_plan_and_leaves_its_file(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()

    last = actions.clear(scene.space())

    assert (last["state"], last["plan_name"]) == ("active", "Ship it")
    assert (scene.in_use, scene.book()["plans"]) == (None, {})
    assert plan.read_text() == PLAN
    assert json.loads(scene.history()[0])["outcome"] == "cleared"


def test_a_cleared_plan_stays_dismissed(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    actions.clear(scene.space())
    scene.write(PLAN)  # touched, not changed
    turns = [scene.start("s2"), scene.prompt(), scene.tool(plan), scene.stop()]
    assert [is_silent(turn) for turn in turns] == [True] * 4


BACK: dict[str, Callable[[Scene], object]] = {
    "start": lambda scene: actions.start(scene.space()),
    "a change": lambda scene: scene.write(PLAN + "- [ ] four\n"),
}


@pytest.mark.parametrize("how", BACK)
def test_a_cleared_plan_comes_back_by(scene: Scene, how: str) -> None:
    scene.edit(PLAN)
    actions.clear(scene.space())
    BACK[how](scene)
    assert "Active plan: Ship it" in model(scene.start("s2"))


@pytest.mark.parametrize("state", [*STATES, "unreadable"])
def test_a_plan_in_any_state_can_be_cleared(scene: Scene, state: str) -> None:
    scene.edit(PLAN)
    if state == "unreadable":
        (scene.project / ".claude/PLAN.md").write_bytes(b"\xff")
    else:
        STATES[state](scene)
    assert actions.clear(scene.space())["active_plan"] == str(scene.project / ".claude/PLAN.md")
    assert (scene.in_use, scene.book()["plans"]) == (None, {})


def test_without_a_plan_here_the_one_in_use_is_cleared(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    assert actions.clear(scene.space(str(other)))["project_root"] == str(scene.project)
    assert (scene.in_use, scene.book()["plans"]) == (None, {})


def test_a_boulder_that_another_tool_wrote_can_be_cleared(scene: Scene, other: Path) -> None:
    scene.use({"active_plan": str(scene.project / "PLAN.md")})
    actions.clear(scene.space(str(other)))
    assert scene.in_use is None


def test_clear_here_leaves_the_boulder_of_another_project(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    theirs = scene.write("- [ ] x\n", "PLAN.md", other)
    scene.start("s2", cwd=str(other))
    actions.clear(scene.space())
    assert scene.plan_in_use == str(theirs)


def test_there_is_nothing_to_clear(scene: Scene, other: Path) -> None:
    with pytest.raises(SisyphusError, match="nothing to clear"):
        actions.clear(scene.space())
    scene.edit(PLAN)
    with pytest.raises(SisyphusError, match="nothing to clear"):
        actions.clear(scene.space(str(other)), elsewhere=False)


def test_start_follows_the_only_open_plan(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.write(DONE, "docs/kord/plans/done.md")
    found = actions.start(scene.space(), session="s9")
    assert (found["state"], found["active_plan"], found["session_ids"]) == (
        "active",
        str(plan),
        ["s9"],
    )
    assert scene.plan_in_use == str(plan)


def test_start_takes_a_stale_plan_up_again(scene: Scene) -> None:
    scene.edit(PLAN)
    _age(scene)
    assert actions.start(scene.space())["state"] == "active"
    assert "Active plan: Ship it" in model(scene.start("s2"))


def test_switch_puts_the_plan_of_this_project_in_use(scene: Scene, other: Path) -> None:
    first = scene.write(PLAN)
    scene.start()
    theirs = scene.write("- [ ] x\n", "PLAN.md", other)
    scene.tool(theirs)
    actions.switch(scene.space(str(other)))
    assert scene.plan_in_use == str(theirs)
    actions.switch(scene.space())
    assert scene.plan_in_use == str(first)


def test_switch_to_a_plan_by_name_keeps_the_record_of_the_other(scene: Scene) -> None:
    first = scene.write(PLAN)
    scene.start()
    second = scene.edit("# Second\n- [ ] x\n", ".claude/plans/second.md")
    assert "Second" in user(second)
    found = actions.switch(scene.space(), "ship it")
    assert (found["active_plan"], found["session_ids"]) == (str(first), ["s1"])
    assert len(scene.book()["plans"]) == 2
