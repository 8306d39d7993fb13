"""What people do with a loop from a page or by the API: the functions of `sisyphus ralph`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from sisyphus.dashboard.failures import INVALID_STATE, FailedError, not_found
from sisyphus.dashboard.views import loop as view
from sisyphus.errors import LockedError, NewerVersionError, SisyphusError, UnreadableError
from sisyphus.ralph import actions
from sisyphus.ralph.past import removal
from sisyphus.ralph.past.leftovers import LeftoverError
from sisyphus.text import one_line
from sisyphus.times import epoch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk
    from sisyphus.ralph.past.records import Record

WHERE = "on the dashboard"

_OF_SESSION: dict[str, Callable[..., list[Json]]] = {
    view.CANCEL: actions.cancel,
    view.PAUSE: actions.pause,
    view.RESUME: actions.resume,
}
NAMES = (*_OF_SESSION, view.ARCHIVE, view.DELETE)

_OF_FILES = (LockedError, NewerVersionError, UnreadableError, LeftoverError)
"""What is no matter of the loop's state."""


class Meant(NamedTuple):
    """A loop, and `live`, its row of `ralph list --json`; None = it has ended."""

    record: Record
    live: Json | None


def meant(desk: Desk, loop_id: str, action: str) -> Meant:
    """The loop as it is now. Raises `FailedError` where it is in no state for this."""
    if action not in NAMES:
        raise not_found("there is no such page.")
    desk.forget()
    record = view.find(desk, loop_id)
    live = view.living(desk, record)
    if action not in view.actions(record, live):
        raise FailedError(409, INVALID_STATE, _why_not(desk, record, live, action))
    return Meant(record, live)


def do(desk: Desk, loop_id: str, action: str) -> list[Json]:
    """Returns what the function of the command line returns. Raises `FailedError`: nothing was
    done, or its text says what was."""
    with _told(desk, action):
        return _do(desk, meant(desk, loop_id, action).record, action)


class Agreed(NamedTuple):
    """What the user was asked: to delete so many `loops`, the last of which ended at `before` (ISO,
    UTC; "" = of none an end is known)."""

    before: str
    loops: int


def to_agree(desk: Desk) -> Agreed:
    """The loops that are not active now."""
    desk.forget()
    over = [record for record in desk.history() if not record.is_active]
    ends = [record.ended_at for record in over if epoch(record.ended_at)]
    return Agreed(max(ends, default=""), len(over))


def delete_archived(desk: Desk, agreed: Agreed | None = None) -> list[Json]:
    """Every loop that is not active, or those that were agreed to: what has ended since stays.
    Raises `FailedError`."""
    with _told(desk, view.DELETE):
        desk.forget()
        desk.count()
        return removal.delete_archived(desk.ours, _only(agreed) if agreed else list)


def _only(agreed: Agreed) -> removal.Choose:
    """A loop that is lost does not say since when: their number tells that another one is."""

    def choose(found: Sequence[Record]) -> list[Record]:
        over = [record for record in found if not record.is_active]
        meant = [one for one in over if not _ended_after(one, agreed.before)]
        if len(meant) != agreed.loops:
            raise FailedError(
                409,
                INVALID_STATE,
                "these are not the loops any more that were to be deleted, so nothing was. Look at "
                "the archived ones again.",
            )
        return meant

    return choose


def _ended_after(record: Record, moment: str) -> bool:
    return epoch(record.ended_at) > 0 and record.ended_at > moment


def ending_too(desk: Desk, live: Json) -> list[Json]:
    """The other loops of its session: they end with it."""
    mine = [row for row in desk.loops() if row["session_id"] == live["session_id"]]
    return [row for row in mine if row["loop_id"] != live["loop_id"]]


@contextmanager
def _told(desk: Desk, action: str) -> Iterator[None]:
    """Whatever fails is a `FailedError`, and whatever was done is seen from now on."""
    try:
        yield
    except FailedError:
        raise
    except _OF_FILES as error:
        raise FailedError(500, f"{action.upper()}_FAILED", str(error)) from error
    except OSError as error:
        text = f"that could not be done, or not wholly: {error.strerror or error}."
        raise FailedError(500, f"{action.upper()}_FAILED", text) from error
    except SisyphusError as error:
        raise FailedError(409, INVALID_STATE, str(error)) from error
    finally:
        desk.forget()


def _do(desk: Desk, record: Record, action: str) -> list[Json]:
    if action in _OF_SESSION:
        what = _OF_SESSION[action]
        return what(desk.ours, record.session_id, now=desk.now(), where=WHERE)
    if action == view.ARCHIVE:
        return [removal.archive(desk.ours, record.loop_id, desk.now(), WHERE)]
    desk.count()
    return removal.delete(desk.ours, record.loop_id)


def _why_not(desk: Desk, record: Record, live: Json | None, action: str) -> str:
    loop_id, now = one_line(record.loop_id), one_line(record.result)
    if live and live["is_outer"]:
        inner = next((r["loop_id"] for r in ending_too(desk, live) if not r["is_outer"]), "")
        return f"loop {loop_id} waits for loop {one_line(inner)} in it: {action} that one."
    if record.is_active:
        hint = {
            view.ARCHIVE: "Only a loop whose end nobody saw is archived; cancel ends this one.",
            view.DELETE: "Cancel it first.",
        }
        return f"loop {loop_id} is {now}. {hint.get(action, 'Nothing was changed.')}"
    hint_ended = "Delete removes what is known of it."
    return f"loop {loop_id} is not active any more ({now}). Nothing was changed. {hint_ended}"
