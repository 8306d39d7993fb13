"""Whether the files of a loop's project have changed since a moment."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError
from sisyphus.paths import is_inside, our_home
from sisyphus.plain import one_line
from sisyphus.ralph.own import OWN_FILES
from sisyphus.ralph.tree.bounds import Bounds, TooMuchError
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_USUAL = Bounds()


class Look:
    """`changed`: None = cannot tell. `names`: what to give the next look, "" = nothing known.

    `why` says in words what was seen.
    """

    __slots__ = ("changed", "names", "why")

    def __init__(self, changed: bool | None, names: str, why: str) -> None:
        self.changed = changed
        self.names = names
        self.why = why


def look(
    root: str,
    since: float,
    known_names: str = "",
    skip: Sequence[str] = (),
    bounds: Bounds = _USUAL,
) -> Look:
    """Whether a file of the project at `root` changed after `since`, in epoch seconds.

    What git ignores, `OWN_FILES`, our own folder and `skip` (full paths of files and folders) do
    not count. `known_names`, from the look before, tells what came and went. Raises nothing.
    """
    try:
        return _look(root and os.path.realpath(root), since, known_names, skip, bounds)
    except (OSError, ValueError, SisyphusError, TooMuchError) as error:
        debug.log(f"changes of {root} not seen: {error}")
        return Look(None, "", one_line(f"the work tree was not looked at: {error}"))


def _look(top: str, since: float, known: str, skip: Sequence[str], bounds: Bounds) -> Look:
    from sisyphus.ralph.tree import files  # costs 2 ms, and most Stops need none of it

    how, entries = files.find(top, bounds)
    found = _Found(top, since, _aside(top, skip))
    try:
        found.take(entries)
    except TooMuchError:
        if found.changed:
            return _judge(found.changed, known, "", 0)
        raise
    return _judge(found.changed, known, found.fold(how), len(found.names))


class _Found:
    """The names of the files that count, and the first one that changed after `since`."""

    __slots__ = ("_aside", "_since", "_top", "changed", "names")

    def __init__(self, top: str, since: float, aside: tuple[bytes, ...]) -> None:
        self._top = top
        self._since = since * 1e9
        self._aside = aside
        self.names: list[bytes] = []
        self.changed = b""

    def take(self, entries: Iterable[tuple[bytes, int]]) -> None:
        for name, at in entries:
            if (name + b"/").startswith(self._aside):
                continue
            self.names.append(name)
            if at > self._since and not self.changed and _is_of(self._top, name):
                self.changed = name

    def fold(self, how: str) -> str:
        """A short text that stands for all names, as far as they were found in the same way."""
        from binascii import crc32

        joined = b"\1".join(sorted(self.names))
        return f"{how} {len(self.names)} {crc32(joined):08x}"


def _judge(changed: bytes, known: str, now: str, number: int) -> Look:
    if changed:
        return Look(True, now, f"{one_line(os.fsdecode(changed), 100)} changed")
    if known in ("", now):
        return Look(False, now, f"none of {number:,} files changed")
    if known.partition(" ")[0] != now.partition(" ")[0]:
        return Look(None, now, "none of the files changed, but some may have gone")
    return Look(True, now, "files came or went")


def _is_of(top: str, name: bytes) -> bool:
    """A folder on the way may have become a link that leaves the project."""
    return is_inside(os.path.dirname(os.path.join(top, os.fsdecode(name))), top)


def _aside(top: str, skip: Sequence[str]) -> tuple[bytes, ...]:
    """Beginnings of names that do not count. What holds the whole project is none of them."""
    found = [os.fsencode(name) for name in OWN_FILES]
    start = os.path.join(top, "")
    for path in (our_home(), *skip):
        real = os.path.realpath(path)
        if real.startswith(start):
            inner = real.removeprefix(start).replace(os.sep, "/")
            found.append(os.fsencode(inner) + b"/")
    return tuple(found)
