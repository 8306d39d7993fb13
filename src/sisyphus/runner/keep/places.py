"""Where the files of a fresh-context run lie, and that none of them leaves the project.

PROJECT/.claude/ralph-state.json   or $RALPH_STATE_FILE: the run, for people and hooks
PROJECT/.claude/PROMPT.md          what the client is given
PROJECT/.claude/progress.txt       an entry an iteration
PROJECT/.claude/.gitignore         where there is none: a guest does not show up in `git status`
HOME/.sisyphus/ralph/runs/ID.json  the same run, where neither a project nor its model writes
"""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError
from sisyphus.paths import is_inside, is_safe_id, project_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Kept
    from sisyphus.workspace import Workspace

KEPT: tuple[Kept, ...] = (
    {"path": "ralph/transcripts/LOOP_iter_N.*", "kind": "transcripts of loops"},
)

STATE_VARIABLE = "RALPH_STATE_FILE"
USERS_PROMPT = "PROMPT.md"
IGNORED = "/.gitignore\n/handoffs/\n/PROMPT.md\n/progress.txt\n/ralph-state.json*\n"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
FIX_PLANS = (os.path.join(".claude", "fix_plan.md"), "fix_plan.md")


class Places:
    """Full paths. Raises `SisyphusError` where the project has a link in a place of ours."""

    __slots__ = (
        "_ours",
        "folder",
        "handoffs",
        "is_named",
        "progress",
        "prompt",
        "record",
        "root",
        "runs",
        "state",
        "transcripts",
    )

    def __init__(self, space: Workspace) -> None:
        named = os.environ.get(STATE_VARIABLE)
        self.root = space.root
        self.is_named = bool(named)
        self.folder = os.path.join(space.root, ".claude")
        self.prompt = os.path.join(self.folder, "PROMPT.md")
        self.progress = os.path.join(self.folder, "progress.txt")
        own = os.path.join(self.folder, "ralph-state.json")
        self.state = os.path.abspath(os.path.expanduser(named)) if named else own
        self.runs = os.path.join(space.ours, "ralph", "runs")
        self.record = os.path.join(self.runs, f"{project_id(self.state)}.json")
        self.handoffs = os.path.join(space.ours, "projects", project_id(self.root), "handoffs")
        self.transcripts = os.path.join(space.ours, "ralph", "transcripts")
        self._ours = (self.folder, self.prompt, self.progress, *(() if named else (own,)))
        self.check()

    def check(self, *paths: str) -> None:
        """The model may have put a link where there was none: asked before anything is written, of
        `paths` or of all."""
        for path in paths or self._ours:
            if os.path.islink(path) and not is_inside(path, self.root):
                raise SisyphusError(
                    f"{path} is a link that leaves the project, so nothing is written there. "
                    "Remove it."
                )

    def prepare(self, path: str) -> None:
        """Makes the folder of a file of ours, with the user's usual rights. Raises `OSError` and
        `SisyphusError`."""
        self.check(*(own for own in (self.folder, path) if own in self._ours))
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        if folder == self.folder:
            self._ignore()

    def check_room(self) -> None:
        """Raises `SisyphusError` where the project takes no file of ours."""
        probe = self.prompt + ".tmp"
        try:
            self.prepare(self.prompt)
            if os.path.lexists(probe):
                os.unlink(probe)
            os.close(os.open(probe, _NEW, 0o600))
            os.unlink(probe)
        except OSError as error:
            raise SisyphusError(
                f"a run keeps its files in {self.folder}, and nothing can be written there: "
                f"{error.strerror}. Make that a folder that you may write to, then begin again."
            ) from error

    def _ignore(self) -> None:
        """What the user has there is left alone, and a link is not followed."""
        path = os.path.join(self.folder, ".gitignore")
        if os.path.lexists(path) or os.path.islink(self.folder):
            return
        try:
            fd = os.open(path, _NEW, 0o600)
        except OSError:
            return
        with os.fdopen(fd, "w", encoding="ascii") as file:
            file.write(IGNORED)

    @property
    def running(self) -> str:
        """Beside it lies the lock that a run holds for as long as it lives."""
        return os.path.join(self.runs, f"{project_id(self.root)}.running")

    def stem(self, loop_id: str, iteration: int) -> str:
        """What the names of an iteration's files begin with. Raises `SisyphusError` for an id that
        is no part of a file name."""
        if not is_safe_id(loop_id):
            raise SisyphusError(f"{loop_id!r} is no id of a loop")
        return os.path.join(self.transcripts, f"{loop_id}_iter_{iteration}")
