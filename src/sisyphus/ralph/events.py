"""What matters to a loop in a transcript, in order: who said what, who started what. Pure."""

from __future__ import annotations

from sisyphus import transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Json
    from sisyphus.ralph.invocations import Start

PROMPT = "prompt"  # the user spoke
CONTINUED = "continued"  # a Stop hook spoke
SAID = "said"  # the model spoke
TOOL = "tool"  # the model called a tool
FAILED = "failed"  # a tool call failed
STARTED = "started"  # somebody started a loop

_STARTER = "Skill"
_COMMAND = "<command-"
_CONTINUATION = "Stop hook feedback:"
_NO_PROMPTS = ("<task-notification>", "<local-command-stdout>", "[Request interrupted by user")


class Event:
    """`text`: what was said; of a failed call its id. `start`: the loop that was started."""

    __slots__ = ("kind", "start", "text")

    def __init__(self, kind: str, text: str = "", start: Start | None = None) -> None:
        self.kind = kind
        self.text = text
        self.start = start


def read(records: Iterable[Json]) -> list[Event]:
    """The events of main-thread records, oldest first."""
    return [event for record in records for event in _events(record)]


def _events(record: Json) -> Iterator[Event]:
    if record.get("type") == "assistant":
        yield from _assistant(record)
    elif not record.get("isCompactSummary"):
        yield from _user(record)


def _assistant(record: Json) -> Iterator[Event]:
    for block in transcript.blocks(record):
        kind, text = block.get("type"), block.get("text")
        if kind == "text" and isinstance(text, str):
            yield Event(SAID, text)
        elif kind == "tool_use":
            yield Event(TOOL)
            yield from _called(record, block)


def _user(record: Json) -> Iterator[Event]:
    for block in transcript.blocks(record):
        if block.get("type") == "tool_result" and block.get("is_error") is True:
            yield Event(FAILED, str(block.get("tool_use_id")))
    texts = transcript.texts(record)
    if texts and texts[0].startswith(_CONTINUATION):
        yield Event(CONTINUED)
    elif is_prompt(record):
        yield Event(PROMPT)
        yield from _typed(record, texts)


def _called(record: Json, block: Json) -> Iterator[Event]:
    if block.get("name") == _STARTER:
        from sisyphus.ralph import invocations  # its patterns cost half a millisecond

        if start := invocations.called(record, block):
            yield Event(STARTED, start=start)


def _typed(record: Json, texts: list[str]) -> Iterator[Event]:
    if texts[0].lstrip().startswith(_COMMAND):
        from sisyphus.ralph import invocations

        if start := invocations.typed(record):
            yield Event(STARTED, start=start)


def is_prompt(record: Json) -> bool:
    """Whether the user himself said this, and not a machine in his place."""
    if record.get("turnOrigin") == "task_notification" or not transcript.is_user_prompt(record):
        return False
    return not transcript.texts(record)[0].startswith(_NO_PROMPTS)


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
