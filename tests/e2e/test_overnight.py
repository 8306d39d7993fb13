"""Loops that nobody watches: how they go on, end, and are reached from another terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e.desk import WITH_SHELL
from e2e.script import Tool, Turn, background, say, slowly, use, write
from e2e.texts import COMPLETE, GO_ON

if TYPE_CHECKING:
    from e2e.desk import Desk

TYPED = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
PROMISE = say("All is well.\n\n<promise>DONE</promise>")
NOT_YET = say("Not yet.")


def _bash(command: str) -> Tool:
    return Tool("Bash", {"command": command})


def _works(desk: Desk, number: int) -> list[Turn]:
    """One iteration with an edit, then a Stop."""
    return [use(write(desk.project / "work.txt", f"step {number}\n")), say(f"Step {number}.")]


def _ended(desk: Desk) -> list[Any]:
    lines = (desk.home / ".claude/.sisyphus/logs/sessions.jsonl").read_text().splitlines()
    return [row["outcome"] for row in map(json.loads, lines) if row["status"] == "completed"]


def test_fifteen_iterations_with_work(desk: Desk) -> None:
    turns = [turn for number in range(15) for turn in _works(desk, number)]

    run = desk.run(TYPED, turns=[*turns[:-1], PROMISE])

    assert sum(GO_ON in request.last for request in run.requests) == 14
    assert COMPLETE in run.told
    assert _ended(desk) == ["success"]


@pytest.mark.parametrize("limit", [1, 3])
def test_max_iterations_ends_at_exactly_that_number(desk: Desk, limit: int) -> None:
    run = desk.run(f"{TYPED} --max-iterations {limit}", turns=[NOT_YET] * limit)

    assert f"the limit of {limit} iterations is reached" in run.told
    assert json.loads(desk.sisyphus("ralph", "log", "--json"))[0]["iterations"] == limit
    assert _ended(desk) == ["max_iterations"]


def test_a_loop_that_only_talks_is_paused_by_us_and_resumed_by_command(desk: Desk) -> None:
    paused = desk.run(TYPED, turns=[NOT_YET] * 5)
    assert "5 iterations without progress" in paused.told
    assert "paused (breaker)" in desk.sisyphus("ralph", "status")

    still = desk.resume(paused, "and now?", turns=[NOT_YET])
    desk.sisyphus("ralph", "resume")
    run = desk.resume(still, "go on", turns=[NOT_YET, PROMISE])

    assert GO_ON in run.requests[-1].last
    assert COMPLETE in run.told


def test_commands_without_effect_are_no_progress(desk: Desk) -> None:
    """Tool calls that change nothing do not run into the client's cap, but into the breaker."""
    turns = [turn for _ in range(5) for turn in (use(_bash("echo hello")), NOT_YET)]

    run = desk.run(TYPED, turns=turns)

    assert "5 iterations without progress" in run.told


def test_a_commit_is_progress(desk: Desk) -> None:
    commit = "git -c user.name=u -c user.email=e@e commit --quiet --allow-empty -m step"
    turns = [turn for _ in range(7) for turn in (use(_bash(commit)), NOT_YET)]

    run = desk.run(TYPED, turns=[*turns, PROMISE], flags=WITH_SHELL)

    assert COMPLETE in run.told


def test_the_same_error_again_and_again_is_not_progress(desk: Desk) -> None:
    """Of a check, since the client writes down how a tool call went a Stop or two later."""
    tries = [(use(write(desk.project / "work.txt", f"{n}\n")), PROMISE) for n in range(5)]
    verified = f'{TYPED} --verify "echo no good; exit 3"'

    run = desk.run(verified, turns=[turn for two in tries for turn in two])

    assert "the same error 5 times: no good" in run.told


def test_a_check_that_fails_twice_and_then_passes(desk: Desk) -> None:
    desk.write(
        "check.sh",
        "echo counted >> count\ntest $(wc -l < count) -ge 3 || { echo not yet good; exit 4; }\n",
    )
    verified = f'{TYPED} --verify "sh check.sh"'

    run = desk.run(verified, turns=[PROMISE, PROMISE, PROMISE])

    assert [request.last.count("ended with exit code 4") > 0 for request in run.requests] == [
        False,
        True,
        True,
    ]
    assert "not yet good" in run.requests[1].last
    assert COMPLETE in run.told
    assert (desk.project / "count").read_text() == "counted\n" * 3


def test_the_plan_must_be_complete(desk: Desk) -> None:
    plan = desk.write(".claude/PLAN.md", "# P\n\n- [x] one\n- [ ] two\n")
    done = use(write(plan, "# P\n\n- [x] one\n- [x] two\n"))
    seen = use(Tool("Read", {"file_path": str(plan)}))

    run = desk.run(f"{TYPED} --verify-plan", turns=[PROMISE, seen, done, PROMISE])

    assert "1 of 2 tasks of .claude/PLAN.md are done; next: two" in run.requests[1].last
    assert COMPLETE in run.told


