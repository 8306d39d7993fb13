"""Finds `<promise>TOKEN</promise>` if the agent says it, not if it only quotes or shows it.

A tag counts if it is alone on its line. At the end of a message it counts unless its sentence
denies, conditions or postpones it. In code, comments and block quotes it never counts.
`<blocked>…</blocked>` follows the same rules.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sisyphus import markdown
from sisyphus.text import one_line

_TAGS = {
    name: re.compile(rf"<{name}>((?:(?!</?{name}\b).){{0,2000}}?)</{name}>", re.DOTALL)
    for name in ("promise", "blocked")
}
_LOOSE = re.compile(
    r"<\s*promise\b[^<>]*>(.*?)(?:<\s*/\s*promise\s*>|$)", re.DOTALL | re.IGNORECASE
)

_HOW = "Put it alone on a line when the task is done."

_EMPHASIS = "*_~"
_JOINERS = "\u200d\ufe0f"  # in emoji
_QUOTES = "\"'“”„‘’«»‹›「『"
_SENTENCE_END = re.compile(r"[.!?:;。！？…](?=\s|$)|\n\s*\n|\n\s*(?=[-*+#]|\d+[.)])")
_NOT_YET = re.compile(
    r"\b(?:not|never|cannot|unless|until|till|before|if|once|when|whenever|"
    r"will|would|should|shall|could|going to|about to|yet|later|"
    r"to (?:output|print|emit|say|write))\b"
    r"|n['’]t\b|['’]ll\b",
    re.IGNORECASE,
)

_CURLY = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})


@dataclass(eq=False, repr=False)
class _Tag:
    """A tag in a message: its content, and all text before and after it."""

    token: str
    before: str
    after: str

    @property
    def is_alone(self) -> bool:
        return not (
            self.before.rpartition("\n")[2].strip(" \t" + _EMPHASIS)
            or _has_words(self.after.partition("\n")[0])
        )

    @property
    def is_last(self) -> bool:
        return not _has_words(self.after) and not self.before.endswith(tuple(_QUOTES))

    @property
    def sentence(self) -> str:
        """Returns the part of its sentence that comes before it."""
        start = 0
        text = self.before.rstrip(" \t" + _EMPHASIS)
        for end in _SENTENCE_END.finditer(text):
            if text[end.start()] not in ":;" or end.end() < len(text):
                start = end.end()
        return text[start:]

    @property
    def counts(self) -> bool:
        return self.is_alone or (self.is_last and not _NOT_YET.search(self.sentence))


def is_said(texts: Iterable[str], promise: str) -> bool:
    """Tells whether one of the agent's messages says the promise."""
    wanted = _normalize(promise)
    return any(
        tag.counts and _normalize(tag.token) == wanted
        for text in texts
        if wanted
        for tag in _tags("promise", text)
    )


def blocked_on(texts: Iterable[str]) -> str:
    """Returns what the agent says it needs from the user; "" = nothing."""
    for text in texts:
        for tag in _tags("blocked", text):
            if tag.counts and tag.token.strip():
                return " ".join(tag.token.split())
    return ""


def near_miss(texts: Iterable[str], promise: str) -> str:
    """Returns why the first near miss of the promise does not count; "" = there is none."""
    wanted = _normalize(promise)
    for text in texts if wanted else ():
        tags = sorted(_tags("promise", text), key=lambda tag: _normalize(tag.token) != wanted)
        if tags:
            return _what_is_wrong(tags[0], wanted)
        loose = _LOOSE.search(text)
        if loose and _normalize(loose[1]) == wanted:
            return _what_is_malformed(loose[0])
        if wanted in map(_normalize, text.splitlines()):
            return "The promise is there, but without its tag."
    return ""


def _what_is_wrong(tag: _Tag, wanted: str) -> str:
    """Says why a well-formed tag does not count."""
    if _normalize(tag.token) != wanted:
        return f"The tag does not contain the promise, but: {one_line(tag.token, 40)}"
    if tag.before.endswith(tuple(_QUOTES)):
        return f"The tag is in quotes. {_HOW}"
    if tag.is_last:
        return f"Its sentence denies or postpones it. {_HOW}"
    return f"The tag is in the middle of a line. {_HOW}"


def _what_is_malformed(tag: str) -> str:
    """Says why something that looks like a tag is none that we see."""
    if "<promise>" not in tag:
        return "Write the tag exactly as <promise>: lower case, no attributes."
    if not tag.endswith("</promise>"):
        return "The closing </promise> is missing."
    return f"The tag is in code or a block quote. {_HOW}"


def _tags(name: str, text: str) -> Iterator[_Tag]:
    """Yields the tags in a message, outside code and block quotes. Nested tags are skipped."""
    opening, closing = f"<{name}>", f"</{name}>"
    visible, plain = markdown.visible(text) if opening in text else "", markdown.plain(text)
    for match in _TAGS[name].finditer(visible):
        before, after = visible[: match.start()], visible[match.end() :]
        if not (before.rstrip().endswith(opening) or after.lstrip().startswith(closing)):
            yield _Tag(plain[match.start(1) : match.end(1)], before, after)


def _normalize(text: str) -> str:
    """Returns the text with plain quotes, single blanks, in one Unicode form and without escapes
    of Markdown and of quotes."""
    plain = unicodedata.normalize("NFC", text).translate(_CURLY)
    return " ".join(re.sub(r"\\([_*~`\\\"'])", r"\1", plain).split())


def _has_words(text: str) -> bool:
    """Tells whether a text has more than closing punctuation, symbols and emphasis."""
    return any(
        not c.isspace()
        and c not in _EMPHASIS + _JOINERS
        and unicodedata.category(c) not in ("Po", "Pe", "Pf", "So", "Sk", "Pd")
        for c in text
    )
