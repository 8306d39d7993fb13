"""Which texts go into this reply and which wait. Pure."""

from __future__ import annotations

from sisyphus.clients.base import Text
from sisyphus.text import REPLY_UNITS, cut_units, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PRIORITY = ("boulder", "loop", "checkpoint", "rules", "agents", "readme")
"""Who gets the room where not everything fits."""

READING_ORDER = ("boulder", "loop", "checkpoint", "rules", "readme", "agents")
"""How it stands where it does."""

_BETWEEN_FRAMES = "\n\n"
_CUT_NOTE = "\n[cut here: this text is longer than one reply can carry]"


def arrange(waiting: Sequence[Text], fresh: Sequence[Text]) -> list[Text]:
    """All texts in the order in which they go out: by priority, then the longest waiting.

    A fresh text replaces what waits from an older version of the same file, and is dropped where
    it waits already.
    """
    said = {_identity(text) for text in fresh}
    files = {(text.kind, text.path) for text in fresh if text.path}
    kept = [t for t in waiting if _identity(t) in said or (t.kind, t.path) not in files]
    known = {_identity(text) for text in kept}
    found = [_late(text) for text in kept]
    for text in fresh:
        if not (text.hash and _identity(text) in known):
            found.append(text)
            known.add(_identity(text))
    return sorted(found, key=lambda text: PRIORITY.index(text.kind))


def fit(texts: Sequence[Text], budget: int = REPLY_UNITS) -> tuple[str, list[Text], list[Text]]:
    """One reply of at most `budget` UTF-16 units, the texts in it, and those that wait.

    Texts are whole. Where one does not fit, later ones of its kind wait too, so that the parts of
    a document arrive in order; another kind may still use the room. A text that no reply could
    carry is cut, so that it cannot wait for ever.
    """
    taken: list[Text] = []
    left: list[Text] = []
    used = 0
    for text in texts:
        whole = _possible(text, budget)
        cost = _cost(whole, taken)
        if used + cost > budget or any(other.kind == text.kind for other in left):
            left.append(text)
        else:
            taken.append(whole)
            used += cost
    return compose(taken), taken, left


def compose(texts: Sequence[Text]) -> str:
    """One text: all in reading order, those of one frame inside it together."""
    frames: dict[tuple[str, str], list[Text]] = {}
    for text in sorted(texts, key=lambda t: READING_ORDER.index(t.kind)):
        frames.setdefault((text.head, text.tail), []).append(text)
    return _BETWEEN_FRAMES.join(
        head + _between(inside[0]).join(text.body for text in inside) + tail
        for (head, tail), inside in frames.items()
    )


def _cost(text: Text, taken: Sequence[Text]) -> int:
    """What a text adds to a reply of `taken`, in UTF-16 units."""
    if any(other.head == text.head and other.tail == text.tail for other in taken):
        return units(_between(text) + text.body)
    between = _BETWEEN_FRAMES if taken else ""
    return units(between + text.head + text.body + text.tail)


def _between(text: Text) -> str:
    return "\n\n---\n\n" if text.kind in ("agents", "readme") else "\n\n"


def _possible(text: Text, budget: int) -> Text:
    room = budget - units(text.head + text.tail)
    if units(text.body) <= room:
        return text
    return _changed(text, body=cut_units(text.body, room - units(_CUT_NOTE)) + _CUT_NOTE)


def _late(text: Text) -> Text:
    return _changed(text, head=text.late_head) if text.late_head else text


def _changed(text: Text, **values: str) -> Text:
    return Text(**{**{name: getattr(text, name) for name in Text.__slots__}, **values})


def _identity(text: Text) -> tuple[str, ...]:
    """Equal for two texts that say the same: of two files with one text the first goes out."""
    return (text.kind, text.hash) if text.hash else (text.kind, text.path, text.body)
