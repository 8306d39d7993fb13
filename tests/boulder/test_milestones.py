"""Checkpoints that are set by themselves, and what they do to the todos."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import stored

from boulder.scene import DONE, PLAN, Scene, model, user
from sisyphus.boulder import actions

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json

WAVES = """\
# Ship it

## Wave 1 — Ground

### S01: Base
- [ ] a
- [ ] b

### S02: Walls
- [ ] c

## Wave 2 — Roof

### S03: Beams
- [ ] d
"""


def ticked(*tasks: str) -> str:
    text = WAVES
    for task in tasks:
        text = text.replace(f"- [ ] {task}\n", f"- [x] {task}\n")
    return text


def todos_of(scene: Scene) -> list[str]:
    return [todo["content"] for todo in stored(scene.own)["todos"]]


def entries(scene: Scene) -> list[Json]:
    return [json.loads(line) for line in scene.history()]


WAYS: list[Callable[[Scene, str], object]] = [
    lambda scene, text: scene.edit(text),
    lambda scene, text: (scene.write(text), scene.stop()),
    lambda scene, text: (scene.write(text), scene.prompt()),
    lambda scene, text: (scene.write(text), scene.start("s2")),
]
each_way = pytest.mark.parametrize("change", WAYS, ids=["edit", "stop", "prompt", "start"])


@each_way
def test_a_story_that_completes_makes_a_checkpoint(
    scene: Scene, change: Callable[[Scene, str], object]
) -> None:
    scene.edit(WAVES)

    change(scene, ticked("a", "b"))

    assert scene.checkpoint(scene.own) == (
        "S01 complete; Wave 1 S02 (Walls): 0/1 tasks done (2/4 in all); next: c (line 10)"
    )
    [entry] = entries(scene)
    assert (entry["outcome"], entry["by"], entry["wave"], entry["story"]) == (
        "checkpoint",
        "progress",
        1,
        "S02",
    )
    assert "Last checkpoint: S01 complete" in model(scene.start("s3"))


@each_way
def test_a_wave_that_completes_with_its_last_story_makes_one_checkpoint(
    scene: Scene, change: Callable[[Scene, str], object]
) -> None:
    scene.edit(ticked("a", "b"))

    change(scene, ticked("a", "b", "c"))

    assert scene.checkpoint(scene.own).startswith("Wave 1 and S02 complete; Wave 2 S03 (Beams)")
    assert scene.events() == ["checkpoint"]


def test_what_was_complete_when_the_plan_was_first_seen_is_no_news(scene: Scene) -> None:
    scene.edit(ticked("a", "b"))
    scene.edit(ticked("a", "b") + "- [ ] e\n")
    assert (scene.checkpoint(scene.own), scene.events()) == ("", [])


def test_a_task_alone_makes_no_checkpoint(scene: Scene) -> None:
    scene.edit(WAVES)
    scene.edit(ticked("a"))
    scene.stop()
    assert scene.events() == []


def test_a_story_that_is_opened_again_may_complete_again(scene: Scene) -> None:
    for text in (WAVES, ticked("c"), WAVES, ticked("c")):
        scene.edit(text)
    assert scene.events() == ["checkpoint"] * 2


@pytest.mark.parametrize("event", ["end", "compact"])
def test_a_session_leaves_word_of_where_the_work_stands(scene: Scene, event: str) -> None:
    scene.edit(PLAN)

    getattr(scene, event)()

    assert scene.checkpoint(scene.own) == "1/3 tasks done; next: two (line 4)"
    [entry] = entries(scene)
    assert (entry["by"], entry["session"]) == (
        "session-end" if event == "end" else "pre-compact",
        "s1",
    )


@pytest.mark.parametrize("event", ["end", "compact"])
def test_a_message_of_the_users_stays_while_nothing_moves(scene: Scene, event: str) -> None:
    scene.edit(PLAN)
    actions.checkpoint(scene.space(), "half way through two")

    getattr(scene, event)()

    assert scene.checkpoint(scene.own) == "half way through two"
    scene.edit(PLAN.replace("[ ] two", "[x] two"))
    getattr(scene, event)()
    assert scene.checkpoint(scene.own) == (
        "2/3 tasks done; next: three (line 5); noted: half way through two"
    )


def test_a_message_and_a_task_of_the_same_turn_are_both_kept(scene: Scene) -> None:
    scene.edit("## Wave 1\n- [ ] a\n- [ ] b\n")
    scene.write("## Wave 1\n- [x] a\n- [ ] b\n")

    actions.checkpoint(scene.space(), "beware of the flaky test")
    scene.stop()

    assert scene.checkpoint(scene.own) == "beware of the flaky test"
    assert [entry["by"] for entry in entries(scene)] == ["progress", "user"]


def test_what_a_person_said_goes_on_until_the_wave_is_complete(scene: Scene) -> None:
    scene.edit("## Wave 1\n- [ ] a\n- [ ] b\n## Wave 2\n- [ ] c\n")
    actions.checkpoint(scene.space(), "mind the cache")

    scene.edit("## Wave 1\n- [x] a\n- [ ] b\n## Wave 2\n- [ ] c\n")
    assert scene.checkpoint(scene.own).endswith("; noted: mind the cache")

    scene.edit("## Wave 1\n- [x] a\n- [x] b\n## Wave 2\n- [ ] c\n")
    assert "mind the cache" not in scene.checkpoint(scene.own)


def test_a_checkpoint_that_was_written_by_hand_stays_while_nothing_moves(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.by_hand(scene.own, checkpoint={"timestamp": "2030-01-01T00:00:00Z", "message": "hand"})
    scene.stop()
    scene.end()
    assert scene.checkpoint(scene.own) == "hand"


def test_a_session_without_a_plan_of_its_own_leaves_no_word(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.end("another")
    assert scene.events() == []


def test_a_subagent_leaves_no_word(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.compact(agent_id="a1")
    assert scene.events() == []


@pytest.mark.parametrize("text", [DONE, "\0", None], ids=["complete", "unreadable", "gone"])
def test_news_at_the_end_of_a_session_is_left_to_those_who_can_tell_it(
    scene: Scene, text: str | None
) -> None:
    plan = scene.write(PLAN)
    scene.start()
    plan.unlink() if text is None else scene.write(text)

    scene.end()

    assert scene.events() == []
    assert user(scene.start("s2"))


def test_finished_todos_leave_with_the_story(scene: Scene) -> None:
    scene.edit(WAVES)
    scene.todo("dig", "pour", dig="completed")
    assert todos_of(scene) == ["dig", "pour"]

    scene.edit(ticked("a", "b"))

    assert todos_of(scene) == ["pour"]


@each_way
def test_finished_todos_leave_with_a_task_of_a_plan_without_parts(
    scene: Scene, change: Callable[[Scene, str], object]
) -> None:
    scene.edit(PLAN)
    scene.todo("dig", "pour", dig="completed")
    scene.edit(PLAN + "- [ ] four\n")
    assert todos_of(scene) == ["dig", "pour"]

    change(scene, PLAN.replace("[ ] two", "[x] two"))

    assert todos_of(scene) == ["pour"]
    assert scene.events() == []


NO_STEP = [
    pytest.param(PLAN, PLAN.replace("[ ] two", "[/] two"), id="a task is begun"),
    pytest.param(PLAN, PLAN.replace("[x] one", "[ ] one"), id="a task is opened again"),
    pytest.param(WAVES, ticked("a"), id="a task of a story"),
]


@pytest.mark.parametrize(("before", "after"), NO_STEP)
def test_else_finished_todos_stay(scene: Scene, before: str, after: str) -> None:
    scene.edit(before)
    scene.todo("dig", dig="completed")
    scene.edit(after)
    assert todos_of(scene) == ["dig"]


def test_todos_are_those_of_the_sessions_plan_and_are_shown_where_it_goes_on(scene: Scene) -> None:
    first, second = scene.write(PLAN), scene.write("# Second\n- [ ] x\n", "PLAN.md")
    scene.tool(first, "s1")
    scene.tool(second, "s2")

    scene.todo("dig", "pour", session="s1", dig="in_progress")
    scene.todo("nobody's", session="s3")

    text = model(scene.start("s1", "resume"))
    assert text.endswith("Open todos:\n- dig (in progress)\n- pour")
    assert "dig" not in model(scene.start("s2", "resume"))
    notes = scene.book()["notes"]
    assert notes[str(first)]["owners"] == {"t1": "s1", "t2": "s1"}
    assert notes[str(second)]["todos"] == []


def test_a_subagents_todos_are_its_own_affair(scene: Scene) -> None:
    scene.edit(PLAN)
    raw = {"tool_input": {"todos": [{"content": "x", "status": "pending"}]}, "agent_id": "a1"}
    scene.tool(scene.project, tool_name="TodoWrite", **raw)  # type: ignore[arg-type]
    assert scene.book()["notes"][str(scene.project / ".claude/PLAN.md")]["todos"] == []


def test_what_the_plan_completes_with_is_the_last_checkpoint(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.todo("dig")
    scene.edit(DONE)
    assert scene.checkpoint(scene.own) == "Ship it: all 3 tasks done"
    ended = entries(scene)[-1]
    assert (ended["outcome"], ended["checkpoint"]["message"], ended["todos"][0]["content"]) == (
        "completed",
        "Ship it: all 3 tasks done",
        "dig",
    )
