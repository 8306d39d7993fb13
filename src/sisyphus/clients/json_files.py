"""Reads the JSON files of a client, such as its settings: one object each."""

from __future__ import annotations

import json

from sisyphus import files
from sisyphus.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]


def read(path: str, inside: str = "") -> Json:
    """Returns the content of a file; {} if it is empty. inside: see `files.read`. Raises
    `UnreadableError`."""
    text = files.read(path, inside=inside)
    try:
        data = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"it is not valid JSON ({error})") from error
    if not isinstance(data, dict):
        raise UnreadableError("it is not a JSON object")
    return data


def read_or_empty(path: str, inside: str = "") -> Json:
    """Returns the same; {} if it cannot be read."""
    try:
        return read(path, inside)
    except UnreadableError:
        return {}
