"""What each event of a session means for its context."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from making import configure, debug_log, ours, put, stored

from checkpoint.desk import LARGE, SMALL, Desk, first_line, model, user
from sisyphus.checkpoint import store
from sisyphus.checkpoint.size import gauge

if TYPE_CHECKING:
    from pathlib import Path

WARNED = "CCS_WARNING|L1|72|Context at 72%"


# --- when there is a look -----------------------------------------------------------------------


def test_each_event_that_the_model_reads_tells_of_a_level(desk: Desk) -> None:
    for number, event in enumerate(("post-tool-use", "user-prompt-submit")):
        session = f"s{number}"
        desk.fill(72, session=session)
        assert first_line(desk.ask(event, session)) == WARNED, event


def test_a_subagent_is_told_nothing(desk: Desk) -> None:
    call = desk.fill(87)
    for event in ("post-tool-use", "user-prompt-submit", "session-start"):
        assert model(desk.ask(event, agent_id="a1", tool_use_id=call, source="startup")) == ""
    assert desk.compact(agent_id="a1").keep == []
    assert not os.path.exists(store.path(desk.ours, "s1"))


def test_a_turn_of_the_machine_is_no_turn_to_tell_it_in(desk: Desk) -> None:
    desk.fill(72)
    assert model(desk.prompt("<task-notification>\ndone</task-notification>")) == ""
    assert first_line(desk.prompt()) == WARNED


NAMELESS = [
    pytest.param({"session_id": ""}, id="no session"),
    pytest.param({"session_id": "../x"}, id="a session that is none"),
    pytest.param({"transcript_path": ""}, id="no transcript"),
    pytest.param({"transcript_path": "/nowhere"}, id="one that is not there"),
    pytest.param({"transcript_path": 7}, id="one that is none"),
]


@pytest.mark.parametrize("fields", NAMELESS)
@pytest.mark.parametrize(
    "event", ["post-tool-use", "user-prompt-submit", "session-end", "pre-compact", "stop"]
)
def test_what_the_client_does_not_say_is_no_error(
    desk: Desk, event: str, fields: dict[str, Any]
) -> None:
    desk.fill(87)
    outcome = desk.ask(event, **fields)
    assert (model(outcome), outcome.keep) == ("", [])


def test_few_tokens_cost_no_file(desk: Desk) -> None:
    desk.add({"type": "user"})
    for percent in (1, 10, 17):
        assert model(desk.reach(percent)) == ""
    assert not os.path.exists(os.path.dirname(store.path(desk.ours, "s1")))


def test_a_small_window_that_the_user_set_makes_few_many(desk: Desk) -> None:
    configure("checkpoint.window", 20000)
    assert first_line(desk.reach(7.2)) == WARNED


def test_a_low_level_that_the_user_set_makes_few_many(desk: Desk) -> None:
    configure("checkpoint.l1", 20)
    assert first_line(desk.reach(21)).startswith("CCS_WARNING|L1|21|")


@pytest.mark.parametrize(("level", "least"), [(70, 35_000), (100, 50_000), (1, 500)])
def test_few_are_few_for_the_first_level(desk: Desk, level: int, least: int) -> None:
    configure("checkpoint.l1", level)
    assert gauge.least_tokens(desk.space(), {"window": 200_000}) == least
    assert gauge.least_tokens(desk.space(), {"client": "opencode"}) == 0


def test_switched_off_nothing_is_told_and_nothing_kept(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SISYPHUS_CHECKPOINT_ENABLED", "0")
    desk.begin_loop()
    assert model(desk.reach(87)) == model(desk.prompt()) == ""
    assert desk.compact().keep == []
    assert desk.prompt("/sisyphus:ralph-context").reason is None
    assert desk.prompt("/sisyphus:ralph-checkpoint").reason is None
    desk.end()
    assert desk.files == []
    assert not os.path.exists(os.path.dirname(store.path(desk.ours, "s1")))


# --- what the transcript does not hold yet ------------------------------------------------------


def test_near_a_level_the_newest_answer_is_waited_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.fill(65)
    waited = desk.write_late(72, monkeypatch)
    assert first_line(desk.batch("toolu_2")) == WARNED
    assert len(waited) == 1


def test_the_first_answer_of_a_session_is_waited_for_in_a_small_window(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure("checkpoint.window", 60000)
    desk.add({"type": "user", "message": {"content": "do it"}})
    desk.write_late(21.6, monkeypatch)
    assert first_line(desk.batch("toolu_1")) == WARNED


def test_the_first_answer_of_a_session_is_not_waited_for(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh context is far from all levels; else the next batch tells it."""
    desk.add({"type": "user", "message": {"content": "do it"}})
    waited = desk.write_late(72, monkeypatch)
    assert model(desk.batch("toolu_1")) == ""
    assert waited == []
    assert not os.path.exists(store.path(desk.ours, "s1"))
    assert first_line(desk.reach(72)) == WARNED


