"""Loops in OpenCode: held until the promise, in each of its interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from e2e.opencode.client import USABLE
from e2e.opencode.script import Unfinished, bash, task
from e2e.opencode.tui import ESCAPE
from e2e.opencode.wire import OTHER_MODEL
from e2e.script import Turn, say, use
from e2e.texts import COMPLETE, GO_ON

if TYPE_CHECKING:
    from e2e.opencode.lab import Lab
    from e2e.opencode.server import Server
    from e2e.opencode.wire import Request

ARGUMENTS = "do it --completion-promise DONE"
COMMAND = ("--command", "ralph-loop")
NOT_YET = say("Not yet.")
PROMISE = say("All is well.\n\n<promise>DONE</promise>")
CAREFUL = """\
---
description: Takes care
mode: primary
---

You are careful.
"""


def went_on(requests: list[Request]) -> list[bool]:
    """Which of the requests were asked for by us."""
    return [GO_ON in request.last for request in requests]


def told(server: Server) -> str:
    return "\n".join(toast["message"] for toast in server.toasts)


def test_a_run_is_held_until_the_promise(lab: Lab) -> None:
    run = lab.run(ARGUMENTS, *COMMAND, turns=[NOT_YET, use(bash("true")), NOT_YET, PROMISE])

    assert went_on(run.requests) == [False, True, False, True]
    assert "do it" in run.requests[0].users[0]
    assert COMPLETE in run.told


def test_a_server_holds_a_session_until_the_promise(lab: Lab) -> None:
    with lab.serve(turns=[NOT_YET, use(bash("true")), NOT_YET, PROMISE, say("resting")]) as server:
        session = server.new_session()
        server.command(session, "ralph-loop", ARGUMENTS)
        server.until(lambda: COMPLETE in told(server), "end of the loop")
        server.prompt(session, "and now?")
        server.until_asked(5)

        assert went_on(server.requests) == [False, True, False, True, False]


def test_the_terminal_holds_a_session_until_the_promise(lab: Lab) -> None:
    with lab.tui(turns=[NOT_YET, NOT_YET, PROMISE]) as tui:
        tui.enter(f"/ralph-loop {ARGUMENTS}")
        tui.until_shown("All is well.")
        tui.until(lambda: "success" in lab.sisyphus("ralph", "log"), "end of the loop")

    assert went_on(tui.requests) == [False, True, True]


def test_a_loop_ends_at_its_limit(lab: Lab) -> None:
    run = lab.run(f"{ARGUMENTS} --max-iterations 2", *COMMAND, turns=[NOT_YET, NOT_YET])

    assert went_on(run.requests) == [False, True]
    assert "limit of 2 iterations" in run.told


def test_a_loop_outlives_the_client(lab: Lab) -> None:
    waits = Turn("Shall I?", meanwhile=lambda: lab.sisyphus("ralph", "pause"))
    first = lab.run(ARGUMENTS, *COMMAND, turns=[NOT_YET, waits])
    lab.sisyphus("ralph", "resume")

    second = lab.run("go on", "--session", first.session, turns=[NOT_YET, PROMISE])

    assert went_on(second.requests) == [False, True]


def test_a_loop_belongs_to_its_session(lab: Lab) -> None:
    with lab.serve(turns=[NOT_YET] * 3) as server:
        held = server.new_session()
        server.command(held, "ralph-loop", f"{ARGUMENTS} --max-iterations 2")
        other = server.new_session()
        server.prompt(other, "hello")
        server.until_idle(other)

    assert went_on([r for r in server.requests if r.session == held]) == [False, True]
    assert went_on([r for r in server.requests if r.session == other]) == [False]


def test_an_abort_is_not_resurrected(lab: Lab) -> None:
    turns = [NOT_YET, Unfinished("I go on"), say("Yes?"), PROMISE]
    with lab.serve(turns=turns) as server:
        session = server.new_session()
        server.command(session, "ralph-loop", ARGUMENTS)
        server.until(lambda: "I go on" in server.said, "second answer")
        server.abort(session)
        server.until_idle(session)
        server.shell(session, "true")  # whatever follows an end of a turn has had its time
        asked = len(server.requests)
        server.prompt(session, "hello?")
        server.until_idle(session)

        assert asked == 2
    assert went_on(server.requests) == [False, True, False, True]


def test_escape_in_the_terminal_is_not_resurrected(lab: Lab) -> None:
    with lab.tui(turns=[NOT_YET, Unfinished("I go on"), PROMISE]) as tui:
        tui.enter(f"/ralph-loop {ARGUMENTS}")
        tui.until_shown("I go on")
        tui.press(ESCAPE)
        tui.until_shown("again to interrupt")
        tui.press(ESCAPE)
        tui.until(lambda: tui.model.hung_up, "end of the request")
        tui.enter("hello?")
        tui.until_shown("All is well.")

    assert went_on(tui.requests) == [False, True, False]


def test_a_failure_of_the_model_is_not_gone_on_with(lab: Lab) -> None:
    with lab.serve(turns=[Turn("no such model", status=400), NOT_YET, PROMISE]) as server:
        session = server.new_session()
        server.command(session, "ralph-loop", ARGUMENTS)
        server.shell(session, "true")
        assert len(server.requests) == 1
        server.prompt(session, "again")
        server.until_asked(3)

    assert went_on(server.requests) == [False, False, True]


def test_the_agent_and_its_model_are_kept(lab: Lab) -> None:
    lab.write(".opencode/agent/careful.md", CAREFUL)

    other = f"e2e/{OTHER_MODEL}"
    flags = ("--agent", "careful", "--model", other)

    run = lab.run(ARGUMENTS, *COMMAND, *flags, turns=[NOT_YET, PROMISE])
    with lab.serve(turns=[NOT_YET, PROMISE]) as server:
        session = server.new_session()
        server.command(session, "ralph-loop", ARGUMENTS, agent="careful", model=other)
        server.until_asked(2)

    for request in (*run.requests, *server.requests):
        assert request.body["model"] == OTHER_MODEL
        assert "You are careful." in request.system


def test_the_plan_agent_waits_for_the_user_and_stays_in_its_mode(lab: Lab) -> None:
    with lab.serve(turns=[NOT_YET, PROMISE]) as server:
        session = server.new_session()
        server.command(session, "ralph-loop", ARGUMENTS, agent="plan")
        server.prompt(session, "go on", agent="plan")
        server.until_idle(session)

    assert went_on(server.requests) == [False, False]
    assert not any("no longer in read-only mode" in r.text for r in server.requests)


def test_a_subagent_is_left_alone_and_cannot_end_the_loop(lab: Lab) -> None:
    run = lab.run(
        ARGUMENTS,
        *COMMAND,
        turns=[use(task("a part")), NOT_YET, PROMISE],
        agent_turns=[say("<promise>DONE</promise>")],
    )

    assert went_on(run.main) == [False, False, True]
    assert not any("RALPH" in request.text for request in run.agents)


def test_a_promise_in_code_does_not_end_the_loop(lab: Lab) -> None:
    quoted = say("```\n<promise>DONE</promise>\n```")

    run = lab.run(ARGUMENTS, *COMMAND, turns=[quoted, PROMISE])

    assert went_on(run.requests) == [False, True]


def test_a_loop_that_is_cancelled_meanwhile_holds_nobody(lab: Lab) -> None:
    cancelled = Turn("Not yet.", meanwhile=lambda: lab.sisyphus("ralph", "cancel"))

    run = lab.run(ARGUMENTS, *COMMAND, turns=[NOT_YET, cancelled])

    assert went_on(run.requests) == [False, True]


def test_the_prompt_travels_again_after_a_compaction(lab: Lab) -> None:
    full = Turn("Reading.", (bash("true"),), tokens=USABLE)

    run = lab.run(ARGUMENTS, *COMMAND, turns=[NOT_YET, full, NOT_YET, NOT_YET, PROMISE])

    [summary] = run.compactions
    assert "the task of the loop: do it" in summary.text
    assert went_on(run.requests) == [False, True, False, True, True]
    whole = "The prompt of this ralph loop:\n\ndo it"
    assert [whole in request.last for request in run.requests] == [False, False, False, True, False]
