"""What happened in one iteration of a loop, from the events since the Stop before. Pure."""

from __future__ import annotations

from sisyphus.clients.base import ASK
from sisyphus.ralph import events as ev

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.ralph.events import Event


class Account:
    """`said`: the model's messages since it was last told to go on or the user spoke.

    `edits`: files whose edit did not fail. `errors`: what failed tool calls answered.
    `spent`: tokens by the id of the answer, oldest first; `tokens`: how many were not counted
    before, subagents' included. `is_asking`: a question to the user is open.
    `goal`: what the client's own `/goal` holds the session to as well. `text`: the iteration for
    people to read.
    """

    __slots__ = (
        "edits", "errors", "goal", "is_asking", "said", "spent", "text", "tokens", "tools",
    )  # fmt: skip

    def __init__(self) -> None:
        self.said: list[str] = []
        self.tools = 0
        self.tokens = 0
        self.edits: list[str] = []
        self.errors: list[str] = []
        self.spent: dict[str, int] = {}
        self.is_asking = False
        self.goal = ""
        self.text = ""


def take(events: Sequence[Event]) -> Account:
    """The account of what happened since the last look, oldest first."""
    account = Account()
    failed = {event.call for event in events if event.kind == ev.FAILED}
    for event in events:
        _add(account, event, failed)
    account.text = "\n\n".join(filter(None, map(_line, _latest(events))))
    return account


def _add(account: Account, event: Event, failed: set[str]) -> None:
    if event.kind in (ev.CONTINUED, ev.PROMPT):
        account.said = []
    elif event.kind == ev.SAID:
        account.said.append(event.text)
    elif event.kind == ev.TOOL:
        account.tools += 1
        if event.path and event.call not in failed:
            account.edits.append(event.path)
    elif event.kind == ev.FAILED:
        account.errors.append(event.text)
    elif event.kind == ev.GOAL:
        account.goal = event.text
    elif event.kind == ev.SPENT:
        account.spent[event.text] = max(event.tokens, account.spent.get(event.text, 0))
    if event.kind == ev.SAID:
        account.is_asking = asks(event.text)
    elif event.kind not in (ev.SPENT, ev.GOAL):
        account.is_asking = event.tool == ASK


def asks(message: str) -> bool:
    """Whether its last line is a question, whatever stands around it."""
    return message.rstrip(" \t\r\n*_`\"')\u201d\u2019\u00bb").endswith(("?", "\uff1f", "\u061f"))


def _latest(events: Sequence[Event]) -> Sequence[Event]:
    """Those behind the last continuation: what the model said before it is told already.

    How the last tool calls went is not: at Stop the transcript lacks that (Claude Code 2.1.329).
    """
    for index in range(len(events) - 1, -1, -1):
        if events[index].kind == ev.CONTINUED:
            late = [event for event in events[:index] if event.kind == ev.FAILED]
            return [*late, *events[index + 1 :]]
    return events


def _line(event: Event) -> str:
    if event.kind == ev.SAID:
        return event.text.strip()
    if event.kind == ev.TOOL:
        return f"[{event.text}]"
    return f"[failed: {event.text.strip()}]" if event.kind == ev.FAILED else ""
