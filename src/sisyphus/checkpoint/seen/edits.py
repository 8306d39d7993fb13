"""Which lines of which files were edited, as the files are now. Pure."""

from __future__ import annotations

from sisyphus.clients import tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.clients.tools import Change
    from sisyphus.transcript import Call

_KEPT = 1_000  # edits of all files
_KEPT_OF_ONE = 50


class Edit:
    """Lines `start` to `end` of a file, 1-based; 0 and 0 where it is not told which."""

    __slots__ = ("end", "path", "start")

    def __init__(self, path: str, start: int = 0, end: int = 0) -> None:
        self.path = path
        self.start = start
        self.end = end


class Edits:
    """All edits so far. A later one of the same file moves those before it."""

    __slots__ = ("_files", "_made")

    def __init__(self) -> None:
        self._files: dict[str, list[tuple[int, Edit]]] = {}  # each with its place among all
        self._made = 0

    def take(self, call: Call, noted: Json) -> None:
        """One call that succeeded, and what the client noted of its result."""
        done = tools.edit(call, noted)
        if done is None:
            return
        if done.content is not None:
            self._replace(done.path, done.content)
        elif done.changes is not None:
            self._change(done.path, done.changes)
        else:
            self._add(done.path, [Edit(done.path, done.start, done.end)])

    def all(self) -> list[Edit]:
        """The last ones of each file, oldest first."""
        found = sorted((row for rows in self._files.values() for row in rows), key=_place)
        return [edit for _, edit in found[-_KEPT:]]

    def _replace(self, path: str, content: str) -> None:
        """A file that was written whole: what was edited in it before is gone."""
        self._files.pop(path, None)
        self._add(path, [Edit(path, 1, max(len(content.splitlines()), 1))])

    def _change(self, path: str, made: Sequence[Change]) -> None:
        for _, edit in self._files.get(path, ()):
            if edit.start:
                edit.start, edit.end = moved(edit.start, made), moved(edit.end, made)
        self._add(path, [_edit(path, change) for change in made])

    def _add(self, path: str, edits: Sequence[Edit]) -> None:
        rows = self._files.setdefault(path, [])
        for edit in edits:
            self._made += 1
            rows.append((self._made, edit))
        del rows[:-_KEPT_OF_ONE]


def _edit(path: str, change: Change) -> Edit:
    """Where lines were only taken away, the line before them."""
    if not change.added:
        before = max(change.new - 1, 1)
        return Edit(path, before, before)
    return Edit(path, change.new, change.new + change.added - 1)


def moved(line: int, made: Sequence[Change]) -> int:
    """Where a line is after the changes, which are in the order of the file."""
    shift = 0
    for change in made:
        if line < change.old:
            break
        if line < change.old + change.removed:
            return change.new + min(line - change.old, max(change.added - 1, 0))
        shift = change.new + change.added - change.old - change.removed
    return max(line + shift, 1)


def _place(row: tuple[int, Edit]) -> int:
    return row[0]
