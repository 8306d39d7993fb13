"""A promise that must be more than said: a command, the plan, the checklist."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from making import COMMAND, configure, finish, noted, ours, put, run_hook, start_hook
from ralph.lines import continued, said, typed
from ralph.processes import have_ended, wait_for

from arbiter.desk import ARGS, PROMISE
from sisyphus.arbiter import gates
from sisyphus.ralph import iterations, store, texts
from sisyphus.ralph.checklists import checklist_actions
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.turn import Turn
from sisyphus.ralph.verify import Result
from sisyphus.state.lock import Lock
from sisyphus.text import units
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from arbiter.desk import Desk

INNER = "<promise>INNER</promise>"
COMPLETE = "[RALPH LOOP COMPLETE]"

THIRD_TIME = (
    "n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n; "
    "echo 12 tests; echo attempt $n failed; test $n -ge 3"
)
"""A command that succeeds when it runs for the third time."""


def _verified(command: str) -> str:
    return f"--verify '{command}'"


def _runs(desk: Desk, name: str = "ran") -> int:
    """How often a command with `echo x >> ran` was run."""
    path = desk.project / name
    return path.read_text().count("x") if path.exists() else 0


# --- a command ----------------------------------------------------------------------------------


def test_a_promise_counts_when_the_command_succeeds_at_last(desk: Desk) -> None:
    loop_id = desk.begin(_verified(THIRD_TIME))

    outcomes = [desk.answer(PROMISE) for _ in range(3)]

    assert [outcome.reason is not None for outcome in outcomes] == [True, True, False]
    assert "attempt 2 failed" in str(outcomes[1].reason)
    assert COMPLETE in outcomes[2].messages[0]
    kept, checked, ended = outcomes[2].notes
    assert (kept, ended) == ("ended: promise `DONE` kept", f"loop {loop_id} ended: success")
    assert checked.startswith("`n=$(cat n 2>/dev/null")
    assert checked.endswith("...` ended with exit code 0")
    assert desk.loops == []


def test_a_command_that_fails_is_told_in_the_reason_and_in_full_behind_it(desk: Desk) -> None:
    loop_id = desk.begin(_verified("seq 100; echo the end; exit 3"))

    outcome = desk.stop(PROMISE)

    assert outcome.messages == []
    assert outcome.notes[0] == (
        "blocked: `seq 100; echo the end; exit 3` ended with exit code 3; iteration 2 of 100"
    )
    reason = str(outcome.reason)
    assert reason.startswith(
        "[RALPH LOOP ENFORCEMENT]\n\nThe completion promise was output, but "
        "`seq 100; echo the end; exit 3` ended with exit code 3\n"
    )
    assert "\n99\n100\nthe end\n\nExpected promise: <promise>DONE</promise>\n" in reason
    assert reason.endswith("\n\nIteration 2 of 100.")
    assert units(reason) <= texts.REASON_UNITS
    check = next(piece for piece in outcome.texts if piece.hash.startswith("check"))
    assert check.body.startswith("The last lines of the command that checks the promise:\n\n1\n")
    kept = iterations.verify_path(desk.ours, loop_id)
    with open(kept) as file:
        assert file.read().endswith("100\nthe end\n")


def test_each_failure_is_told_anew(desk: Desk) -> None:
    desk.begin(_verified("echo always the same; exit 1"))

    names = [
        piece.hash
        for _ in range(2)
        for piece in desk.answer(PROMISE).texts
        if piece.hash.startswith("check")
    ]

    assert len(set(names)) == 2


def test_the_model_gets_the_last_lines_twice_in_one_reply(desk: Desk) -> None:
    desk.begin(f"--max-minutes 0 {_verified('echo 3 failed; exit 1')}")
    payload = {
        "session_id": "s1",
        "transcript_path": str(desk.transcript),
        "cwd": str(desk.project),
        "last_assistant_message": PROMISE,
    }

    code, reply = run_hook("stop", payload)

    assert (code, reply["decision"]) == (0, "block")
    assert "3 failed" in reply["reason"]
    assert "3 failed" in reply["hookSpecificOutput"]["additionalContext"]


def test_the_loop_remembers_its_last_check(desk: Desk) -> None:
    desk.begin(_verified("exit 4"))
    desk.answer(PROMISE)

    verified = desk.loop.verified

    assert verified.pop("seconds") >= 0
    assert verified.pop("at") >= desk.now
    assert verified == {"command": "exit 4", "exit_code": 4, "timed_out": False}


def test_the_command_runs_in_the_project_and_not_where_the_agent_is(
    desk: Desk, tmp_path: Path
) -> None:
    desk.begin(_verified("echo x >> ran"))

    desk.stop(PROMISE, cwd=str(tmp_path))

    assert _runs(desk) == 1


@pytest.mark.parametrize(
    "message",
    ["working", "`<promise>DONE</promise>`", "Not yet <promise>DONE</promise>", ""],
)
def test_without_a_promise_nothing_is_run(desk: Desk, message: str) -> None:
    desk.begin(_verified("echo x >> ran"))

    assert desk.answer(message).reason is not None
    assert _runs(desk) == 0


FREE = [
    pytest.param({"agent_id": "a1"}, id="a subagent"),
    pytest.param({"permission_mode": "plan"}, id="plan mode"),
    pytest.param({"session_id": "s2", "transcript_path": ""}, id="another session"),
]


@pytest.mark.parametrize("raw", FREE)
def test_nor_is_it_for_somebody_else(desk: Desk, raw: dict[str, object]) -> None:
    desk.begin(_verified("echo x >> ran"))

    assert desk.stop(PROMISE, **raw).reason is None
    assert _runs(desk) == 0


def test_nor_while_the_loop_is_paused(desk: Desk) -> None:
    desk.begin(_verified("echo x >> ran"))
    desk.pause()

    assert desk.stop(PROMISE).reason is None
    assert _runs(desk) == 0


def test_a_command_that_takes_too_long_does_not_count(desk: Desk) -> None:
    configure("ralph.verify_seconds", 1)
    desk.begin(_verified("echo it begins; sleep 60"))

    outcome = desk.stop(PROMISE)

    assert "did not end within 1 second" in outcome.notes[0]
    assert "it begins" in str(outcome.reason)
    assert (desk.loop.verified["timed_out"], desk.loop.verified["exit_code"]) == (True, None)


def test_a_command_whose_folder_is_gone_does_not_count(desk: Desk) -> None:
    desk.begin(_verified("true"))
    desk.project.rename(desk.project.with_name("moved"))

    outcome = desk.stop(PROMISE)

    assert f"could not be run: there is no folder {desk.project}" in outcome.notes[0]
    assert outcome.reason is not None


def test_a_loop_that_nobody_saw_begin_is_checked_once(desk: Desk) -> None:
    desk.add(typed(f"{ARGS} {_verified('echo x >> ran')}"))

    outcome = desk.answer(PROMISE)

    assert COMPLETE in outcome.messages[0]
    assert _runs(desk) == 1
    started, ended = desk.log
    assert started["loop_id"] == ended["loop_id"]
    assert iterations.rows(desk.ours, ended["loop_id"]) != []


def test_the_promise_at_the_last_iteration_is_checked_too(desk: Desk) -> None:
    desk.begin(f"--max-iterations 1 {_verified('exit 1')}")

    outcome = desk.stop(PROMISE)

    assert outcome.reason is None
    assert "the limit of 1 iterations is reached" in outcome.messages[0]
    assert desk.log[-1]["outcome"] == "max_iterations"


def test_the_minutes_of_a_check_are_minutes_of_the_loop(desk: Desk) -> None:
    desk.begin(f"--max-minutes 1 {_verified('sleep 0.2; exit 1')}")
    desk.now += 59.9

    outcome = desk.stop(PROMISE)

    assert "the limit of 1 minutes is reached" in outcome.messages[0]


# --- the model's own loops ----------------------------------------------------------------------


def test_the_model_may_not_name_a_command(desk: Desk) -> None:
    desk.add(said("x"))
    desk.use(f"{ARGS} {_verified('echo x >> ran')}", "toolu_7")

    assert desk.loops == []


def test_nor_is_one_run_that_came_into_the_file_of_its_loop(desk: Desk) -> None:
    desk.use(ARGS, "toolu_7")
    path = ours(desk.home, "ralph/loops/ralph-loop.s1.local.md")
    command = json.dumps({"verify": "echo x >> ran"})
    put(path, path.read_text().replace("options: {}", f"options: {command}"))
    assert desk.loop.options == {"verify": "echo x >> ran"}

    assert COMPLETE in desk.answer(PROMISE).messages[0]
    assert _runs(desk) == 0


@pytest.mark.parametrize("value", [7, True, None, ["true"], {}])
def test_a_command_that_is_no_text_is_none(desk: Desk, value: object) -> None:
    desk.begin(_verified("false"))
    path = ours(desk.home, "ralph/loops/ralph-loop.s1.local.md")
    put(path, path.read_text().replace('{"verify": "false"}', json.dumps({"verify": value})))

    assert COMPLETE in desk.answer(PROMISE).messages[0]


# --- while the command runs ---------------------------------------------------------------------


def _meanwhile(desk: Desk, *words: str, code: int = 1) -> str:
    """A loop whose command calls ours: the loop's lock is free while it runs."""
    command = shlex.join([COMMAND, *words])
    return desk.begin(_verified(f"{command} > told 2>&1; echo x >> ran; exit {code}"))


