"""A completion word that is taken back or put off: not, never, no, will be, to be, make sure …"""

from __future__ import annotations

from sisyphus.enforce.words.english import (
    HOPES,
    MODALS,
    NONE,
    NOT,
    NOT_PAIRS,
    ONLY_SEEMS_NOT,
    SEEMS,
    SUBJECTS,
    VERBS_BEHIND_TO,
)
from sisyphus.enforce.words.place import has_pair, is_finite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.words.place import Place

_NEAR = 5  # words that may stand between a "no" and what it negates
_MAKE_SURE = frozenset({("make", "sure"), ("making", "sure")})
_CHECK = frozenset({"check", "verify", "confirm", "consider"})
_SHORT_MODALS = ("'ll", "'d")


def is_negated(place: Place) -> bool:
    return (
        any(_is_not(place.joined[at:]) for at in range(len(place.joined)))
        or has_pair(place.joined, NOT_PAIRS)
        or any(_is_no(place.own[at:]) for at in range(len(place.own))[-_NEAR:])
    )


def _is_not(words: list[str]) -> bool:
    """Whether `words` begin with a "not"; "not only" is none."""
    is_not = words[0] in NOT or words[0].endswith("n't")
    return is_not and ONLY_SEEMS_NOT.isdisjoint(words[1:2])


def _is_no(words: list[str]) -> bool:
    return words[0] in NONE and ONLY_SEEMS_NOT.isdisjoint(words[1:2])


def is_put_off(place: Place) -> bool:
    own = place.own
    return (
        not HOPES.isdisjoint(own)
        or has_pair(own, _MAKE_SURE)
        or any(_is_check(own[:at], word) for at, word in enumerate(own))
        or _is_governed(own)
    )


def _is_check(before: list[str], word: str) -> bool:
    """ "Check that it is done", "to verify that …", but not "I can confirm that …"."""
    return word in _CHECK and before[-1:] in ([], ["to"], ["please"])


def _is_governed(own: list[str]) -> bool:
    """Whether the last verb before the phrase is a modal: "will soon be", "to be", "can get"."""
    for at in range(len(own) - 1, -1, -1):
        if _is_statement(own, at):
            return False
        if _is_modal(own, at):
            return True
    return False


def _is_statement(own: list[str], at: int) -> bool:
    """ "can see that it is": not the modal's verb counts. "will have" is still the modal's."""
    has_subject = not SUBJECTS.isdisjoint(own[at - 1 : at])
    return is_finite(own[at]) and (own[at] != "have" or has_subject)


def _is_modal(own: list[str], at: int) -> bool:
    word = own[at]
    if word == "to" and at + 1 < len(own) and own[at + 1] not in VERBS_BEHIND_TO:
        return False
    is_modal = word == "to" or word in MODALS or word.endswith(_SHORT_MODALS)
    return is_modal and SEEMS.isdisjoint(own[max(0, at - 2) : at])
