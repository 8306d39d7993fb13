"""A `.claude/PROMPT.md` that no run has written is the user's own, and is not written over."""

from __future__ import annotations

import hashlib
import os
import time

from sisyphus.errors import UnreadableError
from sisyphus.reading import read_bytes
from sisyphus.state.files import Staged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.keep.places import Places

_MOST_BYTES = 16_000_000


def write(places: Places, text: bytes) -> None:
    """Raises `OSError`."""
    Staged(places.prompt, text).commit()
    Staged(_mark(places), _digest(text)).commit()


def set_aside(places: Places) -> str:
    """Moves one that is not ours out of the way; what to tell the user, "" = nothing. Raises
    `OSError`."""
    if not os.path.lexists(places.prompt) or _is_ours(places):
        return ""
    kept = f"{places.prompt}.yours-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    while os.path.lexists(kept):
        kept += "x"
    os.rename(places.prompt, kept)
    return f"{places.prompt} was not written by a run; it is kept as {kept}"


def _is_ours(places: Places) -> bool:
    try:
        written = read_bytes(places.prompt, _MOST_BYTES)
        return read_bytes(_mark(places), _MOST_BYTES) == _digest(written)
    except UnreadableError:
        return False


def _mark(places: Places) -> str:
    return places.running.removesuffix(".running") + ".prompt"


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()
