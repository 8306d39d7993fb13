"""What a paragraph only shows: quoted speech, links, tags, rows of a table."""

from __future__ import annotations

from sisyphus.markdown import HIDDEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

LONGEST = 400
"""Characters of a quotation or a link. One that does not end within them is a lone mark."""

_DOUBLE = {
    '"': '"',
    "\u201e": "\u201c\u201d",  # before its own end, which opens others
    "\u201c": "\u201d",
    "\u00ab": "\u00bb",
    "\u300c": "\u300d",
}
_SINGLE = {"'": "'", "\u2018": "\u2019"}  # apostrophes too
_TRIES = 8  # apostrophes that may stand in a quotation between single marks


def hide(text: str) -> str:
    """`text` with all that blotted out, in its old length."""
    text = _without_rows(_without_links(text))
    for opener in {**_DOUBLE, **_SINGLE}:
        if opener in text:
            text = _without_speech(text, opener)
    return text


def _without_speech(text: str, opener: str) -> str:
    parts = []
    done = 0
    at = text.find(opener)
    while at >= 0:
        end = _close(text, at) if opener in _DOUBLE else _close_single(text, at)
        if end:
            parts += [text[done:at], HIDDEN * (end - at)]
            done = end
        at = text.find(opener, end or at + 1)
    return "".join([*parts, text[done:]])


def _close(text: str, at: int) -> int:
    """Where the quotation that begins `at` ends; 0 = nowhere near."""
    closers = _DOUBLE[text[at]]
    ends = [end for closer in closers if (end := text.find(closer, at + 1, at + LONGEST)) > 0]
    return min(ends) + 1 if ends else 0


def _close_single(text: str, at: int) -> int:
    """The same for a mark that is an apostrophe where letters stand on both of its sides."""
    if text[at - 1 : at].isalnum() or not text[at + 1 : at + 2].strip():
        return 0
    closer = _SINGLE[text[at]]
    end = at + 1
    for _ in range(_TRIES):
        end = text.find(closer, end, at + LONGEST) + 1
        if not end:
            return 0
        if not text[end : end + 1].isalnum() and not text[end - 2].isspace():
            return end
    return 0


def _without_links(text: str) -> str:
    """A link's text is the title of something else; a tag says nothing."""
    if "](" not in text and "<" not in text:
        return text
    import re

    link = re.compile(rf"!?\[[^\[\]]{{0,{LONGEST}}}\]\([^()\n]{{0,{LONGEST}}}\)")
    tag = re.compile(rf"</?[A-Za-z][^<>\n]{{0,{LONGEST}}}>")
    return tag.sub(_blank, link.sub(_blot, text))


def _without_rows(text: str) -> str:
    if "\n|" not in text and not text.startswith("|"):
        return text
    import re

    return re.sub(r"^\|.*", _blot, text, flags=re.MULTILINE)


def _blot(found: re.Match[str]) -> str:
    return HIDDEN * len(found[0])


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])
