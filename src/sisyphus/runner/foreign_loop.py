"""Answers a loop that somebody else drives: whether it should go on, by its `ralph-state.json` and
what the client printed last.

Reads and writes no file of the loop. What it remembers between two calls is a row of
`foreign_loop`, as long as the loop goes on.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sisyphus.clients import failures
from sisyphus.clients.base import Headless
from sisyphus.clients.reports import CRASH, Failure, Report
from sisyphus.clients.transcript_records import Reading
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record, asdict, field
from sisyphus.ground.store import Store
from sisyphus.ground.text import fingerprint, moment, one_line
from sisyphus.hook.stops import Stops
from sisyphus.loops import breaker
from sisyphus.ralph import promise
from sisyphus.runner import decide, messages
from sisyphus.runner.decide import Decision, IterationFacts
from sisyphus.sessions import turns
from sisyphus.sessions.turns import Turn

_SHOWN_CHARACTERS = 200

_COLOURS = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\))")
"""What a terminal is told of colours and links. JSON never has the byte."""


class ForeignState(Record, frozen=True):
    """What we use of a `ralph-state.json`.

    iteration, max_iterations: 0 = unknown. promise: "" = none. checkpoint: a fingerprint of its
    `context_checkpoint`; "" = that is not active. handoff: the file that it names; "" = none.
    started_at: seconds since 1970; 0 = unknown.
    """

    iteration: int = 0
    max_iterations: int = 0
    promise: str = ""
    checkpoint: str = ""
    handoff: str = ""
    started_at: float = 0.0


class Memory(Record, frozen=True):
    """What we remember of the last call.

    at: when it was, in seconds since 1970; 0 = this is the first one. stops: the counters of the
    breaker. checkpoint: the one that we answered.
    """

    at: float = 0.0
    stops: dict[str, Any] = field(default_factory=dict)
    checkpoint: str = ""


def read_state(text: str) -> ForeignState:
    """Reads a state file. Raises `UnreadableError` if it is not one, or if a limit in it cannot be
    read: without it a loop might never end."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise UnreadableError("it is not a JSON object")
    wanted = fields.get("completion_promise") or ""
    if not isinstance(wanted, str):
        raise UnreadableError("its completion_promise is not a text")
    checkpoint = fields.get("context_checkpoint")
    is_active = isinstance(checkpoint, dict) and checkpoint.get("active") is True
    return ForeignState(
        _number(fields, "iteration"),
        _number(fields, "max_iterations"),
        wanted,
        fingerprint(json.dumps(checkpoint, sort_keys=True)) if is_active else "",
        str(checkpoint.get("handoff_file") or "") if isinstance(checkpoint, dict) else "",
        moment(fields.get("started_at")),
    )


def _number(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name) or 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise UnreadableError(f"its {name} is not a whole number")
    if value < 0:
        raise UnreadableError(f"its {name} is negative")
    return value


def read_output(headless: Headless, data: bytes) -> Report:
    """Returns what a client reports in its output: plain text, a JSON value or a stream of them.
    Colours are left out."""
    report = Report()
    for line in _lines(_COLOURS.sub(b"", data)):
        headless.feed(report, line)
    return report


def _lines(data: bytes) -> list[bytes]:
    """Returns the lines of an output, each JSON object on one: the client prints one object, or a
    list of them, where it does not stream, and a tool may have indented it."""
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return data.splitlines(keepends=True)
        values = value if isinstance(value, list) else [value]
        return [json.dumps(each).encode() + b"\n" for each in values]
    return data.splitlines(keepends=True)


def summary(report: Report) -> Turn:
    """Returns what the agent said and did."""
    found = turns.from_reading(Reading(report.records), None, 0.0)
    return found if found.texts or not report.text.strip() else Turn((report.text,))


def failure(headless: Headless, report: Report, now: float) -> Failure | None:
    """Returns why the client failed, as far as its output shows; None = it does not."""
    if found := headless.failure(report, 0, "", now):
        return found
    if report.records or report.has_ended:
        return None
    kind, line = failures.of_output(report.text)
    if kind == CRASH:  # nobody knows how the process ended
        return Failure(kind, f"it failed: {line}")
    return headless.failure(report, 1, "", now) if kind else None


def decide_next(
    state: ForeignState,
    memory: Memory,
    turn: Turn,
    failed: Failure | None,
    *,
    has_progress: bool,
    breaker_stops: int,
    now: float,
) -> tuple[Decision, Memory]:
    """Decides whether the loop goes on; returns what to remember if it does.

    breaker_stops: after so many calls without progress it stops; 0 = never.
    """
    error = failed.text if failed else turn.error
    stops = Stops(**memory.stops)
    if not (failed and failed.passes):
        stops = breaker.after_stop(stops, has_progress=has_progress, error=error)
    blocked = promise.blocked_on(turn.texts)
    is_new = bool(state.checkpoint) and state.checkpoint != memory.checkpoint
    done, most = state.iteration, state.max_iterations
    facts = IterationFacts(
        completed="the promise was said" if promise.is_said(turn.texts, state.promise) else "",
        blocked=messages.needs_you(blocked) if blocked else "",
        checkpoint=_checkpoint(state) if is_new else "",
        fatal=_short(failed.text) if failed and failed.is_fatal else "",
        max_iterations=messages.last_iteration(done) if 0 < most <= done else "",
        stuck=breaker.why_open(stops, breaker_stops, error),
        missing=_missing(state, turn, failed),
    )
    return decide.decide(facts), Memory(now, asdict(stops), state.checkpoint)


def _checkpoint(state: ForeignState) -> str:
    """Says that the session has handed its work over. A checkpoint counts once: a loop that leaves
    it active in its file would have no limit any more."""
    name = f" {_short(state.handoff)}" if state.handoff else ""
    return f"the session ended with the handoff{name}"


def _missing(state: ForeignState, turn: Turn, failed: Failure | None) -> str:
    if failed:
        return f"the client failed, which may pass: {_short(failed.text)}"
    if not state.promise:
        return "the work is not done yet; the state has no completion_promise"
    if why := promise.near_miss(turn.texts, state.promise):
        return f"the promise was not said: {_short(why)}"
    return "the promise was not said"


def _short(text: str) -> str:
    return one_line(text, _SHOWN_CHARACTERS)


def load(store: Store, path: str) -> Memory:
    row = store.one("SELECT at, state FROM foreign_loop WHERE path = ?", path)
    return Memory(**{**json.loads(row[1]), "at": row[0]}) if row else Memory()


def save(store: Store, path: str, memory: Memory) -> None:
    store.run(
        "INSERT OR REPLACE INTO foreign_loop VALUES (?, ?, ?)",
        path, memory.at, json.dumps(asdict(memory)),
    )  # fmt: skip


def forget(store: Store, path: str) -> None:
    """Forgets a loop that has stopped: if it is started again, the breaker begins to count anew."""
    store.run("DELETE FROM foreign_loop WHERE path = ?", path)
