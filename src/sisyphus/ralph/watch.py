"""Reads a session's transcript from where the last look ended, as little of it as possible."""

from __future__ import annotations

import os

from sisyphus.transcript import lines, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.ralph.events import Event

_SPEAKERS = (b'"type":"user"', b'"type": "user"', b'"type":"assistant"', b'"type": "assistant"')
_STARTERS = (b"</command-name>", b'"Skill"')
_RESULTS = (b'"type":"tool_result"', b'"type": "tool_result"')
_ERRORS = (b'"is_error":true', b'"is_error": true')

_GOAL = b'"type":"goal_status"'
_TAIL = 64_000  # bytes that hold the last few lines


def size(path: str) -> int:
    """In bytes; 0 where there is no file."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def first_start(path: str, offset: int) -> tuple[int | None, int]:
    """Where the line of the first start behind `offset` begins that still matters; None = none.

    A loop that the user types replaces all before it, and his command to cancel ends them. Second:
    where the last line ends.
    """
    found: int | None = None
    end = offset
    for position, line in lines(path, offset):
        end = position + len(line)
        if b"ralph" not in line or not any(mark in line for mark in _STARTERS):
            continue
        kinds = _starts(line) if b":ralph-loop" in line else ()
        if "user" in kinds or (kinds and found is None):
            found = position
        if b":cancel-ralph" in line and _cancels(line):
            found = None
    return found, end


def _starts(line: bytes) -> Sequence[str]:
    """Who starts a loop in this line."""
    from sisyphus.ralph import invocations

    starts = (start for record in records([line]) for start in invocations.find(record))
    return ["model" if start.by_model else "user" for start in starts]


def _cancels(line: bytes) -> bool:
    from sisyphus.ralph import invocations

    return any(invocations.cancels(record) for record in records([line]))


def read_events(path: str, offset: int) -> tuple[list[Event], int]:
    """What happened behind `offset`, and where the last line ends."""
    from sisyphus.ralph import events

    found: list[Event] = []
    end = offset
    for position, line in lines(path, offset):
        end = position + len(line)
        if _matters(line):
            found += events.read(records([line], sidechains=True))
        elif _GOAL in line:
            found += events.goals(line)
    return found, end


def last_records(path: str) -> list[Json]:
    """The last records of the main thread, latest last."""
    end = size(path)
    return list(records(line for _, line in lines(path, max(end - _TAIL, 0))))


def _matters(line: bytes) -> bool:
    """Spares parsing what no event comes from: a result may be megabytes long."""
    if not any(mark in line for mark in _SPEAKERS):
        return False
    is_result = any(mark in line for mark in _RESULTS)
    return not is_result or any(mark in line for mark in _ERRORS)
