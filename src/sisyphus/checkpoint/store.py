"""What is known of a session's context between two looks at it.

    checkpoint/SESSION.json   `window`: as the client's statusline reported it; `client`: which one
                              that is, where it is not Claude Code; `told`: the highest
                              level that was told and has not been left since; `pending`:
                              since when it is being told; `quiet_below`: tokens
                              that reach no level, `near_below`: nor are near one, both under the
                              circumstances `quiet_for`, in a window of
                              `quiet_window`; `cut`: when the context was compacted last (ISO,
                              UTC); and what the client's settings say of its compaction

The file is there only where one of them is known, so that most hooks ask the file system one
question.
"""

from __future__ import annotations

import os

from sisyphus.state.files import read_json, update_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json, Kept
    from sisyphus.settings import Settings

FOLDER = "checkpoint"

KEPT: tuple[Kept, ...] = (
    {"path": "checkpoint/SESSION.json", "kind": "context sizes", "lock": "", "resumable": True},
    {"path": "projects/ID/handoffs.json", "kind": "handoffs", "lock": ""},
    {"path": "projects/*/handoffs/HANDOFF", "kind": "handoffs"},
)

OVERDUE_SECONDS = 15
"""A hook has ten."""


def path(ours: str, session: str) -> str:
    return os.path.join(ours, FOLDER, f"{session}.json")


def glance(ours: str, session: str) -> Json:
    """What is known, without the lock; {} = nothing."""
    return read_json(path(ours, session)) or {}


def number(known: Json, field: str) -> int:
    value = known.get(field)
    return value if type(value) is int and value > 0 else 0


def is_quiet(known: Json, tokens: int, stamp: list[object], *, is_late: bool = False) -> bool:
    """Whether so many tokens were found to reach no level under the circumstances `stamp`; where
    they are those of the answer before, that they are not near one."""
    limit = number(known, "near_below" if is_late else "quiet_below")
    return tokens < limit and known.get("quiet_for") == stamp


def quiet_percent(known: Json, tokens: int) -> float:
    """How much of the window so many quiet tokens fill; 0 = not known."""
    window = number(known, "quiet_window")
    return 100 * tokens / window if window else 0.0


def circumstances(settings: Settings, model: str) -> list[object]:
    """What levels depend on, apart from what a session's start looks up anew."""
    return [model, *map(settings.get, ("checkpoint.l1", "checkpoint.l2", "checkpoint.window"))]


def cut(known: Json) -> str:
    """When the context was compacted last, "" = never."""
    value = known.get("cut")
    return value if isinstance(value, str) else ""


def note_reported(ours: str, session: str, window: int, client: str = "") -> None:
    """Keeps the window that the client named. How much of it is full the transcript says too.
    `client`: whose, where it is not Claude Code."""
    if window <= 0 or number(glance(ours, session), "window") == window:
        return
    named = {"client": client} if client else {}
    note(ours, session, {"window": window, "quiet_below": 0, "near_below": 0, **named})


def turn(
    ours: str, session: str, decide: Callable[[int], tuple[int, bool]], now: float = 0.0
) -> bool:
    """Whether a level is to be told now: `decide` gets the one told so far, under the lock, and
    returns the one told from now on, so that of two hooks at once one tells it.

    Until `settle` the level is pending: where its hook was killed, a later one tells it.
    """
    is_new = False

    def change(found: Json) -> Json | None:
        nonlocal is_new
        before = number(found, "told")
        told, is_new = decide(before)
        if told == before and is_overdue(found, now):
            is_new = True
        if told == before and not is_new:
            return None
        pending = {"pending": round(now, 3)} if is_new else {}
        return {**_without_pending(found), "told": told, **pending}

    update_json(path(ours, session), change)
    return is_new


def settle(ours: str, session: str) -> None:
    """What there is to say of the level is about to be printed."""
    update_json(path(ours, session), _without_pending)


def is_overdue(known: Json, now: float) -> bool:
    """Whether a hook was to tell a level, and its client has given up on it."""
    since = known.get("pending")
    if not isinstance(since, (int, float)) or not number(known, "told"):
        return False
    return now - since > OVERDUE_SECONDS


def _without_pending(found: Json) -> Json:
    return {name: value for name, value in found.items() if name != "pending"}


def begin_anew(ours: str, session: str) -> None:
    """Another process of the client goes on with the session: its settings may be others."""
    if glance(ours, session):
        note(ours, session, {"quiet_below": 0, "near_below": 0, "looked": False})


def forget(ours: str, session: str) -> None:
    """The context is empty again: every level may be told anew."""
    if number(glance(ours, session), "told"):
        turn(ours, session, lambda _: (0, False))


def note(ours: str, session: str, fields: Json) -> None:
    update_json(path(ours, session), lambda found: {**found, **fields})