def test_the_checklist_must_be_done(desk: Desk) -> None:
    add = use(_bash('sisyphus ralph checklist add "handles CRLF"'))
    tick = use(_bash("sisyphus ralph checklist done 1"))

    turns = [add, PROMISE, tick, PROMISE]
    run = desk.run(f"{TYPED} --verify-checklist", turns=turns, flags=WITH_SHELL)

    assert "- [ ] 1 handles CRLF" in run.requests[2].last
    assert COMPLETE in run.told


def test_a_question_to_the_user_lets_the_session_stop(desk: Desk) -> None:
    asks = say("Two ways are open.\n\nShall I take the first one?")

    run = desk.run(f"{TYPED} --wait-for-user", "yes", turns=[asks, NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, False, True]


def test_a_server_in_the_background_does_not_let_the_loop_out(desk: Desk) -> None:
    server = use(background("sleep 5"))
    ended = say("The server has ended.")  # the client starts a turn for that

    run = desk.run("serve", TYPED, turns=[server, say("It runs."), NOT_YET, PROMISE, ended])

    assert [GO_ON in request.last for request in run.requests[:4]] == [False, False, False, True]


def test_a_loop_is_cancelled_from_another_terminal(desk: Desk) -> None:
    cancelled = Turn("Still at it.", meanwhile=lambda: desk.sisyphus("ralph", "cancel"))

    run = desk.run(TYPED, turns=[NOT_YET, cancelled])

    assert len(run.requests) == 2
    assert _ended(desk) == ["cancelled"]
    assert desk.sisyphus("ralph", "list").startswith("No loop is active.")


def test_a_loop_is_paused_and_resumed_from_another_terminal(desk: Desk) -> None:
    paused = Turn("Still at it.", meanwhile=lambda: desk.sisyphus("ralph", "pause"))
    first = desk.run(TYPED, turns=[NOT_YET, paused])
    desk.sisyphus("ralph", "resume")

    run = desk.resume(first, "go on", turns=[NOT_YET, PROMISE])

    assert GO_ON in run.requests[-1].last
    assert COMPLETE in run.told


def test_a_loop_is_started_from_another_terminal(desk: Desk) -> None:
    first = desk.run("hello", turns=[say("Hello.")])
    words = [
        "--session-id",
        first.session,
        "--completion-promise",
        "DONE",
        "--project",
        str(desk.project),
    ]
    desk.sisyphus("ralph", "start", *words, "--", "do it")

    run = desk.resume(first, "begin", turns=[NOT_YET, PROMISE])

    assert "The prompt of this ralph loop:\n\ndo it" in run.requests[-1].last
    assert COMPLETE in run.told


def test_the_budget_of_tokens_counts_subagents(desk: Desk) -> None:
    asked = {"description": "x", "prompt": "look", "subagent_type": "general-purpose"}
    delegate = use(Tool("Agent", {**asked, "run_in_background": False}))
    costly = Turn("Looked.", tokens=50_000)
    turns = [delegate, slowly(NOT_YET)]

    run = desk.run(f"{TYPED} --max-tokens 40000", turns=turns, agent_turns=[costly])

    assert "the limit of 40,000 tokens is reached" in run.told
    assert _ended(desk) == ["limit"]


def test_a_client_that_ends_leaves_its_loop_for_a_resume(desk: Desk) -> None:
    first = desk.run(TYPED, turns=[NOT_YET] * 5)
    desk.sisyphus("ralph", "resume")
    desk.resume(first, "go on", turns=[NOT_YET, PROMISE])

    assert _ended(desk) == ["stuck", "success"]


def test_two_sessions_in_one_project_do_not_meet(desk: Desk) -> None:
    def other() -> None:
        second.append(desk.run("hello", turns=[say("Hello.")]))

    second: list[Any] = []
    run = desk.run(TYPED, turns=[Turn("Not yet.", meanwhile=other), NOT_YET, PROMISE])

    assert len(second[0].requests) == 1
    assert [GO_ON in request.last for request in run.requests] == [False, True, True]


def test_commands_are_answered_without_the_model(desk: Desk) -> None:
    run = desk.run(TYPED, "/sisyphus:cancel-ralph", "/sisyphus:ralph-stats", turns=[NOT_YET] * 5)

    assert len(run.requests) == 5
    assert "Loops: 1" in run.result or "1 loop" in run.result


def test_every_decision_can_be_read(desk: Desk) -> None:
    run = desk.run(TYPED, turns=[NOT_YET, PROMISE])

    said = desk.sisyphus("why", "--session-id", run.session)

    assert "blocked: promise `DONE` not found in the last message" in said
    assert "iteration 2 of 100" in said
    assert "ended: promise `DONE` kept" in said
