"""What the client says of its own work, line by line. Pure.

A line that is none of the client's report was printed by another program: its text is what was
said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sisyphus import clients
from sisyphus.processes import plain
from sisyphus.text import line as shown
from sisyphus.transcript import Call

if TYPE_CHECKING:
    from sisyphus.clients.running import End, Event, Refusal, Retry
    from sisyphus.transcript import Record

T = TypeVar("T")

KEPT_CHARACTERS = 64_000
"""Of the text of another program, and of each of the client's answers."""

MOST_SAID = 100
_KEPT_BYTES = 4 * KEPT_CHARACTERS
_MOST_POINTS = 500
_MOST_KEPT = 100  # retries, problems, refused calls
_MOST_IDS = 2_000  # of answers and calls that later lines may speak of


class Seen:
    """What was told so far. Tokens and calls are counts; "" and 0 = not told.

    `said`: the main thread's answers, the last one last. `result` (its last word), `subtype`,
    `is_error`, `api_status`, `ended_by` (the client's reason) are of the last end, `problems`
    its words for what went wrong, `error` and `cause` its two names for why a request failed.
    `context` is what the main thread's last answer found filled, `peak` the most of that, `points`
    each with the `tool_calls` before it; `spent` counts subagents too. `resets_at`: when the limit
    that refused us ends, in epoch seconds. `retrying`: it waits to ask again. `is_stream`: it is
    the client that speaks.
    """

    __slots__ = (
        "_answers", "_calls", "_folder", "_raw", "_said", "_speaker", "api_status", "cause",
        "context", "denied", "ended_by", "error", "has_ended", "is_error", "is_stream",
        "last_action", "model", "peak", "points", "problems", "resets_at", "result", "retries",
        "retrying", "session", "spent", "subtype", "tool_calls", "was_interrupted", "window",
    )  # fmt: skip

    def __init__(self) -> None:
        self.session = self.model = self.last_action = self._folder = ""
        self.subtype = self.ended_by = self.error = self.cause = self._speaker = ""
        self.result: str | None = None
        self.api_status: int | None = None
        self.tool_calls = self.spent = self.context = self.peak = self.window = self.resets_at = 0
        self.is_error = self.has_ended = self.is_stream = self.retrying = False
        self.was_interrupted = False
        self.points: list[tuple[int, int]] = []
        self.retries: list[Retry] = []
        self.denied: list[str] = []
        self.problems: list[str] = []
        self._said: list[str] = []
        self._raw = bytearray()  # of another program
        self._answers: dict[str, int] = {}  # id -> tokens that are counted already
        self._calls: dict[str, str] = {}  # id -> what it is about

    @property
    def said(self) -> list[str]:
        if self.is_stream:
            return self._said
        words = plain(bytes(self._raw)).strip()[-KEPT_CHARACTERS:].strip()
        return [words] if words else []

    def feed(self, line: bytes) -> None:
        """One line, with or without its end."""
        events = clients.program().events(line, is_report=self.is_stream)
        if events:
            self.is_stream = True
            for event in events:
                self._take(event)
        elif not self.is_stream:
            self._raw += line
            if len(self._raw) > 2 * _KEPT_BYTES:
                del self._raw[:-_KEPT_BYTES]

    def _take(self, event: Event) -> None:
        self.session = event.session or self.session
        self.model = event.model or self.model
        self._folder = event.folder or self._folder
        self.was_interrupted |= event.is_interruption
        if event.refusal:
            if event.is_main:
                self._refused(event.refusal)
        elif event.message:
            self._hear(event.message, is_main=event.is_main)
        if event.retry:
            self.retrying = True
            _keep(self.retries, event.retry, _MOST_KEPT)
        if event.compacted is not None:
            self.context = event.compacted
        if event.resets_at is not None and (event.is_main or not event.refusal):
            self.resets_at = event.resets_at
        if event.end:
            self._end(event.end)

    def _refused(self, refusal: Refusal) -> None:
        self.retrying = False
        self.error, self.cause = refusal.error, refusal.cause
        self.api_status = refusal.status
        self.problems = refusal.texts[:1]

    def _hear(self, record: Record, *, is_main: bool) -> None:
        if is_main:
            self.error = self.cause = ""
            self.retrying = self.was_interrupted = False
            self._fill(record.context)
        if record.tokens:
            self._spend(record.answer, record.tokens)
        for part in record.parts:
            if isinstance(part, Call):
                self._call(part, is_main=is_main)
            elif isinstance(part, str) and is_main:
                self._say(part, record.answer)

    def _spend(self, answer: str, tokens: int) -> None:
        known = self._answers.get(answer, 0)
        self.spent += max(tokens - known, 0)
        _remember(self._answers, answer, max(tokens, known))

    def _call(self, call: Call, *, is_main: bool) -> None:
        about = call.brief.replace(f" {self._folder}/", " ") if self._folder else call.brief
        self.last_action = shown(about)
        self.tool_calls += is_main
        _remember(self._calls, call.id, self.last_action)

    def _say(self, words: str, answer: str) -> None:
        """The texts of one answer are one message."""
        if self._said and answer and answer == self._speaker:
            words = f"{self._said.pop()}\n{words}"
        self._speaker = answer
        _keep(self._said, words[-KEPT_CHARACTERS:], MOST_SAID)

    def _fill(self, tokens: int) -> None:
        if tokens and tokens != self.context:
            self.context, self.peak = tokens, max(self.peak, tokens)
            self.points.append((self.tool_calls, tokens))
            if len(self.points) > _MOST_POINTS:
                del self.points[1:-1:2]

    def _end(self, end: End) -> None:
        self.has_ended, self.retrying = True, False
        self.subtype, self.ended_by = end.subtype, end.ended_by
        self.is_error, self.api_status = end.is_error, end.status
        self.result = None if end.text is None else end.text[-KEPT_CHARACTERS:]
        self.denied = [self._calls.get(call, "a tool") for call in end.denied[:_MOST_KEPT]]
        self.spent = max(self.spent, end.spent)  # which knows how long the answers became
        first = next(iter(end.windows.values()), 0)
        self.window = end.windows.get(self.model, first) or self.window
        if self.is_error:
            own = [*self._said[-1:], ""]  # what the model said last is no report of a failure
            problems = [problem for problem in (*end.problems, self.result) if problem]
            self.problems = [problem for problem in problems if problem not in own][:_MOST_KEPT]
            self.cause = end.cause or self.cause
            return
        self.problems, self.error, self.cause = [], "", ""
        if self.result and not self._said:  # all that a report of one object tells
            self._say(self.result, "")


def _keep(kept: list[T], value: T, most: int) -> None:
    """Appends, and forgets the oldest."""
    kept.append(value)
    del kept[:-most]


def _remember(known: dict[str, T], key: str, value: T) -> None:
    """Sets, and forgets the oldest."""
    known[key] = value
    if len(known) > _MOST_IDS:
        del known[next(iter(known))]
