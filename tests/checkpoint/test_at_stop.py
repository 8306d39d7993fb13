"""A held session may stop for the sake of its context; the loop stays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from making import configure, debug_log, ours, put
from ralph.lines import prompt, said

from checkpoint.desk import LOOP, PROMISE, RESUME, SMALL, Desk, model, user
from checkpoint.telling import answer
from sisyphus.boulder.enforcing import enforce
from sisyphus.checkpoint import at_stop, handoffs, store
from sisyphus.checkpoint.size import gauge
from sisyphus.ralph import actions, iterations
from sisyphus.workspace import RUN_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus.clients.base import Outcome


def _answered(desk: Desk, percent: float) -> None:
    """The model answers without a tool."""
    record = answer(round(SMALL * percent / 100))
    record["message"]["content"] = [{"type": "text", "text": "done so far"}]
    desk.add(record)


def _is_let_go(outcome: Outcome) -> bool:
    return outcome.reason is None and any("checkpointed" in note for note in outcome.notes)


def test_at_the_second_level_the_session_may_stop_and_the_loop_stays(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(87)

    outcome = desk.stop()

    assert outcome.reason is None
    assert "allowed: checkpointed: a fresh context goes on" in outcome.notes
    assert user(outcome).startswith("[CHECKPOINTED]\n\nThe work stops here at 87% of its context;")
    assert f"Its handoff: {desk.waiting[0]['handoff_file']}\n" in user(outcome)
    loop = desk.loop()
    assert (loop.iteration, loop.is_paused) == (1, False)
    [row] = iterations.rows(desk.ours, loop.loop_id)
    assert (row["decision"], row["iteration"]) == ("allowed", 1)


def test_it_may_as_long_as_the_handoff_waits(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(87)
    assert [desk.stop().reason for _ in range(9)] == [None] * 9
    assert desk.loop().iteration == 1
    assert len(desk.entries) == 1


def test_a_row_says_how_full_the_context_was(desk: Desk) -> None:
    desk.begin_loop()
    for percent in (30, 42.25, 87):
        desk.reach(percent)
        desk.stop()
    rows = iterations.rows(desk.ours, desk.loop().loop_id)
    assert [row.get("context") for row in rows] == [30.0, 42.2, 87.0]


def test_a_row_says_it_of_the_window_that_the_client_reports(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(30)
    store.note_reported(desk.ours, "s1", 5 * SMALL)
    desk.stop()
    desk.stop()
    rows = iterations.rows(desk.ours, desk.loop().loop_id)
    assert [row["context"] for row in rows] == [6.0, 6.0]


def test_a_stop_asks_nothing_more_to_say_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.begin_loop()
    desk.reach(30)
    looks: list[object] = []
    read = gauge.read

    def counted(*words: Any, **named: Any) -> gauge.Reading:
        looks.append(words)
        return read(*words, **named)

    monkeypatch.setattr(gauge, "read", counted)
    monkeypatch.setitem(sys.modules, "sisyphus.checkpoint.size.fullness", None)

    desk.stop()

    [row] = iterations.rows(desk.ours, desk.loop().loop_id)
    assert (row["context"], len(looks)) == (30.0, 1)


def test_a_stop_at_which_the_last_loop_ends_looks_at_no_context(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lets the session stop anyway, and so the last row does not say how full it was."""
    desk.begin_loop()
    loop_id = desk.loop().loop_id
    desk.reach(30)
    desk.stop()
    monkeypatch.setitem(sys.modules, "sisyphus.checkpoint.at_stop", None)
    desk.stop(PROMISE)
    assert [row.get("context") for row in iterations.rows(desk.ours, loop_id)] == [30.0, None]


def test_the_row_of_a_loop_that_ends_at_its_limit_says_how_full_it_was(desk: Desk) -> None:
    loop_id = desk.begin_loop(args=f"{LOOP} --max-iterations 1").loop_id
    desk.reach(30)
    desk.stop()
    [row] = iterations.rows(desk.ours, loop_id)
    assert (row["decision"], row["context"]) == ("ended", 30.0)


UNKNOWN = [
    pytest.param(1, id="too little to be weighed"),
    pytest.param(0, id="nothing was answered"),
]


@pytest.mark.parametrize("percent", UNKNOWN)
def test_what_is_not_known_is_not_in_the_row(desk: Desk, percent: int) -> None:
    desk.begin_loop()
    if percent:
        desk.reach(percent)
    desk.stop()
    [row] = iterations.rows(desk.ours, desk.loop().loop_id)
    assert "context" not in row


GO_ON = [
    pytest.param("resume", "s1", id="the session is resumed"),
    pytest.param("compact", "s1", id="its context is compacted"),
    pytest.param("clear", "s2", id="its context is cleared"),
]


