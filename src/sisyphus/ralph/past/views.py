"""The history of loops as people read it: a table of loops. Plain text, for any door."""

from __future__ import annotations

from sisyphus.ralph import loop as lp
from sisyphus.ralph.past import history, records
from sisyphus.text import one_line
from sisyphus.times import duration, epoch, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.ralph.past.records import Record

OUTCOMES = (
    lp.SUCCESS, lp.MAX_ITERATIONS, lp.LIMIT, lp.STUCK, lp.CANCELLED, lp.ABANDONED, lp.ERROR,
    lp.ARCHIVED, records.LOST,
)  # fmt: skip
"""What a loop that is over may be asked for by."""

LAST = 20
NOTHING = 'No loop was started yet. Start one in a session: /sisyphus:ralph-loop "TASK" …'

_TASK_CHARACTERS = 60
_NAME_CHARACTERS = 30


def log_text(ours: str) -> str:
    """The latest loops, newest first."""
    found = history.read(ours)
    return table(found[:LAST], len(found))


def chosen(
    found: Sequence[Record], *, project: str = "", outcome: str = "", is_active: bool = False
) -> list[Record]:
    """Those of a project (by its name or its folder), with an outcome, or not ended."""
    return [
        record
        for record in found
        if project in ("", record.project, record.project_name)
        and outcome in ("", record.result)
        and (record.is_active or not is_active)
    ]


def table(shown: Sequence[Record], count: int) -> str:
    """A line a loop. `count`: of so many."""
    if not shown:
        return NOTHING
    cells = [_cells(record) for record in shown]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(_padded(row, widths)).rstrip() for row in cells]
    if len(shown) < count:
        lines.append(f"The latest {len(shown):,} of {count:,} loops; `--all` shows them all.")
    return "\n".join(lines)


def iterations(record: Record) -> str:
    """`4 of 50`; "" where they are not known."""
    if record.iterations is None:
        return ""
    return f"{record.iterations:,}" + (
        f" of {record.max_iterations:,}" * bool(record.max_iterations)
    )


def _padded(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """The cells of a line, without those of a column that is empty."""
    return [cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width]


def _cells(record: Record) -> tuple[str, ...]:
    seconds = record.duration_seconds
    return (
        one_line(record.loop_id, _NAME_CHARACTERS),
        one_line(record.result, _NAME_CHARACTERS),
        local(epoch(record.moment)),
        "" if seconds is None else duration(seconds),
        iterations(record),
        one_line(record.project_name, _NAME_CHARACTERS),
        one_line(record.task, _TASK_CHARACTERS),
    )
