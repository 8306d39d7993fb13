"""The sentences of a message's prose, their clauses, and the words of these.

A word is what stands between spaces, without the marks around it, in lower case. Whatever has a
mark within stays whole ("done.md", "is_done", "well-done", "done()") and so is another word than
"done". `HIDDEN` stands for what the prose hides, for example inline code.
"""

from __future__ import annotations

from sisyphus.enforce.words.phrases import plain
from sisyphus.markdown import HIDDEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from sisyphus.enforce.words.prose import Block, Prose

_KEPT_BEFORE = frozenset("/\\@#$%&=+<>|^`~-.")
_KEPT_BEHIND = frozenset("/\\@#$%&=+<>|^`~-(")
_ENDS = frozenset(".!?\u2026\u3002\uff01\uff1f")
_QUESTIONS = frozenset("?\uff1f")
_BREAKS = frozenset(",;:()[]{}")
_SHORT = frozenset({"e.g", "i.e", "vs", "cf", "approx"})
_I = frozenset({"i", "i'm", "i'll", "i've", "i'd"})
_FIRST_SYMBOL = "\u2190"  # arrows, signs, emoji: from here on
_RULER = 3


class Clause:
    """A part of a sentence. `mark` ends it: ",", ";", ":", a bracket, a dash, a sign, or none."""

    __slots__ = ("end", "mark", "start", "words")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.mark = ""
        self.words: list[str] = []


class Sentence:
    """`text`: as it is written. `kind` is that of its block, which may have a box that is open."""

    __slots__ = ("clauses", "has_open_box", "is_question", "kind", "source", "words")

    def __init__(self, clauses: list[Clause], block: Block, source: str) -> None:
        self.clauses = clauses
        self.words = [word for clause in clauses for word in clause.words]
        self.kind = block.kind
        self.has_open_box = block.has_open_box
        self.is_question = False
        self.source = source

    def text(self, at: int = 0) -> str:
        """From the clause `at` on."""
        return self.source[self.clauses[at].start : self.clauses[-1].end]


def backwards(prose: Prose) -> Iterator[Sentence]:
    """From the last one on; what nobody asks for is not read."""
    import re

    chunk = re.compile(r"[\u2014\u2013\u2192]|\0+|[^\s\u2014\u2013\u2192\0]+")
    for block in reversed(prose.blocks):
        reader = _Reader(prose, block)
        for piece in chunk.finditer(prose.text, block.start, block.end):
            reader.take(piece)
        yield from reversed(reader.finish())


class _Reader:
    """Where the pieces so far have left a block."""

    __slots__ = ("_block", "_clause", "_clauses", "_end", "_prose", "_sentences")

    def __init__(self, prose: Prose, block: Block) -> None:
        self._prose = prose
        self._block = block
        self._end = block.start  # of the piece before
        self._clause: Clause | None = None
        self._clauses: list[Clause] = []
        self._sentences: list[Sentence] = []

    def take(self, piece: re.Match[str]) -> None:
        chunk = piece[0]
        if "\n" in self._prose.text[self._end : piece.start()] and self._begins_anew(piece):
            self._end_sentence()
        self._end = piece.end()
        if chunk.isalpha() or chunk[0] == HIDDEN:
            self._add(chunk.lower().rstrip(HIDDEN) or HIDDEN, piece)
            return
        start, end = _bounds(chunk)
        if start == end:
            self._sign(chunk)
            return
        if _BREAKS.intersection(chunk[:start]):
            self._end_clause(chunk[0])
        word = plain(chunk[start:end])
        self._add(word, piece)
        self._end_with(chunk[end:], is_short=word in _SHORT)

    def finish(self) -> list[Sentence]:
        self._end_sentence()
        return self._sentences

    def _begins_anew(self, piece: re.Match[str]) -> bool:
        """Whether a piece at the start of a line begins a sentence, without a mark before it."""
        chunk = piece[0]
        if chunk[0] == HIDDEN:
            return self._prose.text[piece.end() : piece.end() + 1] in ("", "\n")
        first = chunk.lstrip("*_([\"'")[:1]
        if first.isupper():
            start, end = _bounds(chunk)
            return plain(chunk[start:end]) not in _I
        return first >= _FIRST_SYMBOL and not first.isalnum()

    def _add(self, word: str, piece: re.Match[str]) -> None:
        if self._clause is None:
            self._clause = Clause(piece.start())
        self._clause.words.append(word)
        self._clause.end = piece.end()

    def _sign(self, chunk: str) -> None:
        """A piece without a word: a mark on its own, a ruler, a dash, an emoji."""
        if _ENDS.intersection(chunk):
            self._end_with(chunk, is_short=False)
        elif len(chunk) >= _RULER and not chunk.strip("-=*_"):
            self._end_sentence()
        else:
            self._end_clause(chunk[0])

    def _end_with(self, marks: str, *, is_short: bool) -> None:
        if _ENDS.intersection(marks) and not is_short:
            self._end_sentence(is_question=bool(_QUESTIONS.intersection(marks)))
        elif breaks := _BREAKS.intersection(marks):
            self._end_clause(max(breaks))

    def _end_clause(self, mark: str) -> None:
        if self._clause is not None:
            self._clauses.append(self._clause)
            self._clause = None
        if mark and self._clauses:
            self._clauses[-1].mark = mark

    def _end_sentence(self, *, is_question: bool = False) -> None:
        self._end_clause("")
        sentence = Sentence(self._clauses, self._block, self._prose.source)
        sentence.is_question = is_question
        if any(word != HIDDEN for word in sentence.words):
            self._sentences.append(sentence)
        self._clauses = []


def _bounds(chunk: str) -> tuple[int, int]:
    """Where the word in `chunk` begins and ends; the same place where there is none."""
    start, end = 0, len(chunk)
    while start < end and not (chunk[start].isalnum() or chunk[start] in _KEPT_BEFORE):
        start += 1
    while end > start and not (chunk[end - 1].isalnum() or chunk[end - 1] in _KEPT_BEHIND):
        end -= 1
    word = chunk[start:end]
    is_word = word == "%" or any(letter.isalnum() for letter in word)
    return (start, end) if is_word else (0, 0)
