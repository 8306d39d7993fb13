"""Where a run stands, for lists and handoffs. `runner/state.py` writes what this module reads."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sisyphus import processes
from sisyphus.processes import is_alive
from sisyphus.ralph import messages, state_file
from sisyphus.sessions import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.ralph.loop import Loop
    from sisyphus.store import Store


@dataclass(frozen=True)
class RunNow:
    """Where a run stands.

    session: the id of the session that works at it, or did last; "" = none yet. is_at_work: our
    process that drives it is alive. item: what its iteration works on; "" = nothing. completed,
    total: its items; 0 = it has none, or has not read them.
    """

    session: str
    is_at_work: bool
    item: str
    completed: int
    total: int

    @property
    def items(self) -> str:
        """Returns how many items are done, for people; "" = it has none."""
        return f"{self.completed} of {self.total} items" if self.total else ""


def now(store: Store, run: Loop) -> RunNow:
    row = store.one(
        "SELECT session, runner, state FROM run WHERE loop = (SELECT n FROM loop WHERE id = ?)",
        run.id,
    )
    if row is None:
        return RunNow("", False, "", 0, 0)
    session, runner, state = row[0] or 0, row[1], json.loads(row[2])
    total = len({*state["todo"], *state["done"], *state["blocked"]})
    return RunNow(
        record.id_of(store, session),
        is_alive(runner),
        state["item"],
        len(state["done"]),
        total,
    )


def end_client(store: Store, run: Loop) -> None:
    """Ends the client of a run that was cancelled, if nobody else will: its runner was killed."""
    row = store.one(
        "SELECT runner, client FROM run WHERE loop = (SELECT n FROM loop WHERE id = ?)", run.id
    )
    if row and not is_alive(row[0]):
        processes.end(row[1])


def state(run: Loop, stands: RunNow) -> str:
    """Says how a run is, for lists."""
    return messages.run_state(run, stands.items, is_at_work=stands.is_at_work)


def what_it_waits_for(run: Loop, stands: RunNow) -> str:
    """Says why a run that has not ended does not go on now, and what continues it; "" = it works,
    as far as we know."""
    if stands.is_at_work:
        return "" if run.is_active else messages.STOPS_SOON
    left = messages.RUN_LEFT_BEHIND if run.is_active else ""
    return f"{left}{messages.what_continues(run)}"


def as_dict(store: Store, run: Loop) -> dict[str, Any]:
    """Returns a run with the key names of loops in --json, and its own."""
    stands = now(store, run)
    return {
        **state_file.as_dict(run, stands.session),
        "is_at_work": stands.is_at_work,
        "item": stands.item or None,
        "items": {"completed": stands.completed, "total": stands.total},
    }
