"""Why a completion word does not say that the work is done: negated, conditional, put off, …

The rules look at the words around it in its clause, and a little further where a comma parts what
belongs together. They err on the side of doubt: what they overlook is a session that rests, and
that is noticed too.
"""

from __future__ import annotations

from sisyphus.enforce.words import conditions, english, forms, negation, shares

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.words.place import Place


class Doubt:
    """`why` follows the quoted word. `decides`: the sentence says that something is unfinished."""

    __slots__ = ("decides", "why")

    def __init__(self, why: str, *, decides: bool = False) -> None:
        self.why = why
        self.decides = decides


QUESTION = Doubt("stands in a question")
FOREIGN = Doubt("stands in a sentence of another language")
_FORM = Doubt("describes something")
_TOOL = Doubt("is said of a tool")
_REPORT = Doubt("is what somebody else says")
_CONDITION = Doubt("depends on a condition")
_NEGATED = Doubt("is negated", decides=True)
_PART = Doubt("is said of a part", decides=True)
_YOURS = Doubt("is left to the user")
_LATER = Doubt("is still ahead", decides=True)


def is_foreign(words: list[str]) -> bool:
    """Whether a sentence of these words is none of English: it is left alone."""
    if not english.FOREIGN.isdisjoint(words):
        return True
    is_accented = any(word[0].isalpha() and not word.isascii() for word in words)
    return is_accented and english.ENGLISH.isdisjoint(words)


def find(place: Place) -> Doubt | None:
    """The first doubt about the phrase at `place`; None = it says that the work is done."""
    for applies, doubt in (
        (forms.describes, _FORM),
        (forms.is_of_a_tool, _TOOL),
        (_is_reported, _REPORT),
        (conditions.is_conditional, _CONDITION),
        (negation.is_negated, _NEGATED),
        (shares.is_part, _PART),
        (_is_the_users, _YOURS),
        (negation.is_put_off, _LATER),
    ):
        if applies(place):
            return doubt
    return None


def _is_reported(place: Place) -> bool:
    """ "The user said it is done"; what the model itself said counts."""
    own = place.own
    return any(
        word in english.REPORTS and own[:at][-1:] not in (["i"], ["we"], ["as"])
        for at, word in enumerate(own)
    )


def _is_the_users(place: Place) -> bool:
    return "you" in place.own and negation.is_put_off(place)
