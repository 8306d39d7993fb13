"""OpenCode's own configuration, JSON with comments, read for the commands that it defines."""

from __future__ import annotations

import json
import re

from sisyphus.errors import UnreadableError
from sisyphus.reading import DOCUMENT_BYTES, read_text

_KEYS = ("command", "commands")

# A text runs to its quote, or, so that none is looked through twice, to the end.
_TEXT = r'("(?:\\.|[^"\\])*+(?:"|\Z))'
_COMMENT = re.compile(_TEXT + r"|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(_TEXT + r"|,(?=\s*+[}\]])", re.DOTALL)


def commands(path: str) -> set[str]:
    """The names of the commands that a configuration file defines; none where it is unreadable."""
    try:
        value = json.loads(_plain(read_text(path, DOCUMENT_BYTES)))
    except (UnreadableError, ValueError, RecursionError):
        return set()
    found = [value.get(key) for key in _KEYS] if isinstance(value, dict) else []
    return {name for some in found if isinstance(some, dict) for name in some}


def _plain(text: str) -> str:
    bare = _COMMENT.sub(lambda found: found[1] or " ", text)
    return _COMMA.sub(lambda found: found[1] or "", bare)
