"""One loop from its start to its end: each iteration, what was decided and why."""

from __future__ import annotations

import os

from sisyphus import numbers
from sisyphus.errors import SisyphusError
from sisyphus.ralph import iterations as kept
from sisyphus.ralph import loop as lp
from sisyphus.ralph import report
from sisyphus.ralph.past import records, views
from sisyphus.text import one_line
from sisyphus.times import duration, epoch, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.ralph.past.records import Record

SECONDS = "%Y-%m-%d %H:%M:%S"
_NAMED_AT_MOST = 10
_LINE_CHARACTERS = 200
_NUMBER_CHARACTERS = 10
_COUNTED = {"tools": "tool call", "edits": "edit", "tokens": "token"}

_HOW = {
    lp.SUCCESS: "its promise was kept",
    lp.MAX_ITERATIONS: "its last iteration was over",
    lp.LIMIT: "a limit was reached",
    lp.STUCK: "it made no progress any more",
    lp.CANCELLED: "it was cancelled",
    lp.ABANDONED: "its session was given up",
    lp.ERROR: "its state could not be used",
}


def find(found: Sequence[Record], loop_id: str) -> Record:
    """The loop of this id, or the only one whose id begins so; raises `SisyphusError`."""
    matching = [record for record in found if record.loop_id.startswith(loop_id)]
    exact = [record for record in matching if record.loop_id == loop_id]
    if exact or len(matching) == 1:
        return (exact or matching)[0]
    if not matching:
        raise unknown(loop_id)
    names = ", ".join(record.loop_id for record in matching[:_NAMED_AT_MOST])
    more = ", …" if len(matching) > _NAMED_AT_MOST else ""
    raise SisyphusError(f"several loops begin with {loop_id!r}; name one of them: {names}{more}")


def unknown(loop_id: str) -> SisyphusError:
    """What is said of a name that is no loop's."""
    return SisyphusError(
        f"no loop {loop_id!r} is known. `sisyphus ralph log --all` shows them all."
    )


def timeline(ours: str, record: Record) -> Json:
    """The record, with `rows` (one a Stop, as they were noted) and the paths of `transcripts`."""
    rows = kept.rows(ours, record.loop_id)
    numbers = dict.fromkeys(n for row in rows if type(n := row.get("iteration")) is int)
    paths = [kept.text_path(ours, record.loop_id, number) for number in numbers]
    full = kept.full_path(ours, record.loop_id)
    transcripts = [path for path in (full, *paths) if os.path.exists(path)]
    return {**record.as_json(), "rows": rows, "transcripts": transcripts}


def text(ours: str, record: Record) -> str:
    found = timeline(ours, record)
    rows = [line for row in found["rows"] for line in _row(row)]
    parts = [_head(record), rows or ["  No iteration was noted."], [how_it_ended(record)]]
    if found["transcripts"]:
        parts.append(_transcripts(found["transcripts"]))
    return "\n\n".join("\n".join(part) for part in parts)


def _head(record: Record) -> list[str]:
    fields = {
        "started": local(epoch(record.started_at), SECONDS),
        "project": one_line(record.project),
        "session": one_line(record.session_id),
    }
    if record.started_at:
        promise, limit = record.completion_promise, record.max_iterations
        fields["promise"] = "none" if promise is None else one_line(promise, _LINE_CHARACTERS)
        limits = [f"{limit:,} iterations"] if limit else []
        fields["limit"] = one_line("; ".join([*limits, *report.bounds(record.options)])) or "none"
    names = (one_line(record.loop_id), one_line(record.task, _LINE_CHARACTERS))
    title = f"Loop {': '.join(filter(None, names))}"
    return [title, *(f"  {name:<9}{value}" for name, value in fields.items() if value)]


def _row(row: Json) -> list[str]:
    """What was decided at one Stop; below it what it took to get there."""
    decided = ": ".join(str(row[name]) for name in ("decision", "why") if row.get(name))
    began, ended = (_epoch(row.get(name)) for name in ("started_at", "ended_at"))
    counts = [
        duration(ended - began) if began and ended else "",
        *(_count(row.get(name), noun) for name, noun in _COUNTED.items()),
        _context(row.get("context")),
    ]
    number = one_line(str(row.get("iteration", "?")), _NUMBER_CHARACTERS)
    first = f"  {number:>4}  {local(ended, SECONDS):19}  {one_line(decided, _LINE_CHARACTERS)}"
    below = ", ".join(filter(None, counts))
    return [first.rstrip(), *([" " * 8 + below] if below else [])]


def how_it_ended(record: Record) -> str:
    """In a sentence; of one that has not ended, where it is."""
    if record.status == records.LOST:
        return "Lost: its end was never noted and its state file is gone."
    if record.is_active:
        return f"It has not ended: {record.status}, iteration {views.iterations(record)}."
    if record.outcome == lp.ARCHIVED:
        when = local(epoch(record.ended_at), SECONDS)
        return f"Archived {when}: its end was never noted and its state file is gone."
    how = _HOW.get(record.outcome, one_line(record.outcome, _LINE_CHARACTERS) or "nobody knows why")
    if record.outcome == lp.SUCCESS and record.started_at and record.completion_promise is None:
        how = "its plan was done"
    reason = f" ({one_line(record.error_reason)})" if record.error_reason else ""
    return f"Ended {local(epoch(record.ended_at), SECONDS)}{_after(record)}: {how}{reason}."


def _after(record: Record) -> str:
    took = []
    if record.iterations is not None:
        is_one = (record.max_iterations or record.iterations) == 1
        took.append(f"{views.iterations(record)} iteration{'' if is_one else 's'}")
    if record.duration_seconds is not None:
        took.append(duration(record.duration_seconds))
    return f" after {' and '.join(took)}" if took else ""


def _transcripts(paths: Sequence[str]) -> list[str]:
    """Of many files the first and the last are named."""
    shown = paths if len(paths) <= _NAMED_AT_MOST else [*paths[:2], "…", paths[-1]]
    return ["Transcripts:", *(f"  {path}" for path in shown)]


def _epoch(value: object) -> float:
    return epoch(value) if isinstance(value, str) else 0.0


def _context(value: object) -> str:
    found = numbers.percent(value)
    return f"context {found:.0f} %" if found else ""


def _count(value: object, noun: str) -> str:
    found = numbers.count(value)
    return f"{found:,} {noun}" + "s" * (found > 1) if found else ""
