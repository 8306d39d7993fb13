from __future__ import annotations

import pytest

from boulder.scene import DONE, PLAN, Scene, model
from sisyphus.boulder import actions
from sisyphus.boulder.enforcement import (
    MAX_ITERATIONS,
    MAX_MINUTES,
    asked_for,
    enforced,
    held_sessions,
    standing,
)
from sisyphus.ralph import arguments, loop

SINCE = "2026-01-09T10:00:00.000Z"


def _record(raw: object) -> dict[str, object]:
    return {
        "active_plan": "/p/PLAN.md",
        "project_root": "/p",
        "plan_name": "Ship it",
        "metadata": {"enforced": raw},
    }


LIMITS = [
    pytest.param({}, (MAX_ITERATIONS, 0, 0), id="none"),
    pytest.param(
        {"max_iterations": 5, "max_minutes": 60, "max_tokens": 1_000}, (5, 60, 1_000), id="all"
    ),
    pytest.param({"max_iterations": 0}, (MAX_ITERATIONS, 0, 0), id="no endless one"),
    pytest.param(
        {"max_iterations": -1, "max_minutes": -1, "max_tokens": -1}, (1, 0, 0), id="negative"
    ),
    pytest.param(
        {"max_iterations": "5", "max_minutes": True, "max_tokens": 1.5},
        (MAX_ITERATIONS, 0, 0),
        id="no numbers",
    ),
]


@pytest.mark.parametrize(("given", "limits"), LIMITS)
def test_the_limits_of_an_enforced_plan(
    given: dict[str, object], limits: tuple[int, int, int]
) -> None:
    found = enforced(_record({"since": SINCE, **given}))
    assert found
    assert (found.max_iterations, found.max_minutes, found.max_tokens) == limits
    assert (found.name, found.path, found.root, found.since) == (
        "Ship it",
        "/p/PLAN.md",
        "/p",
        SINCE,
    )


def test_the_most_the_model_may_ask_for_is_what_a_loop_has() -> None:
    assert (MAX_ITERATIONS, MAX_MINUTES) == (arguments.MAX_ITERATIONS, loop.MAX_MINUTES)


@pytest.mark.parametrize("raw", [None, True, "on", [], {}, {"since": ""}, {"since": 7}])
def test_what_was_not_asked_for_is_not_enforced(raw: object) -> None:
    assert enforced(_record(raw)) is None


