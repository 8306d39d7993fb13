"""Where and when a command or hook works: the folders, the project, its settings, the clock."""

from __future__ import annotations

import os
import time

from sisyphus import settings
from sisyphus.clients import DEFAULT
from sisyphus.memory import open_memory
from sisyphus.paths import client_home, is_safe_id, project_id, project_root
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.memory import Memory

ENFORCEMENT = "enforce.json"
"""The project's file that tells of its continuous enforcement; none where that was never on."""

RUN_VARIABLE = "SISYPHUS_RUN"
"""In the environment of the clients of a fresh-context run: the id of its loop. It decides when a
session ends, so hooks hold nobody there."""


def run_id() -> str:
    """The id of the run that we are in an iteration of; "" = of none."""
    named = os.environ.get(RUN_VARIABLE, "")
    return named if is_safe_id(named) else ""


class Workspace:
    """One project as seen from `cwd`, the folder where a session or command began; its `root` is
    looked for from there, unless it is known.

    `now` is in epoch seconds; `scope`: which settings call the hook that works here, the "user"'s,
    those of a "project", its "local" ones, or a "plugin".
    """

    def __init__(
        self,
        cwd: str,
        *,
        root: str = "",
        now: float | None = None,
        client: str = DEFAULT,
        scope: str = "user",
    ) -> None:
        self.cwd = cwd
        self.client = client
        self.scope = scope
        self.now = time.time() if now is None else now
        self.home = client_home()
        self.ours = os.path.join(self.home, ".sisyphus")
        self._root = root
        self._settings: settings.Settings | None = None

    @property
    def memory(self) -> Memory:
        return open_memory(self.ours)

    @property
    def root(self) -> str:
        self._root = self._root or project_root(self.cwd)
        return self._root

    @property
    def settings(self) -> settings.Settings:
        if self._settings is None:
            self._settings = settings.load(self.ours, self.root, lambda: self.memory)
        return self._settings

    def project_file(self, name: str) -> str:
        """A file that we keep for the project."""
        return os.path.join(self.ours, "projects", project_id(self.root), name)

    def log(self, text: str) -> None:
        debug.log(text)
