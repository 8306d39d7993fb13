from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import configure, ours

from ralph import lines
from ralph.sessions import ARGS, NOW, PROMISE, Session
from sisyphus.ralph import breaker
from sisyphus.ralph.loop import BY_BREAKER, BY_HOST_CAP, BY_STALENESS, BY_USER, Loop
from sisyphus.ralph.past import history
from sisyphus.session import client_process
from sisyphus.state import jsonl
from sisyphus.times import iso

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOUR = 3_600


@pytest.fixture
def session(home: Path, project: Path) -> Session:
    return Session(home, project)


def _loop(name: str = "aaaaa", paused_by: str = "", **fields: object) -> Loop:
    loop = Loop("s1", name, "do it")
    loop.started_at = iso(NOW - HOUR)
    for field, value in fields.items():
        setattr(loop, field, value)
    if paused_by:
        loop.pause(paused_by, NOW)
    return loop


LEFT = [
    pytest.param("", "abandoned", id="at work"),
    pytest.param(BY_USER, "abandoned", id="paused by the user"),
    pytest.param(BY_STALENESS, "abandoned", id="stale"),
    pytest.param(BY_BREAKER, "stuck", id="paused by its breaker"),
    pytest.param(BY_HOST_CAP, "stuck", id="paused before the client's cap"),
]


@pytest.mark.parametrize(("paused_by", "outcome"), LEFT)
@pytest.mark.parametrize("reason", ["prompt_input_exit", "logout", "other", ""])
def test_a_client_that_goes_leaves_its_loop_behind(
    session: Session, reason: str, paused_by: str, outcome: str
) -> None:
    session.has(_loop(paused_by=paused_by))

    left = session.ends(reason)

    assert left is not None
    assert left.notes == [f"loop aaaaa is left behind ({outcome}); a resume takes it up"]
    assert (left.reason, left.messages) == (None, [])
    assert session.log == [outcome]
    assert [loop.paused_by for loop in session.loops] == [paused_by]


def test_what_is_left_while_the_limit_holds_it_has_worked_until_then(session: Session) -> None:
    limit = {"for": "usage limit", "since": int(NOW) - 3_000, "until": 0}
    session.has(_loop(waiting=limit))
    session.ends("other")
    [line] = jsonl.read(history.log_path(session.ours))
    assert line["duration_seconds"] == 600
    assert [loop.paused_at for loop in session.loops] == [0]


@pytest.mark.parametrize("reason", ["clear", "resume"])
def test_a_client_that_goes_to_another_session_leaves_nothing(
    session: Session, reason: str
) -> None:
    session.has(_loop())

    assert session.ends(reason) is None
    assert session.log == []


def test_a_session_without_a_loop_just_ends(session: Session, home: Path) -> None:
    assert session.ends("other") is None
    assert not ours(home, "ralph").exists()


def test_a_resume_takes_up_all_that_was_left(session: Session) -> None:
    session.has(_loop("aaaaa"), _loop("bbbbb"))
    session.ends("other")

    outcome = session.begins("resume")

    assert outcome is not None
    assert outcome.notes == ["loop bbbbb is taken up"]
    assert "The loop of this session goes on: do it (iteration 1 without" in outcome.messages[0]
    assert session.log == ["abandoned", "abandoned", "active", "active"]
    assert session.stops().reason is not None


@pytest.mark.parametrize("by", [BY_USER, BY_HOST_CAP, BY_BREAKER])
def test_what_is_paused_has_not_ended_and_stays_paused(session: Session, by: str) -> None:
    session.has(_loop(paused_by=by))
    session.ends("other")

    assert session.begins("resume") is None
    assert session.log[-1] == "active"
    assert session.loops[0].paused_by == by


def test_the_promise_ends_a_loop_that_was_taken_up(session: Session) -> None:
    session.has(_loop(completion_promise="DONE"))
    session.ends("other")
    session.begins("resume")

    assert session.stops(PROMISE).reason is None
    assert session.log == ["abandoned", "active", "success"]


