"""The life of a plan's record, from its first task to its last."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import configure, put

from boulder.scene import CONTINUATION, DAY, DONE, ENABLED, PLAN, Scene, is_silent, model, user

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_session_finds_a_plan_without_a_record_and_begins_with_it(scene: Scene) -> None:
    plan = scene.write(PLAN)

    outcome = scene.start()

    assert model(outcome) == f"{CONTINUATION}\n\nNext task: two"
    assert f"{ENABLED}: Ship it, 1/3 tasks complete (.claude/PLAN.md)" in user(outcome)
    assert scene.in_use == {
        "active_plan": str(plan),
        "project_root": str(scene.project),
        "plan_name": "Ship it",
        "started_at": "2001-09-09T01:46:41Z",
        "session_ids": ["s1"],
        "progress": {"total": 3, "completed": 1},
        "metadata": {"updated_at": "2001-09-09T01:46:41Z"},
    }
    assert scene.record(plan) == scene.in_use
    assert scene.book()["current"] == str(plan)


def test_the_next_session_continues_and_is_noted(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start("s1")

    outcome = scene.start("s2")

    assert model(outcome).startswith(CONTINUATION)
    assert user(outcome) == "Boulder: Ship it, 1/3 tasks complete (.claude/PLAN.md)"
    assert scene.in_use
    assert scene.in_use["session_ids"] == ["s1", "s2"]


def test_the_continuation_is_a_text_of_its_own_without_a_frame(scene: Scene) -> None:
    plan = scene.write(PLAN)
    [piece] = scene.start().texts
    assert (piece.kind, piece.head, piece.tail, piece.path) == ("boulder", "", "", str(plan))
    assert piece.body.startswith("[BOULDER STATE DETECTED]\n\nActive plan: ")
    assert piece.hash.startswith("boulder-")


def test_the_same_text_has_the_same_hash_and_new_progress_another(scene: Scene) -> None:
    scene.write(PLAN)
    first, second = scene.start().texts, scene.start(source="resume").texts
    scene.write(PLAN.replace("- [ ] two", "- [x] two"))
    third = scene.start(source="resume").texts

    assert first[0].hash == second[0].hash != third[0].hash


def test_wave_story_and_blocked_tasks_are_named(scene: Scene) -> None:
    scene.write("# P\n\n## Wave 2 — Rest\n\n### S07: Docs\n\n- [~] a\n- [ ] b\n")
    assert model(scene.start()).endswith(
        "\n\nNext task: b\nCurrent wave: 2 — Rest\nCurrent story: S07: Docs\nBlocked: 1"
    )


@pytest.mark.parametrize("text", ["# No tasks\n", "- [-] cancelled\n", DONE])
def test_a_plan_without_open_tasks_begins_nothing_and_never_completes(
    scene: Scene, text: str
) -> None:
    turns = [scene.edit(text), scene.start(), scene.prompt(), scene.stop()]
    assert [is_silent(turn) for turn in turns] == [True] * 4
    assert (scene.in_use, scene.history()) == (None, [])


def test_an_edit_moves_the_progress_and_is_not_talked_about(scene: Scene) -> None:
    scene.edit(PLAN)

    outcome = scene.edit(PLAN.replace("- [ ] two", "- [x] two"), session="s2")

    assert is_silent(outcome)
    assert outcome.notes == ["boulder progress 1/3 -> 2/3"]
    assert scene.in_use
    assert scene.in_use["progress"] == {"total": 3, "completed": 2}
    assert scene.in_use["session_ids"] == ["s1", "s2"]
    assert scene.in_use["started_at"] == "2001-09-09T01:46:41Z"
    assert scene.in_use["metadata"]["updated_at"] == "2001-09-09T01:46:42Z"


FINISHES: list[Callable[[Scene], str]] = [
    lambda scene: user(scene.tool(scene.project / ".claude/PLAN.md")),
    lambda scene: user(scene.prompt()),
    lambda scene: user(scene.stop()),
    lambda scene: user(scene.start("s2")),
]


@pytest.mark.parametrize("event", FINISHES, ids=["edit", "prompt", "stop", "start"])
def test_a_completed_plan_is_told_once_cleared_and_kept_in_history(
    scene: Scene, event: Callable[[Scene], str]
) -> None:
    scene.edit(PLAN)
    scene.write(DONE)

    assert event(scene) == (
        "[BOULDER COMPLETE]\n\nPlan: Ship it\nProgress: 3/3 tasks complete\n\n"
        "All tasks are done; the boulder is cleared."
    )

    assert [event(scene) for event in FINISHES] == [""] * 4
    assert (scene.in_use, scene.book()["plans"], scene.book()["current"]) == (None, {}, None)
    [line] = scene.history()
    kept = json.loads(line)
    assert (kept["outcome"], kept["plan_name"], kept["ended_at"]) == (
        "completed",
        "Ship it",
        "2001-09-09T01:46:42Z",
    )
    assert kept["progress"] == {"total": 3, "completed": 3}


def test_a_completed_plan_that_gets_a_new_task_begins_again(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.edit(DONE)
    assert ENABLED in user(scene.edit(DONE + "- [ ] four\n"))


def test_after_one_plan_is_complete_another_open_one_follows(scene: Scene) -> None:
    scene.write(PLAN.replace("Ship it", "Second"), ".claude/plans/second.md")
    scene.edit(PLAN)
    scene.edit(DONE)
    assert f"{ENABLED}: Second" in user(scene.stop())


def test_after_a_second_plan_is_complete_the_first_one_goes_on(scene: Scene) -> None:
    first = scene.write(PLAN)
    scene.start("s1")
    scene.edit("# Second\n- [ ] x\n", ".claude/plans/second.md", session="s2")
    scene.edit("# Second\n- [x] x\n", ".claude/plans/second.md", session="s2")

    told = user(scene.stop("s2"))

    assert told == "Boulder: Ship it, 1/3 tasks complete (.claude/PLAN.md)"
    assert scene.plan_in_use == str(first)
    assert scene.book()["current"] == str(first)
    assert "Active plan: Ship it" in model(scene.start("s3"))


MISSING = """\
[BOULDER PLAN MISSING]

