"""Rules in OpenCode: they come with the file that they are about, once a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from e2e.opencode.script import read, task, write
from e2e.script import say, use
from e2e.texts import RULES

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.opencode.lab import Lab

PYTHON = '---\napplyTo: "**/*.py"\n---\nBe kind.\n'


@pytest.fixture(autouse=True)
def rule(lab: Lab) -> Path:
    return lab.write(".github/instructions/python.instructions.md", PYTHON)


def test_a_rule_is_sent_once_for_two_reads(lab: Lab) -> None:
    one, two = lab.write("one.py", "1"), lab.write("two.py", "2")

    run = lab.run("look", turns=[use(read(one)), use(read(two)), say("seen")])
    resumed = lab.run("again", "--session", run.session, turns=[use(read(one)), say("seen")])

    assert [request.count("Be kind.") for request in run.requests] == [0, 1, 1]
    assert RULES in run.requests[1].results[0]
    assert "1" in run.requests[1].results[0]
    assert [request.count("Be kind.") for request in resumed.requests] == [1, 1]


def test_a_rule_is_sent_once_for_two_reads_at_once(lab: Lab) -> None:
    one, two = lab.write("one.py", "1"), lab.write("two.py", "2")

    run = lab.run("look", turns=[use(read(one), read(two)), say("seen")])

    assert run.requests[1].count("Be kind.") == 1


def test_a_file_that_is_written_has_rules_and_another_kind_has_none(lab: Lab) -> None:
    run = lab.run(
        "write",
        turns=[
            use(write(lab.project / "notes.txt", "x")),
            use(write(lab.project / "one.py", "1")),
            say("written"),
        ],
    )

    assert [request.count("Be kind.") for request in run.requests] == [0, 0, 1]


def test_a_subagent_is_sent_the_rule_for_itself(lab: Lab) -> None:
    file = lab.write("one.py", "1")

    run = lab.run(
        "delegate",
        turns=[use(task("look")), use(read(file)), say("seen")],
        agent_turns=[use(read(file)), say("seen")],
    )

    assert [request.count("Be kind.") for request in run.agents] == [0, 1]
    assert [request.count("Be kind.") for request in run.main] == [0, 0, 1]


def test_after_a_compaction_the_rule_is_sent_again(lab: Lab) -> None:
    file = lab.write("one.py", "1")
    look = [use(read(file)), say("seen")]

    with lab.serve(turns=[*look, *look]) as server:
        session = server.new_session()
        server.prompt(session, "look")
        server.until_idle(session)
        server.summarize(session)
        server.prompt(session, "look again")
        server.until_idle(session)

        counts = [request.count("Be kind.") for request in server.requests]
    assert counts == [0, 1, 0, 1]


def test_a_rule_of_claude_code_is_sent_here_too(lab: Lab) -> None:
    """Claude Code sends these itself; OpenCode does not."""
    lab.write(".claude/rules/tabs.md", '---\npaths: "**/*.py"\n---\nUse tabs.\n')
    file = lab.write("one.py", "1")

    run = lab.run("look", turns=[use(read(file)), say("seen")])

    assert [request.count("Use tabs.") for request in run.requests] == [0, 1]
