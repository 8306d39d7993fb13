"""A completion word that depends on a condition: if, once, when it is done …"""

from __future__ import annotations

from sisyphus.enforce.words.english import IF, JOINERS, PARTERS, WHEN
from sisyphus.enforce.words.place import has_pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.words.place import Place

_WHOLE_SENTENCE = frozenset({"when", "once"})
_BEHIND = frozenset({*IF, "when", "once"})
_AS_SOON_AS = frozenset({("as", "soon"), ("as", "long"), ("in", "case"), ("the", "time")})
_PRESENT = ("'s", "'re", "'m")
_PAST = frozenset({"was", "were", "did", "had", "ran"})
_PARTING_MARKS = frozenset({";", ":", "\u2014", "\u2013", "\u2192"})


def is_conditional(place: Place) -> bool:
    return (
        _has_condition(place.before)
        or any(_is_when(place.own[at:]) for at in range(len(place.own)))
        or _is_then(place.before)
        or _follows_condition(place)
        or _precedes_condition(place)
    )


def _has_condition(words: list[str]) -> bool:
    return not IF.isdisjoint(words) or has_pair(words, _AS_SOON_AS)


def _is_when(words: list[str]) -> bool:
    """Whether `words` begin with a "when" or the like; "once more" is none."""
    return words[0] in WHEN and words[1:2] not in (["more"], ["again"])


def _is_then(before: list[str]) -> bool:
    """ "Then it is done", "then done", but not "Then I finished it"."""
    is_present = any(word in ("is", "are") or word.endswith(_PRESENT) for word in before)
    return before[:1] == ["then"] and (is_present or len(before) == 1)


def _follows_condition(place: Place) -> bool:
    """ "If the tests pass, we are done", but not "When I ran them, all was done"."""
    for clause in place.earlier:
        if clause.mark in _PARTING_MARKS:
            break
        begins = not _WHOLE_SENTENCE.isdisjoint(clause.words[:2])
        if _has_condition(clause.words) or (begins and _PAST.isdisjoint(clause.words)):
            return True
    return False


def _precedes_condition(place: Place) -> bool:
    """ "It is done when the tests pass", "Done, unless they fail", but not "Done, if you look"."""
    for at, word in enumerate(place.after):
        if word in _BEHIND or has_pair(place.after[at : at + 2], _AS_SOON_AS):
            return True
        if word in JOINERS or word in PARTERS:
            return False
    later = place.later.words if place.later and place.mark == "," else []
    return not _BEHIND.isdisjoint(later[:1]) and "you" not in later
