"""Which background work excuses a Stop: it is still at work for this loop, and not for too long.

Pure. Claude Code 2.1.329 sends tasks as `{"id", "type", "status", "description", "command"}`.
"""

from __future__ import annotations

import json
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ENDED = ("completed", "failed", "killed", "stopped", "cancelled", "error", "done")
BEFORE_LOOP = 0.0
MOST = 100
"""Tasks that are looked at, and characters of each one's name: a payload may hold anything."""


def pending(tasks: Iterable[object]) -> list[str]:
    """The ids of the tasks that have not ended; whatever is no object names itself."""
    names = (_identity(task) for task in tasks if not _has_ended(task))
    return list(islice(names, MOST))


def excuses(
    tasks: Iterable[str], known: dict[str, float], *, in_loop: bool, now: float, wait: float
) -> tuple[list[str], dict[str, float]]:
    """The tasks that excuse this Stop, and what is to be known of all of them at the next one.

    `known`: when a task first excused a Stop, in epoch seconds, or `BEFORE_LOOP`. `wait`: for how
    many seconds a task excuses.
    """
    later = {task: known.get(task, now if in_loop else BEFORE_LOOP) for task in tasks}
    return [task for task, since in later.items() if 0 <= now - since < wait], later


def _has_ended(task: object) -> bool:
    return isinstance(task, dict) and task.get("status") in ENDED


def _identity(task: object) -> str:
    named = task.get("id") if isinstance(task, dict) else task
    if not isinstance(named, str):
        try:
            named = json.dumps(task, sort_keys=True)
        except RecursionError:
            named = "?"
    return named[:MOST]
