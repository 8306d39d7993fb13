"""What people do with loops that are over: note an end that nobody saw, delete what is known.

Plain functions for any door. They raise `SisyphusError` with what is wrong and what to do, and
`OSError`. What hooks write meanwhile waits for the lock and is kept. Lines go first, then files: a
process that is killed leaves a loop that can be deleted again, or files that `purge` finds when
they are old.
"""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.memory import open_memory
from sisyphus.paths import is_safe_id
from sisyphus.ralph import loop as lp
from sisyphus.ralph import notices
from sisyphus.ralph.past import history, leftovers, records
from sisyphus.ralph.past.held import holding
from sisyphus.session import store as session_store
from sisyphus.text import one_line
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from sisyphus._types import Json
    from sisyphus.ralph.past.held import Held
    from sisyphus.ralph.past.records import Record

    Choose = Callable[[Sequence[Record]], Collection[Record]]


def archive(ours: str, named: str, now: float, where: str = "") -> Json:
    """Notes an end for the lost loop of this id, for `why` as well; returns what it is then.

    `now`: epoch seconds. `where`: the user does it there, as in "on the dashboard".
    """
    with holding(ours) as held:
        record = held.named(named)
        if record.status != records.LOST:
            raise SisyphusError(_not_lost(record))
        history.append(ours, _end(record, now))
    if is_safe_id(record.session_id):
        text = f"loop {one_line(record.loop_id)} was archived by {notices.who(where)}"
        session_store.note(open_memory(ours), record.session_id, text, now)
    record.status, record.outcome, record.ended_at = records.COMPLETED, lp.ARCHIVED, iso(now)
    return record.as_json()


def delete(ours: str, *named: str) -> list[Json]:
    """Deletes the loops of these ids, all or none; returns what they were."""
    return _delete(ours, lambda held: _all_over(map(held.named, named)))


def delete_shown(ours: str, shown: Iterable[Record]) -> list[Json]:
    """Deletes these loops, all or none, as long as each is what it was when it was shown."""
    return _delete(ours, lambda held: _all_over(_same(held, record) for record in shown))


def check_over(going: Iterable[Record]) -> None:
    """Raises `SisyphusError` for a loop that has not ended."""
    for record in going:
        if record.is_active:
            raise SisyphusError(_not_over(record))


def delete_archived(ours: str, choose: Choose = list) -> list[Json]:
    """Deletes every loop that is not active, as far as that is certain; returns what they were,
    newest first. `choose`: which of all that are known are meant; it may raise."""

    def going(held: Held) -> list[Record]:
        meant = set(choose(held.records))
        return [record for record in held.over() if record in meant]

    return _delete(ours, going)


def as_shown(shown: Iterable[Record]) -> Choose:
    """Those that are what they were when they were shown."""
    known = {_state(record) for record in shown}
    return lambda found: [record for record in found if _state(record) in known]


def _delete(ours: str, choose: Callable[[Held], Iterable[Record]]) -> list[Json]:
    with holding(ours) as held:
        going = dict.fromkeys(choose(held))
        ids = _strike(ours, held, going.keys())
    leftovers.remove(ours, ids)
    return [record.as_json() for record in going]


def _all_over(going: Iterable[Record]) -> list[Record]:
    found = list(going)
    check_over(found)
    return found


def _same(held: Held, shown: Record) -> Record:
    """Raises `SisyphusError` where it is something else now."""
    for record in as_shown([shown])(held.records):
        held.check(record)
        return record
    now = held.named(shown.loop_id)
    check_over([now])
    raise SisyphusError(
        f"loop {one_line(now.loop_id)} has changed since it was shown, so nothing was deleted. "
        "Look at it once more, and try again."
    )


def _state(record: Record) -> tuple[str, ...]:
    """What tells a loop from another one of its id, and from itself after it went on."""
    return (record.loop_id, record.session_id, record.started_at, record.result, record.ended_at)


def _strike(ours: str, held: Held, going: Collection[Record]) -> set[str]:
    """The ids that nobody has any more. Ids of five letters may meet again."""
    staying = {record.loop_id for record in held.records if record not in going}
    held.strike(going)
    return {record.loop_id for record in going} - staying - leftovers.of_runs(ours)


def _end(record: Record, now: float) -> Json:
    """A line like that of any other end; how long it took is not known."""
    return {
        "loop_id": record.loop_id,
        "session_id": record.session_id,
        "status": records.COMPLETED,
        "outcome": lp.ARCHIVED,
        "ended_at": iso(now),
        "duration_seconds": None,
        "iterations": None,
        "error_reason": None,
    }


def _not_lost(record: Record) -> str:
    loop_id = one_line(record.loop_id)
    if record.is_active:
        return (
            f"loop {loop_id} is {record.status}: only a loop whose end nobody saw is archived. "
            f"`sisyphus ralph cancel {loop_id}` ends it."
        )
    return (
        f"loop {loop_id} has ended already ({one_line(record.result)}), so there is nothing to "
        f"archive. `sisyphus ralph delete {loop_id}` deletes it."
    )


def _not_over(record: Record) -> str:
    loop_id = one_line(record.loop_id)
    return (
        f"loop {loop_id} is {record.status}, so nothing was deleted. "
        f"End it first: `sisyphus ralph cancel {loop_id}`."
    )
