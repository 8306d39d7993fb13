"""Takes a value of a client's JSON as the type that it should have, and as empty if it has another.
On the quick path."""

from __future__ import annotations

import os

from sisyphus.ground import paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_DIGITS = 9
"""The most digits of a number in the environment: `int` fails for thousands."""

_MAX_COUNT = 10**9
"""Nothing that a client counts, such as tokens, is more than this."""


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def count(value: object) -> int:
    """Returns a number of tokens or the like; 0 if the value is none that a client can mean."""
    return value if type(value) is int and 0 < value <= _MAX_COUNT else 0


def number(value: str | None) -> int | None:
    """Returns the number in a variable of the environment; None if it has no sensible one."""
    digits = value or ""
    return int(digits) if digits.isdecimal() and len(digits) <= _MAX_DIGITS else None


def id(value: object) -> str:
    """Returns the value if it can be the id of a session or of a subagent, else ""."""
    return value if isinstance(value, str) and paths.is_id(value) else ""


def path(value: object) -> str:
    """Returns the value if the system can take it as a path, else ""."""
    if not isinstance(value, str) or "\0" in value:
        return ""
    try:
        os.fsencode(value)
    except UnicodeEncodeError:  # half a surrogate pair
        return ""
    return value


def folder(value: object) -> str:
    """Returns the value if it is an absolute path, else ""."""
    found = path(value)
    return found if os.path.isabs(found) else ""
