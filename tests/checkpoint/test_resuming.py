"""Who is given the handoff that waits, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import configure, put
from ralph.lines import prompt

from checkpoint.desk import DAY, RESUME, Desk, first_line, model, user
from sisyphus.checkpoint import gather, handoffs
from sisyphus.workspace import RUN_VARIABLE

if TYPE_CHECKING:
    import subprocess

    from sisyphus._types import Checkpoint


def _leave(desk: Desk, session: str = "s1") -> Checkpoint:
    """The session wrote a handoff and has ended."""
    desk.start(session=session)
    desk.reach(96, session)
    desk.end(session)
    return desk.waiting[-1]


def _is_given(desk: Desk, source: str, session: str) -> bool:
    return RESUME in model(desk.start(source, session))


# --- the same session ---------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_a_session_that_goes_on_is_given_its_own_once(desk: Desk, source: str) -> None:
    desk.begin_loop()
    desk.reach(87)
    [entry] = desk.waiting

    outcome = desk.start(source)

    assert model(outcome).count(RESUME) == 1
    assert entry["handoff_file"] in model(outcome)
    assert f"This session goes on from the handoff {entry['handoff_file']}." in user(outcome)
    assert desk.entries[0]["closed"] == handoffs.DELIVERED
    assert desk.entries[0].get("given_to") == "s1"
    assert not _is_given(desk, source, "s1")


def test_another_session_that_is_resumed_is_not_given_it(desk: Desk) -> None:
    _leave(desk)
    assert not _is_given(desk, "resume", "s2")
    assert len(desk.waiting) == 1


def test_a_resumed_context_is_as_full_as_it_was(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(87)
    desk.start("resume")
    assert first_line(desk.reach(88)) == ""


# --- a compaction -------------------------------------------------------------------------------


def test_behind_a_compaction_every_level_is_told_anew(desk: Desk) -> None:
    """Neither the line of the compaction nor an answer behind it is written yet."""
    desk.begin_loop()
    desk.reach(87)
    desk.now += 1
    desk.start("compact")

    assert first_line(desk.prompt()) == ""
    assert desk.known()["told"] == 0
    desk.now += 1
    assert first_line(desk.reach(72)) == "CCS_WARNING|L1|72|Context at 72%"
    assert first_line(desk.reach(87)).startswith("CCS_CHECKPOINT_TRIGGERED|L2|87|")


def test_an_answer_of_before_that_is_written_late_fills_nothing(desk: Desk) -> None:
    desk.now += 1
    desk.start("compact")
    desk.now -= 1
    assert first_line(desk.reach(96)) == ""


@pytest.mark.parametrize("source", ["clear", "startup"])
def test_an_empty_context_is_told_of_every_level_anew(desk: Desk, source: str) -> None:
    desk.reach(72)
    desk.start(source)
    assert desk.known()["told"] == 0


# --- /clear -------------------------------------------------------------------------------------


def test_whoever_clears_goes_on_from_what_the_client_was_at(desk: Desk) -> None:
    _leave(desk, "s0")
    desk.start(session="s1")
    desk.begin_loop()
    desk.reach(87)
    desk.end(reason="clear")

    outcome = desk.start("clear", "s2")

    assert desk.entries[-1].get("given_to") == "s2"
    assert desk.entries[-1]["handoff_file"] in model(outcome)
    assert not _is_given(desk, "clear", "s3")


def test_whoever_clears_without_one_is_given_what_others_left(desk: Desk) -> None:
    desk.start(session="s1")
    desk.end(reason="clear")
    _leave(desk, "s0")
    assert _is_given(desk, "clear", "s2")


# --- a new session ------------------------------------------------------------------------------


def test_the_latest_that_was_left_is_given_to_one(desk: Desk) -> None:
    _leave(desk, "s1")
    desk.now += 60
    latest = _leave(desk, "s2")

    outcome = desk.start(session="s3")

    assert latest["handoff_file"] in model(outcome)
    assert f"the handoff {latest['handoff_file']} was given to this session" in outcome.notes
    assert [entry.get("given_to") for entry in desk.entries] == ["s2", "s3"]
    assert not _is_given(desk, "startup", "s4")


def test_a_session_that_a_living_client_is_in_keeps_its_own(
    desk: Desk, client: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.start(session="s1")
    desk.reach(96)
    monkeypatch.delenv("CLAUDE_PID")

    assert not _is_given(desk, "startup", "s2")
    client.kill()
    client.wait()
    assert _is_given(desk, "startup", "s3")


@pytest.mark.parametrize(
    ("days", "is_given"),
    [pytest.param(13.9, True, id="fresh"), pytest.param(14.1, False, id="old")],
)
def test_an_old_one_is_given_to_nobody(desk: Desk, days: float, *, is_given: bool) -> None:
    _leave(desk)
    desk.now += days * DAY
    assert _is_given(desk, "startup", "s2") is is_given


def test_the_user_says_what_is_old(desk: Desk) -> None:
    _leave(desk)
    desk.now += 2 * DAY
    configure("checkpoint.keep_days", 1)
    assert not _is_given(desk, "startup", "s2")


def test_a_fork_holds_what_its_parent_does(desk: Desk) -> None:
    _leave(desk)
    assert not _is_given(desk, "fork", "s2")
    assert len(desk.waiting) == 1


def test_an_iteration_of_a_run_has_it_in_its_prompt(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    _leave(desk)
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    assert not _is_given(desk, "startup", "s2")
    assert len(desk.waiting) == 1


def test_what_an_iteration_left_is_its_runs(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    _leave(desk)
    monkeypatch.delenv(RUN_VARIABLE)
    assert not _is_given(desk, "startup", "s2")


def test_an_iteration_that_is_compacted_is_given_its_own(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    desk.reach(96)
    assert _is_given(desk, "compact", "s1")


def test_the_user_is_told_where_the_loop_of_it_is_held(desk: Desk) -> None:
    desk.start()
    desk.begin_loop()
    desk.reach(87)
    desk.end()
    told = user(desk.start(session="s2"))
    assert "Its loop is held in session s1: `claude --resume s1`." in told


def test_without_a_loop_there_is_none_to_tell_of(desk: Desk) -> None:
    _leave(desk)
    told = user(desk.start(session="s2"))
    assert "goes on from the handoff" in told
    assert "Its loop" not in told


def test_a_checkpoint_that_was_asked_for_is_given_as_well(desk: Desk) -> None:
    desk.start()
    desk.fill(30)
    gather.checkpoint_now(desk.space(), "s1")
    desk.end()
    assert _is_given(desk, "startup", "s2")


def test_of_a_handoff_that_is_gone_the_rest_is_given(desk: Desk) -> None:
    entry = _leave(desk)
    desk.files[0].unlink()

    outcome = desk.start(session="s2")

    assert model(outcome).count(RESUME) == 1
    assert entry["handoff_file"] not in model(outcome) + user(outcome)
    assert "Handoff Document" not in model(outcome)
    assert "This session goes on from a handoff whose file is gone." in user(outcome)
    assert "the handoff (its file is gone) was given to this session" in outcome.notes
    assert [piece.path for piece in outcome.texts if piece.kind == "checkpoint"] == [""]


def test_a_folder_in_the_place_of_a_handoff_is_no_error(desk: Desk) -> None:
    _leave(desk)
    desk.files[0].unlink()
    (desk.project / desk.waiting[0]["handoff_file"]).mkdir()
    assert _is_given(desk, "startup", "s2")


STRANGE = [
    pytest.param('{"version": 2, "handoffs": [{"active": true}]}', id="of a newer version"),
    pytest.param("{", id="unreadable"),
    pytest.param('{"handoffs": 7}', id="no list"),
    pytest.param('{"handoffs": [7, null, {"active": true, "timestamp": 5}]}', id="no entries"),
]


@pytest.mark.parametrize("text", STRANGE)
def test_a_strange_index_gives_nothing_and_stays(desk: Desk, text: str) -> None:
    put(desk.index, text)
    assert model(desk.start()) == ""
    assert desk.index.read_text("utf-8") == text


def test_switched_off_nobody_is_given_anything(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    _leave(desk)
    monkeypatch.setenv("SISYPHUS_CHECKPOINT_ENABLED", "0")
    assert not _is_given(desk, "startup", "s2")
    assert len(desk.waiting) == 1


# --- a client that was killed -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "is_given"),
    [pytest.param(False, True, id="before it answered"), pytest.param(True, False, id="at work")],
)
def test_what_a_killed_client_was_given_waits_again_unless_it_answered(
    desk: Desk,
    client: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
    *,
    answers: bool,
    is_given: bool,
) -> None:
    _leave(desk, "s1")
    desk.now += 60
    assert _is_given(desk, "startup", "s2")
    desk.add(prompt("go on"), session="s2")
    if answers:
        desk.reach(10, "s2")
    monkeypatch.delenv("CLAUDE_PID")
    assert not _is_given(desk, "startup", "s3")  # the client lives
    client.kill()
    client.wait()

    assert _is_given(desk, "startup", "s4") is is_given
    assert not _is_given(desk, "startup", "s5")
