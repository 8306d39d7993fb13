"""The levels of a filling context, and which one is new. Pure.

L1 warns, L2 hands work over, L3 lets every session stop. Numbers: 70, 85 and 95 percent, settings.
"""

from __future__ import annotations

NORMAL, WARNING, CHECKPOINT, EMERGENCY = 0, 1, 2, 3

NAMES = ("Normal", "Warning", "Checkpoint", "Emergency")

FALL = 5
"""Points that usage must fall below a level before that level can fire again."""

HEAD_START = 0.9
"""Part of what can be used that may be full before work is handed over: what is left is for the
current edit and the handoff."""

LAST = 0.95
"""The same of the last level, where that is more than all but a point."""


class Thresholds:
    """Where the levels begin, in percent of the window; none behind a higher one."""

    __slots__ = ("l1", "l2", "l3")

    def __init__(self, l1: float = 70, l2: float = 85, l3: float = 95) -> None:
        self.l3 = min(max(l3, 1), 100)
        self.l2 = min(max(l2, 1), self.l3)
        self.l1 = min(max(l1, 1), self.l2)

    def within(self, usable: float) -> Thresholds:
        """The thresholds where the client compacts, or refuses to go on, at `usable` percent: work
        is handed over before that, and warned of before it is handed over."""
        l2 = min(self.l2, HEAD_START * usable)
        l3 = max(usable - 1, LAST * usable)
        return Thresholds(min(self.l1, HEAD_START * l2), l2, min(self.l3, l3))

    def level(self, percent: float) -> int:
        return sum(percent >= threshold for threshold in (self.l1, self.l2, self.l3))


def step(told: int, percent: float, thresholds: Thresholds) -> tuple[int, bool]:
    """The highest level told after a look at `percent`, and whether it is to be told now.

    Of levels that were passed together the highest alone is told.
    """
    now = thresholds.level(percent)
    if now > told:
        return now, True
    return min(told, thresholds.level(percent + FALL)), False


def name(level: int) -> str:
    return f"L{level}"
