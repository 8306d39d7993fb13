"""Continuous enforcement in OpenCode: what is said to be done is verified, who rests is woken."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from e2e.opencode.script import Unfinished, bash, task
from e2e.script import Turn, say, use

if TYPE_CHECKING:
    from collections.abc import Mapping

    from e2e.opencode.lab import Lab
    from e2e.opencode.server import Server
    from e2e.opencode.wire import Request

GO_ON = "[CONTINUOUS ENFORCEMENT]"
CLAIMED = 'You said: "I am done'
IS_ON = "Continuous enforcement is on for this project. End it with /enforce off."
IDLE = "The session has been idle for"
CLAIM = say("I am done.")
RESTING = say("I read the tests.")
WORK = use(bash("true"))
SOON = {  # seconds; layer 2 at once, once
    "idle_seconds": 0.5,
    "stability_seconds": 0,
    "countdown_seconds": 0,
}
AT_ONCE = {**SOON, "cooldown_seconds": 0.5}


@pytest.fixture(autouse=True)
def enforced(lab: Lab) -> None:
    lab.sisyphus("enforce", "on")


def limit(lab: Lab, settings: Mapping[str, float]) -> None:
    """In the user's own file, which alone may."""
    lines = [f"{name} = {value}" for name, value in settings.items()]
    file = lab.home / ".claude/.sisyphus/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["[enforce]", *lines, ""]))


def went_on(requests: list[Request]) -> list[bool]:
    return [GO_ON in request.last for request in requests]


def enforcements(lab: Lab) -> list[dict[str, Any]]:
    rows = json.loads(lab.sisyphus("enforce", "log", "--json", "-n", "100"))
    return [row for row in rows if row["what"] == "enforced"]


def status(lab: Lab) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lab.sisyphus("enforce", "status", "--json"))
    return found


def announced(server: Server) -> list[dict[str, Any]]:
    """The toasts that tell of an enforcement; each session begins with one that it is on."""
    return [toast for toast in server.toasts if toast["message"] != IS_ON]


def variants(server: Server) -> list[str]:
    return [toast["variant"] for toast in announced(server)]


def test_who_says_done_in_a_run_is_asked_for_proof_and_the_cooldown_holds(lab: Lab) -> None:
    run = lab.run("do it", turns=[CLAIM, WORK, CLAIM])

    assert went_on(run.requests) == [False, True, False]
    assert CLAIMED in run.requests[1].last
    assert "4. Improve" in run.requests[1].last


def test_who_says_done_to_a_server_is_asked_for_proof_with_a_toast(lab: Lab) -> None:
    with lab.serve(turns=[CLAIM, WORK, CLAIM]) as server:
        server.prompt(server.new_session(), "do it")
        server.until_told()

        assert variants(server) == ["warning"]
    [toast] = announced(server)
    assert IS_ON in [toast["message"] for toast in server.toasts]
    assert "I am done" in toast["message"]
    assert toast["duration"] == 15_000
    assert went_on(server.requests) == [False, True, False]


def test_words_of_work_are_no_claim(lab: Lab) -> None:
    run = lab.run("do it", turns=[say("Let me complete the function.")])

    assert went_on(run.requests) == [False]


def test_who_rests_is_woken_once_and_then_left_alone_for_the_cooldown(lab: Lab) -> None:
    limit(lab, SOON)
    with lab.serve(turns=[RESTING, WORK, RESTING]) as server:
        session = server.new_session()
        server.prompt(session, "do it")
        server.until_told()
        server.until_idle(session)

        [known] = status(lab)["sessions"]

    assert went_on(server.requests) == [False, True, False]
    assert IDLE in server.requests[1].last
    assert variants(server) == ["error"]
    assert [row["layer"] for row in enforcements(lab)] == [2]
    assert "cooldown" in [gate["gate"] for gate in known["gates"] if not gate["passed"]]


def test_who_does_nothing_is_woken_ever_later_and_after_five_times_no_more(lab: Lab) -> None:
    limit(lab, AT_ONCE)
    with lab.serve(turns=[RESTING] * 6) as server:
        server.prompt(server.new_session(), "do it")
        server.until_told()
        server.until(lambda: status(lab)["status"] == "RECOVERING", "end of the patience")

    moments = [datetime.fromisoformat(row["at"]) for row in enforcements(lab)]
    gaps = [(later - one).total_seconds() for one, later in pairwise(moments)]
    assert len(moments) == 5
    for failures, gap in enumerate(gaps, start=1):
        assert gap >= 0.5 * 2**failures - 0.05


