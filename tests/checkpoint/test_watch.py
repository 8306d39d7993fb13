"""What is told of a level."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, configure, debug_log, put
from ralph.repositories import ENVIRONMENT, a_repository, git

from checkpoint.desk import LARGE, Desk, first_line, model, user
from checkpoint.telling import edited, hunk
from sisyphus.checkpoint import store
from sisyphus.checkpoint.size import gauge
from sisyphus.ralph import actions
from sisyphus.workspace import RUN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus.clients.base import Outcome

L1 = "CCS_WARNING|L1|72|Context at 72%"


def _handed(desk: Desk, level: str, percent: int) -> str:
    return f"CCS_CHECKPOINT_TRIGGERED|{level}|{percent}|{desk.waiting[-1]['handoff_file']}"


def test_the_model_is_warned_once(desk: Desk) -> None:
    outcomes = [desk.reach(percent) for percent in (60, 69.9, 72, 73, 84)]
    assert [first_line(outcome) for outcome in outcomes] == ["", "", L1, "", ""]
    assert outcomes[2].messages == []
    assert outcomes[2].notes == ["context at 72%: L1 told (144,000 of 200,000)"]
    assert desk.entries == []


def test_of_levels_that_are_passed_together_the_highest_is_told(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(60)
    outcome = desk.reach(96)
    assert first_line(outcome) == _handed(desk, "L3", 96)
    assert model(outcome).count("CCS_") == 1
    assert len(desk.entries) == 1


def test_usage_that_hovers_around_a_level_is_told_of_it_once(desk: Desk) -> None:
    desk.begin_loop()
    told = [first_line(desk.reach(percent)) for percent in (87, 81, 86, 80.1, 90)]
    assert [bool(line) for line in told] == [True, False, False, False, False]
    assert len(desk.entries) == 1


def test_a_fall_by_more_than_five_points_tells_it_anew(desk: Desk) -> None:
    desk.begin_loop()
    told = [first_line(desk.reach(percent)) for percent in (87, 79, 86)]
    assert [bool(line) for line in told] == [True, False, True]
    assert [entry["active"] for entry in desk.entries] == [False, True]


def test_a_session_that_nothing_holds_is_informed_and_handed_over_at_the_last(desk: Desk) -> None:
    second, third = desk.reach(87), desk.reach(96)
    assert first_line(second) == "CCS_WARNING|L2|87|Context at 87%"
    assert second.messages == []
    assert first_line(third) == _handed(desk, "L3", 96)
    assert "tell the user where the work stands" in model(third)
    assert user(third) == f"Context at 96% (L3). Handoff: {desk.waiting[0]['handoff_file']}"
    assert len(desk.entries) == len(desk.files) == 1


HELD: list[object] = [
    pytest.param(lambda desk: desk.begin_loop(), id="by a loop"),
    pytest.param(lambda desk: desk.begin_plan(), id="by a plan"),
]


@pytest.mark.parametrize("hold", HELD)
def test_a_session_that_is_held_is_handed_over(desk: Desk, hold: Callable[[Desk], None]) -> None:
    hold(desk)
    second = desk.reach(87)
    assert first_line(second) == _handed(desk, "L2", 87)
    assert "3. Stop. Output no completion promise unless" in model(second)
    assert user(second) == (
        f"Context at 87% (L2). Handoff: {desk.waiting[0]['handoff_file']}\n"
        "The session stops soon; /clear or a new one goes on."
    )
    third = desk.reach(96)
    assert first_line(third) == _handed(desk, "L3", 96)
    assert "stop now" in model(third)
    assert [entry["active"] for entry in desk.entries] == [False, True]


def test_one_that_goes_on_behind_a_compaction_is_not_asked_to_stop(desk: Desk) -> None:
    configure("checkpoint.hand_over", False)
    desk.begin_loop()
    second = desk.reach(87)
    assert first_line(second) == _handed(desk, "L2", 87)
    assert "go on with your work" in model(second)
    assert "stops soon" not in user(second)
    assert "stop now" in model(desk.reach(96))


def test_an_iteration_of_a_run_is_handed_over_whatever_is_set(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure("checkpoint.hand_over", False)
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    assert "3. Stop." in model(desk.reach(87))
    assert desk.waiting[0]["in_run"]


def test_a_loop_that_is_paused_holds_nobody(desk: Desk) -> None:
    desk.begin_loop()
    actions.pause(desk.ours, "s1", now=desk.now)
    assert first_line(desk.reach(87)).startswith("CCS_WARNING|L2|87|")
    assert desk.entries == []


def test_the_levels_of_a_large_window_lie_before_its_compaction(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "50")
    desk.begin_loop()
    told = [
        first_line(desk.reach(percent, window=LARGE, requestedModel="claude-opus-5-5"))
        for percent in (39, 40, 45)
    ]
    assert told[0] == ""
    assert told[1] == "CCS_WARNING|L1|40|Context at 40%"
    assert told[2] == _handed(desk, "L2", 45)


def test_unfinished_work_is_committed_where_the_user_wants_that(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(desk.project / ".git")
    a_repository(desk.project)
    configure("checkpoint.wip_commit", True)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    desk.begin_loop()
    path = put(desk.project / "a.txt", "b\n")
    desk.add(*edited(str(path), hunk(1, "-a", "+b")))

    outcome = desk.reach(87)

    assert outcome.notes[-1].startswith("unfinished work committed as ")
    assert git(desk.project, "status", "--short") == ""
    assert "87%" in git(desk.project, "log", "-1", "--format=%B")


def test_why_it_was_not_committed_is_noted(desk: Desk) -> None:
    configure("checkpoint.wip_commit", True)
    desk.begin_loop()
    outcome = desk.reach(87)
    assert len(outcome.notes) == 3
    assert "committed as" not in outcome.notes[-1]


# --- what the transcript does not tell yet ------------------------------------------------------


def _late_file(desk: Desk) -> Path:
    """As the Edit has left it."""
    return put(desk.project / "late.py", "x\n" * 40 + "b\nc\n")


def _edit(desk: Desk, path: str, call: str = "toolu_late") -> Outcome:
    """The hook of an Edit whose lines are in no transcript."""
    return desk.ask(
        "post-tool-use",
        tool_name="Edit",
        tool_use_id=call,
        tool_input={"file_path": path, "old_string": "a", "new_string": "b"},
        tool_response={"filePath": path, "structuredPatch": [hunk(41, "-a", "+b", "+c")]},
    )


def test_an_edit_that_is_not_written_down_yet_is_handed_over(desk: Desk) -> None:
    desk.begin_loop()
    desk.fill(87)
    path = _late_file(desk)

    outcome = _edit(desk, str(path))

    assert first_line(outcome) == _handed(desk, "L2", 87)
    [file] = desk.waiting[0]["files_in_progress"]
    assert (file["path"], file["lines"]) == ("late.py", "41-42")
    told = [row for row in desk.files[0].read_text("utf-8").splitlines() if "late.py" in row]
    assert any("41-42" in row for row in told)


def test_one_whose_call_alone_is_written_down_is_handed_over_once(desk: Desk) -> None:
    desk.begin_loop()
    path = _late_file(desk)
    [call, _] = edited(str(path), hunk(41, "-a", "+b", "+c"))
    desk.fill(87)
    desk.add(call)
    _edit(desk, str(path), "toolu_1")
    [file] = desk.waiting[0]["files_in_progress"]
    assert (file["path"], file["lines"]) == ("late.py", "41-42")


def test_one_that_is_written_down_is_told_once(desk: Desk) -> None:
    desk.begin_loop()
    path = _late_file(desk)
    desk.fill(87)
    [call, answer] = edited(str(path), hunk(41, "-a", "+b", "+c"))
    desk.add(call, answer)
    _edit(desk, str(path), "toolu_1")
    [file] = desk.waiting[0]["files_in_progress"]
    assert (file["path"], file["lines"]) == ("late.py", "41-42")


def test_the_results_of_a_batch_are_waited_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.begin_loop()
    path = str(_late_file(desk))
    [call, answer] = edited(path, hunk(41, "-a", "+b", "+c"))
    desk.fill(87)
    desk.add({**call, "message": {**call["message"], "usage": {"input_tokens": 174_000}}})
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        desk.add(answer)

    monkeypatch.setattr(gauge, "LATE_SECONDS", HANG_SECONDS)
    monkeypatch.setattr(time, "sleep", wait)
    desk.batch("toolu_1")

    assert len(waited) == 1
    [file] = desk.waiting[0]["files_in_progress"]
    assert (file["path"], file["lines"]) == ("late.py", "41-42")


def test_those_that_never_come_are_waited_for_so_long(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock moves where somebody sleeps."""
    desk.begin_loop()
    call = desk.fill(87)
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic", lambda: sum(slept))
    assert first_line(desk.batch(call)) == _handed(desk, "L2", 87)
    assert sum(slept) <= 0.15 + gauge.PAUSE_SECONDS + 1e-6


