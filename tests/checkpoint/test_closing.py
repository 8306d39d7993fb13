"""What becomes of a handoff at the end of a session."""

from __future__ import annotations

import os

import pytest
from making import configure, put
from ralph.lines import prompt

from checkpoint.desk import PLAN, RESUME, Desk, model, user
from sisyphus.checkpoint import closing, handoffs
from sisyphus.ralph import actions
from sisyphus.workspace import RUN_VARIABLE


def _work_until(desk: Desk, seconds: float) -> None:
    os.utime(desk.transcript(), (desk.now + seconds, desk.now + seconds))


def test_a_session_without_a_handoff_ends_silently(desk: Desk) -> None:
    desk.fill(60)
    desk.end()
    assert desk.entries == []


def test_work_that_went_on_behind_a_handoff_is_handed_over_anew(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(87)
    desk.now += closing.GONE_ON + 60
    _work_until(desk, 0)

    outcome = desk.end()

    first, second = desk.entries
    assert (first["closed"], second["active"]) == (handoffs.SUPERSEDED, True)
    assert (second["level"], second["percent_at_checkpoint"]) == ("L2", 87)
    assert f"handoff {second['handoff_file']} written at the end" in outcome.notes


def test_a_handoff_that_is_fresh_enough_stays(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(87)
    _work_until(desk, closing.GONE_ON - 1)
    desk.end()
    assert len(desk.waiting) == len(desk.files) == 1


def test_a_transcript_that_is_gone_went_on_no_further(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(87)
    desk.transcript().unlink()
    desk.end()
    assert len(desk.waiting) == 1


@pytest.mark.parametrize("reason", ["clear", "resume"])
def test_one_that_goes_on_in_its_client_leaves_its_handoff_alone(desk: Desk, reason: str) -> None:
    desk.begin_loop()
    desk.reach(87)
    desk.now += closing.GONE_ON + 60
    _work_until(desk, 0)
    desk.end(reason=reason)
    assert len(desk.entries) == 1


def test_a_plan_that_was_done_meanwhile_closes_it(desk: Desk) -> None:
    desk.begin_plan()
    desk.reach(87)
    put(desk.project / ".claude" / "PLAN.md", PLAN.replace("[ ]", "[x]"))
    outcome = desk.end()
    assert desk.waiting == []
    assert desk.entries[0]["closed"] == handoffs.DONE
    assert "the handoff is closed: nothing is left to go on with" in outcome.notes


def test_a_handoff_that_nothing_held_is_not_closed(desk: Desk) -> None:
    desk.reach(96)
    desk.end()
    assert len(desk.waiting) == 1


def test_a_run_hands_on_its_own(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    desk.reach(87)
    desk.now += closing.GONE_ON + 60
    _work_until(desk, 0)
    desk.end()
    assert len(desk.waiting) == 1


def test_a_loop_that_waits_leaves_its_handoff_open(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(87)
    actions.pause(desk.ours, "s1", now=desk.now)
    desk.end()
    assert len(desk.waiting) == 1


def test_a_loop_that_got_nowhere_leaves_its_handoff_to_the_next_session(desk: Desk) -> None:
    configure("ralph.no_progress", 1)
    desk.start()
    desk.begin_loop()
    outcome = desk.stop()
    assert "Handoff: " in user(outcome)
    desk.end()
    assert RESUME in model(desk.start(session="s2"))


def test_whoever_ends_without_a_transcript_has_nothing_to_close(desk: Desk) -> None:
    desk.end()
    assert desk.entries == []


# --- a handoff that the session was given -------------------------------------------------------


def _leave(desk: Desk) -> None:
    """The session "s1" wrote a handoff and has ended."""
    desk.start()
    desk.begin_loop()
    desk.reach(87)
    desk.end()


def test_what_a_session_did_nothing_with_waits_again(desk: Desk) -> None:
    _leave(desk)
    assert RESUME in model(desk.start(session="s2"))
    desk.add(prompt("go on"), session="s2")

    outcome = desk.end("s2")

    assert "nothing was done with the handoff: it waits again" in outcome.notes
    assert len(desk.waiting) == 1
    assert RESUME in model(desk.start(session="s3"))


def test_what_a_session_has_worked_with_does_not(desk: Desk) -> None:
    _leave(desk)
    desk.start(session="s2")
    desk.fill(10, session="s2")
    desk.end("s2")
    assert desk.waiting == []
    assert RESUME not in model(desk.start(session="s3"))


def test_one_that_ended_behind_its_compaction_finds_it_again(desk: Desk) -> None:
    desk.start()
    desk.begin_loop()
    desk.reach(87)
    desk.add({"type": "system", "subtype": "compact_boundary"})
    assert RESUME in model(desk.start("compact"))
    desk.end()
    assert RESUME in model(desk.start("resume"))


def test_of_a_session_that_was_given_none_nothing_waits_again(desk: Desk) -> None:
    _leave(desk)
    assert desk.end("s7").notes == []
    assert len(desk.waiting) == 1


def test_a_session_that_was_resumed_and_left_finds_it_again(desk: Desk) -> None:
    _leave(desk)
    desk.now += 60
    assert RESUME in model(desk.start("resume"))
    desk.now += 60
    desk.end()
    assert RESUME in model(desk.start("resume"))


def test_whoever_clears_twice_is_given_it_still(desk: Desk) -> None:
    desk.start()
    desk.begin_loop()
    desk.reach(87)
    desk.end(reason="clear")
    assert RESUME in model(desk.start("clear", "s2"))
    desk.end("s2", reason="clear")
    assert RESUME in model(desk.start("clear", "s3"))
