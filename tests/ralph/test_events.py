from __future__ import annotations

import pytest

from ralph.lines import (
    continued,
    expanded,
    line,
    notified,
    prompt,
    read,
    result,
    said,
    skill,
    thought,
    typed,
    used,
)
from sisyphus.ralph import events as ev


def _told(*records: dict[str, object]) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in ev.read(read(*records))]


TOLD = [
    pytest.param(prompt("hello"), [(ev.PROMPT, "")], id="the user speaks"),
    pytest.param(typed("go"), [(ev.PROMPT, ""), (ev.STARTED, "")], id="the user starts a loop"),
    pytest.param(expanded("go"), [], id="the client expands a command"),
    pytest.param(said("hi"), [(ev.SAID, "hi")], id="the model speaks"),
    pytest.param(thought("<promise>DONE</promise>"), [], id="the model thinks"),
    pytest.param(used("Read", file="x"), [(ev.TOOL, "Read")], id="the model calls a tool"),
    pytest.param(
        used("Bash", command="a  b\nc"), [(ev.TOOL, "Bash: a b c")], id="the model runs a command"
    ),
    pytest.param(
        skill("go"),
        [(ev.TOOL, "Skill: ralph-wiggum:ralph-loop"), (ev.STARTED, "")],
        id="the model starts a loop",
    ),
    pytest.param(
        used("Skill", skill="other"), [(ev.TOOL, "Skill: other")], id="the model uses a skill"
    ),
    pytest.param(prompt("<command-name>/x</command-name>"), [(ev.PROMPT, "")], id="a command"),
    pytest.param(result("<promise>DONE</promise>"), [], id="a tool answers"),
    pytest.param(result("x", is_error=False), [], id="a tool answers that it has not failed"),
    pytest.param(result("x", "toolu_7", is_error=True), [(ev.FAILED, "x")], id="a tool fails"),
    pytest.param(continued(), [(ev.CONTINUED, "")], id="a hook says go on"),
    pytest.param(notified(), [], id="a background task has ended"),
    pytest.param(prompt("<task-notification>x"), [], id="the same from an older client"),
    pytest.param(prompt("[Request interrupted by user]"), [], id="the user interrupts"),
    pytest.param(prompt("<local-command-stdout>x"), [], id="a local command answers"),
    pytest.param(prompt("summary", isCompactSummary=True), [], id="the context is compacted"),
    pytest.param(line("user", []), [], id="an empty line"),
    pytest.param(line("assistant", [{"type": "text", "text": 7}]), [], id="a text that is none"),
    pytest.param(line("assistant", "hi"), [(ev.SAID, "hi")], id="a bare text"),
]


@pytest.mark.parametrize(("record", "told"), TOLD)
def test_each_line_tells_what_happened(record: dict[str, object], told: list[object]) -> None:
    assert _told(record) == told


def _answer(answer_id: object = "m1", tokens: object = 5, **fields: object) -> dict[str, object]:
    record = line("assistant", [{"type": "text", "text": "<promise>DONE</promise>"}], **fields)
    message = record["message"]
    assert isinstance(message, dict)
    message.update(id=answer_id, usage={"output_tokens": tokens})
    return record


GOALS = [
    pytest.param({"met": False, "condition": "tests pass"}, ["tests pass"], id="it is set"),
    pytest.param({"condition": "tests pass"}, ["tests pass"], id="it was just set"),
    pytest.param({"met": True, "condition": "tests pass"}, [""], id="it is met"),
    pytest.param({"failed": True, "condition": "tests pass"}, [""], id="it was given up"),
    pytest.param({"met": False}, [], id="nothing that is wanted"),
    pytest.param("goal_status", [], id="no object"),
    pytest.param(None, [], id="nothing"),
]


@pytest.mark.parametrize(("note", "told"), GOALS)
def test_the_clients_own_goal_is_told(note: object, told: list[str]) -> None:
    line = {"type": "attachment", "attachment": note}

    assert [event.text for event in ev.read(read(line))] == told


SPENT = [
    pytest.param(_answer(), [("m1", 5)], id="an answer"),
    pytest.param(_answer(isSidechain=True), [("m1", 5)], id="a subagent's"),
    pytest.param(_answer(None, uuid="u1"), [("u1", 5)], id="by its line where it has no id"),
    pytest.param(_answer(7), [("7", 5)], id="by an id that is no text"),
    pytest.param(_answer(tokens=0), [], id="nothing spent"),
    pytest.param(_answer(tokens="5"), [], id="no number"),
    pytest.param(said("x"), [], id="no usage"),
    pytest.param(prompt("x", isSidechain=True), [], id="what a subagent is asked"),
    pytest.param({"type": "assistant", "message": 7}, [], id="no message"),
]


@pytest.mark.parametrize(("record", "spent"), SPENT)
def test_what_an_answer_costs_is_told(
    record: dict[str, object], spent: list[tuple[str, int]]
) -> None:
    told = [event for event in ev.read(read(record)) if event.kind == ev.SPENT]

    assert [(event.text, event.tokens) for event in told] == spent