@pytest.mark.parametrize(("source", "session"), GO_ON)
def test_whoever_was_given_the_handoff_is_held_again(desk: Desk, source: str, session: str) -> None:
    desk.start()
    desk.begin_loop()
    desk.reach(87)
    desk.stop()
    desk.now += 60
    if source != "compact":
        desk.end(reason=source)

    start = desk.start(source, session)
    if source != "resume":
        desk.add(prompt("go on"), session=session)
        desk.fill(10, session=session)
    stop = desk.stop(session=session)

    assert model(start).count(RESUME) == 1
    assert stop.reason is not None
    assert desk.loop(session).iteration == 2


def test_a_promise_comes_before_a_full_context(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(96)
    outcome = desk.stop(PROMISE)
    assert "[RALPH LOOP COMPLETE]" in user(outcome)
    assert "[CHECKPOINTED]" not in user(outcome)
    assert desk.entries[0]["closed"] == handoffs.DONE
    assert desk.waiting == []
    assert model(desk.start(session="s2")) == ""


def test_the_third_level_may_be_reached_by_a_turn_without_tools(desk: Desk) -> None:
    desk.begin_loop()
    _answered(desk, 96)

    outcome = desk.stop()

    [entry] = desk.waiting
    assert (entry["level"], entry["occasion"]) == ("L3", "level")
    assert "allowed: checkpointed: the context is 96% full (L3)" in outcome.notes
    assert f"Its handoff: {entry['handoff_file']}\n" in user(outcome)
    assert desk.known()["told"] == 3
    assert _is_let_go(desk.stop())
    assert len(desk.entries) == 1


@pytest.mark.parametrize("percent", [60, 72, 87, 94.9])
def test_the_second_may_not(desk: Desk, percent: float) -> None:
    desk.begin_loop()
    _answered(desk, percent)
    assert desk.stop().reason is not None
    assert desk.entries == []


def test_one_that_goes_on_behind_a_compaction_is_held_until_the_third(desk: Desk) -> None:
    configure("checkpoint.hand_over", False)
    desk.begin_loop()
    desk.reach(87)
    assert desk.stop().reason is not None
    desk.reach(96)
    assert _is_let_go(desk.stop())


def test_the_third_level_is_handed_over_behind_the_second(desk: Desk) -> None:
    configure("checkpoint.hand_over", False)
    desk.begin_loop()
    desk.reach(87)
    _answered(desk, 96)
    assert _is_let_go(desk.stop())
    assert desk.waiting[0]["level"] == "L3"


def test_a_stop_that_reached_the_third_level_has_told_it(desk: Desk) -> None:
    desk.begin_loop()
    _answered(desk, 96)
    desk.stop()
    desk.now += 60
    assert model(desk.prompt()) == ""
    assert "pending" not in desk.known()
    assert len(desk.entries) == 1


def test_the_handoff_of_the_third_level_is_written_once(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(96)
    for _ in range(3):
        desk.now += 60
        assert _is_let_go(desk.stop())
    assert len(desk.entries) == 1


def test_one_that_is_asked_for_behind_the_third_level_is_the_one_that_is_named(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(96)
    desk.prompt("/sisyphus:ralph-checkpoint")
    outcome = desk.stop()
    assert _is_let_go(outcome)
    assert f"Its handoff: {desk.waiting[0]['handoff_file']}\n" in user(outcome)
    assert len(desk.entries) == 2


def test_a_compaction_behind_the_second_level_lets_it_stop_still(desk: Desk) -> None:
    """Until the handoff is given to it."""
    desk.begin_loop()
    desk.reach(87)
    desk.compact()
    assert [entry.get("lets_stop") for entry in desk.entries] == [True, True]
    assert _is_let_go(desk.stop())
    desk.start("compact")
    assert desk.stop().reason is not None


def test_a_session_whose_handoff_was_given_to_it_may_stop_at_the_third(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(96)
    desk.start("resume")
    outcome = desk.stop()
    assert _is_let_go(outcome)
    assert f"Its handoff: {desk.waiting[0]['handoff_file']}\n" in user(outcome)
    assert [entry["active"] for entry in desk.entries] == [False, True]


@pytest.mark.parametrize("percent", [60, 87])
def test_a_checkpoint_that_was_asked_for_lets_nobody_stop(desk: Desk, percent: float) -> None:
    desk.begin_loop()
    desk.fill(percent)
    desk.prompt("/sisyphus:ralph-checkpoint")
    assert len(desk.waiting) == 1
    assert desk.stop().reason is not None


def test_one_that_is_asked_for_behind_a_level_changes_nothing(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(87)
    assert desk.stop().reason is None
    desk.prompt("/sisyphus:ralph-checkpoint")
    assert desk.stop().reason is None


def test_a_plan_that_is_enforced_lets_go_as_well(desk: Desk) -> None:
    desk.begin_plan()
    enforce(desk.space(), on=True)
    desk.add(prompt("go on"))
    assert desk.stop().reason is not None
    desk.reach(87)
    assert _is_let_go(desk.stop())


def test_an_answer_of_before_a_compaction_fills_nothing(desk: Desk) -> None:
    desk.begin_loop()
    _answered(desk, 96)
    desk.start("compact")
    assert desk.stop().reason is not None


OFF = [
    pytest.param("checkpoint.enabled", False, id="it is switched off"),
    pytest.param("checkpoint.window", 1_000_000, id="the window is larger"),
]


@pytest.mark.parametrize(("key", "value"), OFF)
def test_what_the_user_set_counts(desk: Desk, key: str, value: object) -> None:
    configure(key, value)
    desk.begin_loop()
    desk.reach(96)
    assert desk.stop().reason is not None
    assert desk.entries == []


def test_a_small_window_that_the_user_set_counts(desk: Desk) -> None:
    configure("checkpoint.window", 20000)
    desk.begin_loop()
    _answered(desk, 9.7)
    assert _is_let_go(desk.stop())


def test_a_loop_that_is_paused_is_no_matter_of_the_context(desk: Desk) -> None:
    desk.begin_loop()
    actions.pause(desk.ours, "s1", now=desk.now)
    desk.fill(96)
    outcome = desk.stop()
    assert "allowed: the loop is paused (user)" in outcome.notes
    assert desk.entries == []


# --- what goes wrong ----------------------------------------------------------------------------


def test_at_the_third_level_it_rests_although_no_handoff_can_be_written(
    desk: Desk, home: Path
) -> None:
    desk.begin_loop()
    put(desk.index, '{"version": 2}')
    _answered(desk, 96)

    outcome = desk.stop()

    assert _is_let_go(outcome)
    assert "Its handoff: " not in user(outcome)
    assert "no handoff: " in debug_log(home)
    assert "newer" in debug_log(home)
    assert desk.loop().iteration == 1


def test_of_no_handoff_it_is_not_said_that_the_loop_goes_on_from_it(desk: Desk) -> None:
    desk.begin_loop()
    put(desk.index, '{"version": 2}')
    _answered(desk, 96)
    assert "from the handoff" not in user(desk.stop())


def test_where_the_last_one_cannot_be_written_that_of_the_second_level_is_named(
    desk: Desk, home: Path
) -> None:
    desk.begin_loop()
    desk.reach(87)
    [entry] = desk.waiting
    newer = put(ours(home, "checkpoint/s1.json"), '{"version": 2, "told": 2}')
    _answered(desk, 96)

    outcome = desk.stop()

    assert _is_let_go(outcome)
    assert f"Its handoff: {entry['handoff_file']}\n" in user(outcome)
    assert newer.read_text("utf-8") == '{"version": 2, "told": 2}'
    assert "newer" in debug_log(home)


def test_what_is_known_by_a_newer_version_holds_nobody_at_the_third_level(
    desk: Desk, home: Path
) -> None:
    desk.begin_loop()
    put(ours(home, "checkpoint/s1.json"), '{"version": 2}')
    _answered(desk, 96)
    assert _is_let_go(desk.stop())


def test_below_it_what_goes_wrong_lets_nobody_go(desk: Desk) -> None:
    desk.begin_loop()
    put(desk.index, '{"version": 2}')
    desk.reach(87)
    assert desk.stop().reason is not None


# --- fresh-context runs -------------------------------------------------------------------------


def test_an_iteration_of_a_run_is_never_held(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.begin_plan()
    enforce(desk.space(), on=True)
    desk.begin_loop()
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    for percent in (10, 87, 96):
        desk.reach(percent)
        outcome = desk.stop()
        assert outcome.reason is None
        assert "allowed: a fresh-context run decides what comes next" in outcome.notes
    monkeypatch.delenv(RUN_VARIABLE)
    assert desk.loop().iteration == 1


def test_a_name_that_is_none_marks_no_run(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "../x")
    desk.begin_loop()
    desk.add(said("x"))
    assert desk.stop().reason is not None


# --- a session that nothing holds -----------------------------------------------------------------


def _no_room(desk: Desk) -> str:
    before = desk.entries
    found = at_stop.no_room(desk.payload("stop"), desk.space())
    assert desk.entries == before
    return found


@pytest.mark.parametrize(
    ("percent", "why"), [(60, ""), (87, ""), (96, "the context is 96% full (L3)")]
)
def test_a_free_session_has_room_until_the_third_level(
    desk: Desk, percent: float, why: str
) -> None:
    desk.reach(percent)

    assert _no_room(desk) == why


def test_a_free_session_that_is_to_hand_over_has_none(desk: Desk) -> None:
    desk.begin_plan()
    desk.reach(87)

    assert _no_room(desk) == "the context is 87% full, and its checkpoint waits"
    desk.now += 60
    desk.end(reason="resume")
    desk.start("resume")
    assert _no_room(desk) == ""


def test_a_checkpoint_that_was_asked_for_takes_no_room(desk: Desk) -> None:
    desk.fill(60)
    desk.prompt("/sisyphus:ralph-checkpoint")
    assert desk.waiting
    desk.reach(87)

    assert _no_room(desk) == ""


def test_where_nobody_watches_there_is_room(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SISYPHUS_CHECKPOINT_ENABLED", "0")
    desk.reach(96)

    assert _no_room(desk) == ""
