"""Layer 1, as the arbiter asks for it at a Stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from making import debug_log, finish, put, run_hook, start_hook, stored, without_coverage
from ralph.lines import prompt, said, used

from enforce.desk import DONE, MACHINE, NOT_DONE
from sisyphus.clients.claude_code import CAP_VARIABLE
from sisyphus.enforce import at_stop, texts
from sisyphus.text import units
from sisyphus.workspace import RUN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from enforce.desk import Desk
    from sisyphus.clients.base import Outcome

HEAD = f"[{texts.HEAD}]"


def _held_back(desk: Desk, outcome: Outcome) -> str:
    """Why; nothing is counted then, and the log says the same."""
    assert outcome.reason is None
    row = desk.rows[-1]
    assert row["what"] == "held back"
    assert f"enforcement held back: {row['why']}" in outcome.notes
    return str(row["why"])


def test_who_says_it_is_done_is_told_to_verify_that(desk: Desk) -> None:
    outcome = desk.stop(DONE)

    assert (
        outcome.reason
        == f"""\
{HEAD}

You said: "{DONE}"

Before you stop:
1. Verify: run the tests and the build, and read what they say.
2. Requirements: go through everything that was asked, point by point.
3. Evidence: show the output that proves each point.
4. Improve: name the weakest part that is left, and make it better.

