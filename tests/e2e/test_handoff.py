"""A context that fills up in the real client, and what the next one gets."""

from __future__ import annotations

import re

import pytest

from e2e.desk import QWEN, Desk
from e2e.qwen import LATE
from e2e.scenario import each_client, each_client_but
from e2e.script import Turn, edit, fill, read, say, use
from e2e.terminal import terminal

PLAN = "# Kiln\n\n- [x] wash\n- [ ] fire\n- [ ] glaze\n"
RESUME = "CONTEXT CHECKPOINT RESUME"
PERCENT = 10_000
"""Tokens of the window of the client's default model."""


@pytest.fixture(autouse=True)
def plan(desk: Desk) -> None:
    desk.write("PLAN.md", PLAN)
    desk.write("one.py", "1\n")


def full(percent: int, *turns: Turn) -> list[Turn]:
    """The model reads a file, with so much of its context in use. A client may say how much only
    after the hook of the tools, so it reads twice."""
    reads = [fill(percent * PERCENT)] * 2
    return [*reads, *(turns or [say("yes")])]


@each_client
def test_each_level_is_told_once(desk: Desk) -> None:
    desk = desk.shared
    turns = [fill(percent * PERCENT) for percent in (60, 72, 73, 87, 88)]

    run = desk.run("on", turns=[*turns, say("yes")])

    marks = [m for request in run.main for m in re.findall(r"CCS_\w+\|L\d\|\d+", request.last)]
    first, second = marks  # the client may write an answer down after the hook of its tools
    assert first in ("CCS_WARNING|L1|72", "CCS_WARNING|L1|73")
    assert second in ("CCS_CHECKPOINT_TRIGGERED|L2|87", "CCS_CHECKPOINT_TRIGGERED|L2|88")
    assert "CCS_" not in run.messages
    assert len(list((desk.project / ".claude" / "handoffs").glob("*.md"))) == 1


@each_client
def test_a_new_session_goes_on_from_the_handoff(desk: Desk) -> None:
    desk = desk.shared
    desk.run("fire the kiln", turns=full(87))

    run = desk.run("on", turns=[say("yes")])

    assert RESUME in run.main[0].text
    assert "fire the kiln" in run.main[0].text
    assert RESUME not in desk.run("on", turns=[say("yes")]).main[0].text


@each_client
def test_the_session_itself_gets_it_when_it_is_resumed(desk: Desk) -> None:
    desk = desk.shared
    first = desk.run("fire the kiln", turns=full(87))

    run = desk.resume(first, "on", turns=[say("yes")])

    assert run.main[0].text.count(RESUME) == 1


@each_client
def test_the_model_completes_its_handoff(desk: Desk) -> None:
    """Below `.claude/` the client asks for each edit, and nobody is there to answer."""
    desk, document = desk.shared, ".claude/handoffs/*.md"
    change = edit(document, "# Handoff", "# Handoff\n\nGas, not wood.")

    desk.run("fire the kiln", turns=full(87, use(read(document)), use(change), say("done")))

    (file,) = desk.project.glob(document)
    assert "Gas, not wood." in file.read_text()


@each_client_but({QWEN: LATE})
def test_a_compaction_is_survived(desk: Desk) -> None:
    desk = desk.shared
    turns = [use(read("one.py"), tokens=990_000), say("yes"), say("done")]

    run = desk.run("fire the kiln", "on", turns=turns)

    texts = [request.text for request in run.main]
    assert any(RESUME in text for text in texts)


def test_a_clear_is_survived(desk: Desk) -> None:
    with terminal(desk, turns=[*full(87), say("yes")]) as client:
        client.enter("fire the kiln")
        client.clear()
        client.enter("on")
        last = client.requests[-1].text

    assert RESUME in last