def test_far_from_all_levels_nobody_waits(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.fill(30)
    waited = desk.write_late(72, monkeypatch)
    assert model(desk.batch("toolu_2")) == ""
    assert waited == []


def test_after_one_tool_alone_nobody_waits(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch comes behind it."""
    desk.fill(65)
    waited = desk.write_late(72, monkeypatch)
    assert model(desk.ask("post-tool-use", tool_use_id="toolu_2")) == ""
    assert waited == []


def test_a_transcript_that_is_not_there_yet_is_no_error(desk: Desk) -> None:
    assert model(desk.batch("toolu_1")) == ""


@pytest.mark.parametrize("event", ["post-tool-use", "user-prompt-submit"])
def test_what_cannot_be_read_once_is_no_empty_context(desk: Desk, event: str) -> None:
    desk.reach(87)
    before = desk.known()
    assert model(desk.ask(event, transcript_path="/nowhere", prompt="go on")) == ""
    assert desk.known() == before


def test_a_transcript_that_cannot_be_read_once_makes_nothing_forgotten(desk: Desk) -> None:
    desk.reach(72)
    desk.prompt(transcript_path="/nowhere")
    assert model(desk.reach(73)) == ""


def test_what_the_client_reports_is_the_window(desk: Desk) -> None:
    store.note_reported(desk.ours, "s1", LARGE)
    assert model(desk.reach(87)) == ""
    assert first_line(desk.reach(72, window=LARGE)) == WARNED


# --- what was weighed before --------------------------------------------------------------------


def test_what_reaches_no_level_is_weighed_once(desk: Desk) -> None:
    desk.reach(30)
    assert (desk.known()["quiet_below"], desk.known()["quiet_window"]) == (140_000, SMALL)
    before = os.stat(store.path(desk.ours, "s1")).st_mtime_ns
    assert [model(desk.reach(percent)) for percent in (31, 50, 69.9)] == [""] * 3
    assert os.stat(store.path(desk.ours, "s1")).st_mtime_ns == before
    assert first_line(desk.reach(72)) == WARNED


def test_another_model_is_weighed_anew(desk: Desk) -> None:
    large: Any = {"window": LARGE, "requestedModel": "claude-opus-5-5"}
    desk.reach(15, **large)
    assert desk.known()["quiet_below"] == 700_000
    assert first_line(desk.reach(72)) == WARNED


@pytest.mark.parametrize("is_late", [False, True])
def test_a_window_that_the_client_reports_is_weighed_anew(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *, is_late: bool
) -> None:
    """The hook of a quick tool may find the answer before the newest one, each time."""
    monkeypatch.setattr(gauge, "LATE_SECONDS", 0)
    opus: Any = {"requestedModel": "claude-opus-5-5"}
    desk.reach(60, **opus)
    store.note_reported(desk.ours, "s1", SMALL)
    call = desk.fill(72, **opus)
    assert first_line(desk.batch("toolu_late" if is_late else call)) == WARNED


def test_near_a_level_the_answer_is_waited_for_although_it_is_quiet(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.reach(30)
    desk.reach(65)
    desk.write_late(72, monkeypatch)
    assert first_line(desk.batch("toolu_3")) == WARNED


def test_a_session_that_is_resumed_is_weighed_anew(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.start()
    desk.reach(30, requestedModel="claude-opus-5-5")
    desk.end()
    monkeypatch.setenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "200000")
    desk.start("resume")
    assert first_line(desk.reach(72, requestedModel="claude-opus-5-5")) == WARNED


def test_a_level_that_the_user_lowers_counts_at_once(desk: Desk) -> None:
    desk.reach(30)
    configure("checkpoint.l1", 40)
    assert first_line(desk.reach(45)).startswith("CCS_WARNING|L1|45|")


# --- what goes wrong ----------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_disturbs_nobody(desk: Desk, home: Path) -> None:
    desk.begin_loop()
    store.note(desk.ours, "s1", {"looked": True})
    path = desk.index
    put(path.parent / "handoffs.json" / "x", "a folder in the place of the file")
    outcome = desk.reach(87)
    assert outcome.reason is None
    assert desk.start("resume").reason is None
    assert path.is_dir() or list(path.parent.glob("handoffs.json.corrupt-*"))
    assert "Traceback" not in debug_log(home)


def test_an_index_of_a_newer_version_stays_as_it_is(desk: Desk, home: Path) -> None:
    desk.begin_loop()
    newer = '{"version": 2, "handoffs": [{"active": true, "session_id": "s1"}]}'
    put(desk.index, newer)

    outcomes = [desk.reach(87), desk.compact(), desk.start("resume"), desk.end()]

    assert [outcome.reason for outcome in outcomes] == [None] * 4
    assert any("no handoff could be written" in note for note in outcomes[0].notes)
    assert any("no handoff could be written" in note for note in outcomes[1].notes)
    assert desk.index.read_text("utf-8") == newer
    assert "newer sisyphus" in debug_log(home)


def test_a_level_is_told_although_no_handoff_can_be_written(desk: Desk) -> None:
    desk.begin_loop()
    put(desk.index, '{"version": 2}')
    outcome = desk.reach(87)
    assert first_line(outcome) == "CCS_WARNING|L2|87|Context at 87%"
    assert user(outcome).startswith("Context at 87%. No handoff could be written: ")
    assert first_line(desk.reach(88)) == ""
    assert "No handoff could be written" in user(desk.reach(96))


def test_an_unreadable_index_is_set_aside(desk: Desk) -> None:
    desk.begin_loop()
    put(desk.index, "{")
    assert first_line(desk.reach(87)).startswith("CCS_CHECKPOINT_TRIGGERED|L2|87|")
    assert len(desk.waiting) == 1
    assert len(list(desk.index.parent.glob("*.corrupt-*"))) == 1


def test_what_is_known_by_a_newer_version_stays(desk: Desk, home: Path) -> None:
    path = put(ours(home, "checkpoint/s1.json"), '{"version": 2, "looked": true}')
    assert model(desk.reach(87)) == ""
    assert stored(path) == {"version": 2, "looked": True}


# --- the start of a session ---------------------------------------------------------------------


def test_a_start_of_which_nothing_is_known_costs_no_file(desk: Desk) -> None:
    assert model(desk.start()) == ""
    assert not os.path.exists(os.path.dirname(store.path(desk.ours, "s1")))


def test_a_compaction_is_noted_whatever_is_known(desk: Desk) -> None:
    desk.start("compact")
    assert store.cut(desk.known())
