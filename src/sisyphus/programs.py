"""Which programs may be started here. In a project one may lie that a stranger chose: what lies in
it, or is found from the folder where one happens to be, is not for us to start."""

from __future__ import annotations

import os
import shutil

from sisyphus.paths import is_inside


class Programs:
    """`project` is its folder; `own`: our own script, which runs already, wherever it is."""

    def __init__(self, project: str, own: str = "") -> None:
        self._project = project
        self._own = own
        self._is_users = is_inside(os.path.expanduser("~"), project)  # as a home of dotfiles is

    @property
    def path(self) -> str:
        """The PATH without the folders that are not trusted."""
        return self.without_strangers(os.environ.get("PATH", os.defpath))

    def without_strangers(self, folders: str) -> str:
        """`folders` as in a PATH."""
        kept = [one for one in folders.split(os.pathsep) if not self._is_strangers_folder(one)]
        return os.pathsep.join(kept)

    def is_strangers(self, path: str) -> bool:
        """Whether a file or a folder lies in the project, by its name or by where its links lead.
        A relative path does so as well: everybody's folder may be the one that is meant."""
        if not os.path.isabs(path):
            return True
        if self._is_users or (self._own and path == self._own):
            return False
        named = os.path.abspath(path) + os.sep
        return named.startswith(self._top) or is_inside(path, self._project)

    def is_there(self, program: str) -> bool:
        """Whether a session from here would find it, trusted or not. Not for starting it."""
        return shutil.which(program) is not None

    def which(self, program: str) -> str:
        """The file that a shell starts for a name or a whole path; "" = none that is trusted."""
        if os.path.dirname(program):
            is_there = os.path.isabs(program) and shutil.which(program)
            return os.path.abspath(program) if is_there and not self.is_strangers(program) else ""
        for folder in self.path.split(os.pathsep):
            found = shutil.which(program, path=folder) if folder else None
            if found and not self.is_strangers(found):
                return os.path.abspath(found)
        return ""

    @property
    def _top(self) -> str:
        return os.path.abspath(self._project).rstrip(os.sep) + os.sep

    def _is_strangers_folder(self, path: str) -> bool:
        if self._own and path == os.path.dirname(self._own):
            return False
        return self.is_strangers(path)
