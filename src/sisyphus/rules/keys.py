"""Reads the keys of a rule from its frontmatter: YAML, or lines as Cursor writes them."""

import re
from typing import Any

from sisyphus.ground import frontmatter
from sisyphus.ground.frontmatter import BadFrontmatter
from sisyphus.rules import globs

SCOPING_KEYS = ("applies_to", "paths", "globs", "applyTo")
KEYS = (*SCOPING_KEYS, "alwaysApply", "priority", "tags", "description")

_LISTS = (*SCOPING_KEYS, "tags")
_KEY = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s(.*))?")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_BULLET = re.compile(r"^-\s+")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")


def read(source: str, *, by_lines: bool) -> dict[str, Any]:
    """Reads the frontmatter of a rule. Raises `BadFrontmatter` and `BadGlob`.

    YAML needs quotes around most globs, which few people know. If it fails, the globs are read
    line by line.

    by_lines: read everything line by line.
    """
    if by_lines:
        return _read_lines(source)
    try:
        return frontmatter.load(source)
    except BadFrontmatter:
        scope, rest = _take_out_globs(source)
        return frontmatter.load(rest) | _read_lines(scope)


def lines(source: str) -> dict[str, int]:
    """Returns the first line of each key in a frontmatter, counted from 0."""
    first: dict[str, int] = {}
    for number, line in enumerate(source.split("\n")):
        if pair := _KEY.fullmatch(line):
            first.setdefault(pair[1], number)
    return first


def _read_lines(source: str) -> dict[str, Any]:
    """Reads `key: rest of the line`, with the lines below it up to the next key. No character is
    special as in YAML, so nothing can be wrong with them."""
    lines: dict[str, list[str]] = {}
    key = ""
    for line in source.split("\n"):
        pair = _KEY.fullmatch(line)
        key, value = (pair[1], pair[2] or "") if pair else (key, line)
        lines.setdefault(key, []).append(_COMMENT.sub("", value).strip())
    lines.pop("", None)  # the lines before the first key
    return {key: _items(part) if key in _LISTS else _plain(part) for key, part in lines.items()}


def _items(lines: list[str]) -> list[str]:
    """Reads `*.ts, "*.js"`, the same in brackets, or each after a dash on a line of its own."""
    text = "\n".join(_BULLET.sub("", line) for line in lines).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [bare for item in globs.parse_list(text) if (bare := item.strip("\"'"))]


def _plain(lines: list[str]) -> str:
    text = " ".join(lines).strip()
    quoted = _QUOTED.fullmatch(text)
    return (quoted[1] or quoted[2] or "") if quoted else text


def _take_out_globs(source: str) -> tuple[str, str]:
    """Splits the lines into those of the scoping keys and the others, each with blank lines in
    place of the other's, so that line numbers stay right."""
    scope, rest = [], []
    is_scoping = False
    for line in source.split("\n"):
        if pair := _KEY.fullmatch(line):
            is_scoping = pair[1] in SCOPING_KEYS
        scope.append(line if is_scoping else "")
        rest.append("" if is_scoping else line)
    return "\n".join(scope), "\n".join(rest)
