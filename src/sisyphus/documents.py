"""Markdown files: their YAML frontmatter, their body, and the files that `@path` lines include.

A frontmatter is a stranger's text: it is bounded, and what YAML can be made to cost (deep nesting
ends the interpreter inside libyaml, merge keys multiply) is refused before it is parsed. An
`@path` counts where it stands alone on its line, outside code and comments. Files are looked for
relative to the file that names them, and never outside the given root, links resolved.
"""

from __future__ import annotations

import os
import re
from functools import cache

from sisyphus import markdown
from sisyphus.errors import UnreadableError
from sisyphus.paths import is_inside
from sisyphus.reading import DOCUMENT_BYTES, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sisyphus._types import Json

FRONTMATTER_CHARACTERS = 16_384
NESTING = 50
"""libyaml's composer recurses in C: 100,000 brackets are a segmentation fault (PyYAML 6.0.3)."""

GLOB_KEYS = ("applies_to", "paths", "globs", "applyTo")
"""Keys whose values are globs, and are often written without the quotes that YAML wants."""

MAX_DEPTH = 5
MAX_FILES = 100
MAX_LINES = 1_000  # that look like an include: each costs a look at the disk
MAX_CHARACTERS = 1_000_000
"""Of one document with all that it includes. Ten files that include each other's ten successors
would otherwise be 100,000 at a depth of five."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_INCLUDE = re.compile(r" {0,3}@((?:\\ |[^\s\\\0]){1,1000})[ \t]*$")
_OPENING = re.compile(r"\ufeff?(?:[ \t]*+\r?\n)*+---[ \t]*+\r?\n")
_CLOSING = re.compile(r"^---[ \t]*+(?:\r?\n|\Z)", re.MULTILINE)
_DASHES = re.compile(rf"(?:[-?:][ \t]+){{{NESTING}}}")
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"([ \t]*-[ \t]+)(.*)$")
_COMMENT = re.compile(r"[ \t]+#.*$")


class BadFrontmatter(ValueError):  # noqa: N818  # it names what was found, not that it was raised
    """A frontmatter that cannot be read. `line` counts from 1 in the whole document."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def parse(text: str) -> tuple[Json, str]:
    """The metadata ({} where there is none) and the body of a document.

    The body is what follows the closing line, character for character; a byte order mark is no
    part of it. Raises `BadFrontmatter` and nothing else, whatever the text.
    """
    raw, body = split(text)
    if raw is None:
        return {}, body
    first = text[: text.index("---")].count("\n") + 2
    return _load(raw, first), body


def split(text: str) -> tuple[str | None, str]:
    """The frontmatter's YAML (None where there is none) and the body; needs no YAML library.

    Raises `BadFrontmatter` for one that is never closed or too long.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return None, text.removeprefix("\ufeff")
    closing = _CLOSING.search(text, opening.end())
    line = text.count("\n", 0, opening.end())
    if closing is None:
        raise BadFrontmatter(line, "the frontmatter is never closed (a line '---' is missing)")
    raw = text[opening.end() : closing.start()]
    if len(raw) > FRONTMATTER_CHARACTERS:
        raise BadFrontmatter(line, f"the frontmatter is over {FRONTMATTER_CHARACTERS:,} characters")
    return raw, text[closing.end() :]


def _load(raw: str, first: int) -> Json:
    _refuse_nesting(raw, first)
    try:
        value = _yaml(raw, first)
    except BadFrontmatter:
        quoted = "\n".join(_with_quotes(raw.splitlines()))
        if quoted == "\n".join(raw.splitlines()):
            raise
        value = _yaml(quoted, first)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadFrontmatter(first, f"expected 'key: value' lines, found a {type(value).__name__}")
    return {str(key): item for key, item in value.items()}


def _refuse_nesting(raw: str, first: int) -> None:
    depth = 0
    for match in re.finditer(r"[\[{\]}]", raw):
        depth += 1 if match[0] in "[{" else -1
        if depth > NESTING:
            raise BadFrontmatter(first + raw.count("\n", 0, match.start()), "nested too deeply")
    if run := _DASHES.search(raw):
        raise BadFrontmatter(first + raw.count("\n", 0, run.start()), "nested too deeply")


def _yaml(raw: str, first: int) -> Any:
    import yaml
    from frontmatter.default_handlers import YAMLHandler

    try:
        return YAMLHandler().load(raw, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line if mark else 0
        raise BadFrontmatter(first + line, error.problem or error.context or "no YAML") from error
    except yaml.reader.ReaderError as error:
        line = raw.count("\n", 0, error.position)
        raise BadFrontmatter(first + line, "a character that YAML does not allow") from error
    except Exception as error:  # PyYAML's constructors leak what int(), date() and others raise
        raise BadFrontmatter(first, f"a value that cannot be read ({error})") from error


@cache
def _loader() -> Any:
    """The safe loader without merge keys: a few lines of `<<` grow to millions of pairs."""
    from frontmatter.default_handlers import SafeLoader

    class Loader(SafeLoader):  # type: ignore[misc, valid-type, unused-ignore]  # C or Python's, as installed
        def flatten_mapping(self, node: object) -> None:
            """Leaves `<<` as it is; constructing it is then an error."""

    return Loader


def _with_quotes(lines: list[str]) -> list[str]:
    """The same YAML with quotes around globs that stand without: `globs: *.ts`, `- !a/**`."""
    quoted = []
    key = ""
    for line in lines:
        if top := _KEY.match(line):
            key = top[1]
        value = (top[2] or "") if top else ""
        item = None if top else _ITEM.match(line)
        if key in GLOB_KEYS and _is_bare_glob(value):
            quoted.append(f"{key}: {_quote(value)}")
        elif key in GLOB_KEYS and item and _is_bare_glob(item[2]):
            quoted.append(item[1] + _quote(item[2]))
        else:
            quoted.append(line)
    return quoted


def _is_bare_glob(value: str) -> bool:
    """Whether YAML takes the start of this glob for syntax, and nothing says that it is."""
    if value[:1] in ("[", "{"):
        return value.count("[") == value.count("]") and value.count("{") == value.count("}")
    return value[:1] in ("*", "!", "@", "`", "%")


def _quote(value: str) -> str:
    text = _COMMENT.sub("", value).rstrip()
    if text.startswith("[") and text.endswith("]") and ("," in text or text[1:2] in "*!@`%"):
        text = text[1:-1].replace('"', "").replace("'", "")  # a list: read as a comma list
    return "'" + text.replace("'", "''") + "'"


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
    shown = markdown.read(text, hides_quotes=False).text
    start = 0
    for line in _LINE.findall(text):
        bare = line.rstrip("\r\n")
        end = start + len(bare)
        named = _INCLUDE.match(bare) if shown.find(markdown.HIDDEN, start, end) < 0 else None
        start = end + 1
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
