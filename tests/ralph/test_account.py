from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ralph.lines import continued, line, prompt, read, result, said, used
from sisyphus.ralph import account, events
from sisyphus.ralph.events import Event

if TYPE_CHECKING:
    from sisyphus.ralph.account import Account

Record = dict[str, object]


def _take(*records: Record) -> Account:
    return account.take(events.read(read(*records)))


def _answer(answer_id: str, output: int, *blocks: Record, **fields: object) -> Record:
    record = line("assistant", list(blocks) or [{"type": "text", "text": "x"}], **fields)
    message = record["message"]
    assert isinstance(message, dict)
    message.update(id=answer_id, usage={"output_tokens": output})
    return record


def test_nothing_happened_is_an_empty_account() -> None:
    taken = _take()

    assert (taken.said, taken.tools, taken.edits, taken.errors) == ([], 0, [], [])
    assert (taken.spent, taken.tokens, taken.is_asking, taken.text) == ({}, 0, False, "")


SAID = [
    pytest.param([said("a"), said("b")], ["a", "b"], id="all messages"),
    pytest.param([said("a"), continued(), said("b")], ["b"], id="since the last continuation"),
    pytest.param([said("a"), prompt("go on"), said("b")], ["b"], id="since the user spoke"),
    pytest.param([said("a"), used("Read"), said("b")], ["a", "b"], id="around a tool call"),
]


@pytest.mark.parametrize(("records", "messages"), SAID)
def test_what_was_said_is_what_may_hold_the_promise(
    records: list[Record], messages: list[str]
) -> None:
    assert _take(*records).said == messages


def test_tools_edits_and_errors_are_those_of_the_whole_iteration() -> None:
    taken = _take(
        used("Edit", "t1", file_path="/p/a.py"),
        used("Write", "t2", file_path="/p/b.py"),
        used("NotebookEdit", "t3", notebook_path="/p/c.ipynb"),
        used("Read", "t4", file_path="/p/d.py"),
        result("no such text", "t2", is_error=True),
        prompt("go on"),
        used("Bash", "t5", command="make"),
        result("exit 2", "t5", is_error=True),
    )

    assert taken.tools == 5
    assert taken.edits == ["/p/a.py", "/p/c.ipynb"]
    assert taken.errors == ["no such text", "exit 2"]


def test_each_answer_is_counted_once_however_many_lines_it_has() -> None:
    taken = _take(
        _answer("m1", 7), _answer("m1", 9), _answer("m1", 9), _answer("m2", 5, isSidechain=True)
    )

    assert taken.spent == {"m1": 9, "m2": 5}


QUESTION: Record = {"type": "tool_use", "id": "t1", "name": "AskUserQuestion", "input": {}}
ASKING = [
    pytest.param([said("Done.\n\nShall I go on?")], True, id="the last line is a question"),
    pytest.param([said("Shall I?\n\nI do.")], False, id="a line before it is"),
    pytest.param([said("**Shall I?**")], True, id="in emphasis"),
    pytest.param([said('He asked "shall I?"')], True, id="in quotes"),
    pytest.param([said("行きますか\uff1f")], True, id="in another language"),
    pytest.param([said("")], False, id="nothing said"),
    pytest.param([said("Shall I?"), used("Read")], False, id="work went on"),
    pytest.param([said("Shall I?"), prompt("yes")], False, id="it is answered"),
    pytest.param([used("AskUserQuestion")], True, id="the tool for questions"),
    pytest.param([_answer("m1", 5, QUESTION)], True, id="with what it cost"),
    pytest.param(
        [said("Shall I?"), _answer("m2", 5, isSidechain=True)], True, id="a subagent is at work"
    ),
]


@pytest.mark.parametrize(("records", "is_asking"), ASKING)
def test_whether_the_model_asks_the_user(records: list[Record], is_asking: bool) -> None:
    assert _take(*records).is_asking is is_asking


def _goal(condition: str) -> Event:
    return Event(events.GOAL, condition)


GOALS = [
    pytest.param([], "", id="none"),
    pytest.param([_goal("tests pass")], "tests pass", id="one"),
    pytest.param([_goal("a"), _goal("b")], "b", id="the latest"),
    pytest.param([_goal("a"), _goal("")], "", id="one that has ended"),
]


@pytest.mark.parametrize(("goals", "goal"), GOALS)
def test_the_clients_own_goal_is_known_and_answers_no_question(
    goals: list[Event], goal: str
) -> None:
    taken = account.take([Event(events.SAID, "Shall I?"), *goals])

    assert (taken.goal, taken.is_asking) == (goal, True)


def test_the_text_is_what_a_person_reads() -> None:
    taken = _take(
        prompt("hello"),
        said(" I look. \n"),
        used("Bash", "t1", command="pytest -q"),
        result("1 failed\n", "t1", is_error=True),
        said("  "),
        said("I see."),
    )

    assert taken.text == "I look.\n\n[Bash: pytest -q]\n\n[failed: 1 failed]\n\nI see."


def test_the_text_begins_behind_the_last_continuation() -> None:
    taken = _take(said("before"), continued(), said("after"), prompt("x"), said("later"))

    assert taken.text == "after\n\nlater"
