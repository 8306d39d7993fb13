"""The transcripts of a loop or hold, for people: what the agent said and did in each iteration.

`LOOP_iter_N.txt` has the Stops of one iteration, most often one; `LOOP_full.txt` has all. They are
written after the commit, and nobody reads them back.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass

from sisyphus import files, paths
from sisyphus.ralph import messages
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.records import RecordedCall
    from sisyphus.ralph.loop import Loop
    from sisyphus.sessions.turn import Turn

ITERATION_BYTES = 256_000
FULL_BYTES = 4_000_000
"""The largest files. One that would grow beyond that is renamed to `.1`, and a new one starts."""

KEPT_ITERATIONS = 200
"""How many of the last iterations have a file of their own."""

_TARGET_CHARACTERS = 500
_LEFT_OUT = b"\n[\xe2\x80\xa6 left out: this is too long \xe2\x80\xa6]\n"


@dataclass(slots=True, eq=False, repr=False)
class Entry:
    """One Stop in a transcript.

    session: its id. iteration: the one that it ended. at: seconds since 1970. check: how the check
    ended and what it printed; "" = it did not run. decision: what was decided, and why.
    """

    loop: Loop
    session: str
    iteration: int
    at: float
    turn: Turn
    check: str
    decision: str


def write(entry: Entry) -> None:
    """Appends a Stop to the loop's transcripts. Raises `OSError`."""
    folder = _folder()
    files.make_folder(folder)
    data = _cut(_render(entry).encode("utf-8", "replace"))
    _append(_iteration_file(entry.loop.id, entry.iteration), data, ITERATION_BYTES)
    _append(full_file(entry.loop.id), data, FULL_BYTES)
    old = _iteration_file(entry.loop.id, entry.iteration - KEPT_ITERATIONS)
    _remove(old)
    _remove(f"{old}.1")


def full_file(loop: str) -> str:
    return os.path.join(_folder(), f"{loop}_full.txt")


def report_file(run: str) -> str:
    """Returns the file of the report of a run."""
    return os.path.join(_folder(), f"{run}_report.md")


def iteration_file(loop: str, number: int) -> str:
    """Returns the file of an iteration; "" = there is none."""
    path = _iteration_file(loop, number)
    return path if os.path.exists(path) else ""


def remove(loop: str) -> None:
    """Removes all transcripts of a loop."""
    folder = _folder()
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.startswith(f"{loop}_"):
            _remove(os.path.join(folder, name))


def _folder() -> str:
    return os.path.join(paths.our_home(), "ralph", "transcripts")


def _iteration_file(loop: str, number: int) -> str:
    return os.path.join(_folder(), f"{loop}_iter_{number}.txt")


def _render(entry: Entry) -> str:
    """Returns the text of a Stop: a heading, what the agent said and called, the check, the
    decision."""
    pieces = [messages.transcript_heading(entry.loop, entry.iteration, entry.session, entry.at)]
    is_after_call = False
    for step in entry.turn.steps:
        is_call = not isinstance(step, str)
        pieces += ["\n" if is_call and is_after_call else "\n\n", _step(step)]
        is_after_call = is_call
    pieces += ["\n\n", entry.check] if entry.check else []
    pieces += ["\n\n", messages.transcript_decision(entry.decision), "\n\n"]
    return _plain("".join(pieces))


def _step(step: str | RecordedCall) -> str:
    if isinstance(step, str):
        return step
    return f"[{one_line(step.name)}] {one_line(step.target, _TARGET_CHARACTERS)}".rstrip()


def _plain(text: str) -> str:
    """Returns untrusted text with U+FFFD for every character that a terminal might obey."""
    lines = text.split("\n")
    return "\n".join(line if line.isprintable() else _plain_line(line) for line in lines)


def _plain_line(line: str) -> str:
    return "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in line.rstrip("\r"))


def _cut(data: bytes) -> bytes:
    """Returns the start and the end of a text that is too long for its file."""
    if len(data) <= ITERATION_BYTES:
        return data
    half = (ITERATION_BYTES - len(_LEFT_OUT)) // 2
    ends = [part.decode("utf-8", "ignore").encode() for part in (data[:half], data[-half:])]
    return _LEFT_OUT.join(ends)


def _append(path: str, data: bytes, limit: int) -> None:
    if os.path.exists(path) and os.path.getsize(path) + len(data) > limit:
        os.replace(path, f"{path}.1")
    with files.open_private(path, os.O_APPEND) as file:
        file.write(data)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
