"""A text as the modules of the words see it."""

from __future__ import annotations

from sisyphus.enforce.words import prose, sentences
from sisyphus.enforce.words.lists import CLAIMS
from sisyphus.enforce.words.phrases import Phrases
from sisyphus.enforce.words.place import Place

MOST = 100_000


def read(text: str) -> list[sentences.Sentence]:
    """In the order of the text."""
    return list(sentences.backwards(prose.read(text, MOST)))[::-1]


def clauses(text: str) -> list[list[str]]:
    """The words of the clauses of the only sentence."""
    (sentence,) = read(text)
    return [clause.words for clause in sentence.clauses]


def place(text: str) -> Place:
    """The last completion word of the last sentence."""
    sentence = read(text)[-1]
    claims = Phrases(CLAIMS)
    found = [
        (index, start, end)
        for index, clause in enumerate(sentence.clauses)
        for start, end in claims.find_apart(clause.words)
    ]
    return Place(sentence, *found[-1])
