"""What came since the dashboard began to look: hooks that ran, stops held, loops that ended.

Files shrink and go, while a counter must not fall. So nothing is ever taken from one, and it begins
at 0: what was there at the first look is what later ones are compared with.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING

from sisyphus.ralph.past import records
from sisyphus.upkeep.cost import Cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.ralph.past.records import Record
    from sisyphus.upkeep.summary import Summary


class Tally:
    """`hooks`, `ms`, `blocked` and `times` by event, `outcomes`: how many loops ended so. What the
    first look found is there with a 0."""

    def __init__(self) -> None:
        self.hooks: Counter[str] = Counter()
        self.ms: dict[str, float] = {}
        self.blocked: Counter[str] = Counter()
        self.times: dict[str, Counter[str]] = {}
        self.outcomes: Counter[str] = Counter()
        self._sums: dict[str, Summary] | None = None
        self._ended: set[tuple[str, str, str]] = set()
        self._lock = Lock()

    def see(self, sums: Callable[[], list[Summary]], loops: Callable[[], list[Record]]) -> None:
        """One more look; a sum that has not changed costs next to nothing. Both are read while
        nobody else looks: what somebody read earlier would seem to have shrunk."""
        with self._lock:
            found, before = {one.session: one for one in sums()}, self._sums
            for one in found.values():
                known = one if before is None else before.get(one.session)
                self._meet(one)
                if known is not one:
                    self._add(one, known)
            for record in loops():
                if record.status == records.COMPLETED:
                    self._end(record, is_new=before is not None)
            self._sums = {**(before or {}), **found}  # one look may find nothing: a folder away

    def _meet(self, one: Summary) -> None:
        for event in one.events.keys() - self.hooks.keys():
            self.hooks[event], self.ms[event], self.times[event] = 0, 0, Counter()

    def _add(self, one: Summary, known: Summary | None) -> None:
        """A journal that does not go on with what was known of it is another one."""
        before = known.events if known and _goes_on(one, known) else {}
        for event, cost in one.events.items():
            old = before.get(event) or Cost()
            self.hooks[event] += cost.hooks - old.hooks
            self.blocked[event] += max(cost.blocked - old.blocked, 0)
            self.ms[event] += max(cost.ms - old.ms, 0)
            self.times[event].update(Counter(cost.times) - Counter(old.times))

    def _end(self, record: Record, *, is_new: bool) -> None:
        """Each loop once, whatever is said of its end later."""
        loop = (record.loop_id, record.session_id, record.started_at)
        self.outcomes[record.outcome] += is_new and loop not in self._ended
        self._ended.add(loop)


def _goes_on(one: Summary, known: Summary) -> bool:
    if known.began and one.began > known.began:
        return False
    new = {event: cost.hooks for event, cost in one.events.items()}
    return all(new.get(event, 0) >= cost.hooks for event, cost in known.events.items())
