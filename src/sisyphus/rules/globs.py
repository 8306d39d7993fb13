"""The globs of rules: gitignore syntax plus braces, compiled to patterns, so that a hook needs no
pathspec for them."""

from __future__ import annotations

import re
from functools import lru_cache

from sisyphus.ground.errors import SisyphusError
from sisyphus.rules.pattern import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_CHARACTERS = 1_000
MAX_ALTERNATIVES = 500
"""The most characters of a glob, and globs of one rule after expanding braces."""

MAX_STARS = 3
MAX_DOUBLE_STARS = 3
MAX_WILDCARDS = 6
"""The most `*` in one name, `**` in one glob, and both in one glob. A regex tries every way to
split a path between the stars: a second at worst with these limits and those of `pattern.py`, a
minute with one more `**`."""

_BRACKET = re.compile(r"(?<!\\)[\[\]]")
_NEGATED_CLASS = re.compile(r"(?<!\\)\[\^(?!/\])")
_NAME_OR_SUFFIX = re.compile(r"(?:\*\*/)*(\*?)([^*?/\[\]\\]+)")
_NO_LITERAL = re.compile(r"\\.|\[[^\]]*\]|[*?/]")


class BadGlob(SisyphusError):
    """A glob that can match no file or would be too slow. The text says why."""


def parse_list(value: object) -> list[str]:
    """Returns the globs of a frontmatter value: a list, a text, or a comma list. Commas in braces
    do not split.

    Raises `BadGlob`.
    """
    globs: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, (str, int, float)) and not isinstance(item, bool):
            globs += [glob.strip() for line in str(item).split("\n") for glob in _split(line)]
        elif item is not None:
            raise BadGlob(f"expected globs, found a {type(item).__name__}: put it in quotes")
    return [glob for glob in globs if glob]


def _split(line: str) -> list[str]:
    parts = [""]
    depth = 0
    for char in line:
        depth = max(0, depth + (char == "{") - (char == "}"))
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def compile_all(globs: Iterable[str]) -> list[Pattern]:
    """Compiles globs, in order: the last match decides. Raises `BadGlob`."""
    patterns = [pattern for glob in globs for pattern in _compile(glob)]
    if len(patterns) > MAX_ALTERNATIVES:
        raise BadGlob(f"more than {MAX_ALTERNATIVES} globs after expanding braces")
    return patterns


@lru_cache(maxsize=1_000)  # many rules of a project share few globs
def _compile(glob: str) -> tuple[Pattern, ...]:
    """Compiles one glob, to several patterns if it has braces or brackets. Raises `BadGlob` if it
    compiles to none."""
    if len(glob) > MAX_CHARACTERS:
        raise BadGlob(f"a glob has more than {MAX_CHARACTERS:,} characters")
    includes = not glob.startswith("!")
    patterns = []
    for plain in expand_braces(glob.removeprefix("!").strip()):
        for reading in _readings(plain.removeprefix(".") if plain[:2] == "./" else plain):
            _refuse_costly(reading)
            if regex := _regex(reading):
                patterns.append(Pattern((glob, includes, *_literal_and_regex(reading, regex))))
    if not patterns:
        raise BadGlob(f"{glob!r} can match no file")
    return tuple(patterns)


def expand_braces(glob: str) -> list[str]:
    """Expands `a.{ts,tsx}` to `a.ts` and `a.tsx`, and nested braces. Braces without a comma stay as
    they are. Raises `BadGlob`."""
    for brace in re.finditer(r"\\.|\{", glob):
        end, parts = _alternatives(glob, brace.start()) if brace[0] == "{" else (0, [])
        if len(parts) > 1:
            inner = [text for part in parts for text in expand_braces(part)]
            tails = expand_braces(glob[end:])
            if len(inner) * len(tails) > MAX_ALTERNATIVES:
                raise BadGlob(f"{glob!r} has more than {MAX_ALTERNATIVES} alternatives")
            return [glob[: brace.start()] + text + tail for text in inner for tail in tails]
    return [glob]


def _alternatives(glob: str, start: int) -> tuple[int, list[str]]:
    """Returns the end of the braces that open at `start`, and their alternatives; none if they do
    not close."""
    parts = [""]
    depth = 0
    for sign in re.finditer(r"\\.|.", glob[start:]):
        depth += (sign[0] == "{") - (sign[0] == "}")
        if depth == 0:
            return start + sign.end(), parts
        if depth == 1 and sign[0] == ",":
            parts.append("")
        elif sign.start():
            parts[-1] += sign[0]
    return 0, []


def _readings(glob: str) -> list[str]:
    """Returns the glob as gitignore reads it and, if it has brackets, with the brackets taken
    literally.

    `app/[id]/page.tsx` means a folder `[id]` in every framework that has such folders; as a class
    of characters it would cover only the folders `i` and `d`.
    """
    plain = _BRACKET.sub(r"\\\g<0>", glob)
    return [glob] if plain == glob else [glob, plain]


def _refuse_costly(glob: str) -> None:
    names = glob.strip("/").split("/")
    if names[:-1].count("**") > MAX_DOUBLE_STARS:
        raise BadGlob(f"{glob!r} has more than {MAX_DOUBLE_STARS} '**'")
    if sum(name.count("*") - (name == "**") for name in names) > MAX_WILDCARDS:
        raise BadGlob(f"{glob!r} has more than {MAX_WILDCARDS} '*' and '**'")
    if any(name.count("*") > MAX_STARS for name in names):
        raise BadGlob(f"{glob!r} has more than {MAX_STARS} '*' in one name")


def _regex(glob: str) -> str | None:
    """Returns gitignore's regex; None for a comment, an empty or an impossible glob."""
    import warnings

    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # `[[` is a class whose meaning `re` may change
            patterns = list(GitIgnoreSpec.from_lines([glob]).patterns)
    except (ValueError, re.error, Warning):
        return None
    regex = patterns[0].regex if patterns else None
    # In git a class such as `[!a]` does not match a slash.
    return _NEGATED_CLASS.sub("[^/", str(regex.pattern)) if regex else None


def _literal_and_regex(glob: str, regex: str) -> tuple[str, str]:
    """Returns a literal that `/path/` must contain, and the regex; "" if the literal is enough."""
    if simple := _NAME_OR_SUFFIX.fullmatch(glob):
        star, text = simple.groups()
        return (f"{text}/" if star else f"/{text}/"), ""
    return max(_NO_LITERAL.split(glob.rstrip()), key=len), regex
