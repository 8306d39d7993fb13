"""Markdown with YAML frontmatter in, metadata and body out.

A frontmatter is a stranger's text: it is bounded, and what YAML can be made to cost (deep nesting
ends the interpreter inside libyaml, merge keys multiply) is refused before it is parsed.
"""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus._types import Json

FRONTMATTER_CHARACTERS = 16_384
NESTING = 50
"""libyaml's composer recurses in C: 100,000 brackets are a segmentation fault (PyYAML 6.0.3)."""

GLOB_KEYS = ("applies_to", "paths", "globs", "applyTo")
"""Keys whose values are globs, and are often written without the quotes that YAML wants."""

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
