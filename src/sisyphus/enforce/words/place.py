"""A phrase in its sentence, and which words around it belong to the same statement."""

from __future__ import annotations

from itertools import pairwise

from sisyphus.enforce.words.english import ADVERBS, FILLERS, FINITE, JOINERS, PARTERS, SUBJECTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from sisyphus.enforce.words.sentences import Clause, Sentence

WINDOW = 20
"""Words that are looked at before a phrase; behind it 12."""

_BEHIND = 12
_CONTRACTED = ("'s", "'re", "'m", "'ve")
_LOOSE_MARKS = frozenset({",", "(", ")", "[", "]"})  # they part less than a colon or a dash does


class Place:
    """`before`, `after`: the words of the clause around the `phrase`. `own`: those of `before`
    that belong to its statement; `joined`: with what a comma or bracket only seems to part.
    `mark` ends the clause, `later` is the next one, `behind` is `after` with its words. `earlier`:
    the clauses before, the nearest first."""

    __slots__ = (
        "after", "before", "behind", "earlier", "joined", "later", "mark", "own", "phrase",
    )  # fmt: skip

    def __init__(self, sentence: Sentence, index: int, start: int, end: int) -> None:
        clauses = sentence.clauses
        words = clauses[index].words
        self.mark = clauses[index].mark
        self.phrase = words[start:end]
        self.before = words[max(0, start - WINDOW) : start]
        self.after = words[end : end + _BEHIND]
        self.later: Clause | None = clauses[index + 1] if index + 1 < len(clauses) else None
        self.behind = [*self.after, *(self.later.words[:_BEHIND] if self.later else ())]
        self.earlier = clauses[max(0, index - _BEHIND) : index][::-1]
        self.own = statement(self.before)
        self.joined = self._joined()

    def _joined(self) -> list[str]:
        """ "It is not, however, complete": a clause that is nothing but the phrase has no other
        statement than the clause before it."""
        words = self.own
        is_bare = words == self.before and ADVERBS.issuperset(words)
        for clause in self.earlier if is_bare else ():
            if clause.mark not in _LOOSE_MARKS:
                break
            words = clause.words[-WINDOW:] + words
            if not FILLERS.issuperset(clause.words):
                break
        return words


def statement(words: list[str]) -> list[str]:
    """The end of `words` that belongs to what follows them: from the last "but" on, or from the
    last "and" behind which there is a subject or a verb."""
    has_verb = False
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        if word in PARTERS or (has_verb and word in JOINERS):
            return words[at + 1 :]
        has_verb = has_verb or word in SUBJECTS or is_finite(word)
    return words


def is_finite(word: str) -> bool:
    return word in FINITE or word.endswith(_CONTRACTED)


def has_pair(words: list[str], pairs: AbstractSet[tuple[str, str]]) -> bool:
    return not pairs.isdisjoint(pairwise(words))