def test_the_terminal_shows_who_is_woken(lab: Lab) -> None:
    limit(lab, {**SOON, "countdown_seconds": 3})  # several toasts: it may drop one
    with lab.tui(turns=[RESTING, WORK, say("Here is the proof.")]) as tui:
        tui.enter("do it")
        tui.until_shown("Enforcement 1 of 50")
        tui.until_shown("Here is the proof.")

    assert went_on(tui.requests) == [False, True, False]


def test_the_user_who_speaks_in_the_countdown_is_the_one_who_is_heard(lab: Lab) -> None:
    patient = {**SOON, "countdown_seconds": 2}
    turns = [RESTING, say("For what?"), RESTING, WORK, RESTING]
    limit(lab, patient)
    with lab.serve(turns=turns) as server:
        session, other = server.new_session(), server.new_session()
        server.prompt(session, "do it")
        server.until(lambda: announced(server), "countdown")
        server.prompt(session, "wait")
        server.until_idle(session)
        server.prompt(other, "do it")
        server.until_told()  # the other one was woken, whose countdown ended later

    asked = [(request.session, request.users[-1]) for request in server.requests]
    assert asked[:2] == [(session, "do it"), (session, "wait")]
    assert {request.session for request in server.requests[2:]} == {other}
    for left in ("in 2 s", "in 1 s"):
        assert any(left in toast["message"] for toast in server.toasts)


def test_an_aborted_session_is_not_woken(lab: Lab) -> None:
    limit(lab, SOON)
    with lab.serve(turns=[Unfinished("I begin"), RESTING, WORK, RESTING]) as server:
        aborted, other = server.new_session(), server.new_session()
        server.prompt(aborted, "do it")
        server.until(lambda: "I begin" in server.said, "answer")
        server.abort(aborted)
        server.until_idle(aborted)
        server.prompt(other, "do it")
        server.until_told()  # the other one was woken, though it came to rest later

    assert [request.session for request in server.requests] == [aborted, other, other, other]


def test_a_question_the_plan_agent_and_a_subagent_are_left_alone(lab: Lab) -> None:
    turns = [say("Which one first?"), CLAIM, use(task("a part")), RESTING, WORK, RESTING]
    limit(lab, SOON)
    with lab.serve(turns=turns, agent_turns=[CLAIM]) as server:
        for prompt, agent in (("ask", "build"), ("plan", "plan"), ("delegate", "build")):
            session = server.new_session()
            server.prompt(session, prompt, agent=agent)
            server.until_idle(session)
        server.until_told()

    [woken] = [request for request in server.requests if GO_ON in request.last]
    assert woken.users[0] == "delegate"


def test_the_user_stops_it_until_the_next_prompt(lab: Lab) -> None:
    stopped = Turn("I read the tests.", meanwhile=lambda: lab.sisyphus("enforce", "stop"))
    turns = [stopped, RESTING, WORK, RESTING, RESTING, WORK, RESTING]
    limit(lab, SOON)
    with lab.serve(turns=turns) as server:
        session, other = server.new_session(), server.new_session()
        server.prompt(session, "do it")
        server.until_idle(session)
        server.prompt(other, "do it")
        server.until_asked(4)  # the other one was woken, though it came to rest later
        server.until_idle(other)
        server.prompt(session, "go on")
        server.until_told()

    for one, expected in (
        (session, [False, False, True, False]),
        (other, [False, True, False]),
    ):
        assert went_on([r for r in server.requests if r.session == one]) == expected


def test_the_command_switches_it_on_and_off(lab: Lab) -> None:
    off = lab.run("off", "--command", "enforce", turns=[])
    run = lab.run("do it", turns=[CLAIM])
    on = lab.run("on", "--command", "enforce", turns=[])
    again = lab.run("do it", turns=[CLAIM, WORK, RESTING])

    assert "off" in off.output.lower()
    assert on.output
    assert went_on(run.requests) == [False]
    assert went_on(again.requests) == [False, True, False]
