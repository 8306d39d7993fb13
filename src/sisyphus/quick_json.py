"""JSON without `json`, whose import costs a hook 5 ms: its decoder loads `re`, and that `enum`.

The C functions that `json` wraps do the work here too, and `json` does what they leave: so the
values, the texts and the errors are its own.
"""

from __future__ import annotations

import _json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANK = " \t\n\r"


def loads(text: str | bytes) -> Any:
    """What `json.loads` gives; raises `ValueError` and `RecursionError`."""
    try:
        plain = text if isinstance(text, str) else text.decode("utf-8", "surrogatepass")
        plain = plain.strip(_BLANK)
        value, end = _json.make_scanner(_AS_JSON)(plain, 0)
        if end == len(plain):
            return value
    # CPython 3.11 looks for its error's class in a module that nobody has loaded: `SystemError`.
    except (StopIteration, SystemError, ValueError):
        pass
    import json

    return json.loads(text)


def dumps(value: object, *, ensure_ascii: bool = True, is_dense: bool = False) -> str:
    """What `json.dumps` gives, and `is_dense` with no blank behind its commas and colons; raises
    `TypeError` and `RecursionError`."""
    quote = _json.encode_basestring_ascii if ensure_ascii else _json.encode_basestring
    colon, comma = (":", ",") if is_dense else (": ", ", ")
    encode = _json.make_encoder(None, _refuse, quote, None, colon, comma, False, False, True)
    return "".join(encode(value, 0))


class _AsJson:
    """How `json` reads where nobody asks for anything else."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    parse_constant = {
        "NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf"),
    }.__getitem__  # fmt: skip


_AS_JSON: Any = _AsJson


def _refuse(value: object) -> str:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
