"""Sums up the agent's turn since the last Stop, from one reading of the transcript."""

from __future__ import annotations

from sisyphus.clients.transcript_records import (
    AGENT,
    CONTINUATION,
    PROMPT,
    Reading,
    RecordedCall,
    TranscriptLine,
)
from sisyphus.ground.record import Record
from sisyphus.hook.event import EDIT, WRITE


class Turn(Record):
    """What the agent said and did since the last Stop.

    texts: its messages since the last prompt or continuation, newest first.
    tokens: used since the last Stop, by the agent and the subagents in its transcript.
    error: the result of the last tool call if it failed, else "".
    tested: the test command that passed after the last edit; "" = none did; None = the agent has
        neither edited nor tested, so that what passed before still counts, or nobody wants to know.
    asks_user: the agent asked with the client's tool and has no answer yet.
    end: the offset where the next reading starts.
    steps: its messages and tool calls since the last Stop, in order.
    began: when the first of it was written down, in seconds since 1970; 0 = unknown.
    is_new: a prompt, a continuation or a tool call stands in what was read, whatever its time
        says: the clock may have been set back.
    is_midway: the agent was already at work: it has a transcript, and nobody has told it anything.
    """

    texts: tuple[str, ...] = ()
    uses_tools: bool = False
    edits_files: bool = False
    error: str = ""
    asks_user: bool = False
    tokens: int = 0
    end: int = 0
    tested: str | None = None
    steps: tuple[str | RecordedCall, ...] = ()
    began: float = 0.0
    is_new: bool = False
    is_midway: bool = False

    @property
    def edited(self) -> set[str]:
        """Returns the files that it has edited, as the transcript names them."""
        calls = [step for step in self.steps if not isinstance(step, str)]
        return {each.target for each in calls if each.action in (EDIT, WRITE) and each.target}

    @property
    def last_text(self) -> str:
        return self.texts[0] if self.texts else ""


def from_reading(
    reading: Reading,
    last_message: str | None,
    since: float,
    *,
    after: float = 0.0,
    with_tests: bool = False,
) -> Turn:
    """Returns the turn in a reading.

    last_message: the agent's last message, from the client; the transcript may not have it yet.
    since: when the loop started; earlier records are ignored. after: when a Stop was decided for
    which the client gave the last message; it may be written down later, and no prompt after it
    (Qwen Code's terminal, measured). with_tests: finds `Turn.tested`.
    """
    records = [record for record in reading.records if not 0 < record.at < since]
    new = [record for record in records if not 0 < record.at <= after]
    uses = [use for record in records for use in record.calls]
    authors = {record.author for record in records}
    answered = {result.id for record in records for result in record.results}
    return Turn(
        _texts(new, last_message),
        bool(uses),
        any(use.action in (EDIT, WRITE) for use in uses),
        _error(records),
        any(use.asks_user and use.id not in answered for use in uses),
        sum(record.tokens for record in records),
        reading.end,
        _tested(records) if with_tests else None,
        steps=_steps(new, last_message),
        began=next((record.at for record in records if record.at > 0), 0.0),
        is_new=any(
            record.calls or record.author in (PROMPT, CONTINUATION) for record in reading.records
        ),
        is_midway=reading.end > 0 and authors.isdisjoint((PROMPT, CONTINUATION)),
    )


def _texts(records: list[TranscriptLine], last_message: str | None) -> tuple[str, ...]:
    texts: list[str] = []
    for record in records:
        if record.author in (PROMPT, CONTINUATION):
            texts = []
        elif record.author == AGENT:
            texts += record.texts
    if last_message and (not texts or texts[-1] != last_message):
        texts.append(last_message)
    return tuple(reversed(texts))


def _steps(
    records: list[TranscriptLine], last_message: str | None
) -> tuple[str | RecordedCall, ...]:
    """Returns what the agent said and called. What it said last at the Stop before may be written
    down after that Stop; then it is the text before our reason."""
    steps: list[str | RecordedCall] = []
    for record in records:
        if record.author == AGENT:
            steps += [*record.texts, *record.calls]
        elif record.author == CONTINUATION and all(isinstance(step, str) for step in steps):
            steps = []
    if last_message and (not steps or steps[-1] != last_message):
        steps.append(last_message)
    return tuple(steps)


def _error(records: list[TranscriptLine]) -> str:
    """Returns the result of the last tool call if it failed, else ""."""
    results = [result for record in records for result in record.results]
    return results[-1].text if results and results[-1].is_error else ""


def _tested(records: list[TranscriptLine]) -> str | None:
    """Returns the test command that passed after the last edit; see `Turn`."""
    from sisyphus.sessions.checks import is_test  # imported late: only enforcement asks

    tested: str | None = None
    running: dict[str, str] = {}
    for record in records:
        for call in record.calls:
            if call.action in (EDIT, WRITE):
                tested, running = "", {}
            elif call.shell and is_test(call.shell):
                running[call.id] = call.shell
        for result in record.results:
            if command := running.pop(result.id, ""):
                tested = "" if result.is_error else command
    return tested
