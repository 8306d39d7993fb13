"""Keeps the regex of a stranger's glob from taking minutes. Pure.

`*a*a*a*a*b` and `**/a/**/a/**/b` make an ordinary regex try every way to share a long path among
the stars. But of two stars in a row the first may always take the least: whatever it leaves, the
next can have. So each star before the last becomes lazy and atomic, and is never tried again.
"""

from __future__ import annotations

import re

_STAR = "[^/]*"
_ANY_START = "^(?:.+/)?"
_ANY_INNER = "(?:/.+)?"

_STARS = re.compile(rf"(?:{re.escape(_STAR)}){{2,}}")
_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_KEPT_OR_CLASS = re.compile(rf"\\.|\[\^/\]|({_CLASS})", re.DOTALL)
_TOKEN = rf"(?:\\.|(?:\(\?!/\))?{_CLASS}|[^\[\]\\/()^$.*+?|])"  # one character of a segment
_STAR_BEFORE_STAR = re.compile(rf"{re.escape(_STAR)}({_TOKEN}+)(?={re.escape(_STAR)})", re.DOTALL)


def without_backtracking(source: str) -> str:
    """A regex that matches the same paths; `source` is one that pathspec made of a glob.

    One thing is git's way instead: a class such as `[!a]` covers no `/`.
    """
    single = _STARS.sub(lambda _: _STAR, _KEPT_OR_CLASS.sub(_inside_a_segment, source))
    calm = _STAR_BEFORE_STAR.sub(r"(?>[^/]*?\1)", single)
    first, *rest = calm.split(_ANY_INNER)
    if not rest:
        return calm
    if first.startswith(_ANY_START):
        first = f"(?>^(?:.+?/)??{first.removeprefix(_ANY_START)}(?=/))"
    inner = [f"(?>(?:/.+?)??{part}(?=/))" for part in rest[:-1]]
    return "".join([first, *inner, _ANY_INNER, rest[-1]])


def _inside_a_segment(found: re.Match[str]) -> str:
    return f"(?!/){found[1]}" if found[1] else found[0]
