"""The files of a project that count as work on it, and which of them changed since a moment."""

from __future__ import annotations

import os
import stat
import time

from sisyphus import git
from sisyphus.errors import SisyphusError, TooMuchError
from sisyphus.paths import is_inside, our_home
from sisyphus.state import debug
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Entries = Iterator[tuple[bytes, int]]

SECONDS = 1.0
"""How long a look may take: git needs about so long for 500,000 files."""

OWN_FILES = (
    ".claude/handoffs/",
    ".claude/ralph-state.json",
    ".claude/PROMPT.md",
    ".claude/progress.txt",
    ".claude/ralph-loop.local.md",
    "docs/kord/boulder.json",
)
"""Beginnings of names: state of ours and of other loops, with its locks and temporary files."""

MADE = frozenset(
    (
        b".cache", b".git", b".gradle", b".hg", b".mypy_cache", b".next", b".nox", b".nuxt",
        b".pytest_cache", b".ruff_cache", b".svn", b".tox", b".venv", b"__pycache__", b"build",
        b"coverage", b"dist", b"node_modules", b"target", b"venv",
    )
)  # fmt: skip
"""Folders of what is made from the work, not of the work itself."""

_BY_GIT, _BY_WALK = "git", "walk"


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
    seconds: float = SECONDS,
) -> Look:
    """Whether a file of the project at `root` changed after `since`, in epoch seconds.

    What git ignores, `OWN_FILES`, our own folder and `skip` (full paths of files and folders) do
    not count. `known_names`, from the look before, tells what came and went. Raises nothing.
    """
    names: list[bytes] = []
    changed, how = b"", ""
    inner = 0
    try:
        top = root and os.path.realpath(root)
        how, entries = _files(top, seconds)
        for name, at in _counting(entries, top, skip):
            names.append(name)
            inner += name.endswith(b"/")
            if at > since * 1e9 and not changed and _is_of(top, name):
                changed = name
    except (OSError, ValueError, SisyphusError) as error:
        if not changed:
            debug.log(f"changes of {root} not seen: {error}")
            return Look(None, "", one_line(f"the work tree was not looked at: {error}"))
        names.clear()
    now = _fold(how, names) if names or not changed else ""
    if changed:
        return Look(True, now, f"{one_line(os.fsdecode(changed), 100)} changed")
    if known_names not in ("", now):
        if known_names.partition(" ")[0] == how:
            return Look(True, now, "files came or went")
        return Look(None, now, "none of the files changed, but some may have gone")
    if inner:
        return Look(None, now, f"repositories inside were not looked at: {inner:,}")
    return Look(False, now, f"none of {len(names):,} files changed")


def changes(
    root: str, since: float, skip: Sequence[str] = (), seconds: float = SECONDS
) -> tuple[list[str], str]:
    """Names relative to `root`, with forward slashes, of the files that changed after `since`, and
    why these may not be all; "" = they are.

    What `look` leaves out does not count, nor do folders of `MADE` and what lies behind a link
    that leaves the project.
    """
    top = os.path.realpath(root) if root else ""
    found: list[str] = []
    try:
        _, entries = _files(top, seconds)
        for name, at in _counting(entries, top, skip):
            if at > since * 1e9 and MADE.isdisjoint(name.split(b"/")[:-1]) and _is_of(top, name):
                found.append(os.fsdecode(name))
    except (OSError, ValueError, SisyphusError) as error:
        debug.log(f"not all changes of {root} were seen: {error}")
        return sorted(found), str(error)
    return sorted(found), ""


def is_work(top: str, name: str, skip: Sequence[str] = ()) -> bool:
    """Whether a file, by its name below the project, is none of those that `look` leaves out but
    for what git ignores. `top`: the project, links resolved."""
    return not f"{name}/".encode("utf-8", "surrogateescape").startswith(_aside(top, skip))


def _files(top: str, seconds: float) -> tuple[str, Entries]:
    """How the files below `top` are found: their names, and when each last changed, in nanoseconds
    since the epoch. Raises `OSError` where there is no such folder; going through them raises
    `TooMuchError`."""
    if not os.path.isdir(top):
        raise NotADirectoryError("it is no folder")
    deadline = time.monotonic() + seconds
    try:
        names = git.names(top, seconds)
    except (OSError, SisyphusError) as error:
        if isinstance(error, TooMuchError):
            raise
        debug.log(f"git does not tell the files of {top}: {error}")
        names = None
    if names is not None:
        return _BY_GIT, _looked_at(top, names, deadline)
    return _BY_WALK, _walk(top, deadline)


def _looked_at(top: str, names: list[bytes], deadline: float) -> Entries:
    """A repository inside the project has a slash at its end, and nobody looks into it."""
    start = os.path.join(os.fsencode(top), b"")
    for name in names:
        _check(deadline)
        try:
            found = os.lstat(start + name)
        except OSError:
            continue  # git still tracks it, but it is gone
        is_inner = stat.S_ISDIR(found.st_mode)
        yield (name.rstrip(b"/") + b"/", 0) if is_inner else (name, _changed_at(found))


def _walk(top: str, deadline: float) -> Entries:
    """Links are not followed; what cannot be looked at is passed over, and so is `MADE`."""
    start = os.path.join(os.fsencode(top), b"")
    waiting = [b""]
    while waiting:
        inner = waiting.pop()
        for entry in _entries(start + inner):
            _check(deadline)
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if not stat.S_ISDIR(found.st_mode):
                yield inner + entry.name, _changed_at(found)
            elif entry.name not in MADE:
                waiting.append(inner + entry.name + b"/")


def _entries(folder: bytes) -> list[os.DirEntry[bytes]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _check(deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise TooMuchError("there are too many files to look at")


def _changed_at(found: os.stat_result) -> int:
    """`st_mtime` can be set to any time by anybody, `st_ctime` by the kernel alone; on Windows the
    latter is when the file was made."""
    return found.st_mtime_ns if os.name == "nt" else found.st_ctime_ns


def _counting(entries: Entries, top: str, skip: Sequence[str]) -> Entries:
    aside = _aside(top, skip)
    return (entry for entry in entries if not (entry[0] + b"/").startswith(aside))


def _aside(top: str, skip: Sequence[str]) -> tuple[bytes, ...]:
    """Beginnings of names that are no work. What holds the whole project is none of them."""
    found = [os.fsencode(name) for name in (*OWN_FILES, ".git/")]
    start = os.path.join(top, "")
    for path in (our_home(), *skip):
        real = os.path.realpath(path)
        if real.startswith(start):
            found.append(os.fsencode(real.removeprefix(start).replace(os.sep, "/")) + b"/")
    return tuple(found)


def _is_of(top: str, name: bytes) -> bool:
    """A folder on the way may have become a link that leaves the project."""
    return is_inside(os.path.dirname(os.path.join(top, os.fsdecode(name))), top)


def _fold(how: str, names: list[bytes]) -> str:
    """A short text that stands for all names, as far as they were found in the same way."""
    from binascii import crc32

    joined = b"\1".join(sorted(names))
    return f"{how} {len(names)} {crc32(joined):08x}"