@pytest.mark.parametrize("code", [0, 1], ids=["it succeeds", "it fails"])
def test_a_loop_that_is_cancelled_meanwhile_does_not_come_back(desk: Desk, code: int) -> None:
    loop_id = _meanwhile(desk, "ralph", "cancel", "--session-id", "s1", code=code)

    outcome = desk.answer(PROMISE)

    assert _runs(desk) == 1
    assert (desk.project / "told").read_text() == f"Loop {loop_id} cancelled: do it\n"
    assert outcome.reason is None
    told = f"[RALPH LOOP CANCELLED]\n\nloop {loop_id} was cancelled by the user: do it"
    assert outcome.messages == [told]
    assert outcome.notes == ["allowed: no loop is active"]
    assert [line.get("outcome") for line in desk.log] == [None, "cancelled"]
    assert desk.loops == []
    later = desk.answer("working")
    assert (later.reason, later.messages) == (None, [])
    assert desk.loops == []


def test_who_is_at_the_client_hears_at_once_that_it_was_cancelled_meanwhile(desk: Desk) -> None:
    """The hook, the command that it runs and whoever cancels are three processes."""
    loop_id = desk.begin(_verified("echo x > at-work; until [ -e go-on ]; do sleep 0.05; done"))
    payload = {
        "session_id": "s1",
        "transcript_path": str(desk.transcript),
        "cwd": str(desk.project),
        "last_assistant_message": PROMISE,
    }
    hook = start_hook("stop", payload)
    wait_for(desk.project / "at-work")
    subprocess.run([COMMAND, "ralph", "cancel", "--session-id", "s1"], check=True)
    put(desk.project / "go-on", "")

    code, reply = finish(hook)

    assert code == 0
    assert "decision" not in reply
    assert f"[RALPH LOOP CANCELLED]\n\nloop {loop_id} was cancelled" in reply["systemMessage"]
    assert finish(start_hook("stop", payload))[1] == {}


