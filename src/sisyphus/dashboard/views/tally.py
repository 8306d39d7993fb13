"""What came since the dashboard began to look: hooks that ran, stops held, loops that ended.

Old rows go, while a counter must not fall. So it begins at 0, and each look adds the events that
came since the one before.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING

from sisyphus import journal
from sisyphus.ralph.past import records

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.journal import Cost
    from sisyphus.memory import Memory
    from sisyphus.ralph.past.records import Record


class Tally:
    """`hooks`, `ms`, `blocked` and `times` (of each hook, in milliseconds) by event, `outcomes`:
    how many loops ended so. What the first look found is there with a 0."""

    def __init__(self) -> None:
        self.hooks: Counter[str] = Counter()
        self.ms: dict[str, float] = {}
        self.blocked: Counter[str] = Counter()
        self.times: dict[str, list[float]] = {}
        self.outcomes: Counter[str] = Counter()
        self._newest: int | None = None  # the event that was seen last
        self._ended: set[tuple[str, str, str]] = set()
        self._lock = Lock()

    def see(self, memory: Memory, loops: Callable[[], list[Record]]) -> None:
        """One more look at what came since the last one."""
        with self._lock:
            is_first = self._newest is None
            newest = journal.latest_event(memory)
            for cost in journal.costs(memory, after=self._newest or 0, to=newest):
                self._add(cost, is_new=not is_first)
            for record in loops():
                if record.status == records.COMPLETED:
                    self._end(record, is_new=not is_first)
            self._newest = newest  # less than before where the memory is a new one

    def _add(self, cost: Cost, *, is_new: bool) -> None:
        self.ms.setdefault(cost.event, 0)
        self.times.setdefault(cost.event, [])
        self.hooks[cost.event] += cost.hooks if is_new else 0
        if is_new:
            self.blocked[cost.event] += cost.blocked
            self.ms[cost.event] += cost.ms
            self.times[cost.event] += cost.times

    def _end(self, record: Record, *, is_new: bool) -> None:
        """Each loop once, whatever is said of its end later."""
        loop = (record.loop_id, record.session_id, record.started_at)
        self.outcomes[record.outcome] += is_new and loop not in self._ended
        self._ended.add(loop)
