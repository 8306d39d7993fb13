"""The values of answers: what was read from files that anybody may have written.

One of a wrong type is null, or empty where null is not possible: it never makes an answer fail.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from sisyphus.text import sound

_MOST = 1e300

_DEPTH = 32
"""JSON that is nested deeper is nobody's state."""


def clean(value: object, depth: int = _DEPTH) -> Any:
    """The value as JSON can spell it: whole characters, finite numbers, no endless nesting."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (dict, list, tuple)) and not depth:
        return None
    if isinstance(value, dict):
        return {sound(str(name)): clean(one, depth - 1) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(one, depth - 1) for one in value]
    return value


def text(value: object) -> str:
    return sound(value) if isinstance(value, str) else ""


def text_or_none(value: object) -> str | None:
    return sound(value) if isinstance(value, str) else None


def count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def number(value: object) -> float | None:
    """None as well for NaN, infinity, and integers of which no float can tell."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) <= _MOST else None


def mapping(value: object) -> dict[str, Any]:
    found = clean(value)
    return found if isinstance(found, dict) else {}


Text = Annotated[str, BeforeValidator(text)]
Maybe = Annotated[str | None, BeforeValidator(text_or_none)]
Count = Annotated[int | None, BeforeValidator(count)]
Number = Annotated[float | None, BeforeValidator(number)]
Yes = Annotated[bool, BeforeValidator(lambda value: value is True)]
Object = Annotated[dict[str, Any], BeforeValidator(mapping)]


class Model(BaseModel):
    model_config = ConfigDict(extra="ignore", serialize_by_alias=True)
