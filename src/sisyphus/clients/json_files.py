"""Reads the JSON files of a client, such as its settings: one object each."""

from __future__ import annotations

from sisyphus.ground import files, quick_json
from sisyphus.ground.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Json = dict[str, Any]

_COMMENTS = ("//", "/*", "#")


def read(path: str, inside: str = "") -> Json:
    """Returns the content of a file; {} if it is empty. inside: see `files.read`. Raises
    `UnreadableError`."""
    return parse(files.read(path, inside=inside))


def parse(text: str) -> Json:
    """Returns the object that a file holds; {} if it is empty. Raises `UnreadableError`."""
    try:
        data = quick_json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UnreadableError(why_invalid(error)) from error
    if not isinstance(data, dict):
        raise UnreadableError("it is not a JSON object")
    return data


def read_or_empty(path: str, inside: str = "") -> Json:
    """Returns the same; {} if it cannot be read."""
    try:
        return read(path, inside)
    except UnreadableError:
        return {}


def why_invalid(error: ValueError | RecursionError) -> str:
    """Says why `json` took no text: the line, and what stands there that a person may think to be
    allowed."""
    import json  # imported late: most files are as they should be

    if isinstance(error, RecursionError):
        return "it is not valid JSON (it is nested too deeply)"
    if not isinstance(error, json.JSONDecodeError):
        return f"it is not valid JSON ({error})"
    text, at = error.doc, error.pos
    before = text[:at].rstrip()
    if text.startswith(_COMMENTS, at):
        what = f"line {error.lineno} has a comment, and JSON has none"
    elif text[at : at + 1] in ("}", "]") and before.endswith(","):
        line = before.count("\n") + 1
        what = f"line {line} ends with a comma too many: nothing follows it"
    else:
        what = f"line {error.lineno}, column {error.colno}: {error.msg}"
    return f"it is not valid JSON ({what})"


def at_line(text: str, keys: Sequence[str | int], what: str) -> str:
    """Returns what is wrong with a value, with its line in front if there is a text. See
    `line_of`."""
    return f"line {line_of(text, keys)}: {what}" if text else what


def line_of(text: str, keys: Sequence[str | int]) -> int:
    """Returns the line of a value: the one of its key, or where an item of a list begins.

    text: a valid JSON object. keys: the way to the value, which is there.
    """
    for way, at in _values(text):
        if way == [*keys]:
            return text.count("\n", 0, at) + 1
    return 1


def _values(text: str) -> Iterator[tuple[list[str | int], int]]:
    """Yields the way to each value of a JSON object, and where its key begins, or the item."""
    import re  # imported late: a hook reads files, and asks for no line

    way: list[str | int] = []
    is_item = False  # an item of a list begins here, or a key of an object
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^][{},:"\s]+', text):
        word = token[0]
        if is_item and word != "]":
            if isinstance(way[-1], int):
                yield [*way], token.start()
            elif word != "}":
                way[-1] = quick_json.loads(word)
                yield [*way], token.start()
        is_item = False
        if word in ("{", "["):
            way.append("" if word == "{" else 0)
            is_item = True
        elif word in ("}", "]"):
            way.pop()
        elif word == ",":
            last = way[-1]
            way[-1] = last + 1 if isinstance(last, int) else ""
            is_item = True
