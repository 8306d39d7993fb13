"""What the client says of its own work, line by line. Pure.

Claude Code 2.1.329 writes an event a line with `--output-format stream-json --verbose`, one object
with `json`, and a list of events with `json --verbose`. Whatever is none of these was printed by
another program: its text is what was said.
"""

from __future__ import annotations

from sisyphus.clients.claude_code_files import record as read
from sisyphus.processes import plain
from sisyphus.runner.client import told
from sisyphus.text import line as shown
from sisyphus.transcript import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

KEPT_CHARACTERS = 64_000
"""Of the text of another program, and of each of the client's answers."""

MOST_SAID = 100
_KEPT_BYTES = 4 * KEPT_CHARACTERS
_MOST_POINTS = 500
_MOST_KEPT = 100  # retries, problems, refused calls
_MOST_IDS = 2_000  # of answers and calls that later lines may speak of

_KINDS = ("system", "assistant", "user", "result", "rate_limit_event", "stream_event")
_INTERRUPTED = "[Request interrupted by user"


class Seen:
    """What was told so far. Tokens and calls are counts; "" and 0 = not told.

    `said`: the main thread's answers, the last one last. `result`, `subtype`, `is_error`,
    `api_status`, `ended_by` (the client's reason) are of the last `result` event, `problems`
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
        self.retries: list[told.Retry] = []
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
        known = [
            event for event in told.events_in(line) if self.is_stream or event.get("type") in _KINDS
        ]
        if known:
            self.is_stream = True
            for event in known:
                self._take(event)
        elif not self.is_stream:
            self._raw += line
            if len(self._raw) > 2 * _KEPT_BYTES:
                del self._raw[:-_KEPT_BYTES]

    def _take(self, event: Json) -> None:
        self.session = told.text(event.get("session_id")) or self.session
        kind, is_main = event.get("type"), not event.get("parent_tool_use_id")
        if kind == "assistant":
            self._assistant(event, is_main=is_main)
        elif kind == "user" and is_main:
            said = read(event)
            texts = said.texts if said else []
            self.was_interrupted |= any(one.startswith(_INTERRUPTED) for one in texts)
        elif kind == "system":
            self._system(event)
        elif kind == "rate_limit_event":
            self._limit(event.get("rate_limit_info"))
        elif kind == "result":
            self._result(event)

    def _system(self, event: Json) -> None:
        subtype = event.get("subtype")
        if subtype == "init":
            self.model = told.text(event.get("model")) or self.model
            self._folder = told.text(event.get("cwd")) or self._folder
        elif subtype == "api_retry":
            self.retrying = True
            told.keep(self.retries, told.retry_in(event), _MOST_KEPT)
        elif subtype == "compact_boundary":
            self.context = told.count(told.table(event.get("compact_metadata")).get("post_tokens"))

    def _assistant(self, event: Json, *, is_main: bool) -> None:
        record = read(event)
        if record is None:
            return
        if record.is_clients:
            if is_main:
                self._failed(event, record.texts)
            return
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

    def _failed(self, event: Json, said: list[str]) -> None:
        """The client answers in the model's place, with what its request failed of."""
        self.retrying = False
        self.error, self.cause = told.text(event.get("error")), told.text(event.get("api_error"))
        self.api_status = told.count(event.get("api_error_status")) or None
        self.problems = said[:1]
        self._limit(told.table(event.get("api_error_params")).get("rate_limit_info"))

    def _limit(self, info: object) -> None:
        """One that lets us go on has a reset as well."""
        limit = told.table(info)
        if limit.get("status") == "rejected":
            self.resets_at = told.count(limit.get("resetsAt"))

    def _spend(self, answer: str, tokens: int) -> None:
        known = self._answers.get(answer, 0)
        self.spent += max(tokens - known, 0)
        told.remember(self._answers, answer, max(tokens, known), _MOST_IDS)

    def _call(self, call: Call, *, is_main: bool) -> None:
        about = call.brief.replace(f" {self._folder}/", " ") if self._folder else call.brief
        self.last_action = shown(about)
        self.tool_calls += is_main
        told.remember(self._calls, call.id, self.last_action, _MOST_IDS)

    def _say(self, words: str, answer: str) -> None:
        """The texts of one answer are one message."""
        if self._said and answer and answer == self._speaker:
            words = f"{self._said.pop()}\n{words}"
        self._speaker = answer
        told.keep(self._said, words[-KEPT_CHARACTERS:], MOST_SAID)

    def _fill(self, tokens: int) -> None:
        if tokens and tokens != self.context:
            self.context, self.peak = tokens, max(self.peak, tokens)
            self.points.append((self.tool_calls, tokens))
            if len(self.points) > _MOST_POINTS:
                del self.points[1:-1:2]

    def _result(self, event: Json) -> None:
        self.has_ended, self.retrying = True, False
        self.subtype = told.text(event.get("subtype"))
        self.is_error = event.get("is_error") is True or self.subtype.startswith("error")
        self.ended_by = told.text(event.get("terminal_reason"))
        self.api_status = told.count(event.get("api_error_status")) or None
        words = event.get("result")
        self.result = words[-KEPT_CHARACTERS:] if isinstance(words, str) else None
        refused = [
            told.text(told.table(one).get("tool_use_id"))
            for one in told.items(event.get("permission_denials"))
        ]
        self.denied = [self._calls.get(call, "a tool") for call in refused[:_MOST_KEPT]]
        self._account(told.table(event.get("modelUsage")))
        if self.is_error:
            problems = [*told.texts(event.get("errors")), self.result or ""]
            own = [*self._said[-1:], ""]  # what the model said last is no report of a failure
            self.problems = [problem for problem in problems if problem not in own][:_MOST_KEPT]
            self.cause = told.text(event.get("api_error")) or self.cause
            return
        self.problems, self.error, self.cause = [], "", ""
        if self.result and not self._said:  # all that `json` tells
            self._say(self.result, "")

    def _account(self, models: Json) -> None:
        """Each model's own sum, which knows how long the answers became."""
        self.spent = max(self.spent, told.tokens_of(models))
        used = told.table(models.get(self.model) or next(iter(models.values()), None))
        self.window = told.count(used.get("contextWindow")) or self.window
