"""A context that fills up while a loop works in the real client."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from e2e import copilot
from e2e.desk import CODEX, COPILOT, QWEN, Desk
from e2e.model import Request
from e2e.qwen import LATE
from e2e.scenario import each_client, each_client_but
from e2e.script import Turn, fill, say
from e2e.terminal import terminal

LOOP = '/sisyphus:ralph-loop "fire the kiln" --completion-promise DONE'
PROMISE = say("<promise>DONE</promise>")
BLOCK = "[RALPH LOOP ENFORCEMENT]"
RESUME = "CONTEXT CHECKPOINT RESUME"
LEVELS = ["CCS_WARNING|L1", "CCS_CHECKPOINT_TRIGGERED|L2", "CCS_CHECKPOINT_TRIGGERED|L3"]


@pytest.fixture(autouse=True)
def files(desk: Desk) -> None:
    desk.write("one.py", "1\n")


def full(*percents: int) -> list[Turn]:
    """The model reads a file each time, with so much of its context in use. The client may write
    an answer down after the hook of its tools, so a level needs two."""
    return [fill(10_000 * percent) for percent in percents]


def marks(requests: Sequence[Request]) -> list[str]:
    return [mark for each in requests for mark in re.findall(r"CCS_\w+\|L\d", each.last)]


@each_client_but({CODEX: "it compacts before the third; see test_codex.py"})
def test_each_level_is_told_once(desk: Desk) -> None:
    run = desk.run(LOOP, turns=[*full(60, 61, 72, 73, 87, 88, 95, 96), PROMISE])

    assert marks(run.main) == LEVELS
    assert "CCS_" not in run.messages


@each_client
def test_a_level_is_told_again_after_usage_has_fallen(desk: Desk) -> None:
    turns = [*full(87, 88, 40, 41, 72, 73, 87, 88), PROMISE]

    assert marks(desk.run(LOOP, turns=turns).main) == [LEVELS[1], LEVELS[0], LEVELS[1]]


@each_client_but({QWEN: LATE, COPILOT: copilot.LATE})
def test_a_compaction_in_a_loop(desk: Desk) -> None:
    run = desk.run(LOOP, turns=[*full(99), say("Not yet."), PROMISE])

    assert [request.text.count(RESUME) for request in run.main] == [0, 1, 1]
    assert "[RALPH LOOP COMPLETE]" in run.messages


@each_client
def test_the_handoff_of_a_loop_that_is_resumed(desk: Desk) -> None:
    first = desk.run(LOOP, turns=[*full(87, 88), say("<blocked>a key</blocked>")])

    run = desk.resume(first, "here is the key", turns=[say("Not yet."), PROMISE])

    assert [RESUME in request.text for request in run.main] == [True, True]
    assert [BLOCK in request.last for request in run.main] == [False, True]


def test_the_handoff_of_a_loop_over_a_clear(desk: Desk) -> None:
    turns = [*full(87, 88), say("<blocked>a key</blocked>"), say("Not yet."), PROMISE]

    with terminal(desk, turns=turns) as client:
        client.enter(LOOP)
        client.clear()
        client.enter("here is the key")
        last = client.requests[3:]

    assert [RESUME in request.text for request in last] == [True, True]
    assert [BLOCK in request.last for request in last] == [False, True]


@each_client
def test_a_new_session_gets_the_handoff_of_one_that_is_over(desk: Desk) -> None:
    desk.run(LOOP, turns=[*full(87, 88), say("<blocked>a key</blocked>")])

    run = desk.run("here is the key", turns=[say("Yes.")])

    assert RESUME in run.main[0].text