def test_of_a_subagent_nothing_else_is_told() -> None:
    records = [
        _answer(isSidechain=True),
        {**skill("go"), "isSidechain": True},
        {**typed("go"), "isSidechain": True},
    ]

    assert [event.kind for event in ev.read(read(*records))] == [ev.SPENT]


CALLS = [
    pytest.param("Edit", {"file_path": "/p/a"}, "Edit: /p/a", "/p/a", id="an edit"),
    pytest.param(
        "NotebookEdit", {"notebook_path": "/p/n"}, "NotebookEdit", "/p/n", id="of a notebook"
    ),
    pytest.param("Read", {"file_path": "/p/a"}, "Read: /p/a", "", id="reading edits nothing"),
    pytest.param("Edit", {"file_path": 7}, "Edit", "", id="a path that is none"),
    pytest.param("Edit", {"file_path": "/a\0b"}, "Edit: /a\0b", "", id="one that cannot be"),
    pytest.param("Bash", {"command": "x " * 200}, "Bash: " + "x " * 99 + "x", "", id="cut"),
    pytest.param(
        "Agent", {"prompt": "p", "description": "look"}, "Agent: look", "", id="what it is about"
    ),
]


@pytest.mark.parametrize(("name", "given", "text", "path"), CALLS)
def test_a_tool_call_is_told_in_brief(
    name: str, given: dict[str, object], text: str, path: str
) -> None:
    record = line("assistant", [{"type": "tool_use", "id": "t7", "name": name, "input": given}])
    (event,) = ev.read(read(record))

    assert (event.kind, event.text, event.path, event.call) == (ev.TOOL, text, path, "t7")


@pytest.mark.parametrize("given", [None, [], "x", 7], ids=repr)
def test_a_tool_call_without_input_is_one_all_the_same(given: object) -> None:
    for name in ("Edit", "Skill"):
        record = line("assistant", [{"type": "tool_use", "name": name, "input": given}])

        assert [(event.kind, event.text) for event in ev.read(read(record))] == [(ev.TOOL, name)]


def test_a_failure_names_its_call_and_of_a_long_one_the_start() -> None:
    (event,) = ev.read(read(result([{"type": "text", "text": "x" * 9_999}], "t7", is_error=True)))

    assert (event.kind, event.call, event.text) == (ev.FAILED, "t7", "x" * 2_000)


def test_blocks_of_one_line_are_told_in_order() -> None:
    record = line(
        "assistant",
        [
            *said("a")["message"]["content"],
            *skill("go")["message"]["content"],
            *said("b")["message"]["content"],
        ],
    )

    assert [kind for kind, _ in _told(record)] == [ev.SAID, ev.TOOL, ev.STARTED, ev.SAID]


SAID, PROMPT = ev.SAID, ev.PROMPT
LAST = [
    pytest.param([prompt("p")], "new", [PROMPT, "new"], id="the transcript lacks it"),
    pytest.param([prompt("p"), said("a")], "a", [PROMPT, "a"], id="the transcript has it"),
    pytest.param([said("b")], "a\n\nb", ["a\n\nb"], id="its last block is there"),
    pytest.param([said("a"), said("b")], "a\n\nb", ["a", "a\n\nb"], id="its blocks are there"),
    pytest.param([said("a"), used("Read")], "b", ["a", ev.TOOL, "b"], id="another text is there"),
    pytest.param([said("b"), used("Read")], "a b", [ev.TOOL, "a b"], id="an ending of it is there"),
    pytest.param([said("a"), prompt("p")], "a", ["a", PROMPT, "a"], id="the turn before said it"),
    pytest.param([said("a"), continued()], "a", ["a", ev.CONTINUED, "a"], id="said before a Stop"),
    pytest.param(
        [said("a"), skill("x")], "a", ["a", ev.TOOL, ev.STARTED], id="said before a loop began"
    ),
    pytest.param(
        [said("a"), skill("x")], "b a", ["a", ev.TOOL, ev.STARTED, "b a"], id="only alike"
    ),
    pytest.param([said("a"), said(" ")], "a", [" ", "a"], id="a blank text is behind it"),
    pytest.param([said("a")], None, ["a"], id="no message in the payload"),
    pytest.param([said("a")], " \n", ["a"], id="an empty message"),
    pytest.param(
        [_answer()],
        "<promise>DONE</promise>",
        [ev.SPENT, "<promise>DONE</promise>"],
        id="with its cost",
    ),
    pytest.param([], "a", ["a"], id="no transcript"),
]


@pytest.mark.parametrize(("records", "message", "told"), LAST)
def test_the_last_message_is_told_once_and_last(
    records: list[dict[str, object]], message: str | None, told: list[str]
) -> None:
    events = ev.with_last_message(ev.read(read(*records)), message)

    assert [event.text if event.kind == SAID else event.kind for event in events] == told
