"""Reads and writes JSON with the scanner and the encoder that `json` itself has in C. `json` loads
`re`, `enum`, `functools` and `collections`, which is a third of what a quiet hook costs.

Values, texts and errors are those of `json`. It does the work where a Python has no such parts, or
others, and it says what is wrong with a text.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_BLANKS = " \t\n\r"


class _Defaults:
    """What `json.JSONDecoder` tells the scanner if nobody asks for anything else."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int = float, int
    parse_constant = {
        "NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"),
    }.__getitem__  # fmt: skip


def _refuse(value: object) -> NoReturn:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _encoder(default: Callable[[Any], object], *, ensure_ascii: bool) -> _json.make_encoder:
    """Returns what `json.JSONEncoder` uses for one value. It remembers what contains the part that
    it is at, to find a value that contains itself."""
    spell = _json.encode_basestring_ascii if ensure_ascii else _json.encode_basestring
    return _json.make_encoder({}, default, spell, None, ": ", ", ", False, False, True)


try:
    import _json

    _scan = _json.make_scanner(_Defaults)  # type: ignore[arg-type]
    _encoder(_refuse, ensure_ascii=False)
    _has_parts = True
except (ImportError, AttributeError, TypeError):
    _has_parts = False


def loads(text: str | bytes) -> Any:
    """Reads one value, as `json.loads` does. Raises `ValueError` and `RecursionError`."""
    plain = text if isinstance(text, str) else _decode(text)
    if _has_parts and plain:
        try:
            value, end = _scan(plain, len(plain) - len(plain.lstrip(_BLANKS)))
            if not plain[end:].strip(_BLANKS):
                return value
        except (StopIteration, SystemError):
            pass  # there is no value; or what is wrong has no name, where nobody has loaded `json`
    import json

    return json.loads(text)


def _decode(data: bytes) -> str:
    """Returns the text of UTF-8 that begins as JSON does; "" for anything else."""
    start = data[:2]
    return data.decode("utf-8", "surrogatepass") if start.isascii() and 0 not in start else ""


def dumps(
    value: object, *, default: Callable[[Any], object] = _refuse, ensure_ascii: bool = True
) -> str:
    """Writes one value in one line, as `json.dumps` does. default: returns what is written for an
    object that JSON does not know. Raises `TypeError`, `ValueError` and `RecursionError`."""
    if _has_parts:
        return "".join(_encoder(default, ensure_ascii=ensure_ascii)(value, 0))
    import json

    return json.dumps(value, default=default, ensure_ascii=ensure_ascii)


def pretty(value: object) -> str:
    """Writes one value for people, as `json.dumps` does with `indent=2, ensure_ascii=False`. A
    value that contains itself raises `RecursionError`."""
    if _has_parts:
        return _indented(value, "\n", _encoder(_refuse, ensure_ascii=False))
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)


def _indented(value: object, margin: str, encoder: _json.make_encoder) -> str:
    """margin: starts each line."""
    if isinstance(value, str):
        return _json.encode_basestring(value)
    inner = f"{margin}  "
    if isinstance(value, dict) and value:
        parts = [
            f"{_name(name, encoder)}: {_indented(part, inner, encoder)}"
            for name, part in value.items()
        ]
        return f"{{{inner}{f',{inner}'.join(parts)}{margin}}}"
    if isinstance(value, (list, tuple)) and value:
        parts = [_indented(part, inner, encoder) for part in value]
        return f"[{inner}{f',{inner}'.join(parts)}{margin}]"
    return "".join(encoder(value, 0))


def _name(name: object, encoder: _json.make_encoder) -> str:
    """Returns the name of a part; a number or the like is put in quotes."""
    if isinstance(name, str):
        return _json.encode_basestring(name)
    # The encoder alone knows how it writes other names.
    return "".join(encoder({name: None}, 0)).removeprefix("{").removesuffix(": null}")
