"""What a client's process, run without a terminal, reports of its work, in our words."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

from sisyphus.clients.transcript_records import RecordedCall, TranscriptLine
from sisyphus.ground.record import Record, field

RESULT_CHARACTERS = 8_000
"""The most characters that are kept of a tool's result."""

TEXT_CHARACTERS = 64_000
"""The most characters that are kept of what another program prints, its last ones."""

RECORDS, RECORD_CHARACTERS = 20_000, 8_000_000
"""The most records, and characters in them, that are kept, the last ones. What fills a context of a
million tokens is half of that."""

_ANSWERS = 10_000
"""The most answers and tool calls of which something is remembered, the last ones."""

_TARGET_CHARACTERS = 4_096
"""The longest path that a system takes. A command line may be longer."""

_DENIALS = 1_000
"""The most denied calls that are kept, the first ones: the first edit among them ends a run."""

LOGIN, BILLING, MODEL, CLIENT, DISK = "login", "billing", "model", "client", "disk"
ACCOUNT, OVERLOAD, NETWORK = "account", "overload", "network"
CONTEXT, CRASH = "context", "crash"
"""Kinds of failures. Those of the first line end a run, those of the second pass by waiting."""

FATAL = (LOGIN, BILLING, MODEL, CLIENT, DISK)
PASSING = (ACCOUNT, OVERLOAD, NETWORK)

MEANINGS = {
    DISK: "nothing can be written to the disk",
    CONTEXT: "the context is full",
    BILLING: "the account has no credit left",
    LOGIN: "{client} is not logged in, or has no access",
    MODEL: "the model does not exist, or is not for this account",
    ACCOUNT: "the account's limit is reached",
    NETWORK: "the server cannot be reached",
    OVERLOAD: "the server cannot answer now",
    CLIENT: "{client} cannot be run like this",
}
"""What kinds of failures mean, for people."""

NOT_RUN = (126, 127)
"""A shell's exit codes for a program that it cannot run, or cannot find."""

LONGEST_LIMIT = 8 * 86_400
"""The longest limit of an account is that of a week, in seconds. What ends later is a
misunderstanding."""

DETAIL_CHARACTERS = 200
"""The most that a failure quotes of what a client says."""


class Failure(Record):
    """Why a process failed.

    kind: one of the kinds above. text: for people, in a line. until: when it passes, in seconds
    since 1970; 0 = unknown.
    """

    kind: str
    text: str
    until: float = 0.0

    @property
    def is_fatal(self) -> bool:
        return self.kind in FATAL

    @property
    def passes(self) -> bool:
        return self.kind in PASSING


class Denied(Record):
    """A tool call that the client did not allow. action: what it does to a file (see `hook.event`).
    target: a file, a command line; "" = unknown."""

    tool: str
    action: str
    target: str