def test_a_loop_whose_file_is_removed_meanwhile_does_not_come_back(desk: Desk) -> None:
    path = ours(desk.home, "ralph/loops/ralph-loop.s1.local.md")
    desk.begin(_verified(f"rm {shlex.quote(str(path))}; exit 1"))

    assert desk.answer(PROMISE).reason is None
    assert desk.answer("working").reason is None
    assert desk.loops == []


def test_a_loop_that_is_paused_meanwhile_holds_nobody(desk: Desk) -> None:
    _meanwhile(desk, "ralph", "pause", "--session-id", "s1")

    outcome = desk.answer(PROMISE)

    assert outcome.notes == ["allowed: the loop is paused (user)"]
    assert [message.partition("]")[0] for message in outcome.messages] == ["[RALPH LOOP PAUSED"]
    assert (desk.loop.iteration, desk.loop.is_paused) == (1, True)


def test_a_second_stop_meanwhile_lets_pass(desk: Desk) -> None:
    payload = {
        "session_id": "s1",
        "transcript_path": str(desk.transcript),
        "cwd": str(desk.project),
        "last_assistant_message": PROMISE,
    }
    given = put(desk.project / "payload", json.dumps(payload))
    command = f"{shlex.quote(COMMAND)} hook stop < {shlex.quote(str(given))} > told; echo x >> ran"
    desk.begin(_verified(command))

    outcome = desk.answer(PROMISE)

    assert (desk.project / "told").read_text() == ""
    assert _runs(desk) == 1
    assert COMPLETE in outcome.messages[0]
    assert noted(desk.ours)[-1:] == ["allowed: another hook checks the promise"]


def test_a_stop_that_finds_the_check_at_work_runs_nothing(desk: Desk) -> None:
    desk.begin(_verified("echo x >> ran"))
    with Lock(store.loop_path(desk.ours, "s1") + ".verify"):
        outcome = desk.stop(PROMISE)

    assert outcome.reason is None
    assert outcome.notes == ["allowed: another hook checks the promise"]
    assert _runs(desk) == 0


