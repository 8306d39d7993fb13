"""Finds `<promise>TOKEN</promise>` and `<blocked>…</blocked>` if the agent says them, not if it
only quotes or shows them.

Most messages have neither, and are looked at after every turn: what reads the tags is loaded for
those that may have one. See `tags` for the law.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def is_said(texts: Iterable[str], promise: str) -> bool:
    """Tells whether one of the agent's messages says the promise."""
    texts = [text for text in texts if "<promise>" in text]
    if not texts:
        return False
    from sisyphus.ralph import tags

    wanted = tags.normalize(promise)
    return any(
        tags.normalize(tag.token) == wanted and not message.fault(tag)
        for text in texts
        if wanted
        for message, tag in tags.of("promise", text)
    )


def blocked_on(texts: Iterable[str]) -> str:
    """Returns what the agent says it needs from the user; "" = nothing."""
    for text in texts:
        if "<blocked>" in text:
            from sisyphus.ralph import tags

            for message, tag in tags.of("blocked", text):
                if tags.is_need(tag.token) and not message.fault(tag):
                    return " ".join(tag.token.split())
    return ""


def near_miss(texts: Iterable[str], promise: str) -> str:
    """Returns why the first near miss of the promise does not count, or else of `<blocked>`; "" =
    there is none."""
    texts = [text for text in texts if _may_be_near(text, promise)]
    if not texts:
        return ""
    from sisyphus.ralph import near_misses

    return near_misses.first(texts, promise)


def _may_be_near(text: str, promise: str) -> bool:
    """Tells whether a message has a tag, a part of one, or the words of the promise. However those
    of one in ASCII are written, with quotes, escapes or blanks, its last word stands in the message
    as it is. Others may look different, so that all messages count."""
    if "<blocked>" in text or "promise" in text.casefold():
        return True
    words = promise.split()
    return bool(words) and (not words[-1].isalnum() or not promise.isascii() or words[-1] in text)
