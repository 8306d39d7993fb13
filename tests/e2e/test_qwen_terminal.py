"""The terminal of Qwen Code, where it differs from the client without one."""

from __future__ import annotations

import pytest

from e2e.desk import QWEN, Desk
from e2e.qwen_terminal import qwen_terminal
from e2e.script import say
from e2e.test_qwen import BLOCK, NOT_YET, PROMISE

pytestmark = pytest.mark.parametrize("desk", [QWEN], indirect=True)

CHECK = "test -e done || (touch done; false)"
LOOP = f'/ralph-loop "do it" --completion-promise "DONE" --verify "{CHECK}"'


def test_a_promise_counts_in_its_own_iteration_alone(desk: Desk) -> None:
    """It writes the last message of an iteration down when the hook has answered."""
    turns = [PROMISE, NOT_YET, say("Half of it is missing."), PROMISE]

    with qwen_terminal(desk, turns=turns) as client:
        client.type(LOOP)
        client.until_drawn("[RALPH LOOP COMPLETE]")

    assert [BLOCK in request.last for request in client.requests] == [False, True, True, True]
