"""Which texts go into this reply and which wait. Pure."""

from __future__ import annotations

from sisyphus.measure import REPLY_UNITS, cut_units, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Kind, Piece

PRIORITY: tuple[Kind, ...] = ("boulder", "loop", "checkpoint", "rules", "agents", "readme")
"""Who gets the room where not everything fits."""

READING_ORDER = ("boulder", "loop", "checkpoint", "rules", "readme", "agents")
"""How it stands where it does."""

_BETWEEN_FRAMES = "\n\n"
_CUT_NOTE = "\n[cut here: this text is longer than one reply can carry]"


def arrange(waiting: Sequence[Piece], fresh: Sequence[Piece]) -> list[Piece]:
    """All pieces in the order in which they go out: by priority, then the longest waiting.

    A fresh piece replaces what waits from an older version of the same file, and is dropped
    where it waits already.
    """
    texts = {_identity(p) for p in fresh}
    files = {(p["kind"], p["path"]) for p in fresh if p["path"]}
    kept = [p for p in waiting if _identity(p) in texts or (p["kind"], p["path"]) not in files]
    known = {_identity(p) for p in kept}
    pieces = [_late(p) for p in kept]
    for piece in fresh:
        if not (piece["hash"] and _identity(piece) in known):
            pieces.append(piece)
            known.add(_identity(piece))
    return sorted(pieces, key=lambda p: PRIORITY.index(p["kind"]))


def fit(pieces: Sequence[Piece], budget: int = REPLY_UNITS) -> tuple[str, list[Piece], list[Piece]]:
    """The text of one reply of at most `budget` UTF-16 units, the pieces in it, those that wait.

    Pieces are whole. Where one does not fit, later ones of its kind wait too, so that the parts of
    a document arrive in order; another kind may still use the room. A piece that no reply could
    carry is cut, so that it cannot wait for ever.
    """
    taken: list[Piece] = []
    left: list[Piece] = []
    used = 0
    for piece in pieces:
        whole = _possible(piece, budget)
        cost = _cost(whole, taken)
        if used + cost > budget or any(p["kind"] == piece["kind"] for p in left):
            left.append(piece)
        else:
            taken.append(whole)
            used += cost
    return compose(taken), taken, left


def compose(pieces: Sequence[Piece]) -> str:
    """One text: pieces in reading order, those of one frame inside it together."""
    frames: dict[tuple[str, str], list[Piece]] = {}
    for piece in sorted(pieces, key=lambda p: READING_ORDER.index(p["kind"])):
        frames.setdefault((piece["head"], piece["tail"]), []).append(piece)
    return _BETWEEN_FRAMES.join(
        head + _between(inside[0]).join(piece["body"] for piece in inside) + tail
        for (head, tail), inside in frames.items()
    )


def _cost(piece: Piece, taken: Sequence[Piece]) -> int:
    """What a piece adds to a reply of `taken`, in UTF-16 units."""
    if any(p["head"] == piece["head"] and p["tail"] == piece["tail"] for p in taken):
        return units(_between(piece) + piece["body"])
    between = _BETWEEN_FRAMES if taken else ""
    return units(between + piece["head"] + piece["body"] + piece["tail"])


def _between(piece: Piece) -> str:
    return "\n\n---\n\n" if piece["kind"] in ("agents", "readme") else "\n\n"


def _possible(piece: Piece, budget: int) -> Piece:
    room = budget - units(piece["head"] + piece["tail"])
    if units(piece["body"]) <= room:
        return piece
    return {**piece, "body": cut_units(piece["body"], room - units(_CUT_NOTE)) + _CUT_NOTE}


def _late(piece: Piece) -> Piece:
    return {**piece, "head": piece["late_head"] or piece["head"]}


def _identity(piece: Piece) -> tuple[str, ...]:
    """Equal for two pieces that say the same: of two files with one text the first goes out."""
    if piece["hash"]:
        return piece["kind"], piece["hash"]
    return piece["kind"], piece["path"], piece["body"]