def test_a_hook_that_is_told_to_end_meanwhile_changes_nothing(desk: Desk) -> None:
    """The user interrupts: the command ends with the hook, and the next Stop checks again."""
    desk.begin(_verified("echo $$ > told; sleep 60"))
    before = ours(desk.home, "ralph/loops/ralph-loop.s1.local.md").read_text()
    payload = {
        "session_id": "s1",
        "transcript_path": str(desk.transcript),
        "cwd": str(desk.project),
        "last_assistant_message": PROMISE,
    }
    hook = start_hook("stop", payload)
    pid = int(wait_for(desk.project / "told"))

    hook.terminate()
    stdout, _ = hook.communicate()

    assert stdout == b""
    assert have_ended(pid)
    assert ours(desk.home, "ralph/loops/ralph-loop.s1.local.md").read_text() == before
    assert [line["status"] for line in desk.log] == ["active"]


def test_unreadable_state_is_told_behind_the_check_as_well(desk: Desk) -> None:
    desk.begin(_verified("exit 0"))
    put(ours(desk.home, "ralph/loops/ralph-loop.s1.aaaaa.outer.md"), "nonsense")

    messages = desk.answer(PROMISE).messages

    assert [message.splitlines()[0] for message in messages] == ["[RALPH LOOP]", COMPLETE]


# --- the reason ---------------------------------------------------------------------------------

LINES = st.text(max_size=2_000)


@given(LINES, LINES, LINES, st.booleans())
@example("D" * 500, "c" * 500, "t" * 2_000, False)
@example("\U0001f600" * 500, "\U0001f600" * 500, "\U0001f600\n" * 500, True)
def test_the_reason_is_short_whatever_was_promised_run_and_printed(
    promise: str, command: str, tail: str, timed_out: bool
) -> None:
    loop = Loop("s1", "aaaaa", "do it")
    loop.completion_promise, loop.options = promise, {"verify": command or "x"}
    loop.options |= {"max_minutes": 1_439, "max_tokens": 999_999_999}
    loop.iteration = loop.max_iterations = loop.tokens = 999_999_999
    result = Result(None if timed_out else 1)
    result.tail, result.timed_out = tail, timed_out
    turn = Turn([])
    turn.kept = [loop]

    _, refusal = gates.settle(turn, Workspace("/", now=0.0), "s1", {"aaaaa": result})

    assert refusal is not None
    assert "\n" not in refusal.why
    assert units(texts.go_on_refused(loop, refusal.why, refusal.tail)) <= texts.REASON_UNITS


# --- the plan -----------------------------------------------------------------------------------

OPEN, DONE = "# Ship\n\n- [x] one\n- [ ] two\n", "# Ship\n\n- [x] one\n- [x] two\n"


def test_the_plan_must_be_complete(desk: Desk) -> None:
    plan = put(desk.project / ".claude/PLAN.md", OPEN)
    desk.begin("--verify-plan")

    outcome = desk.answer(PROMISE)

    assert outcome.notes[0] == (
        "blocked: the plan is not complete: 1 of 2 tasks of .claude/PLAN.md are done; "
        "next: two (line 4); iteration 2 of 100"
    )
    assert "The completion promise was output, but the plan is not complete: 1 of 2 tasks" in str(
        outcome.reason
    )
    put(plan, DONE)
    assert COMPLETE in desk.answer(PROMISE).messages[0]


PLANS = [
    pytest.param("- [x] one\n- [-] two\n", True, id="a cancelled task"),
    pytest.param("- [x] one\n- [!] two\n", False, id="a blocked task"),
    pytest.param("# Words\n", False, id="no tasks"),
    pytest.param(None, False, id="no plan"),
]


@pytest.mark.parametrize(("text", "counts"), PLANS)
def test_what_a_plan_says(desk: Desk, text: str | None, counts: bool) -> None:
    if text is not None:
        put(desk.project / ".claude/PLAN.md", text)
    desk.begin("--verify-plan")

    assert (desk.answer(PROMISE).reason is None) == counts


def test_no_command_is_run_while_the_plan_is_not_complete(desk: Desk) -> None:
    plan = put(desk.project / ".claude/PLAN.md", OPEN)
    desk.begin(f"--verify-plan {_verified('echo x >> ran')}")
    desk.answer(PROMISE)
    assert _runs(desk) == 0

    put(plan, DONE)
    assert COMPLETE in desk.answer(PROMISE).messages[0]
    assert _runs(desk) == 1


# --- the checklist ------------------------------------------------------------------------------


def _which(desk: Desk) -> checklist_actions.Which:
    return checklist_actions.Which(desk.ours, desk.now, session="s1")


