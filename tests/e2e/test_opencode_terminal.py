"""The terminal of OpenCode, where it differs from the client as a server."""

from __future__ import annotations

import pytest

from e2e.desk import OPENCODE, Desk
from e2e.opencode_terminal import opencode_terminal
from e2e.script import say

pytestmark = pytest.mark.parametrize("desk", [OPENCODE], indirect=True)

LOOKED = say("I had a look at the parser.")


def test_nothing_waits_beside_an_idle_session_that_its_user_has_left(desk: Desk) -> None:
    """They write in a new one, then in the first one again."""
    desk.write("../home/.claude/.sisyphus/config.toml", "[enforce]\nidle_seconds = 500\n")
    desk.sisyphus("enforce", "on")

    with opencode_terminal(desk, turns=[LOOKED] * 3) as client:
        first = client.ask("the lexer?")
        client.clear()
        second = client.ask("the parser?") - first
        client.until(lambda: not first & client.waiting, "end of the first wait")
        client.choose_other("the lexer?")
        client.ask("and the tokens?")
        client.until(lambda: not second & client.waiting, "end of the second wait")
