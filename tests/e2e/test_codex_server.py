"""Codex with the server that its terminals start by default: it runs hooks, and outlives them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from e2e.codex_terminal import codex_terminal, end_server
from e2e.desk import CODEX, Desk
from e2e.test_codex_terminal import HEADING, LOOKED, enforce, leave_session, state

pytestmark = pytest.mark.parametrize("desk", [CODEX], indirect=True)


@pytest.fixture(autouse=True)
def no_server_stays(desk: Desk) -> Iterator[None]:
    yield
    end_server(desk)


def test_an_idle_session_is_woken(desk: Desk) -> None:
    enforce(desk, idle_seconds=1, cooldown_seconds=600)

    with codex_terminal(desk, turns=[LOOKED, LOOKED], has_server=True) as client:
        client.enter("work")
        client.until(lambda: len(client.requests) == 2, "wake")
        client.until(lambda: client.ends == 2, "end of the turn")

    assert HEADING in client.requests[1].last
    assert state(desk)["iteration"] == 1


def test_nobody_is_woken_whose_terminal_is_closed(desk: Desk) -> None:
    enforce(desk, idle_seconds=2, cooldown_seconds=0)

    with codex_terminal(desk, turns=[LOOKED], has_server=True) as client:
        client.enter("work")
    time.sleep(2.5)

    assert state(desk)["iteration"] == 0


def test_nobody_is_woken_whom_the_terminal_does_not_show(desk: Desk) -> None:
    leave_session(desk, has_server=True)