def test_the_checklist_must_be_done_and_hold_something(desk: Desk) -> None:
    desk.begin("--verify-checklist")

    empty = desk.answer(PROMISE)
    checklist_actions.add(_which(desk), ["it parses CRLF", "it is quick"])
    none = desk.answer(PROMISE)
    checklist_actions.mark(_which(desk), ["1", "2"], "completed")

    assert "the checklist is not done: it is empty" in empty.notes[0]
    assert "0 of 2 criteria are completed; open: 1 it parses CRLF" in none.notes[0]
    assert "Checklist (0 of 2 done):" in none.texts[-1].body
    assert COMPLETE in desk.answer(PROMISE).messages[0]


def test_the_model_sees_the_checklist_again_only_when_it_changed(desk: Desk) -> None:
    desk.begin()
    checklist_actions.add(_which(desk), ["one", "two"])

    first, second = desk.answer("working").texts[-1], desk.answer("working").texts[-1]
    checklist_actions.mark(_which(desk), ["1"], "completed")
    third = desk.answer("working").texts[-1]

    assert first.hash == second.hash != third.hash
    assert "1 of 2 done" in third.body


# --- nested loops -------------------------------------------------------------------------------


def test_a_nested_promise_that_is_refused_keeps_both_loops(desk: Desk) -> None:
    outer = desk.begin(_verified("echo x >> ran"))
    desk.nest("--verify-checklist")

    outcome = desk.answer(f"{INNER}\n\n<promise>DONE</promise>")

    assert "the checklist is not done" in outcome.notes[0]
    assert "Expected promise: <promise>INNER</promise>" in str(outcome.reason)
    assert desk.loops[0].loop_id == outer
    assert len(desk.loops) == 2
    assert _runs(desk) == 0


def test_the_outer_promise_is_checked_behind_the_inner_one(desk: Desk) -> None:
    desk.begin(_verified(THIRD_TIME))
    inner = desk.nest()

    outcome = desk.answer(f"{INNER}\n\n<promise>DONE</promise>")

    assert "Completion promise detected: <promise>INNER</promise>" in outcome.messages[0]
    assert "attempt 1 failed" in str(outcome.reason)
    assert f"loop {inner} ended: success" in outcome.notes
    assert [loop.completion_promise for loop in desk.loops] == ["DONE"]


def test_two_loops_with_commands_are_both_checked(desk: Desk) -> None:
    """A loop that the model started has no command; one that the user nested by hand has."""
    desk.begin(_verified("echo x >> outer"))
    desk.nest()
    path = ours(desk.home, "ralph/loops/ralph-loop.s1.local.md")
    mine = path.read_text().replace("by_model: true", "by_model: false")
    put(path, mine.replace("options: {}", 'options: {"verify": "echo x >> inner"}'))

    outcome = desk.answer(f"{INNER}\n\n<promise>DONE</promise>")

    assert len(outcome.messages) == 2
    assert desk.loops == []
    assert (_runs(desk, "outer"), _runs(desk, "inner")) == (1, 1)


def test_a_promise_of_an_earlier_turn_is_not_checked(desk: Desk) -> None:
    desk.begin(_verified("echo x >> ran"))
    desk.add(said(PROMISE), continued())

    assert desk.answer("working").reason is not None
    assert _runs(desk) == 0


def test_a_refused_promise_does_not_count_once_the_model_starts_another_loop(desk: Desk) -> None:
    desk.begin(_verified("echo x >> ran; exit 1"))
    desk.answer(PROMISE)
    desk.nest()

    assert desk.answer("working").messages == []
    assert [loop.completion_promise for loop in desk.loops] == ["DONE", "INNER"]
    assert "Expected promise: <promise>DONE</promise>" in str(desk.answer(INNER).reason)
    assert _runs(desk) == 1


CHECKS = [
    pytest.param("--verify 'exit 1'", id="a command"),
    pytest.param("--verify-plan", id="the plan"),
    pytest.param("--verify-checklist", id="the checklist"),
]


@pytest.mark.parametrize("options", CHECKS)
def test_nor_does_one_that_nobody_has_checked_yet(desk: Desk, options: str) -> None:
    """The model promises and starts another loop in the same turn."""
    desk.begin(options)
    desk.add(said(PROMISE))
    desk.nest()

    assert desk.answer("working").messages == []
    assert [loop.completion_promise for loop in desk.loops] == ["DONE", "INNER"]


@pytest.mark.parametrize("options", CHECKS)
def test_nor_when_the_user_has_spoken_in_between(desk: Desk, options: str) -> None:
    desk.begin(options)
    desk.answer(PROMISE)
    desk.prompt("go on", "p2")
    desk.nest()

    assert desk.answer("working").messages == []
    assert [loop.completion_promise for loop in desk.loops] == ["DONE", "INNER"]
