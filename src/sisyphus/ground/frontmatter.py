"""Reads YAML frontmatter, which is untrusted: its length is limited, and PyYAML's loader in pure
Python reads it.

The other loader, libyaml, recurses in C: a hundred thousand brackets crash the interpreter (PyYAML
6.0.4). Merge keys and aliases are refused: a few lines can expand to millions of pairs, or to
gigabytes of text.
"""

import json
import re
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from sisyphus.ground.errors import SisyphusError

MAX_CHARACTERS = 16_384
"""The longest frontmatter, without its dashes. Rules have a few hundred characters."""

MAX_DEPTH = 20
"""The most brackets in brackets. Rules have two or three; of 1,000 PyYAML looks at each again for
each: 0.1 s."""

_OPENING = re.compile(r"(?:\s|(?><!--(?s:.*?)-->))*+-{3,}[ \t]*\n")
_CLOSING = re.compile(r"^-{3,}[ \t]*(?:\n|\Z)", re.MULTILINE)
_BRACKET = re.compile(r"[\[\]{}]")
_MERGE_KEY = re.compile(r"<<['\"]?\s*:")


class BadFrontmatter(SisyphusError):
    """A frontmatter that cannot be read. `line` counts from 1 in the document."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"invalid frontmatter, line {line}: {reason}")
        self.line = line


def split(text: str) -> tuple[str | None, str]:
    """Returns the YAML (None if there is no frontmatter) and the body after it. Line ends must be
    `\\n`. Blank lines and comments may come before the first dashes.

    Raises `BadFrontmatter` if the frontmatter is not closed or too long.
    """
    opening = _OPENING.match(text)
    if not opening:
        return None, text
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        raise BadFrontmatter("the closing '---' line is missing", 1)
    source = text[opening.end() : closing.start()]
    if len(source) > MAX_CHARACTERS:
        raise BadFrontmatter(f"it has more than {MAX_CHARACTERS:,} characters", 1)
    return source, text[closing.end() :]


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, but it refuses aliases."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            problem = "aliases (*name) are not supported"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
        return super().compose_node(parent, index)


def load(source: str) -> dict[str, Any]:
    """Returns the keys and values of the YAML between the dashes. Raises `BadFrontmatter`."""
    if _MERGE_KEY.search(source):
        raise BadFrontmatter("merge keys (<<) are not supported", 2)
    if _depth(source) > MAX_DEPTH:
        raise BadFrontmatter(f"it has more than {MAX_DEPTH} brackets in brackets", 2)
    try:
        data = YAMLHandler().load(source, Loader=_Loader)
        json.dumps(data, default=str, skipkeys=True)  # fails for 0xfff…, which is too long to print
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 2
        raise BadFrontmatter(error.problem or "it is not valid YAML", line) from error
    except Exception as error:  # constructors (int, date, …) raise all kinds of errors
        raise BadFrontmatter(f"it cannot be read ({error})", 2) from error
    if not isinstance(data, dict | None):
        raise BadFrontmatter("expected lines of the form 'key: value'", 2)
    return {str(key): value for key, value in (data or {}).items()}


def _depth(source: str) -> int:
    """Returns how deep the brackets of a text are nested, those in its strings too."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(source):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        deepest = max(depth, deepest)
    return deepest
