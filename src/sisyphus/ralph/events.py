"""What matters to a loop in a transcript, in order: who said what, who started what. Pure."""

from __future__ import annotations

from sisyphus.clients.base import EDIT, SKILL, WRITE
from sisyphus.transcript import ASSISTANT, USER, Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus.ralph.invocations import Start
    from sisyphus.transcript import Record

PROMPT = "prompt"  # the user spoke
CONTINUED = "continued"  # a Stop hook spoke
SAID = "said"  # the model spoke
TOOL = "tool"  # the model called a tool
FAILED = "failed"  # a tool call failed
STARTED = "started"  # somebody started a loop
SPENT = "spent"  # the model answered, which costs tokens
GOAL = "goal"  # the client's own goal was set or ended

_ERROR = 2_000  # characters


class Event:
    """`text`: what was said; of a tool call its name and what it is about; of a failed one the
    error; of an answer its id.

    `call` is the id of the tool call or of the prompt, `tool` what kind of call it is, `path` the
    file that it edits, `start` the loop that was started.
    """

    __slots__ = ("call", "kind", "path", "start", "text", "tokens", "tool")

    def __init__(self, kind: str, text: str = "", start: Start | None = None) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.call = ""
        self.path = ""
        self.tool = ""
        self.tokens = 0


def read(records: Iterable[Record]) -> list[Event]:
    """The events of the main thread, oldest first; of a subagent's records what they cost."""
    return [event for record in records for event in _events(record)]


def _events(record: Record) -> Iterator[Event]:
    if record.goal is not None:
        yield Event(GOAL, record.goal)
    elif record.is_subagents:
        yield from spent(record)
    elif record.role == ASSISTANT:
        yield from _assistant(record)
    elif record.role == USER and not record.is_compaction:
        yield from _user(record)


def _assistant(record: Record) -> Iterator[Event]:
    yield from spent(record)
    for part in record.parts:
        if isinstance(part, str):
            yield Event(SAID, part)
        elif isinstance(part, Call):
            yield _tool(part)
            yield from _called(record, part)


def spent(record: Record) -> Iterator[Event]:
    """What an answer cost. Each block of it is a line of its own that repeats the usage."""
    if record.tokens:
        event = Event(SPENT, record.answer)
        event.tokens = record.tokens
        yield event


def _tool(call: Call) -> Event:
    event = Event(TOOL, call.brief)
    event.call, event.tool = call.id, call.kind
    if call.kind in (EDIT, WRITE):
        event.path = call.path
    return event


def _user(record: Record) -> Iterator[Event]:
    for result in record.results:
        if result.failed:
            failed = Event(FAILED, result.text[:_ERROR])
            failed.call = result.id
            yield failed
    if record.is_continuation:
        yield Event(CONTINUED)
    elif record.is_prompt:
        prompt = Event(PROMPT)
        prompt.call = record.prompt_id
        yield prompt
        yield from _typed(record)


def _called(record: Record, call: Call) -> Iterator[Event]:
    if call.kind == SKILL:
        from sisyphus.ralph import invocations  # its patterns cost half a millisecond

        if start := invocations.called(record, call):
            yield Event(STARTED, start=start)


def _typed(record: Record) -> Iterator[Event]:
    if record.command:
        from sisyphus.ralph import invocations

        if start := invocations.typed(record):
            yield Event(STARTED, start=start)


def with_last_message(events: list[Event], message: str | None) -> list[Event]:
    """The payload's own last message as the last thing said; the transcript may hold it already.

    A message of several text blocks is several lines of the transcript, of which the last counts.
    """
    if not message or not message.strip():
        return events
    last = Event(SAID, message)
    before_start = False
    for index in range(len(events) - 1, -1, -1):
        kind, text = events[index].kind, events[index].text.strip()
        if kind in (PROMPT, CONTINUED):
            break
        before_start = before_start or kind == STARTED
        if kind == SAID and text and before_start:
            return events if text == message.strip() else [*events, last]
        if kind == SAID and text:
            is_same = message.strip().endswith(text)
            return [*events[:index], *events[index + is_same :], last]
    return [*events, last]