Active plan: Ship it
Plan location: .claude/PLAN.md (deleted)

The plan file is gone, so there is nothing to continue. Restore it, or run \
`sisyphus boulder clear` to forget the plan."""


@pytest.mark.parametrize("event", ["prompt", "stop"])
def test_a_deleted_plan_is_told_when_it_is_noticed_and_not_at_each_hook(
    scene: Scene, event: str
) -> None:
    scene.edit(PLAN)
    (scene.project / ".claude/PLAN.md").unlink()

    first, second = getattr(scene, event)(), getattr(scene, event)()

    assert (model(first), user(first)) == (MISSING, MISSING)
    assert is_silent(second)
    assert scene.history() == []


def test_a_deleted_plan_is_told_again_at_each_new_session(scene: Scene) -> None:
    scene.edit(PLAN)
    (scene.project / ".claude/PLAN.md").unlink()

    for session in ("s2", "s3"):
        outcome = scene.start(session)
        assert (model(outcome), user(outcome)) == (MISSING, MISSING)


def test_a_deleted_plan_that_comes_back_goes_on(scene: Scene) -> None:
    scene.edit(PLAN)
    (scene.project / ".claude/PLAN.md").unlink()
    scene.stop()
    scene.write(PLAN)

    assert model(scene.start()).startswith(CONTINUATION)

    assert scene.in_use
    assert "missing_since" not in scene.in_use["metadata"]


def test_a_folder_in_the_place_of_the_plan_is_a_deleted_plan(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    plan.unlink()
    plan.mkdir()
    assert model(scene.start("s2")) == MISSING


def test_a_session_in_another_project_takes_the_boulder_there(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    plan = scene.write("# Other\n- [ ] x\n", "PLAN.md", other)

    outcome = scene.start("s2", cwd=str(other))

    moved = f"The boulder was moved here from {scene.project} (Ship it, 1/3)."
    assert model(outcome).startswith("[BOULDER STATE DETECTED]\n\nActive plan: Other\n")
    assert model(outcome).endswith(f"Next task: x\n\n{moved}")
    assert moved in user(outcome)
    assert scene.plan_in_use == str(plan)
    assert scene.record(scene.project / ".claude/PLAN.md")


def test_the_note_of_the_move_makes_no_new_text_of_the_continuation(
    scene: Scene, other: Path
) -> None:
    scene.edit(PLAN)
    scene.write("# Other\n- [ ] x\n", "PLAN.md", other)
    moved = scene.start("s2", cwd=str(other))
    resumed = scene.start("s2", "resume", cwd=str(other))
    assert moved.texts[0].hash == resumed.texts[0].hash
    assert "moved here" not in model(resumed)


def test_a_session_in_a_project_without_a_plan_leaves_the_boulder_where_it_is(
    scene: Scene, other: Path
) -> None:
    scene.edit(PLAN)
    assert is_silent(scene.start("s2", cwd=str(other)))
    assert scene.plan_in_use == str(scene.project / ".claude/PLAN.md")


def test_a_plan_written_in_another_project_asks_before_it_takes_the_boulder(
    scene: Scene, other: Path
) -> None:
    first = scene.write(PLAN)
    scene.start()
    second = scene.write("# Other\n- [ ] x\n", "PLAN.md", other)

    outcome = scene.tool(second)

    assert user(outcome) == (
        f"{ENABLED}: Other, 0/1 tasks complete (PLAN.md)\n\n"
        f"The plan in use is still Ship it, 1/3 in {scene.project}. "
        "To use this one instead: sisyphus boulder switch"
    )
    assert scene.plan_in_use == str(first)
    assert scene.record(second, other)


@pytest.mark.parametrize("text", [DONE, "", None], ids=["complete", "no tasks", "gone"])
def test_it_does_not_ask_where_nothing_is_left_to_do_elsewhere(
    scene: Scene, other: Path, text: str | None
) -> None:
    first = scene.write(PLAN)
    scene.start()
    first.unlink() if text is None else scene.write(text)
    second = scene.write("# Other\n- [ ] x\n", "PLAN.md", other)

    assert "sisyphus boulder switch" not in user(scene.tool(second))

    assert scene.plan_in_use == str(second)


def test_progress_elsewhere_leaves_the_boulder_alone(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    second = scene.write("# Other\n- [ ] x\n- [ ] y\n", "PLAN.md", other)
    scene.start("s2", cwd=str(other))

    scene.edit(PLAN.replace("- [ ] two", "- [x] two"))

    assert scene.plan_in_use == str(second)
    record = scene.record(scene.project / ".claude/PLAN.md")
    assert record
    assert record["progress"]["completed"] == 2


def test_a_plan_completed_elsewhere_leaves_the_boulder_alone(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    second = scene.write("# Other\n- [ ] x\n", "PLAN.md", other)
    scene.start("s2", cwd=str(other))
    assert "[BOULDER COMPLETE]" in user(scene.edit(DONE))
    assert scene.plan_in_use == str(second)


def test_a_second_plan_of_the_project_becomes_the_current_one_and_the_first_stays(
    scene: Scene,
) -> None:
    first = scene.write(PLAN)
    scene.start()

    outcome = scene.edit("# Second\n- [ ] x\n", ".claude/plans/second.md", session="s2")

    assert "The plan before it, Ship it, 1/3, is no longer the current one" in user(outcome)
    assert scene.plan_in_use.endswith("second.md")
    assert scene.record(first)
    assert scene.book()["current"] == scene.plan_in_use
    assert "[BOULDER PLANS OPEN]" in model(scene.start("s3"))


def test_a_session_stays_with_its_own_plan_when_another_one_becomes_current(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start("s1")
    scene.edit("# Second\n- [ ] x\n", ".claude/plans/second.md", session="s2")

    outcome = scene.start("s1", "compact")

    assert "Active plan: Ship it" in model(outcome)
    assert scene.plan_in_use.endswith("second.md")


def test_of_several_plans_the_one_with_something_to_do_goes_on(scene: Scene) -> None:
    scene.write(DONE, "docs/kord/plans/older.md")
    scene.write(PLAN)
    scene.write(DONE, "docs/kord/plans/newer.md")
    assert "Active plan: Ship it" in model(scene.start())


def stale(scene: Scene) -> Path:
    plan = scene.write(PLAN)
    scene.start()
    scene.end()
    scene.now += 15 * DAY
    return plan


def test_a_stale_plan_is_not_resumed_silently(scene: Scene) -> None:
    stale(scene)

    outcome = scene.start("s2")

    assert model(outcome) == ""
    assert user(outcome) == (
        "Boulder: Ship it, 1/3 tasks complete (.claude/PLAN.md) was not touched since 2001-09-09 "
        "and is not resumed by itself. `sisyphus boulder start` takes it up again, "
        "`sisyphus boulder clear` drops it."
    )
    assert scene.in_use
    assert scene.in_use["session_ids"] == ["s1"]


def test_a_plan_is_not_stale_while_a_session_may_be_alive(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    scene.now += 15 * DAY
    assert model(scene.start("s2")).startswith(CONTINUATION)


def test_a_plan_is_not_stale_before_its_time(scene: Scene) -> None:
    stale(scene)
    scene.now -= 2 * DAY
    assert model(scene.start("s2")).startswith(CONTINUATION)


def test_a_plan_file_that_was_touched_is_not_stale(scene: Scene) -> None:
    plan = stale(scene)
    os.utime(plan, (scene.now, scene.now))
    assert model(scene.start("s2")).startswith(CONTINUATION)


def test_an_edit_takes_a_stale_plan_up_again(scene: Scene) -> None:
    plan = stale(scene)
    scene.tool(plan, "s2")
    assert model(scene.start("s3")).startswith(CONTINUATION)


def test_how_long_a_plan_stays_fresh_is_a_setting(scene: Scene) -> None:
    configure("boulder.stale_days", 30)
    stale(scene)
    assert model(scene.start("s2")).startswith(CONTINUATION)


def foreign(scene: Scene, **fields: object) -> dict[str, object]:
    return {
        "active_plan": str(scene.project / ".claude/PLAN.md"),
        "project_root": str(scene.project),
        "plan_name": "theirs",
        "started_at": "2000-01-01T00:00:00Z",
        "session_ids": ["old"],
        "progress": {"total": 9, "completed": 9},
        "metadata": {"phase": "build"},
        "squad": "red",
        **fields,
    }


def test_a_boulder_of_another_tool_is_adopted_with_all_it_says(scene: Scene) -> None:
    scene.write(PLAN)
    scene.use(foreign(scene))

    outcome = scene.start()

    assert model(outcome).startswith(CONTINUATION)
    assert ENABLED not in user(outcome)
    assert scene.in_use == foreign(
        scene,
        plan_name="Ship it",
        session_ids=["old", "s1"],
        progress={"total": 3, "completed": 1},
        metadata={"phase": "build", "updated_at": "2001-09-09T01:46:41Z"},
    )


def test_what_another_tool_adds_to_our_boulder_stays(scene: Scene) -> None:
    scene.edit(PLAN)
    assert scene.in_use
    scene.use({**scene.in_use, "squad": "red", "session_ids": ["s1", "theirs"]})

    scene.edit(PLAN + "- [ ] four\n")

    assert scene.in_use["squad"] == "red"
    assert scene.in_use["session_ids"] == ["s1", "theirs"]
    assert scene.in_use["progress"] == {"total": 4, "completed": 1}


def test_a_boulder_of_another_tool_may_spell_the_project_by_a_link(
    scene: Scene, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(scene.project)
    plan = scene.write(PLAN)
    root = str(tmp_path / "link")
    scene.use(foreign(scene, project_root=root, active_plan=f"{root}/.claude/PLAN.md"))

    outcome = scene.start()

    assert "moved here" not in user(outcome)
    assert scene.plan_in_use == str(plan)
    assert scene.in_use
    assert scene.in_use["session_ids"] == ["old", "s1"]


def test_a_boulder_of_another_tool_for_another_project_is_kept_there(
    scene: Scene, other: Path
) -> None:
    theirs = scene.write("- [ ] x\n", "PLAN.md", other)
    scene.use(foreign(scene, active_plan=str(theirs), project_root=str(other)))
    scene.write(PLAN)

    assert f"moved here from {other} (theirs, 9/9)" in user(scene.start())

    record = scene.record(theirs, other)
    assert record
    assert (record["session_ids"], record["squad"]) == (["old"], "red")
    assert scene.book(other)["current"] == str(theirs)


def test_what_another_tool_noted_is_kept_when_the_boulder_moves(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    assert scene.in_use
    scene.use({**scene.in_use, "squad": "red"})
    scene.write("# Other\n- [ ] x\n", "PLAN.md", other)

    scene.start("s2", cwd=str(other))

    record = scene.record(scene.project / ".claude/PLAN.md")
    assert record
    assert (record["squad"], record["session_ids"]) == ("red", ["s1"])


SPOILT = [
    pytest.param(b"", id="empty"),
    pytest.param(b"[1]", id="a list"),
    pytest.param(b'{"active_plan": ', id="torn"),
    pytest.param(b'{"version": 99}', id="no boulder"),
    pytest.param(b'{"active_plan": "relative.md"}', id="a relative path"),
    pytest.param(b'{"active_plan": "/a\\u0000b"}', id="a NUL in the path"),
    pytest.param(b'{"active_plan": "/\\ud800"}', id="half a surrogate pair in the path"),
    pytest.param(b"\xff\xfe", id="not UTF-8"),
]


@pytest.mark.parametrize("data", SPOILT)
def test_a_spoilt_boulder_is_set_aside_and_not_obeyed(scene: Scene, data: bytes) -> None:
    path = put(scene.home / ".boulder.json", data)
    plan = scene.write(PLAN)

    assert model(scene.start()).startswith(CONTINUATION)

    assert scene.plan_in_use == str(plan)
    [kept] = path.parent.glob(".boulder.json.corrupt-*")
    assert kept.read_bytes() == data


def test_a_boulder_with_wrong_fields_is_repaired(scene: Scene) -> None:
    scene.write(PLAN)
    wrong = {"plan_name": 7, "session_ids": "x", "progress": [], "metadata": 1, "started_at": None}
    scene.use(foreign(scene, project_root=[], **wrong))

    assert model(scene.start()).startswith(CONTINUATION)

    assert scene.in_use
    assert scene.in_use["session_ids"] == ["s1"]
    assert scene.in_use["project_root"] == str(scene.project)


@pytest.mark.parametrize("data", [b"", b"[]", b'{"plans": [], "seen": 1, "current": {}}'])
def test_a_spoilt_book_is_no_obstacle(scene: Scene, data: bytes) -> None:
    scene.edit(PLAN)
    [book] = scene.home.rglob("plans.json")
    book.write_bytes(data)
    assert model(scene.start("s2")).startswith(CONTINUATION)
    assert scene.book()["current"]


def test_a_hostile_name_does_not_break_the_text(scene: Scene) -> None:
    scene.write(f"# {'long ' * 100}\n\n- [ ] \x1b[31m{'word ' * 200}\n", ".claude/plans/a\nb.md")
    text = model(scene.start())
    assert "Plan location: .claude/plans/a b.md\n" in text
    assert max(len(line) for line in text.split("\n")) < 320
    assert "\x1b" not in text
