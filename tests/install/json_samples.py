"""JSON values, and the same values written in every way that is still JSON."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TEXTS = st.text(max_size=6) | st.sampled_from(['"', "\\", "\n", "//", ",", "}", "é", "\ud800"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
_SPACES = st.text("  \t\r\n", max_size=3) | st.sampled_from(["\n", "\r\n", "\n  ", "\n\t"])
_PLAIN = st.builds(
    lambda indent, colon, ascii_only: (
        lambda value: json.dumps(
            value,
            indent=indent,
            separators=("," if indent else ", ", colon),
            ensure_ascii=ascii_only,
        )
    ),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.sampled_from([":", ": ", " : "]),
    st.booleans(),
)
"""As programs write it."""


def strangely(spaces: list[str]) -> Callable[[Any], str]:
    """A writer with white space of all kinds wherever JSON allows it."""
    return lambda value: "".join(_tokens(value, itertools.cycle(spaces)))


WRITERS = _PLAIN | st.builds(strangely, st.lists(_SPACES, min_size=1, max_size=7))
ENDS = st.sampled_from(["", "\n", "\r\n", " \n\n"])
BEGINS = st.sampled_from(["", "\ufeff"])


def _tokens(value: Any, spaces: Iterator[str]) -> Iterator[str]:
    if isinstance(value, dict):
        parts = [
            [json.dumps(key), next(spaces), ":", next(spaces), *_tokens(held, spaces)]
            for key, held in value.items()
        ]
        yield from _between("{}", parts, spaces)
    elif isinstance(value, list):
        yield from _between("[]", [list(_tokens(held, spaces)) for held in value], spaces)
    else:
        yield json.dumps(value)


def _between(brackets: str, parts: list[list[str]], spaces: Iterator[str]) -> Iterator[str]:
    yield brackets[0] + next(spaces)
    for number, part in enumerate(parts):
        yield from ([",", next(spaces)] if number else [])
        yield from [*part, next(spaces)]
    yield brackets[1]


def containers(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every object and list in a value."""
    if isinstance(value, dict | list):
        yield path
        for step, held in value.items() if isinstance(value, dict) else enumerate(value):
            yield from containers(held, (*path, step))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value