def test_after_one_tool_or_a_prompt_nothing_is_waited_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    desk.begin_loop()
    desk.fill(87)
    desk.ask("post-tool-use", tool_use_id="toolu_7", tool_name="Read")
    desk.fill(96)
    assert first_line(desk.prompt()) == _handed(desk, "L3", 96)
    assert slept == []


# --- what goes wrong ----------------------------------------------------------------------------


def test_a_level_is_told_although_no_handoff_can_be_written(desk: Desk, home: Path) -> None:
    desk.begin_loop()
    put(desk.index, '{"version": 2}')

    outcome = desk.reach(87)

    assert first_line(outcome) == "CCS_WARNING|L2|87|Context at 87%"
    assert user(outcome).startswith("Context at 87%. No handoff could be written: ")
    assert any(note.startswith("no handoff could be written: ") for note in outcome.notes)
    assert "newer" in debug_log(home)

    desk.index.unlink()
    desk.now += store.OVERDUE_SECONDS + 1
    again = desk.reach(87.5)

    assert first_line(again).startswith("CCS_CHECKPOINT_TRIGGERED|L2|87|.claude/handoffs/")
    assert "pending" not in desk.known()


def test_a_level_that_a_hook_was_killed_at_is_told_by_a_later_one(desk: Desk) -> None:
    desk.begin_loop()
    desk.fill(87)
    store.turn(desk.ours, "s1", lambda _: (2, True), desk.now)
    assert model(desk.prompt()) == ""
    desk.now += store.OVERDUE_SECONDS + 1
    assert first_line(desk.prompt()) == _handed(desk, "L2", 87)
    desk.now += store.OVERDUE_SECONDS + 1
    assert model(desk.prompt()) == ""
    assert len(desk.entries) == 1


def test_a_level_is_settled_as_soon_as_it_is_told(desk: Desk) -> None:
    desk.begin_loop()
    for percent in (72, 87, 96):
        desk.reach(percent)
        assert "pending" not in desk.known()


def test_behind_a_compaction_nothing_of_before_is_overdue(desk: Desk) -> None:
    desk.begin_loop()
    desk.fill(87)
    store.turn(desk.ours, "s1", lambda _: (2, True), desk.now)
    desk.now += store.OVERDUE_SECONDS + 1
    desk.start("compact")
    desk.now += 1
    assert model(desk.reach(40)) == ""
