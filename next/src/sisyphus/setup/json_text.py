"""The text of somebody else's JSON file: read strictly, and written in the style it has."""

import codecs
import json
import re
from itertools import product
from typing import Any

from sisyphus.errors import UnreadableError

Json = dict[str, Any]

_INDENT = re.compile(r'^([ \t]+)"', re.MULTILINE)


def load(data: bytes) -> Json:
    """The object in a JSON file; {} in an empty one. Raises `UnreadableError`.

    A key that is there twice is an error: we could not write both.
    """
    try:
        text = _text(data)
        found = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise UnreadableError("it is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        if not data.strip():
            return {}
        raise UnreadableError(f"it is not valid JSON ({error})") from error
    if not isinstance(found, dict):
        raise UnreadableError("it is not a JSON object")
    return found


def dump(value: Json, old: bytes) -> bytes:
    """A new content of a file, with the indent, line ends, byte order mark and last line end of
    the old one; b"" = there is none."""
    text = _text(old)
    style = _style(text) or {"indent": _indent(text), "ensure_ascii": _is_escaped(text)}
    new = json.dumps(value, **style) + (text[len(text.rstrip()) :] if text.strip() else "\n")
    if "\r\n" in text:
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    mark = codecs.BOM_UTF8 if old.startswith(codecs.BOM_UTF8) else b""
    return mark + new.encode()


def is_plain(data: bytes) -> bool:
    """Whether `dump` can write this text, so that nothing changes but what is meant to."""
    return not data.strip() or _style(_text(data)) is not None


def _style(text: str) -> dict[str, Any] | None:
    """The arguments with which `json.dumps` writes this text; None if it cannot."""
    body = text.strip().replace("\r\n", "\n")
    if not body:
        return None
    value = json.loads(body)
    layouts: list[dict[str, Any]] = [
        {"indent": _indent(text)},
        {"separators": (", ", ": ")},
        {"separators": (",", ":")},
    ]
    for layout, ensure_ascii in product(layouts, (True, False)):
        style = {**layout, "ensure_ascii": ensure_ascii}
        if json.dumps(value, **style) == body:
            return style
    return None


def _text(data: bytes) -> str:
    return data.removeprefix(codecs.BOM_UTF8).decode()


def _indent(text: str) -> str:
    match = _INDENT.search(text)
    return match[1] if match else "  "


def _is_escaped(text: str) -> bool:
    return text.isascii() or "\\ud" in text.lower()


def _object(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number")
