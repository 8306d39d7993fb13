"""Says why a promise, or `<blocked>`, does not count that the agent came near."""

from __future__ import annotations

import re

from sisyphus.ground import markdown
from sisyphus.ground.text import sentence
from sisyphus.ralph import tags
from sisyphus.ralph.tags import CONTINUED, CONTINUES, is_in_comment, is_need, normalize

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus.ralph.tags import Tag

_LOOSE = re.compile(
    r"<\s*promise\b[^<>]*>(.*?)(?:<\s*/\s*promise\s*>|$)", re.DOTALL | re.IGNORECASE
)

_PARTS = re.compile(r"(?:<|&lt;|\[)?+\s*+/?+\s*+promise\s*+(?:>|&gt;|\]|:)?+", re.IGNORECASE)
"""What is left of a tag that is none."""

_ROW = 300
"""The longest line in which we look for such parts."""


def first(texts: Iterable[str], promise: str) -> str:
    """See `promise.near_miss`."""
    texts, wanted = list(map(markdown.plain, texts)), normalize(promise)
    for text in texts if wanted else ():
        found = list(tags.of("promise", text))
        if found:
            message, tag = min(found, key=lambda pair: normalize(pair[1].token) != wanted)
            return _what_is_wrong(tag, message.fault(tag), wanted)
        loose = _LOOSE.search(text)
        if loose and normalize(loose[1]) == wanted:
            return _what_is_malformed(text, loose)
        if wanted in map(normalize, text.splitlines()):
            return "The promise is there, but without its tag."
        if wanted in map(_without_parts, text.splitlines()):
            return "The promise is there, but not between <promise> and </promise>, its tag."
    return next((miss for text in texts if (miss := _missed_block(text))), "")


def _what_is_wrong(tag: Tag, fault: str, wanted: str) -> str:
    """Says why a well-formed tag does not count."""
    if normalize(tag.token) != wanted:
        return f"The tag does not contain the promise, but: {sentence(tag.token, 40)}"
    if not fault:
        return "You said it before you knew of this loop. Say it again when its task is done."
    return f"The tag {fault}. {_how(fault)} when the task is done."


def _what_is_malformed(text: str, loose: re.Match[str]) -> str:
    """Says why something that looks like a tag is none that we see."""
    tag = loose[0]
    if "<promise>" not in tag:
        return "Write the tag exactly as <promise>: lower case, no attributes."
    if not tag.endswith("</promise>"):
        return "The closing </promise> is missing."
    place = "a comment" if is_in_comment(text, loose.start()) else "code or a block quote"
    return f"The tag is in {place}. Put it alone on a line when the task is done."


def _without_parts(row: str) -> str:
    """Returns the words of a line that has parts of the tag; "" if it has none."""
    rest = _PARTS.sub("", row) if len(row) <= _ROW else row
    return "" if rest == row else normalize(rest)


def _missed_block(text: str) -> str:
    """Says why a `<blocked>` does not count; "" = there is none."""
    for message, tag in tags.of("blocked", text):
        if fault := message.fault(tag):
            return f"Your <blocked> {fault}. {_how(fault)}."
        if not is_need(tag.token):
            return "Your <blocked> names no need. Say in it, in your own words, what you need."
    return ""


def _how(fault: str) -> str:
    return "Send it alone" if fault in (CONTINUES, CONTINUED) else "Put it alone on a line"
