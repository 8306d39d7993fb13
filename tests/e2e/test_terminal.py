from __future__ import annotations

from typing import TYPE_CHECKING

from e2e.script import Tool, say, use
from e2e.terminal import ESCAPE, terminal

if TYPE_CHECKING:
    from e2e.desk import Desk

TYPED = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
HELD = "[RALPH LOOP ENFORCEMENT]"
NOT_YET = say("Not yet.")
PROMISE = say("All is well.\n\n<promise>DONE</promise>")
LONG_WORK = use(Tool("Bash", {"command": "touch begun && sleep 60"}))


def test_a_typed_loop_holds_until_its_promise(desk: Desk) -> None:
    with terminal(desk, turns=[NOT_YET, NOT_YET, PROMISE]) as client:
        client.enter(TYPED)
        client.until_asked(3)

    assert [HELD in request.last for request in client.requests] == [False, True, True]
    assert "[RALPH LOOP COMPLETE]" in client.told


def test_an_interrupted_loop_goes_on_with_the_next_prompt(desk: Desk) -> None:
    with terminal(desk, turns=[LONG_WORK, NOT_YET, PROMISE]) as client:
        client.enter(TYPED)
        client.until((desk.project / "begun").exists, "work")
        client.press(ESCAPE)
        client.until_idle()
        client.enter("go on")
        client.until_asked(3)

    assert [HELD in request.last for request in client.requests] == [False, False, True]


def test_what_the_user_remarks_while_the_model_works_ends_no_loop(desk: Desk) -> None:
    work = use(Tool("Bash", {"command": "touch begun && sleep 2"}))

    with terminal(desk, turns=[work, NOT_YET, PROMISE]) as client:
        client.enter(TYPED)
        client.until((desk.project / "begun").exists, "work")
        client.enter("mind the tests")
        client.until_asked(3)

    assert "mind the tests" in client.requests[1].last
    assert HELD in client.requests[2].last


def test_a_command_is_answered_without_the_model(desk: Desk) -> None:
    with terminal(desk, turns=[]) as client:
        client.enter("/sisyphus:ralph-status")
        client.until_idle()

    assert client.requests == []
