"""What was said and done in each iteration of a loop, kept for people to read.

ralph/transcripts/LOOP_iterations.jsonl    a row a Stop
ralph/transcripts/LOOP_iter_N.txt          the text of iteration N
ralph/transcripts/LOOP_full.txt            all of them, each under a heading
ralph/transcripts/LOOP_verify.txt          what the loop's command printed last
"""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.paths import is_safe_id
from sisyphus.reading import read_bytes
from sisyphus.state import debug
from sisyphus.state.files import append_line, ensure_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

TEXT_CHARACTERS = 200_000
FULL_BYTES = 20_000_000

CUT = "\n[the rest of this iteration was left out]\n"
FULL = "\n[no more is kept here; each iteration has its own file]\n"

_MOST_BYTES = 4 * TEXT_CHARACTERS + len(CUT)


def folder(ours: str) -> str:
    return os.path.join(ours, "ralph", "transcripts")


def rows_path(ours: str, loop_id: str) -> str:
    return os.path.join(folder(ours), f"{loop_id}_iterations.jsonl")


def text_path(ours: str, loop_id: str, number: int) -> str:
    return os.path.join(folder(ours), f"{loop_id}_iter_{number}.txt")


def full_path(ours: str, loop_id: str) -> str:
    return os.path.join(folder(ours), f"{loop_id}_full.txt")


def verify_path(ours: str, loop_id: str) -> str:
    return os.path.join(folder(ours), f"{loop_id}_verify.txt")


def note(ours: str, loop_id: str, row: Json, text: str) -> None:
    """Keeps a row and the text of the iteration that it names; never raises.

    `row`: iteration, started_at, ended_at, decision, why, and counts of what happened since the
    row before (tokens, tools). An iteration that is noted again goes on in its file.
    """
    number = row.get("iteration")
    if not is_safe_id(loop_id) or type(number) is not int or number < 0:
        debug.log(f"iteration {number!r:.80} of loop {loop_id!r:.80} cannot be noted")
        return
    try:
        ensure_folder(folder(ours))
        append_line(rows_path(ours, loop_id), row)
        if text.strip():
            kept = _append_text(text_path(ours, loop_id, number), text.strip("\n"))
            _append_full(full_path(ours, loop_id), _heading(row), kept)
    except (OSError, ValueError, TypeError, SisyphusError) as error:
        debug.log(f"iteration {number} of loop {loop_id}: {type(error).__name__}: {error}")


def rows(ours: str, loop_id: str) -> list[Json]:
    """The rows of a loop, oldest first."""
    from sisyphus.state import jsonl

    return list(jsonl.read(rows_path(ours, loop_id))) if is_safe_id(loop_id) else []


def full_text(ours: str, loop_id: str) -> str:
    """All iterations as one text; "" where none was kept."""
    return _text(full_path(ours, loop_id), FULL_BYTES * 2) if is_safe_id(loop_id) else ""


def _heading(row: Json) -> str:
    words = [f"iteration {row['iteration']}", row.get("ended_at"), row.get("decision")]
    return " ".join(["===", *(" ".join(str(word).split()) for word in words if word), "==="])


def _append_text(path: str, text: str) -> str:
    """Appends what an iteration may still hold, and returns it."""
    before = _text(path, _MOST_BYTES)
    if before.endswith(CUT):
        return ""
    start = "\n" if before else ""
    room = max(TEXT_CHARACTERS - len(before), 0)
    kept = text if len(text) <= room else text[:room] + CUT
    _append(path, f"{start}{kept.rstrip()}\n".encode("utf-8", "replace"))
    return kept


def _append_full(path: str, heading: str, text: str) -> None:
    """At the limit a note ends the file; from then on it is left alone."""
    size = os.path.getsize(path) if os.path.exists(path) else 0
    if size >= FULL_BYTES or not text:
        return
    start = "\n" if size else ""
    data = f"{start}{heading}\n\n{text.rstrip()}\n".encode("utf-8", "replace")
    room = FULL_BYTES - size
    if len(data) > room:
        data = data[:room].decode("utf-8", "ignore").encode() + FULL.encode()
    _append(path, data)


def _append(path: str, data: bytes) -> None:
    fd = os.open(path, debug.APPEND, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)


def _text(path: str, limit: int) -> str:
    try:
        return read_bytes(path, limit).decode("utf-8", "replace")
    except UnreadableError:
        return ""
