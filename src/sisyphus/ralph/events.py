"""What matters to a loop in a transcript, in order: who said what, who started what. Pure."""

from __future__ import annotations

import json

from sisyphus import transcript
from sisyphus.clients.claude_code import tool_path

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
SPENT = "spent"  # the model answered, which costs tokens
GOAL = "goal"  # the client's own goal was set or ended

QUESTION = "AskUserQuestion"
EDITS = ("Edit", "Write", "NotebookEdit", "MultiEdit")

_STARTER = "Skill"
_COMMAND = "<command-"
_CONTINUATION = "Stop hook feedback:"
_NO_PROMPTS = ("<task-notification>", "<local-command-stdout>", "[Request interrupted by user")

_TOLD = ("command", "file_path", "path", "pattern", "url", "query", "description", "skill")
_BRIEF, _ERROR = 200, 2_000  # characters


class Event:
    """`text`: what was said; of a tool call its name and what it is about; of a failed one the
    error; of an answer its id.

    `call` is the id of the tool call or of the prompt, `path` the file that it edits, `start` the
    loop that was started.
    """

    __slots__ = ("call", "kind", "path", "start", "text", "tokens")

    def __init__(self, kind: str, text: str = "", start: Start | None = None) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.call = ""
        self.path = ""
        self.tokens = 0


def read(records: Iterable[Json]) -> list[Event]:
    """The events of the main thread, oldest first; of a subagent's records what they cost."""
    return [event for record in records for event in _events(record)]


def _events(record: Json) -> Iterator[Event]:
    if record.get("isSidechain"):
        yield from spent(record)
    elif record.get("type") == "assistant":
        yield from _assistant(record)
    elif not record.get("isCompactSummary"):
        yield from _user(record)


def _assistant(record: Json) -> Iterator[Event]:
    yield from spent(record)
    for block in transcript.blocks(record):
        kind, text = block.get("type"), block.get("text")
        if kind == "text" and isinstance(text, str):
            yield Event(SAID, text)
        elif kind == "tool_use":
            yield _tool(block)
            yield from _called(record, block)


def goals(line: bytes) -> list[Event]:
    """What a line says of the client's own `/goal`: the goal that is set, "" where it has ended."""
    try:
        note = json.loads(line)["attachment"]
        has_ended = note.get("met") or note.get("failed")
        return [Event(GOAL, "" if has_ended else str(note["condition"]))]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def spent(record: Json) -> Iterator[Event]:
    """What an answer cost. Each block of it is a line of its own that repeats the usage."""
    tokens = transcript.tokens(record)
    if tokens:
        event = Event(SPENT, str(record["message"].get("id") or record.get("uuid")))
        event.tokens = tokens
        yield event


def _tool(block: Json) -> Event:
    given = block.get("input")
    event = Event(TOOL, _brief(str(block.get("name")), given if isinstance(given, dict) else {}))
    event.call = str(block.get("id"))
    if block.get("name") in EDITS:
        event.path = tool_path(given if isinstance(given, dict) else {})
    return event


def _brief(name: str, given: Json) -> str:
    told = next((given[key] for key in _TOLD if isinstance(given.get(key), str)), "")
    return f"{name}: {' '.join(told[:_BRIEF].split())}" if told else name


def _user(record: Json) -> Iterator[Event]:
    for block in transcript.blocks(record):
        if block.get("type") == "tool_result" and block.get("is_error") is True:
            failed = Event(FAILED, transcript.result_text(block)[:_ERROR])
            failed.call = str(block.get("tool_use_id"))
            yield failed
    texts = transcript.texts(record)
    if texts and texts[0].startswith(_CONTINUATION):
        yield Event(CONTINUED)
    elif is_prompt(record):
        prompt = Event(PROMPT)
        prompt.call = str(record.get("promptId") or "")
        yield prompt
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
