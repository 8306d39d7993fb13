"""Which files of a project changed since a moment."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.paths import is_inside, our_home
from sisyphus.ralph.own import OWN_FILES
from sisyphus.ralph.tree.bounds import Bounds, TooMuchError
from sisyphus.ralph.tree.walk import PASSED_OVER
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_USUAL = Bounds()
_BRANCH = b"ref: refs/heads/"
_NONE = b".invalid"  # git alone can read this repository's refs
_HEAD_BYTES = 1_000


def changed(root: str, since: float, edited: Sequence[str], bounds: Bounds = _USUAL) -> list[str]:
    """Names relative to `root`, with forward slashes, of what changed after `since`.

    `since` is in epoch seconds, 0 = nobody knows. First those of the full paths `edited` that lie
    in the project, whether they are still there or not, then what git, or a walk, shows. What git
    ignores, `PASSED_OVER`, `OWN_FILES` and our own folder do not count. Raises nothing: what cannot
    be told is left out, and logged.
    """
    top = os.path.realpath(root) if root else ""
    aside = _aside(top)
    first = sorted({name for path in edited if (name := _below(path, top))})
    found = _seen(top, since, bounds) if since > 0 else []
    names = dict.fromkeys([*first, *sorted(found)])
    return [name for name in names if not f"{name}/".startswith(aside)]


def branch(root: str) -> str:
    """The branch that the work tree at `root` is on; "" where there is none, or none is told."""
    from sisyphus.ralph.head import git_folders
    from sisyphus.reading import read_bytes

    folders = git_folders(root)
    try:
        line = read_bytes(os.path.join(folders[0], "HEAD"), _HEAD_BYTES) if folders else b""
    except UnreadableError:
        return ""
    name = line.strip().removeprefix(_BRANCH) if line.startswith(_BRANCH) else b""
    return "" if name == _NONE else os.fsdecode(name)


def _seen(top: str, since: float, bounds: Bounds) -> list[str]:
    found: list[bytes] = []
    try:
        from sisyphus.ralph.tree import files

        _, entries = files.find(top, bounds)
        _take(entries, since * 1e9, found)
    except (OSError, ValueError, SisyphusError, TooMuchError) as error:
        debug.log(f"not all changes of {top} were seen: {error}")
    return [os.fsdecode(name) for name in _of_the_work(top, found)]


def _take(entries: Iterable[tuple[bytes, int]], since: float, found: list[bytes]) -> None:
    """Keeps what was found when going through the rest would cost too much."""
    found += (name for name, at in entries if at > since)


def _of_the_work(top: str, names: Sequence[bytes]) -> Iterator[bytes]:
    """Those that are neither a commit (it stands in a name), nor made from the work, nor behind a
    link that leaves the project."""
    are_inside: dict[bytes, bool] = {}
    for name in names:
        folder = name.rpartition(b"/")[0]
        if b"\0" in name or not PASSED_OVER.isdisjoint(folder.split(b"/")):
            continue
        if folder not in are_inside:
            are_inside[folder] = is_inside(os.path.join(top, os.fsdecode(folder)), top)
        if are_inside[folder]:
            yield name


def _below(path: str, top: str) -> str:
    """The name of a full path in the project, however it is spelled; "" outside it."""
    if not os.path.isabs(path) or "\0" in path:
        return ""
    folder, name = os.path.split(os.path.normpath(path))
    full = os.path.join(os.path.realpath(folder), name)
    prefix = os.path.join(top, "")
    return full.removeprefix(prefix).replace(os.sep, "/") if full.startswith(prefix) else ""


def _aside(top: str) -> tuple[str, ...]:
    """Beginnings of names that do not count."""
    ours, start = os.path.realpath(our_home()), os.path.join(top, "")
    inner = ours.removeprefix(start).replace(os.sep, "/")
    return (*OWN_FILES, f"{inner}/") if ours.startswith(start) else OWN_FILES
