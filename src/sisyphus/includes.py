"""`@path` lines in markdown, replaced by the file they name.

A line counts when it holds nothing else and stands in no fenced code. Files are looked for
relative to the file that names them, and never outside the given root, links resolved.
"""

from __future__ import annotations

import os
import re

from sisyphus.documents import BadFrontmatter, split
from sisyphus.errors import UnreadableError
from sisyphus.paths import is_inside
from sisyphus.reading import DOCUMENT_BYTES, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 5
MAX_FILES = 100
MAX_LINES = 1_000  # that look like an include: each costs a look at the disk
MAX_CHARACTERS = 1_000_000
"""Of one document with all that it includes. Ten files that include each other's ten successors
would otherwise be 100,000 at a depth of five."""

_LINE = re.compile(r" {0,3}@((?:\\ |[^\s\\\0]){1,1000})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")


class Expansion:
    """A text with its includes resolved."""

    __slots__ = ("files", "problems", "text")

    def __init__(self) -> None:
        self.text = ""
        self.files: list[str] = []  # every path that was looked for, found or not
        self.problems: list[str] = []


def expand(text: str, path: str, root: str) -> Expansion:
    """Resolves the includes of `text`, which is the body of the file at `path`.

    What is not included leaves a note in its place and a line in `problems`.
    """
    run = _Run(root)
    run.done.text = run.expand(text, path, ())
    return run.done


class _Run:
    """One expansion: what it has read so far, and how much."""

    def __init__(self, root: str) -> None:
        self.done = Expansion()
        self._root = root
        self._characters = 0
        self._lines = 0

    def expand(self, text: str, path: str, outer: tuple[str, ...]) -> str:
        """`outer`: the real paths of the files that `path` is included by, outermost first."""
        if "@" not in text:
            return text
        chain = (*outer, os.path.realpath(path))
        return "".join(
            line if target is None else self._include(line, target, path, chain)
            for line, target in _lines(text)
        )

    def _include(self, line: str, target: str, path: str, chain: tuple[str, ...]) -> str:
        self._lines += 1
        if self._lines > MAX_LINES:
            return line
        found = _resolve(target, path)
        if not _names_a_file(target) and not os.path.isfile(found):
            return line  # `@dataclass`, `@somebody`: no file was meant
        end = line[len(line.rstrip("\r\n")) :]
        try:
            body = self._read(found, chain)
        except UnreadableError as error:
            self.done.problems.append(f"@{target}: {error}")
            return f"[not included: @{target}: {error}]{end}"
        inner = self.expand(body, found, chain)
        return inner if inner.endswith("\n") else inner + end

    def _read(self, path: str, chain: tuple[str, ...]) -> str:
        # By its spelling first: a stranger's file shall not even make us look elsewhere.
        if not path.startswith(self._root.rstrip(os.sep) + os.sep):
            raise UnreadableError(f"it is outside {self._root}")
        if len(self.done.files) >= MAX_FILES:
            raise UnreadableError(f"more than {MAX_FILES} includes in one document")
        self.done.files.append(path)
        if not is_inside(path, self._root):
            raise UnreadableError(f"it is a link out of {self._root}")
        if os.path.realpath(path) in chain:
            raise UnreadableError("it would include itself")
        if len(chain) > MAX_DEPTH:
            raise UnreadableError(f"includes are followed {MAX_DEPTH} deep")
        body = _body(_read(path))
        self._characters += len(body)
        if self._characters > MAX_CHARACTERS:
            raise UnreadableError(f"over {MAX_CHARACTERS:,} characters are included already")
        return body


def _lines(text: str) -> Iterator[tuple[str, str | None]]:
    """Each line with its end, and what it includes: None where it is an ordinary one."""
    fence = ""
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        mark = _FENCE.match(bare)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            yield line, None
        elif mark and not ("`" in mark[1] and "`" in mark[2]):
            fence = mark[1]
            yield line, None
        else:
            named = _LINE.match(bare)
            yield line, named[1].replace("\\ ", " ") if named else None


def _names_a_file(target: str) -> bool:
    return "/" in target or "." in target


def _resolve(target: str, path: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(target)))


def _read(path: str) -> str:
    try:
        return read_text(path, DOCUMENT_BYTES)
    except UnreadableError as error:
        raise UnreadableError(str(error).removeprefix(f"{path}: ")) from error


def _body(text: str) -> str:
    try:
        return split(text)[1]
    except BadFrontmatter:
        return text
