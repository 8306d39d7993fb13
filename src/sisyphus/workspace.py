"""Where and when a command or hook works: the folders, the project, its settings, the clock."""

from __future__ import annotations

import os
import time
from functools import cached_property

from sisyphus import settings
from sisyphus.paths import client_home, project_root
from sisyphus.state import debug


class Workspace:
    """One project as seen from `cwd`, the folder where a session or command began.

    `now` is in epoch seconds.
    """

    def __init__(self, cwd: str, *, now: float | None = None, client: str = "claude") -> None:
        self.cwd = cwd
        self.client = client
        self.now = time.time() if now is None else now
        self.home = client_home()
        self.ours = os.path.join(self.home, ".sisyphus")

    @cached_property
    def root(self) -> str:
        return project_root(self.cwd)

    @cached_property
    def settings(self) -> settings.Settings:
        return settings.load(self.ours, self.root)

    def log(self, text: str) -> None:
        debug.log(text)
