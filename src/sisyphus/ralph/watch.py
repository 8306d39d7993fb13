"""Reads a session's transcript from where the last look ended, as little of it as possible."""

from __future__ import annotations

import os

from sisyphus.transcript import lines, records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.ralph.events import Event
    from sisyphus.workspace import Workspace

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


def first_start(path: str, offset: int, space: Workspace) -> tuple[int | None, int]:
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
        kinds = _starts(line, space) if b"ralph-loop" in line else ()
        if "user" in kinds or (kinds and found is None):
            found = position
        if b"cancel-ralph" in line and _cancels(line, space):
            found = None
    return found, end


def _starts(line: bytes, space: Workspace) -> Sequence[str]:
    """Who starts a loop in this line."""
    from sisyphus.bare_commands import is_ours
    from sisyphus.ralph import invocations

    starts = (start for record in records([line]) for start in invocations.find(record))
    return [
        "model" if start.by_model else "user" for start in starts if is_ours(start.command, space)
    ]


def _cancels(line: bytes, space: Workspace) -> bool:
    from sisyphus.bare_commands import is_ours
    from sisyphus.ralph import invocations

    commands = [invocations.cancelled(record) for record in records([line])]
    return any(command and is_ours(command, space) for command in commands)


def read_events(path: str, offset: int, space: Workspace) -> tuple[list[Event], int]:
    """What happened behind `offset`, and where the last line ends."""
    from sisyphus.ralph import events

    found: list[Event] = []
    end = offset
    for position, line in lines(path, offset):
        end = position + len(line)
        if _matters(line):
            found += _ours(events.read(records([line], sidechains=True)), space)
        elif _GOAL in line:
            found += events.goals(line)
    return found, end


def _ours(found: list[Event], space: Workspace) -> list[Event]:
    """Without the loops that a command of somebody else started."""
    if not any(event.start for event in found):
        return found
    from sisyphus.bare_commands import is_ours

    return [event for event in found if not event.start or is_ours(event.start.command, space)]


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
