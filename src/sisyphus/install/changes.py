"""Carries out a plan's changes, all of them or none.

Everything new waits beside its place before the first file is renamed; what fails then, or is
interrupted, takes back what was done.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack

from sisyphus.install import found, plan
from sisyphus.paths import our_home
from sisyphus.state import debug
from sisyphus.state.files import Staged, ensure_folder

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
        os.replace(step.path + found.TEMPORARY, step.path)
        undo.by(step.path, _put_back, step)
    for step in wanted.changes:
        if step.after is None:
            os.unlink(step.path)
            undo.by(step.path, _put_back, step)
    for folder in wanted.drop:
        mode = stat.S_IMODE(os.stat(folder).st_mode)
        os.rmdir(folder)
        undo.by(folder, os.mkdir, folder, mode)


def kept_at(step: Step) -> str:
    """Where the user's own text is kept when ours takes its place."""
    import hashlib

    digest = hashlib.sha256(step.before.data).hexdigest()[:12]
    return os.path.join(our_home(), "replaced", f"{digest}-{os.path.basename(step.path)}")


def _stage(step: Step, undo: Undo) -> None:
    if step.action == plan.REPLACE:
        ensure_folder(os.path.dirname(kept_at(step)))
        Staged(kept_at(step), step.before.data).commit()
    temporary = step.path + found.TEMPORARY
    undo.by(temporary, _forget, temporary)
    _forget(temporary)
    _write(temporary, step.after or b"", step.before.mode)


def _write(path: str, data: bytes, mode: int) -> None:
    """A new file, with the rights of the one that it replaces (0 = the usual ones)."""
    fd = os.open(path, _NEW, 0o666)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    if mode:
        os.chmod(path, mode)


def _forget(temporary: str) -> None:
    """A killed run's, or a link to lead us astray."""
    if os.path.lexists(temporary):
        os.unlink(temporary)


def _put_back(step: Step) -> None:
    if step.before.kind == found.ABSENT:
        os.unlink(step.path)
        return
    temporary = step.path + found.TEMPORARY
    _forget(temporary)
    _write(temporary, step.before.data, step.before.mode)
    os.replace(temporary, step.path)
