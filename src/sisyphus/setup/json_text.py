"""Reads other programs' JSON files strictly, and writes them in the layout that they have."""

import codecs
import json
import re
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any

from sisyphus.clients import json_files
from sisyphus.ground.errors import UnreadableError
from sisyphus.ground.text import one_line

Json = dict[str, Any]

_SHOWN = 40
"""The most characters that are shown of a number."""

_INDENT = re.compile(r'^([ \t]+)"', re.MULTILINE)


def load(data: bytes) -> Json:
    """Returns the object in a JSON file; {} if the file is empty. Raises `UnreadableError`, also if
    we could not write all of it: an object has a key twice, or a number more digits than we keep.
    """
    try:
        value = json.loads(
            text(data),
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_float,
        )
    except UnicodeDecodeError as error:
        raise UnreadableError("it is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        if not data.strip():
            return {}
        raise UnreadableError(json_files.why_invalid(error)) from error
    if not isinstance(value, dict):
        raise UnreadableError("it is not a JSON object")
    return value


def dump(value: Json, old: bytes) -> bytes:
    """Returns the new content of a file, with the indent, line ends, byte order mark and last line
    end of the old one (b"" = there is none)."""
    before = text(old)
    style = _style(before) or {"indent": _indent(before), "ensure_ascii": _is_escaped(before)}
    end = before[len(before.rstrip()) :] if before.strip() else "\n"
    new = json.dumps(value, **style) + end
    if "\r\n" in before:
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    mark = codecs.BOM_UTF8 if old.startswith(codecs.BOM_UTF8) else b""
    return mark + new.encode()


def keeps_layout(data: bytes) -> bool:
    """Tells whether `dump` keeps the layout of this content, so that only the values change."""
    return not data.strip() or _style(text(data)) is not None


def _style(content: str) -> dict[str, Any] | None:
    """Returns the arguments with which `json.dumps` writes this text; None if it cannot."""
    body = content.strip().replace("\r\n", "\n")
    if not body:
        return None
    value = json.loads(body)
    layouts: list[dict[str, Any]] = [
        {"indent": _indent(content)},
        {"separators": (", ", ": ")},
        {"separators": (",", ":")},
    ]
    for layout, ensure_ascii in product(layouts, (True, False)):
        style = {**layout, "ensure_ascii": ensure_ascii}
        if json.dumps(value, **style) == body:
            return style
    return None


def text(data: bytes) -> str:
    """Returns the text of a file that `load` takes, without its byte order mark."""
    return data.removeprefix(codecs.BOM_UTF8).decode()


def _indent(text: str) -> str:
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _is_escaped(text: str) -> bool:
    return text.isascii() or "\\ud" in text.lower()


def _object(pairs: list[tuple[str, Any]]) -> Json:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key is there twice")
    return value


def _float(digits: str) -> float:
    value = float(digits)
    try:
        is_kept = Decimal(repr(value)) == Decimal(digits)
    except InvalidOperation:  # its exponent has twenty digits
        is_kept = False
    if not is_kept:
        raise UnreadableError(f"its number {one_line(digits, _SHOWN)} would lose digits")
    return value


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not a number")
