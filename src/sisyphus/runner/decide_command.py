"""`sisyphus ralph decide`: tells a loop that somebody else drives whether to go on, by its
`ralph-state.json` and what the client printed last.

It writes no file of the loop. What it remembers between two calls is a row of `foreign_loop`, as
long as the loop goes on.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from typing import Annotated, Any, BinaryIO

import typer

from sisyphus import clients
from sisyphus.clients import failures
from sisyphus.clients.base import Headless
from sisyphus.clients.reports import CRASH, Failure, Report
from sisyphus.clients.transcript_records import Reading
from sisyphus.ground import files, log
from sisyphus.ground.errors import SisyphusError, UnreadableError
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import display
from sisyphus.ground.record import Record, asdict, field
from sisyphus.ground.store import Error, Store
from sisyphus.ground.text import fingerprint, moment, one_line
from sisyphus.ground.worktree import STATE
from sisyphus.hook.stops import Stops
from sisyphus.loops import breaker, project_changes
from sisyphus.ralph import promise
from sisyphus.runner import decide as rules
from sisyphus.runner import messages
from sisyphus.runner.decide import Decision, IterationFacts
from sisyphus.runner.project_files import STATE_VARIABLE, chosen_state
from sisyphus.sessions import turns
from sisyphus.sessions.turns import Turn
from sisyphus.terminal import show

STOP, GO_ON, UNKNOWN = 0, 1, 2
"""Exit codes."""

_WORDS = {STOP: "stop", GO_ON: "continue", UNKNOWN: "unknown"}
_LABELS = {STOP: "Stop", GO_ON: "Go on", UNKNOWN: "Cannot tell"}

_OUTPUT_BYTES = 16_000_000
"""The most bytes that are read of the client's output, its last ones."""

_CHARACTERS = 500
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


def decide(
    state: Annotated[
        str,
        typer.Option(
            "--state",
            metavar="FILE",
            help=f"The loop's state. Default: ${STATE_VARIABLE}, else {STATE}.",
        ),
    ] = "",
    output: Annotated[
        str,
        typer.Option(
            "--output", metavar="FILE", help="What the client printed last. Default: stdin."
        ),
    ] = "",
    client: Annotated[
        show.Headless | None,
        typer.Option(
            help=f"The client that your loop calls. Default: {clients.DEFAULT}.", show_default=False
        ),
    ] = None,
    project: show.Project = "",
    as_json: show.AsJson = False,
) -> None:
    """Tell a loop of your own whether to go on: exit 0 = stop, 1 = go on, 2 = cannot tell.

    It reads the loop's ralph-state.json, what the client printed last, and what has changed in the
    project since the last call. One line says why. At the end of a loop in a shell:

    sisyphus ralph decide --output out; [ $? -eq 1 ] || break
    """
    code, kind = UNKNOWN, ""
    try:
        decision = _answer(clients.headless(client or clients.DEFAULT), state, output, project)
        code, kind, why = GO_ON if decision.goes_on else STOP, decision.kind, decision.why
    except SisyphusError as error:
        why = str(error)
    except Exception as error:  # an exit code of 1 would make the loop go on for ever
        why = log.failure("ralph decide", error)
    why = masked_line(why, _CHARACTERS)
    if as_json:
        show.as_json({"decision": _WORDS[code], "kind": kind or None, "reason": why})
    else:
        show.line(f"{_LABELS[code]}: {why}")
    raise typer.Exit(code)


def _answer(headless: Headless, state: str, output: str, project: str) -> Decision:
    """Reads what there is, and decides. Raises `SisyphusError`."""
    place = show.place(project)
    chosen = os.path.realpath(state) if state else chosen_state()
    path = chosen or os.path.realpath(os.path.join(place.project, STATE))
    try:
        known = _read_state(files.read(path, inside="" if chosen else place.project))
    except UnreadableError as error:
        raise SisyphusError(f"{display(path, place.project)}: {error}") from error
    data = _read_output(output)
    if not data.strip():
        raise SisyphusError(f"{output or 'stdin'} is empty: the client has printed nothing")
    return _decide(headless, place, known, data, path, output)


