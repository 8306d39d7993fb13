"""Globs of rules: gitignore's, with braces, compiled to regular expressions. Pure.

A compiled glob is a triple `(includes, literal, regex)` over a path relative to the project:
`literal` is a text that every covered path holds when it is written `/path/`, so that most globs
are ruled out without a regex; where `regex` is "" the literal alone decides.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from sisyphus.documents import GLOB_KEYS
from sisyphus.rules.backtracking import without_backtracking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

    Compiled = tuple[bool, str, str]

MAX_CHARACTERS = 1_000
MAX_GLOBS = 500
"""Of one rule, braces expanded."""

_WILD = re.compile(r"[*?\[\\]")
_BRACKETS = re.compile(r"(?<!\\)[\[\]]")


class BadGlob(ValueError):  # noqa: N818  # it names what was found, not that it was raised
    """A glob that can cover nothing, or costs too much."""


def scoping(metadata: Json) -> dict[str, list[str]]:
    """The globs of each scoping key that has any, as written. Raises `BadGlob`."""
    return {key: globs for key in GLOB_KEYS if (globs := _listed(key, metadata.get(key)))}


def compile_globs(globs: list[str]) -> list[tuple[str, Compiled]]:
    """Each glob as written, with what it compiles to, in order: the last match decides.

    One glob may compile to several (braces, brackets). Raises `BadGlob`.
    """
    compiled = [(glob, one) for glob in globs for one in compile_glob(glob)]
    if len(compiled) > MAX_GLOBS:
        raise BadGlob(f"more than {MAX_GLOBS} globs, braces expanded")
    return compiled


@lru_cache(maxsize=1_000)  # many rules of a project share few globs
def compile_glob(glob: str) -> tuple[Compiled, ...]:
    """What one glob covers: any of these. Raises `BadGlob`."""
    if len(glob) > MAX_CHARACTERS:
        raise BadGlob(f"a glob of over {MAX_CHARACTERS:,} characters")
    readings = [reading for line in expand_braces(glob) for reading in _readings(_from_root(line))]
    compiled = [one for reading in readings if (one := _compile(reading))]
    if not compiled:
        raise BadGlob(f"{glob!r} is no glob that could match")
    return tuple(dict.fromkeys(compiled))


def split_commas(text: str) -> list[str]:
    """The items of a comma list; commas inside braces do not split."""
    items = [""]
    depth = 0
    for char in text:
        depth = max(depth + (char == "{") - (char == "}"), 0)
        if char == "," and not depth:
            items.append("")
        else:
            items[-1] += char
    return items


def expand_braces(glob: str) -> list[str]:
    """`a.{ts,tsx}` -> `a.ts`, `a.tsx`; nested ones too. Braces without a comma stay as they are.

    Raises `BadGlob` for more than `MAX_GLOBS` alternatives.
    """
    for start in _braces(glob):
        end, parts = _alternatives(glob, start)
        if len(parts) > 1:
            tails = expand_braces(glob[end:])
            inner = [text for part in parts for text in expand_braces(part)]
            if len(inner) * len(tails) > MAX_GLOBS:
                raise BadGlob(f"{glob!r} has more than {MAX_GLOBS} alternatives")
            return [glob[:start] + text + tail for text in inner for tail in tails]
    return [glob]


def _listed(key: str, value: object) -> list[str]:
    texts: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, str):
            texts += [part.strip() for line in item.splitlines() for part in split_commas(line)]
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            texts.append(str(item))
        elif item is not None:
            raise BadGlob(f"{key}: expected globs, found a {type(item).__name__}; quote it")
    return [text for text in texts if text]


def _braces(glob: str) -> list[int]:
    return [m.start() for m in re.finditer(r"\\.|\{", glob, re.DOTALL) if m[0] == "{"]


def _alternatives(glob: str, start: int) -> tuple[int, list[str]]:
    """The end of the braces that open at `start`, and what they hold; no parts if unclosed."""
    depth = 0
    cuts = [start]
    for match in re.finditer(r"\\.|[{},]", glob[start:], re.DOTALL):
        at = start + match.start()
        depth += (match[0] == "{") - (match[0] == "}")
        if depth == 0 or (depth == 1 and match[0] == ","):
            cuts.append(at)
        if depth == 0:
            parts = [glob[a + 1 : b] for a, b in pairwise(cuts)]
            return at + 1, parts
    return len(glob), []


def _from_root(line: str) -> str:
    """`./a` is what gitignore calls `/a`."""
    sign = "!" if line.startswith("!") else ""
    glob = line.removeprefix("!").lstrip()
    return sign + (glob[1:] if glob.startswith("./") else glob)


def _readings(line: str) -> list[str]:
    """gitignore's reading and, where there are brackets, the one in which they are themselves.

    `app/[id]/page.tsx` names a folder `[id]` in every framework that has such folders; as a
    character class it would only cover folders `i` and `d`.
    """
    plain = _BRACKETS.sub(r"\\\g<0>", line)
    return [line] if plain == line else [line, plain]


def _compile(line: str) -> Compiled | None:
    source = _regex(line)
    if source is None:
        return None
    glob = line.removeprefix("!").rstrip()
    literal, decides = _literal(glob)
    return not line.startswith("!"), literal, "" if decides else without_backtracking(source)


def _regex(line: str) -> str | None:
    """gitignore's regex for one line; None for a comment, an empty or an impossible pattern."""
    import warnings

    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # `[[` is a class with a doubtful future for `re`
            patterns = list(GitIgnoreSpec.from_lines([line]).patterns)
    except (ValueError, re.error, Warning):
        return None
    regex = patterns[0].regex if patterns else None
    return None if regex is None else str(regex.pattern)


def _literal(glob: str) -> tuple[str, bool]:
    """A text that `/path/` must hold, and whether holding it is enough."""
    tail = glob
    while tail.startswith("**/"):
        tail = tail[3:]
    if tail in ("*", "**"):
        return "", True
    if tail and "/" not in tail and not glob.startswith("/"):
        if not _WILD.search(tail):
            return f"/{tail}/", True
        if tail[0] == "*" and not _WILD.search(tail[1:]):
            return f"{tail[1:]}/", True
    return max(_fixed_texts(glob), key=len, default=""), False


def _fixed_texts(glob: str) -> list[str]:
    """The stretches of a glob without wildcards, with the slashes around whole folder names."""
    texts: list[str] = []
    current = ""
    for segment in glob.strip("/").split("/"):
        if not _WILD.search(segment):
            current = (current or "/") + segment + "/"
            continue
        head = _WILD.split(segment, maxsplit=1)[0]
        tail = "" if "[" in segment or "\\" in segment else _WILD.split(segment)[-1]
        texts += [current, (current or "/") + head]
        current = tail + "/" if tail else ""
    return [text for text in [*texts, current] if text.strip("/")]
