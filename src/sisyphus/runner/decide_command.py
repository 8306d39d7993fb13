"""`sisyphus ralph decide`: tells a loop that somebody else drives whether to go on."""

import os
import stat
import sys
import time
from typing import Annotated, BinaryIO

import typer

from sisyphus import clients
from sisyphus.clients.base import Headless
from sisyphus.ground import files, log
from sisyphus.ground.errors import SisyphusError, UnreadableError
from sisyphus.ground.masking import masked_line
from sisyphus.ground.paths import display
from sisyphus.ground.store import Error, Store
from sisyphus.ground.worktree import STATE
from sisyphus.loops import project_changes
from sisyphus.runner import foreign_loop
from sisyphus.runner.decide import Decision
from sisyphus.runner.foreign_loop import ForeignState, Memory
from sisyphus.runner.project_files import STATE_VARIABLE, chosen_state
from sisyphus.terminal import show

STOP, GO_ON, UNKNOWN = 0, 1, 2
"""Exit codes."""

_WORDS = {STOP: "stop", GO_ON: "continue", UNKNOWN: "unknown"}
_LABELS = {STOP: "Stop", GO_ON: "Go on", UNKNOWN: "Cannot tell"}

_OUTPUT_BYTES = 16_000_000
"""The most bytes that are read of the client's output, its last ones."""

_CHARACTERS = 500


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
    try:
        headless = clients.headless(client or clients.DEFAULT)
        code, kind, why = _answer(headless, state, output, project)
    except Exception as error:  # an exit code of 1 would make the loop go on for ever
        is_expected = isinstance(error, SisyphusError)
        code, kind = UNKNOWN, ""
        why = str(error) if is_expected else log.failure("ralph decide", error)
    why = masked_line(why, _CHARACTERS)
    if as_json:
        show.as_json({"decision": _WORDS[code], "kind": kind or None, "reason": why})
    else:
        show.line(f"{_LABELS[code]}: {why}")
    raise typer.Exit(code)


def _answer(headless: Headless, state: str, output: str, project: str) -> tuple[int, str, str]:
    """Returns the exit code, the kind of the decision and why. Raises `SisyphusError`."""
    place = show.place(project)
    chosen = os.path.realpath(state) if state else chosen_state()
    path = chosen or os.path.realpath(os.path.join(place.project, STATE))
    try:
        known = foreign_loop.read_state(files.read(path, inside="" if chosen else place.project))
    except UnreadableError as error:
        raise SisyphusError(f"{display(path, place.project)}: {error}") from error
    data = _read_output(output)
    if not data.strip():
        raise SisyphusError(f"{output or 'stdin'} is empty: the client has printed nothing")
    decision = _decide(headless, place, known, data, path, output)
    return (GO_ON if decision.goes_on else STOP), decision.kind, decision.why


def _decide(
    headless: Headless, place: show.Place, known: ForeignState, data: bytes, path: str, output: str
) -> Decision:
    """Decides, and remembers what the next call needs."""
    now = time.time()
    report = foreign_loop.read_output(headless, data)
    turn = foreign_loop.summary(report)
    memory = _load(place.store, path)
    since = memory.at or known.started_at
    own = [path, os.path.realpath(output)] if output else [path]
    decision, new = foreign_loop.decide_next(
        known,
        memory,
        turn,
        foreign_loop.failure(headless, report, now),
        has_progress=project_changes.has_changed(
            place.project, since, now, edits_files=turn.edits_files, apart=own
        ),
        breaker_stops=place.settings["ralph.breaker_stops"],
        now=now,
    )
    _save(place.store, path, new if decision.goes_on else None)
    return decision


def _load(store: Store, path: str) -> Memory:
    """Returns what we remember of the loop. Without a store that can be used nothing is: the answer
    comes without the breaker."""
    try:
        problem, memory = store.problem, foreign_loop.load(store, path)
    except Error as error:
        problem, memory = str(error), Memory()
    if problem:
        typer.echo(
            f"warning: the breaker does not count, nothing can be noted: {show.plain(problem)}",
            err=True,
        )
    return memory


def _save(store: Store, path: str, memory: Memory | None) -> None:
    """Notes what to remember; None = the loop stops."""
    try:
        with store.write():
            if memory:
                foreign_loop.save(store, path, memory)
            else:
                foreign_loop.forget(store, path)
    except Error as error:
        typer.echo(f"warning: nothing could be noted: {show.plain(str(error))}", err=True)


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
