"""A completion word that describes: an attribute, a verb with its object, a manner, a tool."""

from __future__ import annotations

from sisyphus.enforce.words import english
from sisyphus.enforce.words.place import has_pair, is_finite
from sisyphus.markdown import HIDDEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.words.place import Place

_LISTS_OF = frozenset((word, "of") for word in english.LISTS)
_PRAISE = frozenset({"well", "nicely", "hard", "than", "of"})
_NAMED = frozenset({"word", "words", "string", "term", "flag", "named", "called"})
_BEFORE_ATTRIBUTES = english.ARTICLES | _PRAISE | _NAMED
_BEHIND_THATS_IT = frozenset({"for", "from", "then", "folks", "now", "and", "so"})
_BEHIND_IMPLEMENTED = frozenset({"in", "as", "by", "via", "using", "with", "through", "on", "at"})
_COPULAS = frozenset({"been", "looks", "feels", "seems", "remains", "be", "being"})
_UNITS = frozenset({"s", "ms", "\u00b5s", "m", "h", "sec", "min", "second", "minute", "hour"})
_BEFORE_VERBS = english.ADVERBS | {"been"}
_BEFORE_COMPLETE = english.ADVERBS | english.NOT
_BEFORE_OBJECTS = english.SUBJECTS | english.ADVERBS | {"and"}
_EXIT = 4  # words within which "exit code" follows


def describes(place: Place) -> bool:
    looks = {
        "done": _is_manner,
        "complete": _is_attribute_or_verb,
        "completed": _is_label,
        "finished": _is_label,
        "implemented": _is_whereabouts,
        "set": _is_set_to_start,
        "up": _is_wrapper,
        "it": _points_elsewhere,
        "all": _points_elsewhere,
        "everything": _points_elsewhere,
    }
    look = looks.get(place.phrase[-1])
    return (
        not english.ASKED.isdisjoint(place.own)
        or has_pair(place.own, _LISTS_OF)
        or _is_attribute(place)
        or (look is not None and look(place))
    )


def is_of_a_tool(place: Place) -> bool:
    """ "npm install done", "done in 3 s", "finished with exit code 0"."""
    after = place.after
    subject = _subject(place)
    return (
        (not english.MACHINES.isdisjoint(subject[-1:]) and after[:1] != ["and"])
        or subject[-2:] == ["background", "task"]
        or "exit" in after[:_EXIT]
        or (after[:1] in (["in"], ["after"], ["within"]) and _is_duration(after[1:3]))
    )


def _subject(place: Place) -> list[str]:
    """The words before the verb."""
    own = place.own
    end = len(own)
    while end and (own[end - 1] in _BEFORE_VERBS or is_finite(own[end - 1])):
        end -= 1
    return own[:end]


def _is_duration(words: list[str]) -> bool:
    if not words or not words[0][0].isdecimal():
        return False
    unit = words[0].lstrip("0123456789.,") or " ".join(words[1:])
    return unit in _UNITS or unit[:-1] in _UNITS


def _is_attribute(place: Place) -> bool:
    """ "a complete list", "the finished product", "well done", "the word done"."""
    before = place.before[-1:]
    return len(place.phrase) == 1 and before != [] and before[0] in _BEFORE_ATTRIBUTES


def _is_manner(place: Place) -> bool:
    """ "done by the server", "done in `main.py`"."""
    first, second = (*place.after[:2], "", "")[:2]
    if (first, second) == ("so", "far"):
        return False
    is_place = first == "in" and any(mark in second for mark in (HIDDEN, "/", "."))
    return first in english.MANNERS or is_place


def _is_attribute_or_verb(place: Place) -> bool:
    """ "complete the function", "complete rewrite", but not "is complete", "task complete"."""
    end = len(place.before)
    while end and place.before[end - 1] in _BEFORE_COMPLETE:
        end -= 1
    verb = "".join(place.before[:end][-1:])
    if verb in _COPULAS or verb.endswith("n't") or is_finite(verb):
        return False
    return place.after != [] and place.after[0] not in english.BEHIND_COMPLETE


def _is_label(place: Place) -> bool:
    """ "Completed tasks:", "returns finished jobs", but not "I completed items 1 to 3"."""
    before = "".join(place.before[-1:])
    if before in english.PREPOSITIONS:
        return True
    if not _is_plural("".join(place.after[:1])):
        return False
    if not before:
        return len(place.after) == 1 or is_finite(place.after[1])
    is_verb = before in _BEFORE_OBJECTS or is_finite(before)
    return before == "all" or not is_verb


def _is_plural(word: str) -> bool:
    return word == "work" or (word.endswith("s") and word not in english.NO_PLURALS)


def _is_whereabouts(place: Place) -> bool:
    """ "X is implemented in `x.py`"; that it has been says more."""
    return place.phrase[0] in ("is", "are") and not _BEHIND_IMPLEMENTED.isdisjoint(place.after[:1])


def _is_set_to_start(place: Place) -> bool:
    """ "a small set of", "I am all set to begin"; the user may be all set to use it."""
    is_mine = not {"i", "i'm", "we", "we're"}.isdisjoint(place.own)
    return place.after[:1] == ["of"] or (is_mine and place.after[:1] == ["to"])


def _is_wrapper(place: Place) -> bool:
    return place.after[:1] == ["in"]


def _points_elsewhere(place: Place) -> bool:
    """ "that's all it takes"."""
    return not _BEHIND_THATS_IT.issuperset(place.after[:1])
