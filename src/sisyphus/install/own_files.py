"""Files that are ours as a whole, and bear our mark: what becomes of each."""

from __future__ import annotations

import os
import stat

from sisyphus.errors import UnreadableError
from sisyphus.install import found, marks
from sisyphus.install.plan import KEEP, REMOVE, REPLACE, SAME, SKIP, UPDATE, WRITE, Step
from sisyphus.reading import DOCUMENT_BYTES, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sisyphus.install.found import Found


def to_install(
    wanted: Mapping[str, bytes],
    there: Mapping[str, Found],
    taken: Mapping[str, str],
    *,
    replace: bool,
) -> list[Step]:
    """`wanted`: path -> content; `there`: the files with our mark; `taken`: the name of a command
    -> where somebody else defines it."""
    steps = [_step(path, after, taken, replace=replace) for path, after in wanted.items()]
    return steps + [_leftover(path, one) for path, one in there.items() if path not in wanted]


def _step(path: str, after: bytes, taken: Mapping[str, str], *, replace: bool) -> Step:
    before = found.look(path)
    if before.kind == found.ABSENT:
        return _new(path, after, before, taken)
    if before.kind == found.FOREIGN:
        return Step(path, SKIP, before, why=before.why)
    if marks.unified(before.data) == after:
        return Step(path, SAME, before)
    if before.kind == found.OURS:
        return Step(path, UPDATE, before, after)
    if before.kind == found.EDITED and replace:
        return Step(path, REPLACE, before, after, before.why, (before.data,))
    return Step(path, KEEP, before, why=before.why)


def _new(path: str, after: bytes, before: Found, taken: Mapping[str, str]) -> Step:
    name = os.path.basename(path).removesuffix(".md")
    if name in taken:
        return Step(path, SKIP, before, why=f"/{name} is defined in {taken[name]}")
    return Step(path, WRITE, before, after)


def _leftover(path: str, before: Found) -> Step:
    """A file of ours that this version does not have, or has in another folder."""
    if before.kind == found.OURS:
        return Step(path, REMOVE, before, why="no part of sisyphus any more")
    return Step(path, KEEP, before, why=before.why)


def to_uninstall(there: Mapping[str, Found], left_over: list[str]) -> list[Step]:
    """`left_over`: paths of files that a killed run left. Raises `OSError`."""
    steps = [_removal(path, one) for path, one in there.items()]
    return steps + [_remains(path) for path in left_over]


def _removal(path: str, before: Found) -> Step:
    if before.kind == found.EDITED:
        return Step(path, KEEP, before, why=before.why)
    return Step(path, REMOVE, before)


def _remains(path: str) -> Step:
    """Looked at as it is: half a file of ours bears no mark, and what a failed removal puts back
    must be what was there. Raises `OSError`."""
    try:
        before = found.Found(found.OURS, data=read_bytes(path, DOCUMENT_BYTES), mode=_mode(path))
    except UnreadableError as error:
        return Step(path, KEEP, found.look(path), why=str(error).removeprefix(f"{path}: "))
    return Step(path, REMOVE, before, why="left by a run that was killed")


def _mode(path: str) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def left_over(folders: list[str]) -> list[str]:
    """The files that a killed run left in these folders."""
    return _files(found.files(folders, found.TEMPORARY))


def beside(paths: list[str]) -> list[Step]:
    """What becomes of that which a killed run left beside these files. Raises `OSError`."""
    return [_remains(path) for path in _files([path + found.TEMPORARY for path in paths])]


def _files(paths: list[str]) -> list[str]:
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]