class Report(Record):
    """What one process has reported so far; 0, "" = not yet.

    session: the client's id of the session. chosen: the one that we have given it; "" = the client
    makes it. transcript: its file, if the client does not report
    all that we want to know. records: of the main conversation, as a transcript has them; results
    are cut to RESULT_CHARACTERS, and of long conversations only the end is there. printed,
    printed_characters: the end of what it printed that is no report, and how much that is.
    tokens: used by all its agents. cost: in US dollars, as the client counts. context, window: the
    tokens in the main conversation, by its last answer, and how many fit. peak: the highest
    percentage of that. has_ended: it said how it ended. error: what it then said went wrong.
    signs: the client's own names for that, and HTTP statuses. resets_at: when the account's limit
    ends, in seconds since 1970.
    counted: the client's ids of answers → their tokens, which `tokens` has counted.
    calls: the client's ids of tool calls, of all agents → what they are if they are denied.
    accepts: of a program that may be another one, or only pass on what an agent says: tells whether
    a session can be its own. None = it is the client, and we have started it.
    has_text: it has printed something else than a report. is_unnamed: it reports, and has not said
    the id of its session.
    """

    session: str = ""
    chosen: str = ""
    transcript: str = ""
    model: str = ""
    records: list[TranscriptLine] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    printed_characters: int = 0
    tokens: int = 0
    cost: float = 0.0
    context: int = 0
    window: int = 0
    peak: int = 0
    denied: list[Denied] = field(default_factory=list)
    has_ended: bool = False
    error: str = ""
    signs: tuple[str, ...] = ()
    resets_at: float = 0.0
    counted: dict[str, int] = field(default_factory=dict)
    calls: dict[str, Denied] = field(default_factory=dict)
    record_characters: int = 0
    accepts: Callable[[str], bool] | None = None
    has_text: bool = False
    is_unnamed: bool = False

    @property
    def is_stream(self) -> bool:
        """Tells whether the program speaks the client's language: other programs only print."""
        return bool(self.session) or self.is_unnamed

    def takes(self, session: str, *, is_first: bool) -> bool:
        """Tells whether a line with the id of a session belongs to the report. A program that may
        be another one reports from its first line on, or never. is_first: the client begins with
        such a line."""
        if not self.session and session and self._may_begin(session, is_first=is_first):
            self.session = session
        return bool(self.session)

    def takes_unnamed(self) -> bool:
        """Tells the same of a line of a client that says the id at its end. Until then it is the
        one that we have given it, if we have."""
        if not self.takes(self.chosen, is_first=True):
            self.is_unnamed = self.is_unnamed or self.accepts is None or not self.has_text
        return self.is_stream

    def _may_begin(self, session: str, *, is_first: bool) -> bool:
        if self.accepts is None:
            return True
        return is_first and not self.has_text and self.accepts(session)

    def add_record(self, record: TranscriptLine) -> None:
        """Adds a record; forgets the first ones where there are too many. One without a time gets
        that of now, when it was read."""
        record.at = record.at or time.time()
        self.records.append(record)
        self.record_characters += _characters(record)
        while len(self.records) > RECORDS or self.record_characters > RECORD_CHARACTERS:
            self.record_characters -= _characters(self.records.pop(0))

    def add_call(self, call: RecordedCall) -> None:
        """Remembers a call, which may still be denied."""
        self.calls[call.id] = Denied(call.name, call.action, call.target[:_TARGET_CHARACTERS])
        _forget(self.calls)

    def count(self, answer: str, tokens: int) -> int:
        """Notes the tokens of an answer, which may come in several lines; returns how many were not
        counted yet. answer: the client's id; "" = it has none."""
        new = max(0, tokens - self.counted.get(answer, 0)) if answer else tokens
        if answer and new:
            self.counted[answer] = tokens
            _forget(self.counted)
        self.tokens += new
        return new

    def deny(self, call: Denied) -> None:
        if len(self.denied) < _DENIALS:
            self.denied.append(call)

    @property
    def text(self) -> str:
        """Returns the end of what it printed that is no report, at most TEXT_CHARACTERS."""
        return "".join(self.printed)[-TEXT_CHARACTERS:]

    def add_text(self, text: str) -> None:
        """Adds what it printed that is no report. Cuts only now and then: a program may print a
        million short lines."""
        self.has_text = self.has_text or not text.isspace()
        self.printed.append(text)
        self.printed_characters += len(text)
        if self.printed_characters > 4 * TEXT_CHARACTERS:
            self.printed = [self.text]
            self.printed_characters = len(self.printed[0])

    def add_line(self, line: bytes) -> None:
        """Adds the same by the line. Only the end of a long one counts."""
        text = line[-4 * TEXT_CHARACTERS :].decode("utf-8", "replace").rstrip("\r\n")
        self.add_text(f"{text}\n")

    @property
    def last_action(self) -> str:
        """Returns the last thing that the agent did or said, for people; "" = nothing yet."""
        for record in reversed(self.records):
            for call in reversed(record.calls):
                return f"{call.name} {call.target}".strip()
            for text in reversed(record.texts):
                return text.strip()
        return self.text.strip().rpartition("\n")[2]


def _characters(record: TranscriptLine) -> int:
    """Returns about how much text a record has."""
    calls = sum(len(call.target) + len(call.shell) + len(call.text) for call in record.calls)
    texts = sum(map(len, record.texts)) + sum(len(result.text) for result in record.results)
    return calls + texts


def _forget(values: dict[str, Any]) -> None:
    """Removes the first of too many."""
    if len(values) > _ANSWERS:
        del values[next(iter(values))]


def both_ends(text: str) -> str:
    """Cuts the middle of a tool's result: the exit code is at its start, a test's summary at its
    end."""
    half = RESULT_CHARACTERS // 2 - 1
    return text if len(text) <= RESULT_CHARACTERS else f"{text[:half]}\n…{text[-half:]}"


def how_it_ended(code: int) -> str:
    """Says how a process ended that did not say it. code: below 0 = the signal that ended it."""
    if code >= 0:
        return f"it ended with exit code {code}" if code else "it ended without a result"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal
        return f"it was ended by signal {-code}"
