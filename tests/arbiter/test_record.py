"""What a Stop leaves for people to read: rows, texts, and lines of the session log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import configure, ours, put
from ralph.lines import prompt, result, said, skill, typed, used

from arbiter.desk import ARGS, NOW, PROMISE
from sisyphus.clients import claude_code
from sisyphus.ralph import hooks, iterations
from sisyphus.ralph.actions import list_loops
from sisyphus.times import iso
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from arbiter.desk import Desk

    Exit = Callable[[Desk], object]

INNER = "<promise>INNER</promise>"


def _text(desk: Desk, loop_id: str, number: int) -> str:
    with open(iterations.text_path(desk.ours, loop_id, number)) as file:
        return file.read()


# --- rows and texts -----------------------------------------------------------------------------


def test_a_row_says_when_what_was_decided_and_why(desk: Desk) -> None:
    loop_id = desk.begin()
    desk.now = NOW + 60
    desk.add(used("Edit", "toolu_3", file_path="a.py"), result("done", "toolu_3"))
    desk.add(used("Bash", "toolu_4", command="make"), result("boom", "toolu_4", is_error=True))
    desk.answer("working")
    desk.now = NOW + 90
    desk.answer(PROMISE)

    first, second = desk.rows(loop_id)

    assert first == {
        "iteration": 1,
        "started_at": iso(NOW),
        "ended_at": iso(NOW + 60),
        "decision": "blocked",
        "why": "promise `DONE` not found in the last message (the message holds no promise tag)",
        "tools": 2,
        "edits": 1,
        "tokens": 0,
    }
    assert second == {
        "iteration": 2,
        "started_at": iso(NOW + 60),
        "ended_at": iso(NOW + 90),
        "decision": "ended",
        "why": "promise `DONE` kept",
        "tools": 0,
        "edits": 0,
        "tokens": 0,
    }


def test_a_text_says_what_was_said_and_called(desk: Desk) -> None:
    loop_id = desk.begin()
    desk.add(said("First the tests."), used("Bash", "toolu_4", command="make\ntest"))
    desk.add(result("boom\nat line 3", "toolu_4", is_error=True))
    desk.answer("They fail.")
    desk.answer(PROMISE)

    assert _text(desk, loop_id, 1) == (
        "First the tests.\n\n[Bash: make test]\n\n[failed: boom\nat line 3]\n\nThey fail.\n"
    )
    assert _text(desk, loop_id, 2) == f"{PROMISE}\n"
    full = iterations.full_text(desk.ours, loop_id)
    assert full.count("===") == 4
    assert "They fail." in full
    assert PROMISE in full


def test_a_stop_that_is_let_pass_is_a_row_of_the_same_iteration(desk: Desk) -> None:
    loop_id = desk.begin()
    desk.answer("waiting", background_tasks=[{"id": "b1"}])
    desk.answer("working")

    rows = desk.rows(loop_id)

    assert [(row["iteration"], row["decision"]) for row in rows] == [(1, "allowed"), (1, "blocked")]
    assert _text(desk, loop_id, 1).startswith("waiting\n\n")


def test_a_pause_is_a_row_and_what_is_said_while_it_lasts_is_none(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2")
    loop_id = desk.begin()
    for _ in range(4):
        desk.answer("working")

    assert [row["decision"] for row in desk.rows(loop_id)] == ["blocked", "paused"]


FREE = [
    pytest.param({"agent_id": "a1"}, id="a subagent"),
    pytest.param({"permission_mode": "plan"}, id="plan mode"),
    pytest.param({"session_id": "s2", "transcript_path": ""}, id="another session"),
]


@pytest.mark.parametrize("raw", FREE)
def test_stops_of_others_are_none(desk: Desk, raw: dict[str, object]) -> None:
    loop_id = desk.begin()
    desk.stop("working", **raw)

    assert desk.rows(loop_id) == []


def test_without_transcripts_nothing_is_kept(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SISYPHUS_RALPH_TRANSCRIPTS", "0")
    loop_id = desk.begin()
    desk.answer("working")
    desk.answer(PROMISE)

    assert desk.rows(loop_id) == []
    assert not ours(desk.home, "ralph/transcripts").exists()
    assert [line.get("outcome") for line in desk.log] == [None, "success"]


@pytest.mark.parametrize("kept", ["0", "1"])
def test_a_loop_tells_when_it_last_came_to_a_stop(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    monkeypatch.setenv("SISYPHUS_RALPH_TRANSCRIPTS", kept)
    desk.begin()
    [before] = list_loops(desk.ours, desk.now)
    desk.now = NOW + 60
    desk.answer("working")
    [row] = list_loops(desk.ours, desk.now)

    assert (before["last_stop_at"], row["last_stop_at"]) == (None, iso(NOW + 60))


def test_what_was_said_in_a_nested_loop_is_noted_there(desk: Desk) -> None:
    outer = desk.begin()
    inner = desk.nest()
    desk.answer("working")
    desk.answer(INNER)
    desk.answer("the rest")

    assert [(row["iteration"], row["decision"]) for row in desk.rows(inner)] == [
        (1, "blocked"),
        (2, "ended"),
    ]
    assert [(row["iteration"], row["decision"]) for row in desk.rows(outer)] == [(2, "blocked")]
    assert "the rest" in _text(desk, outer, 2)


def test_tokens_stand_in_one_row_however_many_loops_end(desk: Desk) -> None:
    outer = desk.begin()
    inner = desk.nest()
    line = said("working")
    line["message"].update(id="m1", usage={"output_tokens": 70})
    desk.add(line)
    desk.answer(f"{INNER}\n\n<promise>DONE</promise>")

    assert [row["tokens"] for row in (*desk.rows(inner), *desk.rows(outer))] == [70, 0]


# --- the session log ----------------------------------------------------------------------------


def _leave(desk: Desk) -> None:
    """The client goes."""
    raw = {"session_id": "s1", "reason": "other", "cwd": str(desk.project)}
    hooks.on_session_end(
        claude_code.read("session-end", raw), Workspace(str(desk.project), now=desk.now)
    )


def _corrupt(desk: Desk) -> None:
    put(ours(desk.home, "ralph/loops/ralph-loop.s1.local.md"), "nonsense")
    desk.answer("working")


def _replace(desk: Desk) -> None:
    desk.begin(args='"other" --completion-promise OTHER', prompt_id="p2")


def _replace_in_transcript(desk: Desk) -> None:
    desk.add(typed('"other" --completion-promise OTHER', timestamp="2099-01-01T00:00:00.000Z"))
    desk.answer("working")


EXITS: list[object] = [
    pytest.param("", lambda d: d.answer(PROMISE), "success", None, id="the promise"),
    pytest.param("--max-iterations 2", lambda d: (d.answer("x"), d.answer("x")), "max_iterations",
                 "the limit of 2 iterations is reached", id="iterations"),
    pytest.param("--max-minutes 1", lambda d: d.answer("x"), "limit",
                 "the limit of 1 minutes is reached", id="minutes"),
    pytest.param("", lambda d: d.cancel(), "cancelled", "by the user", id="a cancel"),
    pytest.param("", lambda d: d.prompt("/sisyphus:cancel-ralph"), "cancelled", "by the user",
                 id="its command"),
    pytest.param("", _replace, "cancelled", "another loop replaced it", id="another loop"),
    pytest.param("", _replace_in_transcript, "cancelled", None, id="one in the transcript"),
    pytest.param("", _corrupt, "error", "", id="an unreadable file"),
    pytest.param("", _leave, "abandoned", "the client has gone (other)", id="the client goes"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "leave", "outcome", "why"), EXITS)
def test_each_exit_has_its_outcome(
    desk: Desk, options: str, leave: Exit, outcome: str, why: str | None
) -> None:
    loop_id = desk.begin(options)
    desk.now = NOW + 120
    leave(desk)

    mine = [line for line in desk.log if line["loop_id"] == loop_id]
    started, ended = mine

    assert started == {
        "loop_id": loop_id,
        "session_id": "s1",
        "status": "active",
        "project": str(desk.project),
        "project_name": "project",
        "state_file_path": str(ours(desk.home, "ralph/loops/ralph-loop.s1.local.md")),
        "task": "do it",
        "started_at": iso(NOW),
        "max_iterations": 2 if "iterations" in options else 100,
        "completion_promise": "DONE",
        "options": {"max_minutes": 1 if "minutes" in options else 1_440, "max_tokens": 0},
    }
    assert ended["status"] == "completed"
    assert ended["outcome"] == outcome
    assert why in (ended["error_reason"], "")
    assert (ended["ended_at"], ended["duration_seconds"]) == (iso(NOW + 120), 120)
    assert ended["iterations"] == (2 if outcome == "max_iterations" else 1)


@pytest.mark.parametrize("by", ["breaker", "host cap"])
def test_a_client_that_leaves_a_loop_that_got_nowhere_leaves_it_stuck(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    if by == "breaker":
        configure("ralph.no_progress", 2)
    else:
        monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2")
    desk.begin("--max-minutes 0")
    desk.now = max(desk.now, 4e9)  # nothing changes any more
    desk.answer("working")
    desk.answer("working")
    assert desk.loop.paused_by == by
    _leave(desk)

    assert desk.log[-1]["outcome"] == "stuck"


def test_a_pause_is_no_end(desk: Desk) -> None:
    desk.begin()
    desk.pause()
    desk.answer("working")
    desk.resume()
    desk.answer("working")

    assert [line["status"] for line in desk.log] == ["active"]


def test_a_loop_that_is_found_in_the_transcript_is_logged_once(desk: Desk) -> None:
    desk.add(typed(ARGS))
    desk.answer("working")
    desk.answer("working")
    desk.answer(PROMISE)

    started, ended = desk.log
    assert (started["status"], started["loop_id"]) == ("active", ended["loop_id"])


def test_loops_that_begin_and_end_within_one_turn_are_logged(desk: Desk) -> None:
    desk.add(
        prompt("x"),
        skill('"one" --completion-promise ONE'),
        said("<promise>ONE</promise>"),
        skill('"two" --completion-promise TWO', call="toolu_2"),
    )
    desk.stop("<promise>TWO</promise>")

    tasks = {line["loop_id"]: line["task"] for line in desk.log if "task" in line}
    ends = [(tasks[line["loop_id"]], line["outcome"]) for line in desk.log if "outcome" in line]

    assert sorted(tasks.values()) == ["one", "two"]
    assert ends == [("one", "success"), ("two", "success")]


def test_an_unreadable_file_ends_its_own_loop_alone(desk: Desk) -> None:
    outer, inner = desk.begin(), desk.nest()
    desk.answer("working")
    desk.answer("working")
    put(ours(desk.home, "ralph/loops/ralph-loop.s1.local.md"), "nonsense")

    outcome = desk.answer("working")

    assert f"loop {inner} ended: error" in outcome.notes
    assert "Expected promise: <promise>DONE</promise>" in str(outcome.reason)
    assert [loop.loop_id for loop in desk.loops] == [outer]
    ended = desk.log[-1]
    assert (ended["loop_id"], ended["outcome"], ended["iterations"]) == (inner, "error", 2)
    assert "set aside" in ended["error_reason"]


def test_a_file_that_was_removed_by_hand_is_no_error(desk: Desk) -> None:
    desk.begin()
    ours(desk.home, "ralph/loops/ralph-loop.s1.local.md").unlink()
    desk.answer("working")

    assert [line["status"] for line in desk.log] == ["active"]


def test_a_nested_loop_ends_before_the_outer_one(desk: Desk) -> None:
    outer, inner = desk.begin(), desk.nest()
    desk.answer(f"{INNER}\n\n<promise>DONE</promise>")

    assert [line["loop_id"] for line in desk.log if "outcome" in line] == [inner, outer]


# --- the words of the journal -------------------------------------------------------------------


def _cap(desk: Desk) -> list[str]:
    for _ in range(7):
        desk.answer("working")
    return desk.answer("working").notes


def _two_messages(desk: Desk) -> list[str]:
    desk.add(said("a"), used("Read"), result("x"))
    return desk.answer("b").notes


DECISIONS: list[object] = [
    pytest.param("", lambda d: d.answer("x").notes,
                 "blocked: promise `DONE` not found in the last message "
                 "(the message holds no promise tag); iteration 2 of 100", id="no tag"),
    pytest.param("", lambda d: d.answer("").notes,
                 "blocked: promise `DONE` not found (the model said nothing); iteration 2 of 100",
                 id="no words"),
    pytest.param("", _two_messages,
                 "blocked: promise `DONE` not found in the last 2 messages "
                 "(the message holds no promise tag); iteration 2 of 100", id="two messages"),
    pytest.param("--max-iterations 1", lambda d: d.answer("x").notes,
                 "ended: the limit of 1 iterations is reached", id="the limit"),
    pytest.param("", lambda d: d.answer(PROMISE).notes, "ended: promise `DONE` kept", id="kept"),
    pytest.param("", _cap, "paused: 8 Stops in a row without a tool call", id="the cap"),
    pytest.param("", lambda d: (d.pause(), d.answer("x").notes)[1],
                 "allowed: the loop is paused (user)", id="paused"),
    pytest.param("", lambda d: (d.cancel(), d.answer("x").notes)[1],
                 "allowed: no loop is active", id="cancelled"),
    pytest.param("", lambda d: d.answer("x", session_crons=[{"id": "c1"}]).notes,
                 "allowed: background work is pending: c1", id="it waits"),
    pytest.param("--wait-for-user", lambda d: d.answer("What now?").notes,
                 "allowed: the model asked the user; the loop waits for the answer", id="it asks"),
    pytest.param("", lambda d: d.answer("x", agent_id="a1").notes,
                 "allowed: a subagent stops freely", id="a subagent"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "stop", "words"), DECISIONS)
def test_each_decision_is_noted_in_plain_words(
    desk: Desk, options: str, stop: Callable[[Desk], list[str]], words: str
) -> None:
    desk.begin(options)

    assert stop(desk)[0] == words
