"""The transcripts of a loop or hold, for people: what the agent said and did in each iteration.

`LOOP_iter_N.txt` has the Stops of one iteration, most often one; `LOOP_full.txt` has all. They are
written after the commit. `parse` reads them for the dashboard; a line that the agent or the check
has written and that looks like one of ours has a blank before it.
"""

from __future__ import annotations

import os
from contextlib import suppress

from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record, field
from sisyphus.ground.text import moment, one_line
from sisyphus.loops import messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.transcript_records import RecordedCall
    from sisyphus.loops.loops import Loop
    from sisyphus.sessions.turns import Turn

ITERATION_BYTES = 256_000
FULL_BYTES = 4_000_000
"""The largest files. One that would grow beyond that is renamed to `.1`, and a new one starts."""

KEPT_ITERATIONS = 200
"""How many of the last iterations have a file of their own."""

_TARGET_CHARACTERS = 500
_LEFT_OUT = b"\n[\xe2\x80\xa6 left out: this is too long \xe2\x80\xa6]\n"


class Entry(Record):
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


class Step(Record):
    """What the agent said, or a tool that it called. tool: its name; "" = it said the text. text:
    in Markdown or, of a call, what the tool worked on."""

    tool: str
    text: str


class Stop(Record):
    """One Stop, read from a transcript; see `Entry`. at: 0 = unknown."""

    iteration: int
    session: str
    at: float
    steps: list[Step] = field(default_factory=list)
    check: str = ""
    decision: str = ""


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


def read(loop: str, number: int = 0) -> str:
    """Returns the transcript of a loop or, with a number, of one iteration, as far as there is one:
    "" = none. Both files count, the current one and the one before it."""
    path = _iteration_file(loop, number) if number else full_file(loop)
    limit = ITERATION_BYTES if number else FULL_BYTES
    parts = []
    for each in (f"{path}.1", path):
        with suppress(UnreadableError):
            parts.append(files.read(each, inside=_folder(), limit=limit))
    return "".join(parts)


def split(text: str) -> list[str]:
    """Returns the Stops in a transcript, oldest first, each as its text."""
    rest = f"\n{text}".split(f"\n{messages.TRANSCRIPT_MARK}")[1:]
    return [f"{messages.TRANSCRIPT_MARK}{each}" for each in rest]


def iteration_of(text: str) -> int:
    """Returns the number of the iteration that a Stop has ended; see `split`."""
    return _read_heading(text.partition("\n")[0]).iteration


def parse(text: str) -> Stop:
    """Returns the Stop of which this is the text; see `split`."""
    heading, _, body = text.partition("\n")
    stop = _read_heading(heading)
    body, _, decision = f"\n{body}".rpartition(f"\n{messages.DECISION_MARK}")
    stop.decision = decision.strip()
    body, mark, check = body.rpartition(f"\n{messages.CHECK_MARK}")
    if not mark:
        body, check = check, ""
    stop.check = _unguarded(f"{messages.CHECK_MARK}{check}".strip()) if mark else ""
    said: list[str] = []
    for line in [*body.split("\n"), "[]"]:
        if not line.startswith("[") or line == _LEFT_OUT.decode().strip():
            said.append(line)
            continue
        if words := "\n".join(said).strip("\n"):
            stop.steps.append(Step("", _unguarded(words)))
        said = []
        name, _, target = line[1:].partition("]")
        if name:
            stop.steps.append(Step(name, target.strip()))
    return stop


def _read_heading(line: str) -> Stop:
    """Reads the line of `messages.transcript_heading`."""
    rest, _, at = line.removesuffix(" ====").rpartition(", ")
    rest, _, session = rest.rpartition(", session ")
    number = rest.rpartition(", iteration ")[2]
    return Stop(int(number) if number.isdecimal() else 0, session, moment(at))


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
    pieces += ["\n\n", _guarded_check(entry.check)] if entry.check else []
    pieces += ["\n\n", messages.transcript_decision(entry.decision), "\n\n"]
    return _plain("".join(pieces))


def _step(step: str | RecordedCall) -> str:
    if isinstance(step, str):
        return _guarded(step)
    return f"[{one_line(step.name)}] {one_line(step.target, _TARGET_CHARACTERS)}".rstrip()


def _guarded(text: str) -> str:
    """Returns a stranger's text in which no line looks like one of ours."""
    return "\n".join(f" {line}" if _looks_ours(line) else line for line in text.split("\n"))


def _unguarded(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(
        line[1:] if line.startswith(" ") and _looks_ours(line[1:]) else line for line in lines
    )


def _guarded_check(check: str) -> str:
    """Returns what a check printed, below its first line, which is ours."""
    first, line_end, rest = check.partition("\n")
    return f"{first}{line_end}{_guarded(rest)}"


def _looks_ours(line: str) -> bool:
    return line.lstrip(" ").startswith(_MARKS)


_MARKS = (messages.TRANSCRIPT_MARK, messages.DECISION_MARK, messages.CHECK_MARK, "[")


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
