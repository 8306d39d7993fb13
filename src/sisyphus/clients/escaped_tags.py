"""The tags that end a loop, as a model writes them that saw them escaped. On the quick path."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
"""What stands for a character in escaped text. The last one may be part of another."""


def unescaped(message: str) -> str:
    """Returns a message in which a tag counts, with what is in it, that the model has copied from
    escaped text."""
    if not any(entity in message for entity in _ENTITIES):
        return message
    import re  # imported late: hardly any message has one

    message = re.sub(r"&lt;(/?(?:promise|blocked))&gt;", r"<\1>", message)
    return re.sub(r"<(promise|blocked)>[^<]*</\1>", _plain, message)


def _plain(tag: re.Match[str]) -> str:
    text = tag[0]
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text