def test_where_ralph_is_switched_off_nothing_is_taken_up(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.has(_loop())
    monkeypatch.setenv("SISYPHUS_RALPH_ENABLED", "0")

    assert session.begins("resume") is None
    assert session.log == []


@pytest.fixture
def _unattended(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client has gone without a word, and another one has taken the session up."""
    session.has(_loop())
    path = ours(session.home, "ralph/loops/ralph-loop.s1.local.md")
    os.utime(path, (NOW - 5 * HOUR, NOW - 5 * HOUR))
    monkeypatch.setenv("CLAUDE_PID", str(os.getpid()))
    client_process.bind(session.ours, "s1", NOW)


@pytest.mark.usefixtures("_unattended")
def test_a_loop_that_nobody_was_at_for_hours_is_paused(session: Session) -> None:
    outcome = session.begins("resume")

    assert outcome is not None
    assert outcome.notes == ["loop aaaaa is stale"]
    assert "its client has gone and nothing moved for hours" in outcome.messages[0]
    assert session.loops[0].paused_by == BY_STALENESS
    assert session.stops().reason is None


@pytest.mark.usefixtures("_unattended")
def test_the_settings_say_what_hours_are_too_many(session: Session) -> None:
    configure("ralph.stale_hours", 6)

    outcome = session.begins("resume")

    assert outcome is not None
    assert outcome.notes == ["loop aaaaa is taken up"]


def test_a_session_without_a_loop_is_met_and_no_more(session: Session) -> None:
    assert session.begins("resume") is None
    assert session.memory.met_at == iso(NOW)


def test_a_compaction_makes_the_model_forget_the_prompt(session: Session) -> None:
    session.has(_loop("aaaaa"), _loop("bbbbb"))

    assert session.begins("compact") is not None
    assert [loop.prompt_known for loop in session.loops] == [False, False]


def test_without_a_loop_a_compaction_is_nothing(session: Session) -> None:
    assert session.begins("compact") is None


def test_a_fork_begins_without_a_loop(session: Session) -> None:
    session.writes(lines.typed(ARGS, timestamp=iso(NOW - HOUR)))
    session.begins("fork")

    assert session.stops().reason is None
    assert session.loops == []


def test_a_session_that_was_met_late_has_what_its_transcript_says(session: Session) -> None:
    early = {"timestamp": iso(NOW - HOUR)}
    session.writes(
        lines.typed(ARGS, **early), lines.said(PROMISE, **early), lines.prompt("x", **early)
    )
    session.begins("resume")

    assert session.stops().reason is None


# --- the user speaks ----------------------------------------------------------------------------


def _open(minutes: float) -> dict[str, object]:
    """A breaker that opened so long ago."""
    return {"state": breaker.OPEN, "opened_at": NOW - 60 * minutes}


HEARD = [
    pytest.param(BY_HOST_CAP, {}, True, id="before the client's cap"),
    pytest.param(BY_BREAKER, _open(31), True, id="by a breaker that has cooled down"),
    pytest.param(BY_BREAKER, _open(29), False, id="by a breaker that has not"),
    pytest.param(BY_USER, {}, False, id="by the user"),
    pytest.param(BY_STALENESS, {}, False, id="because nobody was there"),
]


@pytest.mark.parametrize(("paused_by", "state", "goes_on"), HEARD)
def test_the_users_prompt_takes_up_what_was_paused_for_him(
    session: Session, paused_by: str, state: dict[str, object], goes_on: bool
) -> None:
    session.has(_loop(paused_by=paused_by, breaker=state))

    outcome = session.submits("go on")

    assert session.loops[0].is_paused is not goes_on
    notes = outcome.notes if outcome else []
    assert notes == (["the loop goes on: the user spoke"] if goes_on else [])


def test_of_nested_loops_the_current_one_is_meant(session: Session) -> None:
    session.has(_loop("aaaaa", BY_HOST_CAP), _loop("bbbbb", BY_HOST_CAP))

    session.submits("go on")

    assert [loop.is_paused for loop in session.loops] == [True, False]


# --- a turn fails -------------------------------------------------------------------------------


def test_a_limit_is_waited_for_and_told(session: Session) -> None:
    session.has(_loop())

    outcome = session.fails(message="You've hit your 5-hour limit · resets 10pm (UTC)")

    assert outcome is not None
    assert outcome.reason is None
    assert "The loop waits for the usage limit to end. It ends at 20" in outcome.messages[0]
    assert "The loop goes on with your next prompt then." in outcome.messages[0]
    assert outcome.notes[0].startswith("the turn failed (rate_limit): You've hit your 5-hour")
    assert outcome.notes[1].startswith("the loop waits for the usage limit to end until 20")
    (loop,) = session.loops
    assert loop.waiting == {
        "for": "usage limit", "since": int(NOW), "until": int(NOW) + 12_000, "tries": 0,
    }  # fmt: skip
    assert loop.iteration == 1


def test_a_loop_that_resumes_says_so(session: Session) -> None:
    session.has(_loop(options={"resume_after_limit": True}))

    outcome = session.fails("overloaded", "API Error: 529")

    assert outcome is not None
    assert "The loop waits for the server's trouble to end. The loop goes on by" in str(
        outcome.messages
    )


def test_what_the_transcript_says_counts_first(session: Session) -> None:
    session.has(_loop())
    session.writes(
        lines.said("x", isApiErrorMessage=True, quotaLimits={"resetsAt": int(NOW) + HOUR})
    )

    session.fails()

    assert session.loops[0].waiting["until"] == int(NOW) + HOUR


@pytest.mark.parametrize("error", ["", "unknown", "invalid_request", "billing_error"])
def test_what_does_not_go_away_is_noted_alone(session: Session, error: str) -> None:
    session.has(_loop(waiting={"for": "rate limit", "since": 5, "until": 0, "tries": 3}))

    outcome = session.fails(error, "API Error: 400\n" + "x" * 999)

    assert outcome is not None
    assert outcome.messages == []
    assert outcome.notes == [f"the turn failed ({error or 'unknown'}): API Error: 400 " + "x" * 185]
    assert session.loops[0].waiting == {}


def test_failures_in_a_row_are_counted(session: Session) -> None:
    session.has(_loop())
    tries = []
    for _ in range(3):
        session.fails("server_error")
        tries.append(session.loops[0].waiting["tries"])

    assert tries == [0, 1, 2]


@pytest.mark.parametrize("before", ["x", None, 1.5, [], {}, True])
def test_a_count_that_is_none_begins_anew(session: Session, before: object) -> None:
    session.has(_loop(waiting={"tries": before}))

    session.fails()

    assert session.loops[0].waiting["tries"] == 0


GOES_ON: list[Callable[[Session], object]] = [
    lambda session: session.submits("go on"),
    lambda session: session.stops(),
]


@pytest.mark.parametrize("event", GOES_ON, ids=["a prompt", "a Stop"])
def test_who_goes_on_waits_no_more(session: Session, event: Callable[[Session], object]) -> None:
    session.has(_loop())
    session.fails()

    event(session)

    assert session.loops[0].waiting == {}


def test_a_loop_that_is_paused_waits_for_nothing(session: Session) -> None:
    session.has(_loop(paused_by=BY_USER))

    outcome = session.fails()

    assert outcome is not None
    assert outcome.messages == []
    assert outcome.notes == ["the turn failed (rate_limit): API Error: 429"]
    assert session.loops[0].waiting == {}


def test_without_a_loop_a_failure_is_nothing(session: Session, home: Path) -> None:
    assert session.fails() is None
    assert not ours(home, "ralph").exists()


def test_where_ralph_is_switched_off_nothing_waits(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.has(_loop())
    monkeypatch.setenv("SISYPHUS_RALPH_ENABLED", "0")

    assert session.fails() is None
    assert session.loops[0].waiting == {}
