"""Plans that other tools keep in JSON: read, never written, and followed like any other."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pytest
from world import World

TASK_MASTER, PRD = ".taskmaster/tasks/tasks.json", "prd.json"
PLACES = [TASK_MASTER, PRD, "scripts/ralph/prd.json", "ralph/prd.json", "plans/prd.json"]
BROKEN = '{"tasks": [\n'


def task(id: object, status: str = "pending", **fields: object) -> dict[str, Any]:
    return {"id": id, "title": f"T{id}", "status": status, **fields}


def tasks(*listed: object, **fields: object) -> str:
    return json.dumps({"tasks": listed, **fields}, indent=1)


def story(id: object, passes: object = False, **fields: object) -> dict[str, Any]:
    return {"id": id, "title": f"T{id}", "passes": passes, **fields}


def stories(*listed: object, **fields: object) -> str:
    return json.dumps({"userStories": listed, **fields}, indent=1)


def both(place: str, *done: bool) -> str:
    """Returns a plan with so many tasks in the form of its place."""
    if place == TASK_MASTER:
        return tasks(*(task(n, "done" if each else "pending") for n, each in enumerate(done, 1)))
    return stories(*(story(n, each) for n, each in enumerate(done, 1)))


def follow(world: World, place: str, text: str) -> str:
    world.write(place, text)
    world.start()
    return world.prompt(text=f"/sisyphus:start-work {place}").text


def next_task(world: World, place: str, text: str) -> str | None:
    file = world.write(place, text)
    found: str | None = world.plan("--plan", file)["next_task"]
    return found


# ---------------------------------------------------------------- a plan like any other


@pytest.mark.parametrize("place", PLACES)
def test_each_place_is_offered_while_it_has_open_tasks(world: World, place: str) -> None:
    world.write(place, both(place, True, False))
    assert place in world.start().message
    assert world.cli("boulder", "start").code == 1, "not taken by itself"

    world.write(place, both(place, True, True))
    assert world.start("s2").is_silent


@pytest.mark.parametrize("place", PLACES)
def test_it_is_followed_held_and_completed(world: World, place: str) -> None:
    follow(world, place, both(place, True, False, False))
    world.cli("boulder", "hold", "on")

    world.create(place, both(place, True, True, False))
    assert "2 of 3 tasks" in world.stop().reason
    assert "is complete" in world.create(place, both(place, True, True, True)).message
    assert not world.stop().reason
    assert world.plan()["state"] == "complete"


def test_what_a_shell_writes_is_seen_at_the_next_stop(world: World) -> None:
    follow(world, TASK_MASTER, both(TASK_MASTER, True, False, False))
    world.write(TASK_MASTER, both(TASK_MASTER, True, True, False))
    world.cli("boulder", "hold", "on")

    assert "2 of 3 tasks" in world.stop().reason


def test_it_is_never_written(world: World) -> None:
    text = both(TASK_MASTER, True, False)
    follow(world, TASK_MASTER, text)
    world.cli("boulder", "checkpoint", "here")
    world.stop()
    world.cli("boulder", "clear")

    assert (world.project / TASK_MASTER).read_text() == text


@pytest.mark.parametrize(
    ("place", "what"),
    [
        (TASK_MASTER, "When a task is done, set its `status` to `done`, as task-master does"),
        (PRD, "When a story is done, set its `passes` to `true` in the plan."),
    ],
)
def test_the_model_is_told_what_its_tool_does(world: World, place: str, what: str) -> None:
    started = follow(world, place, both(place, True, False))
    world.cli("boulder", "hold", "on")
    held = world.stop().reason

    assert what in started
    assert what in held
    assert what in world.start("s2").text
    assert "box" not in started + held + world.start("s3").text


@pytest.mark.parametrize("place", [TASK_MASTER, PRD])
def test_a_run_that_goes_by_boxes_is_refused(world: World, place: str) -> None:
    world.write(place, both(place, True, False))
    world.cli("boulder", "start", place)
    answer = world.cli("ralph", "run", "--permission-mode", "acceptEdits")

    assert answer.code == 1
    assert f"{place} has no boxes, and a run goes by boxes." in answer.err
    assert not world.loops()


# ---------------------------------------------------------------- task-master


def test_its_statuses(world: World) -> None:
    words = ["done", "pending", "in-progress", "review", "deferred", "cancelled", "else", "blocked"]
    listed = [task(number, word) for number, word in enumerate(words)]
    world.write(TASK_MASTER, tasks(*listed, task(9, "done", subtasks=[task(1, "done"), task(2)])))

    progress = world.plan("--plan", world.project / TASK_MASTER)["progress"]

    assert progress == {
        "total": 8, "completed": 2, "percent": 25, "blocked": 2, "in_progress": 2, "cancelled": 1,
        "steps_total": 2, "steps_completed": 1, "failed": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ([task(1, dependencies=[2]), task(2)], "2. T2"),
        ([task(1, dependencies=["2"]), task("2", "done")], "1. T1"),
        ([task(1, dependencies=[2]), task(2, "cancelled"), task(3)], "1. T1"),
        ([task(1, dependencies=[9]), task(2)], "1. T1"),  # nobody has ever seen it
        ([task(1, dependencies=[1]), task(2)], "1. T1"),
        ([task(1, dependencies=[2]), task(2, dependencies=[1]), task(3)], "1. T1"),
        ([task(1, dependencies=["2.1"]), task(2, subtasks=[task(1)])], "2. T2"),
        ([task(1, dependencies=["2.1"]), task(2, subtasks=[task(1, "done")])], "1. T1"),
        ([task(1), task(12, "review")], "12. T12"),
        ([task(1, "deferred")], None),
        ([{"title": "a"}, {"title": "b"}], "1. a"),
    ],
)
def test_the_first_whose_dependencies_are_done_is_next(
    world: World, listed: list[object], expected: str | None
) -> None:
    assert next_task(world, TASK_MASTER, tasks(*listed)) == expected


def tags(world: World, current: str = "") -> None:
    lists = {
        "master": [task(1, "done"), task(2)],
        "mail": [task(1, "done"), task(7, "done"), task(8)],
    }
    text = json.dumps({name: {"tasks": listed} for name, listed in lists.items()})
    world.write(TASK_MASTER, text)
    if current:
        world.write(".taskmaster/state.json", json.dumps({"currentTag": current}))


@pytest.mark.parametrize(
    ("current", "name", "expected"),
    [("", "master", "2. T2"), ("master", "master", "2. T2"), ("mail", "mail", "8. T8"),
     ("gone", "master", "2. T2")],
)  # fmt: skip
def test_the_current_tag_is_the_plan(world: World, current: str, name: str, expected: str) -> None:
    tags(world, current)
    world.prompt(text=f"/sisyphus:start-work {name}")

    assert (world.plan()["plan_name"], world.plan()["next_task"]) == (name, expected)


def test_another_tag_is_followed_when_its_user_switches(world: World) -> None:
    tags(world, "master")
    world.start()
    world.prompt(text="/sisyphus:start-work master")
    world.cli("boulder", "hold", "on")
    tags(world, "mail")

    reason = world.stop().reason

    assert "The plan mail is not complete: 2 of 3 tasks" in reason
    assert world.cli("boulder", "status").out.startswith("mail\n.taskmaster/tasks/tasks.json")
    assert world.plan()["evidence"] == {}, "nobody has just done what is done there"


@pytest.mark.parametrize("state", ["[]", "{", '{"currentTag": 3}'])
def test_a_state_that_says_nothing_means_master(world: World, state: str) -> None:
    tags(world)
    world.write(".taskmaster/state.json", state)

    assert world.plan("--plan", world.project / TASK_MASTER)["plan_name"] == "master"


def test_criteria_are_told_with_the_next_task(world: World) -> None:
    text = tasks(
        task(1, testStrategy="Open the page.\nIt is\twhite."), task(2, testStrategy="`ls`")
    )

    assert "Next task: 1. T1\nIts criteria: Open the page. It is white.\n" in follow(
        world, TASK_MASTER, text
    )
    checks = world.cli("boulder", "checks", "--json").json
    assert checks["tasks"][0]["criteria"] == ["Open the page. It is white."]
    assert checks["tasks"][1]["checks"][0]["command"] == "ls"


# ---------------------------------------------------------------- prd.json


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ([story(1, priority=2), story(2, priority=1)], "2. T2"),
        ([story("a"), story("b", priority=9)], "b: Tb"),
        ([story("a", priority="1"), story("b", priority=True), story("c", priority=2.5)], "c: Tc"),
        ([story("a", priority=float("nan")), story("b", priority=3)], "b: Tb"),
        ([story("a", priority=1, dependsOn=["b"]), story("b", priority=2)], "b: Tb"),
        ([story("a", dependsOn=["b"]), story("b", dependsOn=["a"])], "a: Ta"),
        ([story("a", "true"), story("b")], "a: Ta"),
        ([{"id": "a", "title": "T", "complete": True}, story("b")], "b: Tb"),
    ],
)  # fmt: skip
def test_the_lowest_priority_is_next(world: World, listed: list[object], expected: str) -> None:
    assert next_task(world, PRD, stories(*listed)) == expected
    assert next_task(world, PRD, json.dumps(listed)) == expected, "a bare list"


def test_its_criteria(world: World) -> None:
    text = follow(world, PRD, stories(story(1, acceptanceCriteria=["It is red", "It is round"])))

    assert "Its criteria: It is red; It is round" in text


# ---------------------------------------------------------------- what nobody can follow


@pytest.mark.parametrize(
    ("place", "text", "why"),
    [
        (TASK_MASTER, "", "it is not JSON (Expecting value"),
        (TASK_MASTER, BROKEN, "it is not JSON (Expecting value"),
        (PRD, "# Product\n\n- [ ] a\n", "it is not JSON"),
        (PRD, "[" * 100_000, "it is nested too deeply"),
        (PRD, '{"a":' * 100_000, "it is nested too deeply"),
        (TASK_MASTER, " " * 5_000_001, "it is too large"),
        (TASK_MASTER, "[]", "it is not a JSON object"),
        (TASK_MASTER, "7", "it is not a JSON object"),
        (TASK_MASTER, "{}", "it has neither tasks nor the tag master"),
        (TASK_MASTER, '{"tasks": 3}', "its tasks are not a list"),
        (TASK_MASTER, '{"master": {"tasks": "a"}}', "its tasks are not a list"),
        (TASK_MASTER, '{"tasks": [{"id": 1}, "a"]}', "number 2 of its tasks is not an object"),
        (TASK_MASTER, '{"tasks": [{"subtasks": 5}]}', "its subtasks are not a list"),
        (TASK_MASTER, '{"tasks": []}', "it has no open tasks"),
        (PRD, '{"userStories": null}', "its userStories are not a list"),
        (PRD, '{"frontend": {}}', "its userStories are not a list"),
        (PRD, '"a"', "its userStories are not a list"),
        (PRD, '[{"id": 1}]', "none of its userStories has passes or complete"),
        (PRD, "[]", "it has no open tasks"),
        (PRD, '[{"id": %s}]' % ("9" * 5000), "it is not JSON"),
    ],
)
def test_it_is_not_offered_and_named_with_its_reason(
    world: World, place: str, text: str, why: str
) -> None:
    world.write(place, text)

    assert world.start().is_silent
    assert "Plans of other tools" not in world.cli("boulder", "status").out
    assert f"{place} cannot be followed: {why}" in world.cli("boulder", "start", place).err


@pytest.mark.parametrize("place", [TASK_MASTER, PRD])
def test_a_link_out_of_the_project_is_not_read(world: World, place: str) -> None:
    outside = world.write(world.home / "elsewhere.json", both(place, True, False))
    (world.project / place).parent.mkdir(parents=True, exist_ok=True)
    (world.project / place).symlink_to(outside)

    assert world.start().is_silent
    assert "it is outside" in world.cli("boulder", "start", place).err


def test_odd_values_are_no_error(world: World) -> None:
    odd: list[object] = [None, True, 3, 2.5, "a\ud800\0\n<b>", [], {}, ["x", None, 3]]
    keys = ("id", "title", "status", "dependencies", "testStrategy")
    listed = [{key: value for key in keys} for value in odd]
    follow(world, TASK_MASTER, tasks(*listed))

    assert world.plan()["progress"]["total"] == len(odd)
    assert world.cli("boulder", "checks").code == 0
    assert world.start("s2").text


def age(world: World, place: str) -> None:
    os.utime(world.project / place, (time.time() - 60, time.time() - 60))


def test_half_a_file_is_no_change(world: World) -> None:
    follow(world, TASK_MASTER, both(TASK_MASTER, True, False, False))
    world.cli("boulder", "hold", "on")

    assert world.create(TASK_MASTER, BROKEN).is_silent
    assert "1 of 3 tasks" in world.stop().reason, "as we knew it"
    world.create(TASK_MASTER, both(TASK_MASTER, True, True, False))
    assert "2 of 3 tasks" in world.stop().reason


def test_a_file_that_stays_broken_is_told_once(world: World) -> None:
    follow(world, TASK_MASTER, both(TASK_MASTER, True, False))
    world.create(TASK_MASTER, BROKEN)
    age(world, TASK_MASTER)

    assert "cannot be read: it is not JSON" in world.stop().message
    assert world.stop().is_silent
    world.create(TASK_MASTER, both(TASK_MASTER, True, False))
    assert world.plan()["state"] == "active"


def test_a_large_one_is_quick(world: World) -> None:
    """Each task waits for the one before, and the last one is the first in the file."""
    number = 5_000
    listed = [task(each, dependencies=[each - 1]) for each in range(number, 0, -1)]
    file = world.write(TASK_MASTER, tasks(*listed))
    world.start("warm")
    before = time.process_time()

    assert world.plan("--plan", file)["next_task"] == "1. T1"
    assert time.process_time() - before < 2


def test_an_offer_does_not_untangle_circles(world: World) -> None:
    pairs = [
        task(each, dependencies=[each + 1 if each % 2 else each - 1]) for each in range(1, 4001)
    ]
    world.write(TASK_MASTER, tasks(*pairs))
    before = time.process_time()

    assert TASK_MASTER in world.start().message
    assert time.process_time() - before < 1
