"""Whether a sentence says that work goes on: by a phrase of the list, or by how it begins."""

from __future__ import annotations

from sisyphus.enforce.words import beginnings
from sisyphus.enforce.words.lists import BESIDE
from sisyphus.enforce.words.place import has_pair
from sisyphus.markdown import HIDDEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.enforce.words.phrases import Phrases
    from sisyphus.enforce.words.sentences import Sentence

_SHOWN = 6  # words of a quotation for a log
_NONE_AT_ALL = 3  # words of a sentence such as "None at all."

_OFFERS = frozenset(
    (word, you)
    for word in ("if", "unless", "whenever", "when", "once")
    for you in ("you", "you'd", "you're", "you've")
) | {("happy", "to"), ("glad", "to")}


class Work:
    """`text`: the words that say so. `is_beside`: they only hold back a claim beside them."""

    __slots__ = ("is_beside", "text")

    def __init__(self, words: list[str], *, is_beside: bool = False) -> None:
        self.text = " ".join(words[:_SHOWN]).replace(HIDDEN, "\u2026")
        self.is_beside = is_beside


def find(sentence: Sentence, following: Sentence | None, works: Phrases) -> Work | None:
    """What speaks of work in `sentence`; `following` is the sentence behind it."""
    words = sentence.words
    if sentence.has_open_box:
        return Work(["[ ]", *words])
    if has_pair(words, _OFFERS):
        return None
    answer = following.words if following and len(following.words) <= _NONE_AT_ALL else []
    found = list(_listed(sentence, answer, works))
    if any(not work.is_beside for work in found):
        return next(work for work in found if not work.is_beside)
    if begins := beginnings.find(sentence, answer):
        return Work(begins)
    return found[0] if found else None


def _listed(sentence: Sentence, answer: list[str], works: Phrases) -> Iterator[Work]:
    for at, clause in enumerate(sentence.clauses):
        behind = sentence.clauses[at + 1].words if at + 1 < len(sentence.clauses) else answer
        for start, end in works.find(clause.words):
            from sisyphus.enforce.words import settled  # most messages need none of it

            if not settled.is_no_work(clause.words, start, end, behind):
                phrase = clause.words[start:end]
                yield Work(clause.words[start:], is_beside=" ".join(phrase) in BESIDE)
