"""What an installation or a removal would do, from what is on disk; nothing is changed here."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.install import found, marks, opencode
from sisyphus.paths import ancestors
from sisyphus.reading import DOCUMENT_BYTES, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus.install.found import Found
    from sisyphus.install.opencode import Place

INSTALL, UNINSTALL = "install", "uninstall"

WRITE = "write"
UPDATE = "update"
REPLACE = "replace"
REMOVE = "remove"
KEEP = "keep"  # ours, but not touched
SKIP = "skip"  # somebody else's
SAME = "same"


@dataclass(frozen=True)
class Step:
    path: str
    action: str
    before: Found
    after: bytes | None = None
    why: str = ""

    @property
    def is_change(self) -> bool:
        return self.action in (WRITE, UPDATE, REPLACE, REMOVE)


@dataclass(frozen=True)
class Plan:
    """`make` and `drop` are folders, in the order in which they are made or removed; `left` are
    folders of ours that are not empty -> what is in them."""

    verb: str
    place: Place
    steps: tuple[Step, ...]
    make: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    left: tuple[tuple[str, tuple[str, ...]], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> list[Step]:
        return [step for step in self.steps if step.is_change]

    @property
    def edited(self) -> list[Step]:
        """Files of ours that were edited and are not touched."""
        return [s for s in self.steps if s.action == KEEP and s.before.kind == found.EDITED]


def to_install(place: Place, *, replace: bool) -> Plan:
    """With `replace` files of ours are written anew where the user changed them.

    Raises `SisyphusError` where that cannot be done, and `OSError`.
    """
    plugin, files, notes = opencode.wanted(place)
    taken = opencode.taken(place)
    steps = [_step(path, after, taken, replace=replace) for path, after in files.items()]
    for step in steps:
        if step.path == plugin and step.action == SKIP:
            raise SisyphusError(
                f"{plugin} is in the way: {step.why}. Move it away, then try again."
            )
    steps += [_leftover(path, one) for path, one in ours(place).items() if path not in files]
    make = _missing(os.path.dirname(step.path) for step in steps if step.action == WRITE)
    return Plan(INSTALL, place, tuple(steps), make=tuple(make), notes=tuple(notes))


def _step(path: str, after: bytes, taken: dict[str, str], *, replace: bool) -> Step:
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
        return Step(path, REPLACE, before, after, before.why)
    return Step(path, KEEP, before, why=before.why)


def _new(path: str, after: bytes, before: Found, taken: dict[str, str]) -> Step:
    name = os.path.basename(path).removesuffix(".md")
    if name in taken:
        return Step(path, SKIP, before, why=f"/{name} is defined in {taken[name]}")
    return Step(path, WRITE, before, after)


def _leftover(path: str, before: Found) -> Step:
    """A file of ours that this version does not have, or has in another folder."""
    if before.kind == found.OURS:
        return Step(path, REMOVE, before, why="no part of sisyphus any more")
    return Step(path, KEEP, before, why=before.why)


def ours(place: Place) -> dict[str, Found]:
    """Path -> what it is, for every file with our mark in the folders that the client reads."""
    plugins = opencode.existing(place, opencode.PLUGINS)
    commands = opencode.existing(place, opencode.COMMANDS)
    return {**found.of_ours(plugins, ".js"), **found.of_ours(commands, ".md")}


def _missing(folders: Iterable[str]) -> list[str]:
    """Those of these folders, and of the ones above them, that are not there; outermost first."""
    gone = {path for folder in folders for path in ancestors(folder) if not os.path.isdir(path)}
    return sorted(gone, key=len)


def to_uninstall(place: Place, made: list[str]) -> Plan:
    """`made`: folders that an installation made. Raises `OSError`."""
    steps = [_removal(path, one) for path, one in ours(place).items()]
    steps += [_remains(path) for path in _temporaries(place)]
    gone = {step.path for step in steps if step.action == REMOVE}
    drop, left = _emptied(made, gone)
    return Plan(UNINSTALL, place, tuple(steps), drop=tuple(drop), left=tuple(left))


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


def _temporaries(place: Place) -> list[str]:
    folders = opencode.existing(place, opencode.PLUGINS + opencode.COMMANDS)
    paths = found.files(folders, found.TEMPORARY)
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]


def _emptied(
    made: list[str], gone: set[str]
) -> tuple[list[str], list[tuple[str, tuple[str, ...]]]]:
    """Which of these folders are empty once `gone` is gone, and what the others hold."""
    drop: list[str] = []
    left = []
    for folder in sorted(made, key=len, reverse=True):
        if not os.path.isdir(folder) or os.path.islink(folder):
            continue
        names = sorted(os.listdir(folder))
        rest = [name for name in names if os.path.join(folder, name) not in {*gone, *drop}]
        if rest:
            left.append((folder, tuple(rest)))
        else:
            drop.append(folder)
    return drop, left
