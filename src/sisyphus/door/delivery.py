"""Chooses the texts of a reply: each text once, as many as fit, the rest with later replies.

No reply exceeds what its client passes on whole: what does not fit waits in the session's queue.
"""

from __future__ import annotations

from itertools import accumulate

from sisyphus.ground import quick_json
from sisyphus.ground.record import replace
from sisyphus.ground.text import shorten, units
from sisyphus.hook.outcome import Text
from sisyphus.sessions import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Frame, Outcome

PRIORITY = ("answer", "boulder", "loop", "handoff", "rules", "agents", "readme")
"""The kinds of texts, in the order in which they are sent if not everything fits."""

READING_ORDER = ("answer", "boulder", "loop", "handoff", "rules", "readme", "agents")
"""The kinds in their order within one reply."""

MAX_WAITING = 200_000
"""The most characters of texts that wait: every hook with a text writes them all."""

_CUT = "\n[Cut here: this text is longer than one reply can carry.]"


def choose(hook: Hook, outcome: Outcome, room: int, most: int) -> tuple[str, list[Text]]:
    """Returns the reply's text, and the texts in it. Call it in the event's transaction.

    It records in the ledger what the reply carries, and saves the rest in the queue, as far as that
    has room. room: how many UTF-16 units of text this reply can carry; 0 = none. most: how many the
    largest reply can.
    """
    before = _load(hook)
    queue = _queue(hook, before, outcome.texts)
    taken, left = _split(queue, room, most) if room else ([], queue)
    if outcome.texts or len(left) < len(queue):
        waiting = _limit(left)
        _save(hook, waiting, is_empty=not before)
        if dropped := len(left) - len(waiting):
            outcome.notes.append(f"{dropped} texts are dropped: too many wait")
    ledger.add(hook, taken)
    return _join(taken), taken


def _queue(hook: Hook, before: list[Text], fresh: list[Text]) -> list[Text]:
    """Returns waiting and new texts, the most urgent first. A new text replaces a waiting one of
    the same file, which is older or the same.
    """
    files = {(text.kind, text.path) for text in fresh if text.path}
    waiting = [text for text in before if (text.kind, text.path) not in files]
    queue: dict[str, Text] = {}
    for text in ledger.missing(hook, [*waiting, *fresh]):
        queue.setdefault(text.hash, text)
    return sorted(queue.values(), key=lambda text: PRIORITY.index(text.kind))


def _limit(queue: list[Text]) -> list[Text]:
    """Returns the texts that may wait. The others are dropped; their features send them again with
    the next file."""
    sums = accumulate(len(text.body) for text in queue)
    return [text for text, total in zip(queue, sums, strict=True) if total <= MAX_WAITING]


def _load(hook: Hook) -> list[Text]:
    rows = hook.store.all(
        "SELECT kind, text, hash, path, frame, part FROM waiting WHERE session = ? ORDER BY seq",
        hook.session.n,
    )
    return [
        Text(kind, body, hash, path, tuple(quick_json.loads(frame)), part=part)
        for kind, body, hash, path, frame, part in rows
    ]


def _save(hook: Hook, waiting: list[Text], *, is_empty: bool) -> None:
    if not is_empty:
        hook.store.run("DELETE FROM waiting WHERE session = ?", hook.session.n)
    for seq, text in enumerate(waiting):
        frame = quick_json.dumps(text.late_frame or text.frame)
        hook.store.run(
            "INSERT INTO waiting (session, seq, kind, path, hash, frame, part, text) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            hook.session.n, seq, text.kind, text.path, text.hash, frame, text.part, text.body,
        )  # fmt: skip


def _split(queue: list[Text], room: int, most: int) -> tuple[list[Text], list[Text]]:
    """Splits texts into those that fit one reply and those that wait. If one does not fit, later
    texts of its kind wait too, so that the parts of a document arrive in order; another kind may
    still use the room.
    """
    taken: list[Text] = []
    left: list[Text] = []
    full: set[str] = set()
    for text in (_cut_to_reply(text, most) for text in queue):
        if text.kind in full or units(_join([*taken, text])) > room:
            left.append(text)
            full.add(text.kind)
        else:
            taken.append(text)
    return taken, left


def _cut_to_reply(text: Text, most: int) -> Text:
    """Returns the text, cut if it is too long for any reply."""
    excess = units(_join([text])) - most
    if excess <= 0:
        return text
    body = shorten(text.body, units(text.body) - excess, _CUT)
    return replace(text, body=body)


def _join(texts: list[Text]) -> str:
    """Joins texts in reading order; texts with the same frame share it."""
    groups: dict[Frame, list[str]] = {}
    for text in sorted(texts, key=lambda text: READING_ORDER.index(text.kind)):
        groups.setdefault(text.frame, []).append(text.body)
    return "\n\n".join(
        before + between.join(bodies) + after for (before, between, after), bodies in groups.items()
    )
