"""Setting a value in a settings file, or taking it out."""

from __future__ import annotations

import os
import stat
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from sisyphus.configuring import document, sources
from sisyphus.errors import SisyphusError
from sisyphus.paths import NO_HOME, NOWHERE
from sisyphus.settings import CONFIG_BYTES
from sisyphus.state.files import Staged, ensure_folder
from sisyphus.state.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sisyphus.configuring.sources import Source

_BOM = "\ufeff"
_USERS, _PROJECTS = 0o600, 0o644


def set_value(ours: str, path: str, inside: str, key: str, value: Any) -> None:
    """Raises `SisyphusError` where the file is broken, or cannot be written; it is then as it was.

    `inside`: the folder that the file must not leave, "" = it is the user's own.
    """
    section, name = key.split(".")
    _change(ours, path, inside, lambda text: document.with_value(text, section, name, value))
    source = sources.read(path, inside)
    if (key, value) not in source.values():
        why = source.problem or "it has another value by now"
        raise SisyphusError(f"{key} was written to {path} and does not count there: {why}.")


def unset(ours: str, path: str, inside: str, key: str) -> bool:
    """Whether the key stood there; a section of which it was all goes as well.

    `key` may be one that no setting has. Raises as `set_value`.
    """
    section, _, name = key.partition(".")
    source = sources.read(path, inside)
    _refuse_broken(source)
    found = source.table.get(section)
    if found is None or (name and (not isinstance(found, dict) or name not in found)):
        return False
    _change(ours, path, inside, lambda text: document.without(text, section, name))
    return True


def begin(ours: str, source: Source, text: str) -> None:
    """Makes the file, with `text` in it, where there is none."""
    if not source.exists:
        with _lock(ours):
            _write(source, text)


def _change(ours: str, path: str, inside: str, changed: Callable[[str], str]) -> None:
    with _lock(ours):
        source = sources.read(path, inside)
        _refuse_broken(source)
        try:
            text = changed(source.text)
        except document.TooDifficultError as error:
            raise _too_difficult(source) from error
        _write(source, text)


def _refuse_broken(source: Source) -> None:
    if source.problem:
        raise SisyphusError(
            f"{source.path} cannot be changed: {source.problem}. Mend it first: "
            f"`sisyphus config edit{' --project DIR' if source.inside else ''}`."
        )


def _too_difficult(source: Source) -> SisyphusError:
    where = " --project DIR" if source.inside else ""
    return SisyphusError(
        f"{source.path} is written in a way that cannot be changed here. Change it by hand: "
        f"`sisyphus config edit{where}`."
    )


def _lock(ours: str) -> ExitStack:
    """Held already; one for both files: a project gets no lock file of ours."""
    held = ExitStack()
    try:
        ensure_folder(ours)
        held.enter_context(Lock(os.path.join(ours, "config.toml")))
    except OSError as error:
        if ours.startswith(NOWHERE):
            raise SisyphusError(NO_HOME) from error
        raise SisyphusError(
            f"{ours} cannot be written: {error.strerror}. Check its rights."
        ) from error
    return held


def _write(source: Source, text: str) -> None:
    """Through a link to its target, with the rights of the file that it replaces."""
    path = os.path.realpath(source.path)
    data = (_mark(source) + text).encode()
    if len(data) > CONFIG_BYTES:
        raise SisyphusError(
            f"{path} would be larger than the {CONFIG_BYTES:,} bytes that hooks read. "
            "Take something out of it first."
        )
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = _PROJECTS if source.inside else _USERS
        if os.path.exists(path):
            mode = stat.S_IMODE(os.stat(path).st_mode)
        if not mode & stat.S_IWUSR:
            raise SisyphusError(
                f"{path} is read-only. Make it writable (chmod u+w), and try again."
            )
        staged = Staged(path, data)
        staged.dress(mode, time.time_ns())
        staged.commit()
    except OSError as error:
        raise SisyphusError(
            f"{path} cannot be written: {error.strerror}. Check its rights and its folder's."
        ) from error


def _mark(source: Source) -> str:
    """The byte order mark that some editors want to find again."""
    if not source.exists:
        return ""
    with open(source.path, "rb") as file:
        return _BOM if file.read(3) == _BOM.encode() else ""
