"""Words that make a promise at the end of a sentence no promise: not, if, later.

The list is short and errs on the side of going on: a model that has finished can say so alone on a
line, where no words stand before it.
"""

from __future__ import annotations

import re

NEGATING = (
    r"not|\w*n['\u2019]t|cannot|never|neither|nor|without|instead of|rather than|refuse\w*|unable"
)
CONDITIONING = (
    r"if|unless|when|whenever|once|until|till|before|after|as soon as|provided|assuming"
    r"|would|should|could|may|might|\w+['\u2019]d"
)
POSTPONING = (
    r"will|\w+['\u2019]ll|shall|going to|about to|(?:have|has|had) to|needs?(?: to)?|must|wants? to"
    r"|wait\w*|awaiting|expect\w*|later|soon|yet|next|still|almost|nearly|incomplete|unfinished"
    r"|(?:asked|told|supposed|ready|plan|remember|forgot|to) (?:to )?(?:output|say|emit|write)"
)

_DOUBT = re.compile(
    rf"\b(?:{NEGATING}|{CONDITIONING}|{POSTPONING})\b"
    r"|\bno(?=\W*$)"  # "no <promise>", but not "no errors are left: <promise>"
    r"|[\"\u201c\u201d\u2018\u00ab\u201e](?=[\s*_]*$)",  # an opening quote
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"(?<!e\.g)(?<!i\.e)[.!?\u2026][*_\"'\u201d\u2019)\]]*\s|[\u3002\uff01\uff1f]"
)


def find(words: str) -> str:
    """The first doubt in `words`, "" where there is none."""
    doubt = _DOUBT.search(words)
    return doubt[0] if doubt else ""


def last_sentence(text: str) -> str:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        start = end.end()
    return text[start:]
