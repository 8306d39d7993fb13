"""The verdict on the sentences of a message, from the last one back."""

from __future__ import annotations

from itertools import tee

from sisyphus.enforce.words import ahead, doubts, questions
from sisyphus.enforce.words.finding import Finding
from sisyphus.enforce.words.lists import NO_WORDS
from sisyphus.enforce.words.place import Place
from sisyphus.markdown import HIDDEN
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus.enforce.words.phrases import Phrases
    from sisyphus.enforce.words.sentences import Sentence

    Spans = list[tuple[int, int, int]]
    """Of phrases: the number of the clause, begin and end in its words."""

LONGEST_CLAIM = 120
_READ = 10 * LONGEST_CLAIM  # characters of a sentence that are folded for it
_EMPHASIS = "*_# "


def judge(backwards: Iterable[Sentence], claims: Phrases, works: Phrases) -> Finding:
    """The last sentence decides that says that the work is done, or that it is not.

    Where none does, the reason is the doubt about the last completion word.
    """
    end, backwards = tee(backwards)
    if questions.asks(end):
        return Finding("the message ends with a question to the user")
    why = ""
    following = None
    for sentence in backwards:
        found, decides = _look(sentence, following, claims, works)
        if decides:
            return found
        why = why or found.why
        following = sentence
    return Finding(why or NO_WORDS)


def _look(
    sentence: Sentence, following: Sentence | None, claims: Phrases, works: Phrases
) -> tuple[Finding, bool]:
    """What one sentence says, and whether it decides. A question never does."""
    spans = [
        (index, *span)
        for index, clause in enumerate(sentence.clauses)
        for span in claims.find_apart(clause.words)
    ]
    if sentence.is_question:
        return _doubted(sentence, spans, doubts.QUESTION.why), False
    work = ahead.find(sentence, following, works)
    if work and not work.is_beside:
        return Finding(f"work goes on: {_quote(work.text)}"), True
    if work:
        return _doubted(sentence, spans, f"stands beside {_quote(work.text)}"), False
    if spans and doubts.is_foreign(sentence.words):
        return _doubted(sentence, spans, doubts.FOREIGN.why), False
    return _weigh(sentence, spans)


def _weigh(sentence: Sentence, spans: Spans) -> tuple[Finding, bool]:
    """The last completion word of the sentence decides about which there is no mere doubt."""
    why = ""
    for index, start, end in reversed(spans):
        place = Place(sentence, index, start, end)
        doubt = doubts.find(place)
        if doubt is None:
            claim = _claim(sentence, index)
            return Finding(f"{_quote(claim)} says that the work is done", claim), True
        why = why or f"{_quote(' '.join(place.phrase))} {doubt.why}"
        if doubt.decides:
            return Finding(why), True
    return Finding(why), False


def _doubted(sentence: Sentence, spans: Spans, why: str) -> Finding:
    if not spans:
        return Finding("")
    index, start, end = spans[-1]
    return Finding(f"{_quote(' '.join(sentence.clauses[index].words[start:end]))} {why}")


def _claim(sentence: Sentence, index: int) -> str:
    """The sentence on one line; of a long one what begins with the clause `index`."""
    whole = _line(sentence.text())
    line = whole if len(whole) <= LONGEST_CLAIM else _line(sentence.text(index))
    return line[:LONGEST_CLAIM].rstrip()


def _line(text: str) -> str:
    """Without the emphasis around all of it."""
    line = one_line(text[:_READ])
    bare = line.strip(_EMPHASIS)
    return line if "*" in bare else bare


def _quote(words: str) -> str:
    return f"\u201c{words.replace(HIDDEN, chr(0x2026))}\u201d"
