from __future__ import annotations

import pytest

from ralph.lines import (
    continued,
    expanded,
    line,
    notified,
    prompt,
    result,
    said,
    skill,
    thought,
    typed,
    used,
)
from sisyphus.ralph import events as ev


def _told(*records: dict[str, object]) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in ev.read(records)]


TOLD = [
    pytest.param(prompt("hello"), [(ev.PROMPT, "")], id="the user speaks"),
    pytest.param(typed("go"), [(ev.PROMPT, ""), (ev.STARTED, "")], id="the user starts a loop"),
    pytest.param(expanded("go"), [], id="the client expands a command"),
    pytest.param(said("hi"), [(ev.SAID, "hi")], id="the model speaks"),
    pytest.param(thought("<promise>DONE</promise>"), [], id="the model thinks"),
    pytest.param(used("Read", file="x"), [(ev.TOOL, "")], id="the model calls a tool"),
    pytest.param(skill("go"), [(ev.TOOL, ""), (ev.STARTED, "")], id="the model starts a loop"),
    pytest.param(used("Skill", skill="other"), [(ev.TOOL, "")], id="the model uses a skill"),
    pytest.param(prompt("<command-name>/x</command-name>"), [(ev.PROMPT, "")], id="a command"),
    pytest.param(result("<promise>DONE</promise>"), [], id="a tool answers"),
    pytest.param(result("x", is_error=False), [], id="a tool answers that it has not failed"),
    pytest.param(
        result("x", "toolu_7", is_error=True), [(ev.FAILED, "toolu_7")], id="a tool fails"
    ),
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
    pytest.param([], "a", ["a"], id="no transcript"),
]


@pytest.mark.parametrize(("records", "message", "told"), LAST)
def test_the_last_message_is_told_once_and_last(
    records: list[dict[str, object]], message: str | None, told: list[str]
) -> None:
    events = ev.with_last_message(ev.read(records), message)

    assert [event.text if event.kind == SAID else event.kind for event in events] == told