Enforcement 1 of 50. Only the user ends this, with /sisyphus:enforce stop."""
    )
    assert outcome.messages == ["Enforcement 1 of 50: the session was told to go on."]
    assert outcome.notes == [f'blocked: the model said "{DONE}" (enforcement 1 of 50)']
    assert outcome.wake_after is None
    assert (desk.rows[-1]["what"], desk.rows[-1]["layer"], desk.rows[-1]["claim"]) == (
        "enforced", 1, DONE,
    )  # fmt: skip


def test_what_it_leaves(desk: Desk) -> None:
    desk.stop(DONE)

    now = round(desk.now * 1_000)
    assert desk.entry() | {"lastPrompt": now, "said": 0} == {
        "iteration": 1,
        "lastActivity": now,
        "lastEnforcement": now,
        "failureCount": 0,
        "stopRequested": False,
        "status": "CONTINUOUS",
        "pending": True,
        "lastPrompt": now,
        "lastStop": now,
        "said": 0,
        "held": "the session was told to go on",
        "ended": False,
        "tasks": {},
    }
    assert desk.state["iteration"] == 1


def test_another_client_is_told_by_a_toast(desk: Desk) -> None:
    desk.client = "opencode"

    outcome = desk.stop(DONE)

    assert outcome.reason is not None
    assert outcome.messages == []
    assert outcome.toasts == [
        {
            "variant": "warning",
            "title": "Continuous enforcement",
            "message": f'Enforcement 1 of 50: the model said "{DONE}".',
            "seconds": 15,
            "countdown": 0,
        }
    ]


def test_who_says_nothing_of_that_may_rest(desk: Desk) -> None:
    outcome = desk.stop(NOT_DONE)

    assert _held_back(desk, outcome)
    assert outcome.notes[0] == "allowed: no loop is active"
    assert desk.entry()["held"] == ""


def test_the_last_message_may_stand_in_the_transcript_alone(desk: Desk) -> None:
    desk.add(prompt("do it"), said("I look."), said(DONE))

    assert desk.stop(None).reason is not None


def test_an_empty_last_message_says_nothing(desk: Desk) -> None:
    desk.add(prompt("do it"), said(DONE))

    assert _held_back(desk, desk.stop("")) == "the model said nothing"


def test_the_words_are_settings(desk: Desk) -> None:
    desk.set(claims=["mission accomplished", "over and out"])

    assert desk.stop("Everything is done.").reason is None
    assert desk.stop("Mission accomplished.").reason is not None


def test_the_cooldown_holds(desk: Desk) -> None:
    assert desk.stop().reason is not None
    desk.now += 1
    desk.uses_a_tool()
    desk.now += 28
    assert _held_back(desk, desk.stop()) == "cooldown: 1 s of 30 s are left"
    desk.now += 1
    assert desk.stop().reason is not None


def test_each_failure_doubles_it(desk: Desk) -> None:
    passed = []
    for _ in range(5):
        began = desk.now
        desk.stop()
        while desk.stop().reason is None and desk.now - began < 1_000:
            desk.now += 1
        passed.append(desk.now - began)
        desk.now += 0.001

    assert [round(seconds) for seconds in passed[:4]] == [60, 120, 240, 480]


def test_the_fifth_failure_stops_it_for_a_while(desk: Desk) -> None:
    desk.set(cooldown_seconds=0)
    blocked = []
    for _ in range(8):
        desk.now += 1
        blocked.append(desk.stop().reason is not None)

    assert blocked == [True] * 5 + [False] * 3
    assert (desk.entry()["failureCount"], desk.state["status"]) == (5, "RECOVERING")
    desk.now += 300
    assert desk.stop().reason is not None
    assert desk.entry()["failureCount"] == 0


def test_a_tool_call_makes_good(desk: Desk) -> None:
    desk.set(cooldown_seconds=0)
    for _ in range(20):
        desk.now += 1
        assert desk.stop().reason is not None
        desk.now += 1
        desk.uses_a_tool()

    assert (desk.entry()["failureCount"], desk.entry()["iteration"]) == (0, 20)
    assert desk.whats.count("worked") == 19


def test_a_subagents_tool_call_is_none(desk: Desk) -> None:
    desk.stop()
    desk.now += 1
    desk.uses_a_tool(agent_id="a1")
    desk.now += 1
    desk.stop()

    assert desk.entry()["failureCount"] == 1


def test_it_ends_at_the_limit(desk: Desk) -> None:
    desk.set(max_iterations=2)
    blocked = []
    for _ in range(4):
        desk.now += 1_000
        blocked.append(desk.stop().reason is not None)

    assert blocked == [True, True, False, False]
    assert desk.state["status"] == "EXHAUSTED"
    assert desk.rows[-1]["why"] == "limit: 2 of 2"


def test_sessions_of_a_project_share_nothing_but_the_sum(desk: Desk) -> None:
    assert desk.stop(session="s1").reason is not None
    assert desk.stop(session="s2").reason is not None
    assert [desk.entry(session)["iteration"] for session in ("s1", "s2")] == [1, 1]
    assert desk.state["iteration"] == 2


# --- who is left alone ----------------------------------------------------------------------------


def test_the_users_stop_holds_until_he_speaks(desk: Desk) -> None:
    desk.stops_it()
    for _ in range(3):
        desk.now += 1_000
        assert _held_back(desk, desk.stop()).startswith("user: stopped by the user")
        desk.says(MACHINE)
        desk.uses_a_tool()
    desk.says("go on")

    assert desk.stop().reason is not None


RUNNING = {"id": "b1", "type": "shell", "status": "running"}
FREE = [
    pytest.param({"agent_id": "a1"}, id="a subagent"),
    pytest.param({"permission_mode": "plan"}, id="plan mode"),
    pytest.param({"session_id": "../x"}, id="no session"),
]


@pytest.mark.parametrize("raw", FREE)
def test_who_is_never_told_is_not_noted(desk: Desk, raw: dict[str, Any]) -> None:
    assert desk.stop(**raw).reason is None
    assert desk.entry()["lastStop"] == 0
    assert desk.whats == ["on"]


def test_an_iteration_of_a_run_is_left_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "abcde")

    desk.says(session="s2")
    assert desk.stop(session="s2").reason is None
    assert list(desk.state["sessions"]) == ["s1"]


def test_background_work_is_waited_for(desk: Desk) -> None:
    why = "background work is pending: b1"

    assert _held_back(desk, desk.stop(background_tasks=[RUNNING])) == why
    assert desk.entry()["held"] == why
    desk.now += 599
    assert _held_back(desk, desk.stop(background_tasks=[RUNNING])) == why
    desk.now += 1
    assert desk.stop(background_tasks=[RUNNING]).reason is not None


def test_a_cron_is_background_work(desk: Desk) -> None:
    assert _held_back(desk, desk.stop(session_crons=[{"id": "c1"}])).endswith("pending: c1")


ASKING = ["All tests pass, I am done. Shall I commit it?", "Done.\n\n**Which one do you want?**"]


@pytest.mark.parametrize("message", ASKING)
def test_a_question_is_waited_for(desk: Desk, message: str) -> None:
    assert _held_back(desk, desk.stop(message)) == "the model asks the user something"


def test_an_open_question_is_waited_for(desk: Desk) -> None:
    desk.add(prompt("do it"), used("AskUserQuestion", questions=[]))

    assert _held_back(desk, desk.stop(None)) == "the model asks the user something"


def test_a_session_whose_context_is_full_is_left_alone(desk: Desk) -> None:
    record = said("Looked at it.")
    record["message"]["model"] = "claude-sonnet-4-5"
    record["message"]["usage"] = {"input_tokens": 197_000}
    desk.add(prompt("do it"), record)

    why = _held_back(desk, desk.stop())

    assert why.startswith("the context is ")
    assert why.endswith("% full (L3)")
    assert not (desk.project / ".claude").exists()


CAPS = [
    pytest.param("3", [True, True, False], id="three"),
    pytest.param("1", [True, False, False], id="one leaves one"),
    pytest.param("0", [True] * 3, id="no cap"),
]


@pytest.mark.parametrize(("cap", "blocked"), CAPS)
def test_the_client_is_never_made_to_override(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, cap: str, blocked: list[bool]
) -> None:
    monkeypatch.setenv(CAP_VARIABLE, cap)
    desk.set(cooldown_seconds=0)
    found = []
    for _ in range(3):
        desk.now += 1
        found.append(desk.stop().reason is not None)

    assert found == blocked


MOVED = [
    pytest.param(lambda desk: desk.uses_a_tool(), True, id="a tool call"),
    pytest.param(lambda desk: desk.says("go on"), True, id="the user speaks"),
    pytest.param(lambda desk: desk.says(MACHINE), False, id="a machine does"),
]


@pytest.mark.parametrize(("moves", "is_blocked"), MOVED)
def test_the_count_of_blocks_begins_anew_where_the_client_begins_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, moves: object, is_blocked: bool
) -> None:
    monkeypatch.setenv(CAP_VARIABLE, "3")
    desk.set(cooldown_seconds=0)
    for _ in range(2):
        desk.now += 1
        desk.stop()
    desk.now += 1
    assert callable(moves)
    moves(desk)
    desk.now += 1

    assert (desk.stop().reason is not None) is is_blocked


# --- two hooks at one Stop ------------------------------------------------------------------------

AT_ONCE = [
    pytest.param(0.4, id="the other began earlier"),
    pytest.param(0.0, id="at the same time"),
    pytest.param(-0.4, id="the other began later"),
]


@pytest.mark.parametrize("later", AT_ONCE)
def test_where_it_is_wired_twice_the_second_hook_changes_nothing(desk: Desk, later: float) -> None:
    desk.now += 5
    assert desk.stop().reason is not None
    before = desk.state
    desk.now += later

    outcome = desk.stop()

    assert outcome.reason is None
    told = "enforcement held back: another hook told the session to go on at this Stop"
    assert outcome.notes[-1] == told
    assert desk.state == before
    assert desk.whats == ["on", "enforced"]


def _says_more(desk: Desk) -> Outcome:
    return desk.stop("It works: I am done.")


def _a_second_later(desk: Desk) -> Outcome:
    desk.now += 1
    return desk.stop()


def _after_a_tool(desk: Desk) -> Outcome:
    desk.now += 0.1
    desk.uses_a_tool()
    desk.now += 0.1
    return desk.stop()


def _after_a_prompt(desk: Desk) -> Outcome:
    desk.now += 0.1
    desk.says("go on")
    desk.now += 0.1
    return desk.stop()


@pytest.mark.parametrize("stop", [_says_more, _a_second_later, _after_a_tool, _after_a_prompt])
def test_another_stop_is_another_however_soon_it_comes(
    desk: Desk, stop: Callable[[Desk], Outcome]
) -> None:
    desk.set(cooldown_seconds=0)
    assert desk.stop().reason is not None
    desk.now += 0.1

    assert stop(desk).reason is not None
    assert desk.entry()["iteration"] == 2


def test_real_stops_at_once_are_one(desk: Desk, project: Path) -> None:
    payload = {"cwd": str(project), "last_assistant_message": DONE, "session_id": "s9"}

    hooks = [start_hook("stop", payload, env=without_coverage()) for _ in range(2)]
    replies = [finish(hook)[1] for hook in hooks]

    assert sorted(reply.get("decision", "") for reply in replies) == ["", "block"]
    assert desk.entry("s9")["failureCount"] == 0
    assert desk.entry("s9")["pending"] is True
    assert desk.whats == ["on", "enforced"]


# --- with loops -----------------------------------------------------------------------------------

TYPED = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
PROMISE = f"{DONE}\n\n<promise>DONE</promise>"


def test_a_loop_comes_first_and_its_end_is_rest(desk: Desk) -> None:
    desk.says(TYPED)

    assert "[RALPH LOOP ENFORCEMENT]" in str(desk.stop().reason)
    assert _held_back(desk, desk.stop(PROMISE)) == "ended: promise `DONE` kept"
    assert desk.state["iteration"] == 0
    desk.says("one more thing")
    assert HEAD in str(desk.stop().reason)


def test_a_paused_loop_rests(desk: Desk) -> None:
    desk.says(TYPED)
    desk.says("/sisyphus:ralph-pause")

    assert _held_back(desk, desk.stop()).startswith("allowed: the loop is paused")


def test_loops_and_enforcement_have_one_count_of_blocks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CAP_VARIABLE, "4")
    desk.says(TYPED)
    desk.now += 1
    for _ in range(2):
        assert desk.stop().reason is not None
    desk.event("user-prompt-submit", prompt="/sisyphus:cancel-ralph")

    desk.now += 1
    assert desk.stop().reason is not None
    desk.now += 3_600
    why = _held_back(desk, desk.stop())
    assert why == "the client overrides the Stop that is blocked 4 times in a row"


def test_where_ralph_is_switched_off_it_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SISYPHUS_RALPH_ENABLED", "0")

    assert desk.stop().reason is not None
    assert "allowed: ralph is switched off" in desk.stop().notes


# --- where something is wrong ---------------------------------------------------------------------


def test_while_it_is_off_nothing_is_noted(desk: Desk) -> None:
    desk.off()
    before = desk.state_path.read_bytes()

    outcome = desk.stop()

    assert (outcome.reason, outcome.notes) == (None, ["allowed: no loop is active"])
    assert desk.state_path.read_bytes() == before


def test_what_cannot_be_counted_is_not_enforced(desk: Desk) -> None:
    desk.state_path.write_text('{"version": 99, "on": true}')

    outcome = desk.stop()

    assert outcome.reason is None
    assert "written by a newer sisyphus" in outcome.notes[-1]


def test_what_goes_wrong_spoils_no_loop(desk: Desk) -> None:
    desk.says(TYPED)
    desk.state_path.write_text("{")

    outcome = desk.stop()

    assert "[RALPH LOOP ENFORCEMENT]" in str(outcome.reason)
    assert "was set aside" in outcome.notes[-1]
    assert outcome.messages[-1].startswith("[ENFORCEMENT OFF]\n\n")
    assert "set aside unreadable state" in debug_log(desk.home)


def test_where_the_loops_cannot_be_read_nobody_is_told(desk: Desk) -> None:
    put(desk.home / ".claude/.sisyphus/ralph/loops/session-s1.json", '{"version": 99}')
    desk.says(TYPED)
    put(desk.home / ".claude/.sisyphus/ralph/loops/ralph-loop.s1.local.md", "x")

    outcome = desk.stop()

    assert outcome.reason is None
    assert desk.entry()["lastStop"] == 0


def test_a_text_of_the_model_stays_short_and_harmless(desk: Desk) -> None:
    outcome = desk.stop('\x1b[31m"I am done" \ud83d' + "\U0001f600" * 300 + "\n\nI am done.")

    assert outcome.reason is not None
    assert units(outcome.reason) <= 900
    assert outcome.reason.isprintable() or "\x1b" not in outcome.reason


def test_when_another_client_asks_again(desk: Desk) -> None:
    desk.client = "opencode"

    assert desk.stop(NOT_DONE).wake_after == 30
    assert desk.stop("Which one?").wake_after is None
    assert desk.stop(DONE).wake_after is None
    desk.now += 10
    assert desk.stop(NOT_DONE).wake_after == 50  # one failure: a minute since the enforcement
    assert stored(desk.state_path)["sessions"]["s1"]["failureCount"] == 1
    desk.stops_it()
    assert desk.stop(NOT_DONE).wake_after is None


@pytest.mark.usefixtures("desk")
def test_the_real_hook_says_it(project: Path) -> None:
    payload = {"session_id": "s9", "cwd": str(project), "last_assistant_message": DONE}

    code, reply = run_hook("stop", payload)

    assert (code, reply["decision"]) == (0, "block")
    assert reply["reason"].startswith(HEAD)
    assert reply["systemMessage"] == "Enforcement 1 of 50: the session was told to go on."


def test_twenty_real_stops_at_once_lose_no_count(desk: Desk, project: Path) -> None:
    payload = {"cwd": str(project), "last_assistant_message": DONE}
    sessions = [f"t{n}" for n in range(20)]
    env = without_coverage()

    hooks = [start_hook("stop", {**payload, "session_id": one}, env=env) for one in sessions]
    replies = [finish(hook)[1] for hook in hooks]

    assert [reply["decision"] for reply in replies] == ["block"] * 20
    assert desk.state["iteration"] == 20
    assert desk.whats.count("enforced") == 20


def test_switched_off_meanwhile_nothing_is_said(desk: Desk) -> None:
    facts = at_stop.Facts("", DONE, is_asking=False, excuses=lambda known: ([], known))
    desk.off()

    assert at_stop.look(desk.payload("stop"), desk.space(), facts) is None


def test_whoever_is_left_alone_after_failures_hears_of_it_once(desk: Desk) -> None:
    desk.set(max_failures=2, cooldown_seconds=0)
    for _ in range(2):
        desk.now += 10
        assert desk.stop(DONE).reason
    desk.now += 10
    last = desk.stop(DONE)
    desk.now += 10
    after = desk.stop(DONE)

    [told] = last.messages
    assert told.startswith("[ENFORCEMENT RESTS]\n\n2 enforcements in a row were not followed by a ")
    assert told.endswith("rests; 5 min after the last one your next prompt begins anew.")
    assert (last.reason, after.reason, after.messages) == (None, None, [])
    assert [row["what"] for row in desk.rows].count("rests") == 1


def test_whoever_is_at_the_limit_hears_of_it_once(desk: Desk) -> None:
    desk.set(max_iterations=1, cooldown_seconds=0)
    assert desk.stop(DONE).reason
    desk.now += 10
    last = desk.stop(DONE)
    desk.now += 10

    assert last.messages[0].startswith("[ENFORCEMENT RESTS]\n\nThe limit of 1 enforcements of this")
    assert desk.stop(DONE).messages == []
