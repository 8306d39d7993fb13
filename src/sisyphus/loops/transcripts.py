"""The transcripts of a loop or hold, for people: what the agent said and did in each iteration.

`LOOP_iter_N.txt` has the Stops of one iteration, most often one; `LOOP_full.txt` has all. The
dashboard reads `LOOP_full.jsonl`, which has a `Stop` a line. They are written after the commit.
"""

from __future__ import annotations

import os

from sisyphus.ground import files, paths, quick_json
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.record import Record, asdict, replace
from sisyphus.ground.text import one_line
from sisyphus.loops import messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.transcript_records import RecordedCall
    from sisyphus.loops.loop import Work
    from sisyphus.sessions.turns import Turn

ITERATION_BYTES = 256_000
FULL_BYTES = 4_000_000
"""The largest files. One that would grow beyond that is renamed to `.1`, and a new one starts."""

KEPT_ITERATIONS = 200
"""How many of the last iterations have a file of their own."""

STOP_CHARACTERS = 200_000
"""The most that the dashboard gets of the steps of one Stop."""

_MOST_STEPS = 5_000
_TARGET_CHARACTERS = 500
_LEFT_OUT = "\n[… left out: this is too long …]\n"


class Entry(Record):
    """One Stop in a transcript.

    session: its id. iteration: the one that it ended. at: seconds since 1970. check: how the check
    ended and what it printed; "" = it did not run. decision: what was decided, and why.
    """

    loop: Work
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
    """An `Entry` as it is written down. steps: oldest first."""

    iteration: int
    session: str
    at: float
    steps: list[Step]
    check: str
    decision: str


def write(entry: Entry) -> None:
    """Appends a Stop to the loop's transcripts. Raises `OSError`."""
    files.make_folder(_folder())
    loop, stop = entry.loop, _stop(entry)
    text = _cut(_render(loop, stop).encode("utf-8", "replace"))
    _append(_iteration_file(loop.owner, stop.iteration), text, ITERATION_BYTES)
    _append(full_file(loop.owner), text, FULL_BYTES)
    data = replace(stop, steps=_ends(stop.steps), check=stop.check[-ITERATION_BYTES:])
    line = quick_json.dumps(asdict(data), ensure_ascii=False)
    # The first line break ends a line that a full disk cut off.
    _append(_data_file(loop.owner), f"\n{line}\n".encode("utf-8", "replace"), FULL_BYTES)
    old = _iteration_file(loop.owner, stop.iteration - KEPT_ITERATIONS)
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


def read(loop: str) -> list[Stop]:
    """Returns the Stops of a loop, oldest first. Those that version 1.0.0 wrote are not there."""
    stops = []
    for line in _lines(_data_file(loop)):
        try:
            row = quick_json.loads(line)
            stops.append(Stop(**row | {"steps": [Step(**each) for each in row["steps"]]}))
        except (ValueError, TypeError, KeyError):  # an empty one; the disk was full
            continue
    return stops


def read_text(loop: str, iteration: int = 0) -> str:
    """Returns the text of a loop's transcript or, with a number, of one iteration; "" = none."""
    return _content(_iteration_file(loop, iteration) if iteration else full_file(loop))


def _content(path: str) -> str:
    """Returns what a file has, after what the older `.1` file has."""
    parts = []
    for each in (f"{path}.1", path):
        try:
            parts.append(files.read(each, inside=_folder(), limit=FULL_BYTES))
        except UnreadableError:
            continue
    return "".join(parts)


def _lines(path: str) -> list[str]:
    """Returns the lines of a file, after those of the older `.1` file. A character that was cut off
    costs its line alone."""
    data = b""
    for each in (f"{path}.1", path):
        try:
            data += files.read_bytes(each, inside=_folder(), limit=FULL_BYTES)
        except UnreadableError:
            continue
    return [line.decode("utf-8", "replace") for line in data.split(b"\n") if line]


def remove(loop: str) -> None:
    """Removes all transcripts of a loop."""
    folder = _folder()
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.startswith(f"{loop}_"):
            _remove(os.path.join(folder, name))


def _folder() -> str:
    return os.path.join(paths.our_home(), "ralph", "transcripts")


def _data_file(loop: str) -> str:
    return os.path.join(_folder(), f"{loop}_full.jsonl")


def _iteration_file(loop: str, number: int) -> str:
    return os.path.join(_folder(), f"{loop}_iter_{number}.txt")


def _stop(entry: Entry) -> Stop:
    steps = list(map(_step, entry.turn.steps))
    session, check = _plain(entry.session), _plain(entry.check)
    return Stop(entry.iteration, session, entry.at, steps, check, one_line(entry.decision))


def _step(step: str | RecordedCall) -> Step:
    if isinstance(step, str):
        return Step("", _plain(step))
    return Step(one_line(step.name) or "tool", one_line(step.target, _TARGET_CHARACTERS))


def _render(loop: Work, stop: Stop) -> str:
    """Returns the text of a Stop: a heading, what the agent said and called, the check, the
    decision."""
    pieces = [messages.transcript_heading(loop, stop.iteration, stop.session, stop.at)]
    is_after_call = False
    for step in stop.steps:
        pieces.append("\n" if step.tool and is_after_call else "\n\n")
        text = f"[{step.tool}] {step.text}".rstrip() if step.tool else _guarded(step.text)
        pieces.append(text)
        is_after_call = bool(step.tool)
    first, line_end, rest = stop.check.partition("\n")  # the first line is ours
    pieces += ["\n\n", f"{first}{line_end}{_guarded(rest)}"] if stop.check else []
    pieces += ["\n\n", messages.transcript_decision(stop.decision), "\n\n"]
    return "".join(pieces)


def _guarded(text: str) -> str:
    """Returns a stranger's text in which no line looks like one of ours."""
    lines = text.split("\n")
    return "\n".join(f" {line}" if line.lstrip(" ").startswith(_MARKS) else line for line in lines)


_MARKS = (messages.TRANSCRIPT_MARK, messages.DECISION_MARK, messages.CHECK_MARK, "[")


def _ends(steps: list[Step]) -> list[Step]:
    """Returns the first and the last steps, if they are too many or too long together."""
    if len(steps) > _MOST_STEPS:
        half = _MOST_STEPS // 2
        steps = [*steps[:half], Step("", _LEFT_OUT), *steps[-half:]]
    half, size = STOP_CHARACTERS // 2, sum(len(each.tool + each.text) for each in steps)
    if size <= STOP_CHARACTERS:
        return steps
    kept, end = [], 0
    for each in steps:
        start, end = end, end + len(each.tool + each.text)
        head = each.text[: max(half - start, 0)]
        tail = each.text[max(size - half - start, 0) :]
        if end <= half or start >= size - half:
            kept.append(each)
        elif head or tail:
            kept.append(Step(each.tool, head + _LEFT_OUT + tail))
    return kept


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
    half = (ITERATION_BYTES - len(_LEFT_OUT.encode())) // 2
    ends = [part.decode("utf-8", "ignore") for part in (data[:half], data[-half:])]
    return _LEFT_OUT.join(ends).encode()


def _append(path: str, data: bytes, limit: int) -> None:
    if os.path.exists(path) and os.path.getsize(path) + len(data) > limit:
        os.replace(path, f"{path}.1")
    with files.open_private(path, os.O_APPEND) as file:
        file.write(data)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
