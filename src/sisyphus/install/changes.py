"""Carries out a plan's changes, all of them or none.

Everything new waits beside its place before the first file is renamed; what fails then, or is
interrupted, takes back what was done. What somebody else writes meanwhile is never overwritten.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack

from sisyphus.errors import UnreadableError
from sisyphus.install import found
from sisyphus.paths import our_home
from sisyphus.reading import read_bytes
from sisyphus.state import debug
from sisyphus.state.files import ensure_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.install.plan import Plan, Step

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class Undo(ExitStack):
    """What takes the steps back, last one first, unless `pop_all` says that all is well.

    `stuck`: the paths that could not be put back.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stuck: list[str] = []

    def by(self, path: str, take_back: Callable[..., object], *given: object) -> None:
        """Whatever happens to `path`, `take_back(*given)` undoes it."""
        self.callback(self._try, path, take_back, *given)

    def _try(self, path: str, take_back: Callable[..., object], *given: object) -> None:
        try:
            take_back(*given)
        except OSError as error:
            debug.log(f"could not put back {path}: {error}")
            self.stuck.append(path)


def make(wanted: Plan, undo: Undo) -> None:
    """Raises `OSError`; `undo` then has what is to be taken back."""
    for folder in wanted.make:
        os.mkdir(folder)
        undo.by(folder, os.rmdir, folder)
    staged = [step for step in wanted.changes if step.after is not None]
    for step in staged:
        _stage(step, undo)
    for step in staged:
        _check(step.path, _before(step))
        os.replace(step.path + found.TEMPORARY, step.path)
        undo.by(step.path, _put_back, step)
    for step in wanted.changes:
        if step.after is None:
            _check(step.path, _before(step))
            os.unlink(step.path)
            undo.by(step.path, _put_back, step)
    for folder in wanted.drop:
        mode = stat.S_IMODE(os.stat(folder).st_mode)
        os.rmdir(folder)
        undo.by(folder, os.mkdir, folder, mode)


def kept_at(path: str, sha256: str) -> str:
    """Where a content of the file `path` is kept, given its digest."""
    return os.path.join(our_home(), "replaced", f"{sha256[:12]}-{os.path.basename(path)}")


def digest(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def _stage(step: Step, undo: Undo) -> None:
    for data in step.keep:
        _keep(kept_at(step.path, digest(data)), data)
    temporary = step.path + found.TEMPORARY
    undo.by(temporary, _forget, temporary)
    _forget(temporary)
    _write(temporary, step.after or b"", step.before.mode)


def _keep(path: str, data: bytes) -> None:
    ensure_folder(os.path.dirname(path))
    _put(path, data, 0o600)


def _put(path: str, data: bytes, mode: int) -> None:
    temporary = path + found.TEMPORARY
    _forget(temporary)
    _write(temporary, data, mode)
    os.replace(temporary, path)


def _write(path: str, data: bytes, mode: int) -> None:
    """A new file, on the disk, with the rights of the one that it replaces (0 = the usual ones)."""
    fd = os.open(path, _NEW, mode or 0o666)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(fd)
    if mode:
        os.chmod(path, mode)  # what the umask took


def _forget(temporary: str) -> None:
    """A killed run's, or a link to lead us astray."""
    if os.path.lexists(temporary):
        os.unlink(temporary)


def _before(step: Step) -> bytes | None:
    return None if step.before.kind == found.ABSENT else step.before.data


def _check(path: str, expected: bytes | None) -> None:
    """Raises `OSError` where the file is not `expected` (None = absent) any more."""
    if not _holds(path, expected):
        raise OSError(errno.ESTALE, "somebody else has written it meanwhile", path)


def _holds(path: str, expected: bytes | None) -> bool:
    if expected is None or os.path.islink(path):
        return expected is None and not os.path.lexists(path)
    try:
        return read_bytes(path, len(expected)) == expected
    except UnreadableError:
        return False


def _put_back(step: Step) -> None:
    _check(step.path, step.after)
    if step.before.kind == found.ABSENT:
        os.unlink(step.path)
    else:
        _put(step.path, step.before.data, step.before.mode)
