"""What a loop meets in the terminal interface alone: `/clear` and the account's limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from e2e.script import Turn, say
from e2e.terminal import terminal
from e2e.texts import COMPLETE, GO_ON

if TYPE_CHECKING:
    from e2e.desk import Desk

TYPED = '/sisyphus:ralph-loop "do it well" --completion-promise "DONE"'
PROMISE = say("All is well.\n\n<promise>DONE</promise>")
NOT_YET = say("Not yet.")
LIMIT = Turn("You are too quick.", status=429)
AT_ONCE = {"CLAUDE_CODE_MAX_RETRIES": "0"}


def test_a_loop_comes_along_after_clear(desk: Desk) -> None:
    with terminal(desk, turns=[NOT_YET] * 5 + [NOT_YET, PROMISE]) as client:
        client.enter(TYPED)
        client.until_asked(5)
        client.until_idle()
        first = client.session
        desk.sisyphus("ralph", "resume")
        client.clear()
        client.enter("go on")
        client.until_asked(7)
        client.until_idle()
        assert client.session != first

    assert "The prompt of this ralph loop:\n\ndo it well" in client.requests[6].last
    assert COMPLETE in client.told


def test_a_paused_loop_is_taken_up_by_its_command(desk: Desk) -> None:
    with terminal(desk, turns=[NOT_YET] * 5 + [NOT_YET, PROMISE]) as client:
        client.enter(TYPED)
        client.until_asked(5)
        client.until_idle()
        client.enter("/sisyphus:ralph-resume")
        client.until_asked(7)

    assert "5 iterations without progress" in client.told
    assert [GO_ON in request.last for request in client.requests[5:]] == [False, True]


def test_a_limit_of_the_account_is_no_iteration(desk: Desk) -> None:
    with terminal(desk, turns=[NOT_YET, LIMIT, NOT_YET, PROMISE], env=AT_ONCE) as client:
        client.enter(TYPED)
        client.until_asked(2)
        client.until(lambda: "waiting for the" in desk.sisyphus("ralph", "status"), "note of it")
        before = json.loads(desk.sisyphus("ralph", "status", "--json"))
        client.until_idle()
        client.enter("go on")
        client.until_asked(4)
        client.until_idle()
        said = desk.sisyphus("why", "--all", "-n", "99")

    assert before["iteration"] == 2
    assert "the turn failed (rate_limit)" in said
    assert COMPLETE in client.told


def test_after_a_limit_the_session_is_woken(desk: Desk) -> None:
    typed = f"{TYPED} --resume-after-limit"
    desk.write_home(".sisyphus/config.toml", "[ralph]\nretry_seconds = 2\n")

    with terminal(desk, turns=[NOT_YET, LIMIT, LIMIT, NOT_YET, PROMISE], env=AT_ONCE) as client:
        client.enter(typed)
        client.until_asked(5)

    assert "Go on with the task of the ralph loop" in client.requests[3].last
    assert COMPLETE in client.told
