"""Reads a session's transcript from where the last look ended, as little of it as possible."""

from __future__ import annotations

from sisyphus import transcript as ts
from sisyphus.clients import files_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sisyphus.clients import Files
    from sisyphus.ralph.events import Event
    from sisyphus.transcript import Record
    from sisyphus.workspace import Workspace

_TAIL = 64_000  # bytes that hold the last few lines


def first_start(path: str, offset: int, space: Workspace) -> tuple[int | None, int]:
    """Where the line of the first start behind `offset` begins that still matters; None = none.

    A loop that the user types replaces all before it, and his command to cancel ends them. Second:
    where the last line ends.
    """
    found: int | None = None
    end = offset
    client = files_of(path)
    marks = (*client.MARKS[ts.COMMAND], *client.MARKS[ts.SKILL_CALL])
    for position, line in ts.lines(path, offset):
        end = position + len(line)
        if b"ralph" not in line or not any(mark in line for mark in marks):
            continue
        record = next(ts.messages([line], client.read_record), None)
        if record is None:
            continue
        kinds = _starts(record, space)
        if "user" in kinds or (kinds and found is None):
            found = position
        if _cancels(record, space):
            found = None
    return found, end


def _starts(record: Record, space: Workspace) -> Sequence[str]:
    """Who starts a loop in this line."""
    from sisyphus.bare_commands import is_ours
    from sisyphus.ralph import invocations

    starts = (one for one in invocations.find(record) if is_ours(one.command, space))
    return ["model" if start.by_model else "user" for start in starts]


def _cancels(record: Record, space: Workspace) -> bool:
    from sisyphus.bare_commands import is_ours
    from sisyphus.ralph import invocations

    command = invocations.cancelled(record)
    return bool(command) and is_ours(command, space)


def read_events(path: str, offset: int, space: Workspace) -> tuple[list[Event], int]:
    """What happened behind `offset`, and where the last line ends."""
    from sisyphus.ralph import events

    found: list[Event] = []
    end = offset
    client = files_of(path)
    matters = _matters(client)
    for position, line in ts.lines(path, offset):
        end = position + len(line)
        if matters(line) and (record := client.read_record(line)):
            found += _ours(events.read([record]), space)
    return found, end


def _ours(found: list[Event], space: Workspace) -> list[Event]:
    """Without the loops that a command of somebody else started."""
    if not any(event.start for event in found):
        return found
    from sisyphus.bare_commands import is_ours

    return [event for event in found if not event.start or is_ours(event.start.command, space)]


def last_records(path: str) -> list[Record]:
    """The last records of the main thread, latest last."""
    found = ts.lines(path, max(ts.size(path) - _TAIL, 0))
    return list(ts.messages((line for _, line in found), files_of(path).read_record))


def _matters(client: Files) -> Callable[[bytes], bool]:
    """Spares parsing what no event comes from: a result may be megabytes long."""
    marks = client.MARKS
    said, results, failures = marks[ts.MESSAGE], marks[ts.RESULT], marks[ts.FAILURE]
    (goal,) = marks[ts.GOAL]

    def matters(line: bytes) -> bool:
        if not any(mark in line for mark in said):
            return goal in line
        is_result = any(mark in line for mark in results)
        return not is_result or any(mark in line for mark in failures)

    return matters