def _decide(
    headless: Headless, place: show.Place, known: ForeignState, data: bytes, path: str, output: str
) -> Decision:
    """Decides, and remembers what the next call needs."""
    now, memory = time.time(), _load(place.store, path)
    report = _read_report(headless, data)
    turn = _summary(report)
    failed = _failure(headless, report, now)
    has_progress = project_changes.has_changed(
        place.project,
        memory.at or known.started_at,
        now,
        edits_files=turn.edits_files,
        apart=[path, os.path.realpath(output)] if output else [path],
    )
    error = failed.text if failed else turn.error
    stops = Stops(**memory.stops)
    if not (failed and failed.passes):
        stops = breaker.after_stop(stops, has_progress=has_progress, error=error)
    stuck = breaker.why_open(stops, place.settings["ralph.breaker_stops"], error)
    decision = rules.decide(_facts(known, memory, turn, failed, stuck))
    new = Memory(now, asdict(stops), known.checkpoint) if decision.goes_on else None
    _save(place.store, path, new)
    return decision


def _facts(
    state: ForeignState, memory: Memory, turn: Turn, failed: Failure | None, stuck: str
) -> IterationFacts:
    """Returns what is known of the loop. stuck: why the breaker opens; "" = it stays closed."""
    blocked = promise.blocked_on(turn.texts)
    # Each checkpoint counts once: a loop that leaves one active in its file would have no limit.
    is_new = bool(state.checkpoint) and state.checkpoint != memory.checkpoint
    name = f" {_short(state.handoff)}" if state.handoff else ""
    done, most = state.iteration, state.max_iterations
    return IterationFacts(
        completed="the promise was said" if promise.is_said(turn.texts, state.promise) else "",
        blocked=messages.needs_you(blocked) if blocked else "",
        checkpoint=f"the session ended with the handoff{name}" if is_new else "",
        fatal=_short(failed.text) if failed and failed.is_fatal else "",
        max_iterations=messages.last_iteration(done) if 0 < most <= done else "",
        stuck=stuck,
        missing=_missing(state, turn, failed),
    )


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


# ---------------------------------------------------------------- the state of the loop


def _read_state(text: str) -> ForeignState:
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


# ---------------------------------------------------------------- what the client printed


def _read_output(path: str) -> bytes:
    """Returns the end of the client's output, which is b"" if there is none: no file was named, and
    stdin is a terminal. Raises `SisyphusError`."""
    if not path:
        is_none = sys.stdin is None or sys.stdin.isatty()
        return b"" if is_none else _tail(sys.stdin.buffer)
    try:
        with files.open_regular(path) as file:
            return _tail(file)
    except (OSError, ValueError) as error:
        raise SisyphusError(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _tail(file: BinaryIO) -> bytes:
    """Returns the end of a file or pipe, which is read to its end: whoever writes into a pipe must
    be able to finish."""
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.seek(max(0, os.fstat(file.fileno()).st_size - _OUTPUT_BYTES))
    data = b""
    while more := file.read(_OUTPUT_BYTES):
        data = (data + more)[-_OUTPUT_BYTES:]
    return data


def _read_report(headless: Headless, data: bytes) -> Report:
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


def _summary(report: Report) -> Turn:
    """Returns what the agent said and did."""
    found = turns.from_reading(Reading(report.records), None, 0.0)
    return found if found.texts or not report.text.strip() else Turn((report.text,))


def _failure(headless: Headless, report: Report, now: float) -> Failure | None:
    """Returns why the client failed, as far as its output shows; None = it does not."""
    if found := headless.failure(report, 0, "", now):
        return found
    if report.records or report.has_ended:
        return None
    kind, line = failures.of_output(report.text)
    if kind == CRASH:  # nobody knows how the process ended
        return Failure(kind, f"it failed: {line}")
    return headless.failure(report, 1, "", now) if kind else None


# ---------------------------------------------------------------- what we remember


def _load(store: Store, path: str) -> Memory:
    """Returns what we remember of the loop. Without a store that can be used nothing is: the answer
    comes without the breaker."""
    memory = Memory()
    try:
        problem = store.problem
        if row := store.one("SELECT at, state FROM foreign_loop WHERE path = ?", path):
            memory = Memory(**{**json.loads(row[1]), "at": row[0]})
    except Error as error:
        problem = str(error)
    if problem:
        _warn(f"the breaker does not count, nothing can be noted: {problem}")
    return memory


def _save(store: Store, path: str, memory: Memory | None) -> None:
    """Notes what to remember; None = the loop stops: if it is started again, the breaker begins to
    count anew."""
    try:
        with store.write():
            store.run("DELETE FROM foreign_loop WHERE path = ?", path)
            if memory:
                state = json.dumps(asdict(memory))
                store.run("INSERT INTO foreign_loop VALUES (?, ?, ?)", path, memory.at, state)
    except Error as error:
        _warn(f"nothing could be noted: {error}")


def _warn(text: str) -> None:
    typer.echo(f"warning: {show.plain(text)}", err=True)
