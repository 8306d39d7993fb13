"""The commit of unfinished work, where the user has asked for one at each checkpoint.

A hook is a guest in the user's repository (`guest.py`): what he has staged is left alone, and so is
a repository with submodules, whose configuration git would read as well. No hook of it is run, and
nothing is signed.
"""

from __future__ import annotations

import os
import time

from sisyphus import git
from sisyphus.checkpoint.tree.guest import LeftAloneError, check
from sisyphus.errors import SisyphusError, TooMuchError
from sisyphus.processes import output
from sisyphus.state import debug
from sisyphus.work_tree import OWN_FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 5.0

_TICK = 0.1  # seconds by which the clock of a file system may be late
_AT_ONCE = 500  # names on one command line
_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "core.untrackedCache=false",
    "-c", "commit.gpgSign=false",
    "-c", "gc.auto=0",
    "-c", "maintenance.auto=false",
    "-c", "submodule.recurse=false",
)  # fmt: skip
_KEPT = frozenset(
    (
        "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_NAME",
        "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM",
    )
)  # fmt: skip
_ADDED = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_EDITOR": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}


class Commit:
    """`name`: the short id of the new commit, "" where there is none; then `why` says why not."""

    __slots__ = ("name", "why")

    def __init__(self, name: str, why: str = "") -> None:
        self.name = name
        self.why = why


def commit(  # what the message says, and what goes in
    root: str,
    iteration: int,
    level: str,
    percent: int,
    edited: Sequence[str],
    seconds: float = SECONDS,
) -> Commit:
    """Commits the tracked files that changed, and the new ones among the full paths `edited`.

    What git ignores and `OWN_FILES` stay out. Raises nothing: a reason not to commit is logged.
    """
    where = f"{level} at {percent}%" if level else f"{percent}%"
    message = f"ralph: checkpoint iter {iteration} ({where})"
    try:
        return Commit(_Repository(root, seconds).commit(message, edited))
    except (OSError, ValueError, SisyphusError, TooMuchError) as error:
        debug.log(f"no commit of unfinished work in {root}: {error}")
        return Commit("", str(error))


class _Repository:
    __slots__ = ("_deadline", "_own", "_program", "_root")

    def __init__(self, root: str, seconds: float) -> None:
        """Raises where it is to be left alone, as far as its files tell."""
        self._root = os.path.realpath(root)
        self._program = git.program(self._root)
        self._deadline = time.monotonic() + seconds
        self._own = check(self._root)
        if not self._program:
            raise LeftAloneError("there is no git")

    def commit(self, message: str, edited: Sequence[str]) -> str:
        self._check_index()
        names = [*self._changed(), *self._new(edited)]
        if not names:
            raise LeftAloneError("nothing changed")
        is_staged = False
        try:
            for start in range(0, len(names), _AT_ONCE):
                self._run("add", "-A", "--", *names[start : start + _AT_ONCE])
                is_staged = True
            self._run("commit", "-q", "--no-verify", "--no-gpg-sign", "-m", message)
        except BaseException:
            if is_staged:
                self._unstage()
            raise
        return os.fsdecode(self._run("rev-parse", "--short", "HEAD")).strip()

    def _check_index(self) -> None:
        if self._names("diff-index", "--cached", "--name-only", "HEAD"):
            raise LeftAloneError("something is staged")
        if any(row.startswith("160000 ") for row in self._names("ls-files", "--stage")):
            raise LeftAloneError("the repository has submodules")

    def _changed(self) -> list[str]:
        """Tracked files that may have changed: git compares their contents when it adds them."""
        names = self._names("diff-files", "--name-only", "--ignore-submodules=all")
        return [name for name in names if not name.startswith(OWN_FILES)]

    def _new(self, edited: Sequence[str]) -> list[str]:
        own = os.path.join(self._root, "")
        inside = (path for path in map(os.path.realpath, edited) if path.startswith(own))
        names = dict.fromkeys(path.removeprefix(own).replace(os.sep, "/") for path in inside)
        wanted = [name for name in names if not name.startswith((*OWN_FILES, ".git/"))][:_AT_ONCE]
        if not wanted:
            return []
        found = self._names("ls-files", "--others", "--exclude-standard", "--", *wanted)
        return [name for name in found if name in names]  # of a folder it names all that is in it

    def _unstage(self) -> None:
        """Nothing was staged before."""
        self._deadline = time.monotonic() + SECONDS
        try:
            self._run("read-tree", "HEAD")
        except (OSError, TooMuchError) as error:
            debug.log(f"what was staged in {self._root} stays staged: {error}")

    def _names(self, command: str, *words: str) -> list[str]:
        printed = self._run(command, "-z", *words)
        return [os.fsdecode(name) for name in printed.split(b"\0") if name]

    def _run(self, *words: str) -> bytes:
        command = [self._program, "-C", self._root, *_OPTIONS, *words]
        began = time.time()
        try:
            left = max(self._deadline - time.monotonic(), 0)
            return output(command, _environment(self._root), left)
        except TooMuchError:
            self._unlock(began)
            raise

    def _unlock(self, since: float) -> None:
        """A git that was killed leaves its lock. One of somebody else's would have ended ours."""
        path = os.path.join(self._own, "index.lock")
        try:
            if os.lstat(path).st_mtime > since - _TICK:
                os.unlink(path)
        except OSError:
            return


def _environment(root: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    return {**inherited, **_ADDED, "GIT_CEILING_DIRECTORIES": os.path.dirname(root)}
