"""How much of what clients wrote is kept, below HOME/.sisyphus/ralph/transcripts.

Of an iteration that was judged 64 MB at most, its beginning and its end; of a run the last 20
iterations; of a run that nobody goes on with, 30 days.
"""

from __future__ import annotations

import os
import re

from sisyphus.errors import UnreadableError
from sisyphus.reading import open_regular
from sisyphus.state import debug
from sisyphus.state.files import Staged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.runner.keep.places import Places
    from sisyphus.runner.keep.state import Run

MOST_BYTES = 64_000_000
ITERATIONS = 20
DAYS = 30

_NAME = re.compile(r"(.+)_iter_([0-9]{1,12})(?:\.[0-9]{1,4})?\.(?:jsonl|err|pid|exit|verify)")
_DAY = 86_400


def trim(stem: str, most: int = MOST_BYTES) -> None:
    """Cuts the middle out of what a client wrote; a line says how much that was."""
    for path in (f"{stem}.jsonl", f"{stem}.err") if stem else ():
        try:
            if os.path.getsize(path) > most:
                Staged(path, _ends(path, most)).commit()
        except (OSError, UnreadableError) as error:
            debug.log(f"{path} is not cut: {error}")


def _ends(path: str, most: int) -> bytes:
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(most // 8)
        head = head[: head.rfind(b"\n") + 1] or head + b"\n"
        file.seek(size - (most - most // 8))
        tail = file.read()
    tail = tail[tail.find(b"\n") + 1 :]
    return head + b"[%d bytes are cut out here]\n" % (size - len(head) - len(tail)) + tail


def forget_iterations(places: Places, run: Run) -> None:
    """Those of the run that lie far back."""
    for path, loop_id, number in _files(places):
        if loop_id == run.loop_id and number <= run.judged - ITERATIONS:
            _remove(path)


def forget_old(places: Places, now: float) -> None:
    for path, _, _ in _files(places):
        if _changed_at(path, now) < now - DAYS * _DAY:
            _remove(path)


def _files(places: Places) -> Iterator[tuple[str, str, int]]:
    """Path, loop and iteration of every file of a client."""
    try:
        names = os.listdir(places.transcripts)
    except OSError:
        return
    for name in names:
        if found := _NAME.fullmatch(name):
            yield os.path.join(places.transcripts, name), found[1], int(found[2])


def _changed_at(path: str, otherwise: float) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return otherwise


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        debug.log(f"{path} is not removed: {error}")
