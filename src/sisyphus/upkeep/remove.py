"""Removes files, each under its lock, and only as it was found."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress

from sisyphus.errors import LockedError
from sisyphus.state.lock import Lock
from sisyphus.upkeep import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus.upkeep.kept import File

IN_USE = "somebody is using it"
CHANGED = "it has changed meanwhile"

SUBAGENTS = "subagents"


class Removed:
    """`gone`: the files that went; `stays`: path -> why it did not."""

    __slots__ = ("gone", "stays")

    def __init__(self) -> None:
        self.gone: list[File] = []
        self.stays: dict[str, str] = {}


def remove(files: Iterable[File], deadline: float | None = None) -> Removed:
    """`deadline` in monotonic seconds: what has not gone by then has its turn another time.

    Of a session or loop of which a file stays, whatever comes behind it stays as well: somebody is
    at it.
    """
    done = Removed()
    busy = set()
    for file in files:
        if deadline is not None and time.monotonic() > deadline:
            break
        why = IN_USE if file.owner in busy else _take(file)
        if why:
            done.stays[file.path] = why
            if any(file.owner):
                busy.add(file.owner)
        else:
            done.gone.append(file)
    return done


def _take(file: File) -> str:
    """Why it stays; "" = it is gone."""
    try:
        return _under_lock(file) if _has_lock(file) else _unlink(file)
    except FileNotFoundError:
        return ""
    except LockedError:
        return IN_USE
    except OSError as error:
        return error.strerror or str(error)


def _has_lock(file: File) -> bool:
    return bool(file.guarded) and os.path.lexists(file.guarded + ".lock")


def _under_lock(file: File) -> str:
    """What it guards gone, the lock goes too: `Lock` sees that the one it was given has."""
    with Lock(file.guarded, wait=0):
        why = "" if file.kind == kept.LOCKS else _unlink(file)
        if os.path.lexists(file.guarded):
            return IN_USE if file.kind == kept.LOCKS else why
        with suppress(OSError):  # Windows keeps what is open
            os.unlink(file.guarded + ".lock")
        return why


def _unlink(file: File) -> str:
    found = os.lstat(file.path)
    if not stat.S_ISREG(found.st_mode) or kept.stamp(found) != file.stamp:
        return CHANGED
    os.unlink(file.path)
    _leave(os.path.dirname(file.path))
    return ""


def _leave(folder: str) -> None:
    """Takes an emptied folder of one session's subagents along."""
    if os.path.basename(folder) == SUBAGENTS:
        with suppress(OSError):  # it is not empty
            os.rmdir(folder)
            os.rmdir(os.path.dirname(folder))
