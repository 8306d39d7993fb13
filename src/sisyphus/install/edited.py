"""Files of others of which a part is ours: what they were before we came.

The manifest holds, of each, by the path where its reader looks for it, `states`: the digest of what
we left there, and that of what was there before (null: there was no file), which is kept in our
folder. Of two states the newer one comes first; a run that was killed may have left the older.
`added` tells the texts among a list that are ours and bear no mark.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from sisyphus.errors import UnreadableError
from sisyphus.install.changes import digest, kept_at
from sisyphus.paths import INSTALLS
from sisyphus.reading import PLAN_BYTES, read_bytes
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sisyphus._types import Json, Kept, Owner

KEPT: tuple[Kept, ...] = ({"path": "replaced/COPY", "kind": "replaced files"},)


class Original(NamedTuple):
    """What there was; None = no file."""

    data: bytes | None


def original(noted: Json, path: str, data: bytes) -> Original | None:
    """What was in the place of `data`, which the file `path` holds; None where that is not known,
    because somebody else has changed the file since."""
    return next((_kept(path, s.get("original", "")) for s in _left_by_us(noted, path, data)), None)


def last_original(noted: Json, path: str) -> Original | None:
    """What was there before we wrote the file last, whatever it holds now."""
    return next((_kept(path, s.get("original", "")) for s in _states(noted, path)), None)


def _kept(path: str, sha256: object) -> Original | None:
    if sha256 is None:
        return Original(None)
    for place in (path, os.path.realpath(path)):
        try:
            data = read_bytes(kept_at(place, str(sha256)), PLAN_BYTES)
        except UnreadableError:
            continue
        if digest(data) == sha256:
            return Original(data)
    return None


def needed(ours: str) -> Iterator[Owner]:
    """The copies that `uninstall` may give back: those that the manifest names by their digest, and
    those of a file of a name that stands there; all where it cannot be read."""
    book = os.path.join(ours, INSTALLS)
    found = read_json(book)
    if found is None and os.path.lexists(book):
        yield "copy", "*"
    texts = list(_texts(found))
    copies = os.path.join(ours, "replaced")
    for copy in os.listdir(copies) if os.path.isdir(copies) else ():
        start, _, name = copy.partition("-")
        if any(os.path.basename(text) == name or text.startswith(start) for text in texts):
            yield "copy", copy


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *_texts(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def is_noted(noted: Json, path: str) -> bool:
    """Whether anything is known of what we did to the file."""
    return bool(_row(noted, path))


def added(noted: Json, path: str) -> list[str]:
    """The texts that we added to a list in the file."""
    found = _row(noted, path).get("added")
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


class Change(NamedTuple):
    """A file that is to hold `after` in the place of `before` (None = no file); without us it would
    hold `was`. `added`: the texts in it that are ours and bear no mark."""

    before: bytes | None
    after: bytes
    was: Original
    added: Sequence[str] = ()


def row(noted: Json, path: str, change: Change) -> Json:
    """What is to be noted of the file from now on."""
    was = change.was.data
    newest = {"sha256": digest(change.after), "original": None if was is None else digest(was)}
    states = [newest, *_left_by_us(noted, path, change.before)][:2]
    return {"states": states, "added": list(change.added)}


def _left_by_us(noted: Json, path: str, data: bytes | None) -> list[Json]:
    if data is None:
        return []
    return [state for state in _states(noted, path) if state.get("sha256") == digest(data)]


def _states(noted: Json, path: str) -> list[Json]:
    found = _row(noted, path).get("states")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _row(noted: Json, path: str) -> Json:
    rows = noted.get("edited")
    found = rows.get(path) if isinstance(rows, dict) else None
    return found if isinstance(found, dict) else {}
