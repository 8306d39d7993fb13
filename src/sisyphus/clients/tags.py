"""The tags that end a loop, as a model writes them that saw them escaped. On the quick path."""

from __future__ import annotations


def unescaped(message: str) -> str:
    """Returns a message in which a tag counts that the model has copied from escaped text."""
    if "&lt;" not in message:
        return message
    import re  # imported late: hardly any message has one

    return re.sub(r"&lt;(/?(?:promise|blocked))&gt;", r"<\1>", message)
