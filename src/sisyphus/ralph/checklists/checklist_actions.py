"""What people and the model do with a checklist: plain functions for the command line.

They return the checklist as it is then. They raise `SisyphusError` with what is wrong and what to
do.
"""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.ralph import actions
from sisyphus.ralph.checklists import checklist, checklist_store, criteria
from sisyphus.session import client_process
from sisyphus.text import one_line
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json


class Which:
    """The checklist of the loop `loop_id`; where it is "", of the current loop of `session`, of
    the session around us, or the only one. `now` in epoch seconds."""

    __slots__ = ("loop_id", "now", "ours", "session")

    def __init__(self, ours: str, now: float, *, session: str = "", loop_id: str = "") -> None:
        self.ours = ours
        self.now = now
        self.session = session
        self.loop_id = loop_id


def add(which: Which, texts: Sequence[str]) -> Json:
    """A criterion for each text that is not there yet."""
    loop, at = _loop(which), iso(which.now)
    return checklist_store.update(
        which.ours, loop, at, lambda found: criteria.added(found, texts, at)
    )


def mark(which: Which, ids: Sequence[str], status: str) -> Json:
    """`status`: pending, in_progress or completed, for all of `ids` or, if one is unknown, none."""
    loop, at = _loop(which), iso(which.now)
    return checklist_store.update(
        which.ours, loop, at,
        lambda found: criteria.marked(found, ids, status, at, loop["iteration"]),
    )  # fmt: skip


def remove(which: Which, ids: Sequence[str]) -> Json:
    loop, at = _loop(which), iso(which.now)
    return checklist_store.update(which.ours, loop, at, lambda found: criteria.removed(found, ids))


def show(which: Which) -> Json:
    """Of a loop that has ended too, if it is named."""
    found = checklist_store.read(which.ours, which.loop_id)
    if found:
        return found
    loop = _loop(which)
    return checklist_store.read(which.ours, loop["loop_id"]) or checklist_store.empty(loop)


def described(found: Json) -> str:
    """A checklist for people."""
    listed = criteria.listed(found)
    name = one_line(str(found.get("loop_id")), 40)
    if not listed:
        return f'The checklist of loop {name} is empty: sisyphus ralph checklist add "TEXT"'
    done = sum(criterion.is_done for criterion in listed)
    head = f"Checklist of loop {name} ({done} of {len(listed)} done)"
    return "\n".join([head, *checklist.lines(listed)])


def _loop(which: Which) -> Json:
    """The loop whose checklist may be changed."""
    if which.loop_id:
        return _named(which)
    row = actions.of_session(which.ours, which.session, which.now)
    if row:
        return row
    named = which.session or client_process.current_session(which.ours)
    if not named and actions.list_loops(which.ours, which.now):
        raise SisyphusError(
            "several loops are active; name one with --loop. `sisyphus ralph list` shows them all."
        )
    where = f"session {one_line(named, 128)}" if named else "any session"
    raise SisyphusError(f"no loop is active in {where}. `sisyphus ralph start` begins one.")


def _named(which: Which) -> Json:
    for row in actions.list_loops(which.ours, which.now):
        if row["loop_id"] == which.loop_id:
            return row
    name = one_line(which.loop_id, 40)
    if checklist_store.read(which.ours, which.loop_id):
        raise SisyphusError(f"loop {name} has ended; its checklist stays as it is.")
    raise SisyphusError(f"there is no loop {name}. `sisyphus ralph list` shows them all.")