def test_the_sessions_of_an_enforced_plan_are_asked_for(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    assert asked_for(scene.space(), "s1") is None
    actions.enforce(scene.space(), on=True)
    found = asked_for(scene.space(), "s1")
    assert found
    assert found.path == str(plan)


def test_a_session_that_works_on_no_plan_is_not_asked_for(scene: Scene) -> None:
    scene.edit(PLAN)
    actions.enforce(scene.space(), on=True)
    assert asked_for(scene.space(), "s2") is None
    assert asked_for(scene.space(), "") is None


def test_a_session_on_another_plan_is_not_asked_for(scene: Scene) -> None:
    scene.edit(PLAN)
    actions.enforce(scene.space(), on=True)
    scene.edit("- [ ] x\n", ".claude/plans/second.md", session="s2")
    assert asked_for(scene.space(), "s2") is None
    assert asked_for(scene.space(), "s1")


OTHER = ("- [ ] x\n", ".claude/plans/second.md")


def test_whatever_plan_the_model_turns_to_the_session_is_asked_for(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    actions.enforce(scene.space(), on=True)
    scene.edit(*OTHER)
    found = asked_for(scene.space(), "s1")
    assert found
    assert found.path == str(plan)
    actions.start(scene.space(), "second", "s1")
    assert asked_for(scene.space(), "s1")


def test_the_plan_that_the_session_is_at_comes_first(scene: Scene) -> None:
    scene.edit(PLAN)
    actions.enforce(scene.space(), on=True, session="s1")
    second = scene.write(*OTHER)
    scene.tool(second)
    actions.enforce(scene.space(), on=True, session="s1")
    found = asked_for(scene.space(), "s1")
    assert found
    assert found.path == str(second)


WORDS = ["start-work second", "boulder-switch second"]


@pytest.mark.parametrize("typed", WORDS)
def test_a_session_that_the_user_gave_another_plan_is_not(scene: Scene, typed: str) -> None:
    scene.edit(PLAN)
    actions.enforce(scene.space(), on=True)
    scene.write(*OTHER)
    scene.prompt(f"/sisyphus:{typed}")
    assert asked_for(scene.space(), "s1") is None
    scene.prompt("/sisyphus:start-work ship")
    assert asked_for(scene.space(), "s1")
    scene.edit(*OTHER)
    assert asked_for(scene.space(), "s1")


def test_who_had_left_before_it_was_enforced_is_not(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.tool(plan, "s1")
    scene.tool(plan, "s2")
    scene.edit(*OTHER)
    actions.enforce(scene.space(), on=True, session="s2")
    assert asked_for(scene.space(), "s1") is None
    scene.tool(plan, "s1")
    assert asked_for(scene.space(), "s1")


def test_but_who_is_held_stays_so_where_it_is_enforced_anew(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.tool(plan, "s1")
    scene.tool(plan, "s2")
    actions.enforce(scene.space(), on=True, session="s2")
    scene.edit(*OTHER)
    actions.enforce(scene.space(), on=True, limits={"max_minutes": 5}, session="s2")
    assert asked_for(scene.space(), "s1")


HELD = [
    pytest.param({"since": SINCE}, ["s1", "s2"], id="all"),
    pytest.param({"since": SINCE, "released": ["s2", 7]}, ["s1"], id="one was released"),
    pytest.param(None, [], id="not enforced"),
]


@pytest.mark.parametrize(("raw", "held"), HELD)
def test_whom_an_enforcement_holds(raw: dict[str, object] | None, held: list[str]) -> None:
    assert held_sessions(["s1", "s2"], raw) == held


def test_where_the_boulder_is_off_nobody_is_asked_for(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.edit(PLAN)
    actions.enforce(scene.space(), on=True)
    monkeypatch.setenv("SISYPHUS_BOULDER_ENABLED", "0")
    assert asked_for(scene.space(), "s1") is None


def test_a_file_of_the_project_enforces_nothing(scene: Scene) -> None:
    scene.edit(PLAN)
    record = '{"activePlan": ".claude/PLAN.md", "enforced": {"since": "2026-01-09T10:00:00Z"}}'
    scene.write(record, "docs/kord/boulder.json")
    scene.prompt()
    assert asked_for(scene.space(), "s1") is None


def test_a_file_of_another_tool_enforces_nothing(scene: Scene) -> None:
    scene.edit(PLAN)
    assert scene.in_use
    scene.use({**scene.in_use, "metadata": {"enforced": {"since": SINCE}}})
    scene.prompt()
    assert asked_for(scene.space(), "s1") is None


STANDINGS = [
    pytest.param(PLAN, ("open", "two", 4, 1, 3, 0), id="open"),
    pytest.param(DONE, ("complete", "", 0, 3, 3, 0), id="complete"),
    pytest.param("- [x] a\n- [~] b\n", ("open", "", 0, 1, 2, 1), id="the rest is blocked"),
    pytest.param("- [ ]\n", ("open", "line 1", 1, 0, 1, 0), id="a task without words"),
    pytest.param("text", ("no_tasks", "", 0, 0, 0, 0), id="no tasks"),
    pytest.param("\0", ("unreadable", "", 0, 0, 0, 0), id="unreadable"),
    pytest.param(None, ("missing", "", 0, 0, 0, 0), id="missing"),
]


@pytest.mark.parametrize(("text", "stands"), STANDINGS)
def test_how_a_plan_stands(scene: Scene, text: str | None, stands: tuple[object, ...]) -> None:
    path = scene.project / ".claude/PLAN.md"
    if text is not None:
        scene.write(text)
    found = standing(str(scene.home), str(path), str(scene.project))
    now = (found.state, found.task, found.line, found.done, found.total, found.blocked)
    assert now == stands
    assert found.place == ".claude/PLAN.md"


def test_the_next_task_is_one_of_the_story_that_a_person_named(scene: Scene) -> None:
    path = scene.write("## Wave 1\n### S01: a\n- [ ] one\n### S02: b\n- [ ] two\n")
    scene.start()
    actions.checkpoint(scene.space(), "two first", story="S02")
    found = standing(str(scene.home), str(path), str(scene.project))
    assert (found.task, found.line) == ("two", 5)
    assert "Next task: two" in model(scene.start("s2"))
    assert actions.status(scene.space())["next_task"] == "two"
