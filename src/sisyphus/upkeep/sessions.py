"""The sessions that were seen, for people: when, where, and what hooks cost there."""

from __future__ import annotations

import os

from sisyphus import journal
from sisyphus.boulder.store import read_plans
from sisyphus.ralph.past import history
from sisyphus.text import one_line
from sisyphus.times import duration, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.boulder.store import Plans
    from sisyphus.journal import SessionSums
    from sisyphus.memory import Memory
    from sisyphus.ralph.past.records import Record

LAST = 20
NOTHING = (
    "No session was seen yet. `sisyphus install` wires the hooks in, `sisyphus doctor` looks "
    "whether they are."
)

_SHORT, _LONG = 8, 12
_NAME, _WHAT = 24, 60
_SECOND = 1_000
_HEADS = (
    "session", "began", "lasted", "project", "client", "hooks", "time", "median", "sent", "blocks",
    "what",
)  # fmt: skip
_RIGHT = frozenset(("hooks", "time", "median", "sent", "blocks"))


def of_loop(ours: str, named: str) -> str:
    """The session of the only loop whose id begins so; "" = there is none."""
    found = {r.session_id for r in history.read(ours) if r.loop_id.startswith(named)}
    return found.pop() if len(found) == 1 else ""


def rows(
    memory: Memory,
    found: Sequence[SessionSums],
    home: str,
    records: Sequence[Record] | None = None,
) -> list[Json]:
    """The sessions in the order of `found`, with their loops and their plan.

    `records`: the history of loops, newest first, where it was read already.
    """
    loops: dict[str, list[Json]] = {}
    if records is None:
        records = history.read(os.path.join(home, ".sisyphus")) if found else ()
    for record in reversed(records):
        row = {"loop_id": record.loop_id, "result": record.result}
        loops.setdefault(record.session_id, []).append(row)
    books = {one.project: read_plans(home, one.project) for one in found if one.project}
    return [_row(memory, one, loops.get(one.session, []), _plan(one, books)) for one in found]


def totals(memory: Memory, found: Sequence[SessionSums], project: str = "") -> Json:
    return {
        "sessions": len(found),
        "hooks": sum(one.hooks for one in found),
        "ms": round(sum(one.ms for one in found), 1),
        "median_ms": journal.median_ms(memory, project=project),
        "sent": sum(one.sent for one in found),
        "blocked": sum(one.blocked for one in found),
    }


def table(shown: Sequence[Json]) -> list[str]:
    """The heads, then a line a session; columns that are empty throughout are left out."""
    names = [row["session_id"] for row in shown]
    width = _SHORT if len({name[:_SHORT] for name in names}) == len(names) else max(map(len, names))
    cells = [_cells(row, width) for row in shown]
    lines: list[list[str]] = [[] for _ in range(len(cells) + 1)]
    for number, head in enumerate(_HEADS):
        column = [row[number] for row in cells]
        if any(column):
            wide = max(map(len, (head, *column)))
            pad = str.rjust if head in _RIGHT else str.ljust
            for line, cell in zip(lines, (head, *column), strict=True):
                line.append(pad(cell, wide))
    return ["  ".join(line).rstrip() for line in lines]


def summed_up(sums: Json) -> str:
    """One line for all of them."""
    middle = sums["median_ms"]
    parts = [
        _count(sums["sessions"], "session"),
        f"{_count(sums['hooks'], 'hook')} in {_time(sums['ms'])}"
        + (f" (median {_time(middle)})" if middle else ""),
        f"{sums['sent']:,} characters sent",
        _count(sums["blocked"], "block"),
    ]
    return ", ".join(parts) + "."


def _row(memory: Memory, one: SessionSums, loops: list[Json], plan: str) -> Json:
    middle = journal.median_ms(memory, session=one.session)
    return {
        "session_id": one.session,
        "began": one.began or None,
        "ended": one.ended or None,
        "seconds": round(one.ended - one.began, 3),
        "project": one.project or None,
        "client": one.client or None,
        "hooks": one.hooks,
        "ms": round(one.ms, 1),
        "median_ms": middle,
        "sent": one.sent,
        "blocked": one.blocked,
        "run": one.run or None,
        "loops": loops,
        "plan": plan or None,
    }


def _plan(one: SessionSums, books: dict[str, Plans]) -> str:
    """The name of the plan that the session is at, as its project's book has it."""
    plans = books.get(one.project)
    record = plans.records.get(plans.own(one.session)) if plans else None
    return str(record["plan_name"]) if record else ""


def _cells(row: Json, width: int) -> list[str]:
    what = [f"run {row['run']}"] if row["run"] else []
    what += [f"loop {loop['loop_id']} ({loop['result']})" for loop in row["loops"]]
    what += [f"plan {row['plan']}"] if row["plan"] else []
    return [
        row["session_id"][:width],
        local(row["began"]),
        duration(row["seconds"]),
        one_line(os.path.basename(row["project"] or ""), _NAME),
        one_line(row["client"] or "", _LONG),
        f"{row['hooks']:,}",
        _time(row["ms"]),
        _time(row["median_ms"]) if row["median_ms"] else "",
        f"{row['sent']:,}",
        f"{row['blocked']:,}",
        one_line(", ".join(what), _WHAT),
    ]


def _time(ms: float) -> str:
    if ms < _SECOND:
        return f"{ms:.3g} ms"
    return f"{ms / _SECOND:.1f} s" if ms < 60 * _SECOND else duration(ms / _SECOND)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
