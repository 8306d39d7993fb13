"""What the system refuses, in words for people: what, why, what to do."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from sisyphus.cli.terminal import let_go
from sisyphus.paths import NO_HOME, NOWHERE, client_home, display, is_inside, our_home

if TYPE_CHECKING:
    from typing import TextIO

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)
_NO_RIGHTS = (errno.EACCES, errno.EPERM, errno.EROFS)
_IN_THE_WAY = (errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ELOOP)


def in_words(error: OSError) -> str:
    """One line about a failure of the system that no command expected."""
    why = error.strerror or str(error)
    named = error.filename
    if error.errno in _FULL:
        where = f" where {_short(our_home())} is, and" if not named else ""
        return (
            f"what was to be written could not be: {why}. Make room{where} where the output goes."
        )
    if not isinstance(named, (str, bytes)):
        return f"the system refused something: {why}. Look at where the output goes, and try again."
    path = os.fsdecode(named)
    if client_home() == NOWHERE and path == os.devnull:
        return NO_HOME
    if not is_inside(path, our_home()):
        return f"{path} cannot be used: {why}. Look at its rights."
    return f"our state folder cannot be used: {_short(path)}: {why}. {_what_to_do(error)}"


def _what_to_do(error: OSError) -> str:
    if error.errno in _NO_RIGHTS:
        return f"Give yourself the rights to {_short(our_home())} and what is in it."
    if error.errno in _IN_THE_WAY:
        return "Something else is in its place: move that away."
    return "`sisyphus doctor` looks further."


def _short(path: str) -> str:
    return display(path, "/dev/null")


def open_streams() -> None:
    """Where a stream was closed before we started, what is said there goes nowhere: the work of a
    command does not depend on who hears of it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  # till we end


def drop(stream: TextIO) -> None:
    """What waits in a stream that takes nothing more is not tried again as the interpreter ends."""
    try:
        stream.flush()
    except (OSError, ValueError):
        let_go(stream)
