"""Lists of phrases, and where one of them stands in a row of words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Node = dict[Any, Any]

MOST = 500
"""Phrases of a list that are used; a longer list is a mistake, not a wish."""

LONGEST = 100
"""Characters of a phrase; a longer one is passed over."""

_HIDDEN = "\0"  # what a message hides is such a word
_MARKS = ".,;:!?\"'()"  # around a word, in a message too
_END = 0  # the key that says: a phrase ends here
_OPEN = 1  # the key of the beginnings with which a phrase's last word may be spelled


class Phrases:
    """A list of phrases as a tree of their words, so that a search costs the same for any list."""

    __slots__ = ("_tree",)

    def __init__(self, phrases: Sequence[str]) -> None:
        self._tree: Node = {_OPEN: set()}
        for phrase in phrases[:MOST]:
            words = _words(phrase)
            if words:
                self._add(words)

    def _add(self, words: list[str]) -> None:
        node = self._tree
        for word in words[:-1]:
            node = node.setdefault(word, {})
        last = words[-1]
        if last.endswith("*"):
            node.setdefault(_OPEN, set()).add(last[:-1])
        else:
            node.setdefault(last, {})[_END] = True

    def may_be_in(self, text: str) -> bool:
        """Whether one of the phrases can stand in `text`: a cheap look before the real one."""
        lower = plain(text)
        begins = {word for word in self._tree if word != _OPEN} | self._tree[_OPEN]
        return any(begin in lower for begin in begins)

    def find(self, words: list[str]) -> Iterator[tuple[int, int]]:
        """Where phrases begin and end in `words`: the longest at each place."""
        for at in range(len(words)):
            end = self._end(words, at)
            if end:
                yield at, end

    def find_apart(self, words: list[str]) -> Iterator[tuple[int, int]]:
        """The same without those that begin within the one before."""
        free = 0
        for at, end in self.find(words):
            if at >= free:
                yield at, end
                free = end

    def _end(self, words: list[str], at: int) -> int:
        """The end of the longest phrase that begins `at`; 0 = none does."""
        node = self._tree
        longest = 0
        for index in range(at, len(words)):
            word = words[index]
            if _OPEN in node and _begins(word, node[_OPEN]):
                longest = index + 1
            if word not in node:
                break
            node = node[word]
            if _END in node:
                longest = index + 1
        return longest


def plain(text: str) -> str:
    """`text` as phrases are spelled: lower case, straight apostrophes."""
    return text.lower().replace("\u2019", "'")


def _words(phrase: object) -> list[str]:
    """The words of an entry; [] of one that is no phrase. A `*` stands at the end alone."""
    if not isinstance(phrase, str) or len(phrase) > LONGEST or _HIDDEN in phrase:
        return []
    words = [bare for word in plain(phrase).split() if (bare := word.strip(_MARKS))]
    is_usable = words != [] and words[-1] != "*" and "*" not in "".join(words)[:-1]
    return words if is_usable else []


def _begins(word: str, begins: set[str]) -> bool:
    return any(word[:length] in begins for length in range(1, min(len(word), LONGEST) + 1))
