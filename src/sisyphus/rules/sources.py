"""Finds rule files, our own and those of other tools. A project is untrusted, so we follow links in
it only inside it. Rules in the home folder are the user's own and may link anywhere."""

import os

from sisyphus.clients.base import Native
from sisyphus.ground import files
from sisyphus.ground.paths import display, is_home_in, is_real_inside
from sisyphus.ground.record import Record

MAX_DEPTH = 10
MAX_PATHS = 2_500
"""The deepest folder, and the most files and folders of rules: each costs one `stat` in every hook
that touches a file."""

MAX_NESTED = 200
"""The same for the `.cursor/rules` of a folder below the root, of which a project may have many."""


class Source(Record):
    """A file, or a folder of files that end in `suffix`, relative to the project or to HOME.

    is_always: its rules apply to every file, whatever their frontmatter says.
    needs_globs: its rules without globs are sent only on request.
    """

    place: str
    suffix: str = ""
    is_always: bool = False
    needs_globs: bool = False


COPILOT = Source(".github/copilot-instructions.md", is_always=True)
INSTRUCTIONS = Source(".github/instructions", ".instructions.md", needs_globs=True)
CLAUDE = Source(".claude/rules", ".md")
CURSOR = Source(".cursor/rules", ".mdc", needs_globs=True)
CURSOR_LEGACY = Source(".cursorrules", is_always=True)
HOME = Source("rules", ".md")

SOURCES = (COPILOT, INSTRUCTIONS, CLAUDE, CURSOR, CURSOR_LEGACY, HOME)
"""Rules of equal priority are sent in this order; those of the home folder come last."""

_ORDER = {source.place: number for number, source in enumerate(SOURCES)}


class RuleFile(Record):
    """A file that may be a rule.

    label: its path for people. bounds: the folder that must contain the file and its includes.
    """

    path: str
    label: str
    source: Source
    bounds: str


def search(folder: str, project: str, home: str, client: Native) -> "Search":
    """Finds the rule files of a project's root and of the home folder, in order.

    For a `folder` below the root: only its own `.cursor/rules`. If links give a file several
    names, it has the one by which the client reads it itself, if there is one.
    """
    result = Search(project, MAX_PATHS if folder == project else MAX_NESTED)
    sources = SOURCES if folder == project else (CURSOR,)
    for source in sorted(sources, key=lambda source: not client.reads_rules_in(source.place)):
        bounds, top = (home, home) if source is HOME else (project, folder)
        if source is HOME and is_home_in(project):
            continue  # it may be the project's, and its links would lead out
        result.add(os.path.join(top, source.place), source, bounds)
    result.files.sort(key=lambda file: _ORDER[file.source.place])
    return result


class Search:
    """The result of a search. dependencies: every path whose change can change the result.
    problems: pairs of a file's label and the problem. limit: the most files and folders."""

    def __init__(self, project: str, limit: int) -> None:
        self.files: list[RuleFile] = []
        self.dependencies: list[str] = []
        self.problems: list[tuple[str, str]] = []
        self._project = project
        self._limit = limit
        self._visited: set[tuple[str, str]] = set()  # guards against circular links
        self._is_full = False

    def add(self, path: str, source: Source, bounds: str) -> None:
        """Adds a rule file, or all rules in a folder, and notes where one could come to be."""
        if os.path.lexists(path):
            real = os.path.realpath(path)
            self._add(path, real, source, bounds, is_folder=os.path.isdir(path))
        else:
            self.dependencies.append(path)

    def _add(
        self, path: str, real: str, source: Source, bounds: str, depth: int = 0, *, is_folder: bool
    ) -> None:
        """Adds a path that exists, unless it leads out of the project or a limit is reached. real:
        the same, links resolved."""
        if self._is_full:
            return
        self.dependencies.append(path)
        place = (real, source.suffix if is_folder else "")
        if place in self._visited:
            return
        label = display(path, self._project)
        if source is not HOME and not is_real_inside(real, self._project):
            self.problems.append((label, "a link that leaves the project is not followed"))
        elif depth > MAX_DEPTH:
            self.problems.append((label, f"it is not read: the limit is {MAX_DEPTH} folders deep"))
        elif len(self._visited) >= self._limit:
            self._is_full = True
            limit = f"the limit is {self._limit:,} files and folders"
            self.problems.append((label, f"it and all after it are not read: {limit}"))
        elif is_folder:
            self._visited.add(place)
            for inner in files.entries(path):
                below, is_below = _resolved(inner, real)
                if is_below or inner.name.endswith(source.suffix):
                    self._add(inner.path, below, source, bounds, depth + 1, is_folder=is_below)
        else:
            self._visited.add(place)
            self.files.append(RuleFile(path, label, source, bounds))


def _resolved(entry: os.DirEntry[str], folder: str) -> tuple[str, bool]:
    """Returns the path of an entry with its links resolved, and whether a folder is there. Only a
    link costs a look at the disk. folder: the one that it is in, resolved."""
    try:
        if not entry.is_symlink():
            return os.path.join(folder, entry.name), entry.is_dir()
    except OSError:  # the file system has to be asked, and does not tell
        pass
    return os.path.realpath(entry.path), os.path.isdir(entry.path)
