"""Where rules come from: five sources, walked in order, each file once.

A project is a stranger's: its links are followed only where they stay in it. The rules of the
home folder are the user's own and may be links to anywhere.
"""

from __future__ import annotations

import os
from itertools import islice

from sisyphus.paths import display
from sisyphus.rules.sources import CLAUDE, COPILOT, CURSOR, GITHUB, HOME

MAX_FILES = 2_000
MAX_FOLDERS = 500
MAX_DEPTH = 10
MAX_ENTRIES = 20_000
"""Of one folder. Every file and folder costs each hook a stat."""

COPILOT_FILE = os.path.join(".github", "copilot-instructions.md")
_FOLDERS = (
    (GITHUB, os.path.join(".github", "instructions"), ".instructions.md"),
    (CLAUDE, os.path.join(".claude", "rules"), ".md"),
    (CURSOR, os.path.join(".cursor", "rules"), ".mdc"),
)


class Found:
    """A rule file. `bounds`: the folder it must not lead out of; "" where it may lead anywhere."""

    __slots__ = ("bounds", "label", "path", "source")

    def __init__(self, path: str, source: int, root: str, bounds: str) -> None:
        self.path = path
        self.source = source
        self.label = display(path, root)
        self.bounds = bounds


class Problem:
    """Something about a rule that its author should know. `line` 0 = the whole file."""

    __slots__ = ("label", "line", "path", "text")

    def __init__(self, label: str, path: str, text: str, line: int = 0) -> None:
        self.label = label
        self.path = path
        self.text = text
        self.line = line


class Discovery:
    """What the walk found. `watched`: paths whose change can change what a next walk finds."""

    __slots__ = ("files", "problems", "watched")

    def __init__(self) -> None:
        self.files: list[Found] = []
        self.problems: list[Problem] = []
        self.watched: list[str] = []


def discover(root: str, home: str) -> Discovery:
    """The rule files of the project at `root` and of the client's folder `home`, in order."""
    walk = _Walk(root)
    walk.file(os.path.join(root, COPILOT_FILE), COPILOT, root)
    for source, folder, suffix in _FOLDERS:
        walk.folder(os.path.join(root, folder), source, suffix, root)
    walk.folder(os.path.join(home, "rules"), HOME, ".md", "")
    return walk.done


class _Walk:
    """One walk through all sources; knows by real path what it has seen."""

    def __init__(self, root: str) -> None:
        self.done = Discovery()
        self._root = root
        self._real_root = os.path.realpath(root)
        self._seen: set[str] = set()
        self._left = [[MAX_FILES, MAX_FOLDERS], [MAX_FILES, MAX_FOLDERS]]  # project's, user's

    def folder(self, path: str, source: int, suffix: str, bounds: str, depth: int = 0) -> None:
        self.done.watched.append(path)
        real = os.path.realpath(path)
        if not os.path.isdir(real) or not self._take(path, real, source, bounds, is_folder=True):
            return
        if depth > MAX_DEPTH:
            self._report(path, f"folders are read {MAX_DEPTH} deep")
            return
        for entry in self._entries(path):
            # `is_dir` of a link that leads to itself raises an error; `isdir` says no.
            linked = entry.is_symlink()
            if os.path.isdir(entry.path) if linked else entry.is_dir():
                self.folder(entry.path, source, suffix, bounds, depth + 1)
            elif entry.name.endswith(suffix):
                self.file(entry.path, source, bounds, "" if linked else real)

    def file(self, path: str, source: int, bounds: str, folder: str = "") -> None:
        """`folder`: the real one that the file is in, where it is known to be no link."""
        self.done.watched.append(path)
        real = os.path.join(folder, os.path.basename(path)) if folder else os.path.realpath(path)
        if os.path.lexists(path) and self._take(path, real, source, bounds, is_folder=False):
            self.done.files.append(Found(path, source, self._root, bounds))

    def _take(self, path: str, real: str, source: int, bounds: str, *, is_folder: bool) -> bool:
        """Whether this is to be read: within its bounds, not seen before, not one too many."""
        if bounds and not f"{real}{os.sep}".startswith(self._real_root.rstrip(os.sep) + os.sep):
            self._report(path, "a link that leaves the project is not followed")
            return False
        left = self._left[source == HOME]
        if real in self._seen or left[is_folder] < 0:
            return False
        self._seen.add(real)
        left[is_folder] -= 1
        if left[is_folder] < 0:
            limits = f"{MAX_FILES:,} rules, {MAX_FOLDERS} folders"
            self._report(path, f"from here on nothing is read: there may be {limits}")
        return left[is_folder] >= 0

    def _entries(self, path: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(path) as entries:
                return sorted(islice(entries, MAX_ENTRIES), key=lambda entry: entry.name)
        except OSError as error:
            self._report(path, f"not readable: {error.strerror}")
            return []

    def _report(self, path: str, text: str) -> None:
        self.done.problems.append(Problem(display(path, self._root), path, text))
