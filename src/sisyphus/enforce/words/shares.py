"""A completion word that is said of a part: almost, half, 3 of 5, 80 %, except for …"""

from __future__ import annotations

from sisyphus.enforce.words.english import ARTICLES, EXCEPT, PARTLY
from sisyphus.enforce.words.place import has_pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.words.place import Place

_BUT = {("all", "but"), ("but", "one"), ("but", "two"), ("but", "three")}
_BEFORE = _BUT | {("pretty", "much"), ("or", "less"), ("at", "least"), ("good", "as")}
_BEHIND = _BUT | {("so", "far"), ("other", "than"), ("but", "not"), ("most", "part")}
_BEFORE_ONLY = ARTICLES | {"not"}
_LITTLE = frozenset({"half", "most", "some", "part", "parts", "little", "few", "nothing", "only"})
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNKNOWN = float("inf")
_PERCENT = 100
_DIGITS = 9  # of a number that is read
_NEAR = 4


def is_part(place: Place) -> bool:
    own, behind = place.own, place.behind[:_NEAR]
    return (
        not PARTLY.isdisjoint(own)
        or own[-1:] == ["about"]
        or _has_only(own)
        or has_pair(place.before, _BEFORE)
        or has_pair(behind, _BEHIND)
        or not EXCEPT.isdisjoint(behind)
        or not _LITTLE.isdisjoint(place.after[:1])
        or is_less(own)
        or is_less(behind)
        or _is_taken_back(place.later.words if place.later else place.after)
    )


def _is_taken_back(words: list[str]) -> bool:
    """ "The tests are complete, but the docs are not"."""
    return words[-1:] == ["not"] or "".join(words[-1:]).endswith("n't")


def _has_only(own: list[str]) -> bool:
    """ "Only one test is done", but not "the only task" or "not only"."""
    return any(
        word == "only" and (at == 0 or own[at - 1] not in _BEFORE_ONLY)
        for at, word in enumerate(own)
    )


def is_less(words: list[str]) -> bool:
    """Whether `words` name less than the whole: "3/5", "two of the five", "80 %"."""
    return any(_is_less(words, at) for at in range(len(words)))


def _is_less(words: list[str], at: int) -> bool:
    word = words[at]
    if word == "of":
        counted = [word for word in words[max(0, at - 2) : at] if word != "out"]
        total = min(map(_number, words[at + 1 : at + _NEAR]), default=_UNKNOWN)
        return _number(*counted[-1:]) < total
    if word.endswith("%") or word == "percent":
        is_near = at > len(words) - _NEAR or words[at + 1 : at + 2] == ["of"]
        is_apart = word in ("%", "percent")
        percent = words[at - 1] if is_apart and at else word.removesuffix("%")
        return is_near and _number(percent.strip("~<")) < _PERCENT
    part, slash, whole = word.partition("/")
    return slash != "" and _number(part) < _number(whole) < _UNKNOWN


def _number(word: str = "") -> float:
    """The number that `word` spells, else infinity."""
    if word in _NUMBERS:
        return _NUMBERS.index(word)
    is_number = len(word) <= _DIGITS and word.replace(".", "", 1).isdecimal()
    return float(word) if is_number else _UNKNOWN
