"""The history of loops in numbers."""

from __future__ import annotations

from sisyphus.ralph import iterations
from sisyphus.ralph import loop as lp
from sisyphus.ralph.past import history, records
from sisyphus.text import one_line
from sisyphus.times import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sisyphus._types import Json
    from sisyphus.ralph.past.records import Record

_NAME_CHARACTERS = 30
_NOT_COUNTED = (lp.CANCELLED, lp.ARCHIVED)


def stats_text(ours: str) -> str:
    """All loops that are known."""
    return text(stats(ours, history.read(ours)))


def stats(ours: str, found: Sequence[Record]) -> Json:
    """Numbers of these loops, in all and by project, the project with most loops first.

    `success_rate` (0 to 1): successes among the loops that ended by themselves, so that those that
    were cancelled, lost or archived do not count; None where there is none. `duration_seconds` and
    `iterations`: average and median of the loops that have ended, None where none has. `tokens`:
    as far as iterations were noted, None where none was.
    """
    groups: dict[str, list[Record]] = {}
    for record in found:
        groups.setdefault(record.project, []).append(record)
    projects = [_project(ours, folder, group) for folder, group in groups.items()]
    projects.sort(key=lambda row: -row["loops"])
    tokens = [row["tokens"] for row in projects if row["tokens"] is not None]
    return {**numbers(found), "tokens": sum(tokens) if tokens else None, "projects": projects}


def text(found: Json) -> str:
    if not found["loops"]:
        return "No loop is known."
    lines = [f"Loops: {found['loops']:,} ({_states(found)})"]
    for outcome, count in found["outcomes"].items():
        lines.append(f"  {one_line(outcome, _NAME_CHARACTERS) or 'unknown'}: {count:,}")
    if found["success_rate"] is not None:
        passed_over = " and ".join(name for name in _NOT_COUNTED if name in found["outcomes"])
        without = f" ({passed_over} loops do not count)" if passed_over else ""
        lines.append(f"Success rate: {found['success_rate']:.0%}{without}")
    if found["duration_seconds"]["median"] is not None:
        average, median = (duration(found["duration_seconds"][x]) for x in ("average", "median"))
        lines.append(f"Duration: {median} (median), {average} (average)")
    if found["iterations"]["median"] is not None:
        average, median = (f"{found['iterations'][x]:,g}" for x in ("average", "median"))
        lines.append(f"Iterations: {median} (median), {average} (average)")
    if found["tokens"] is not None:
        lines.append(f"Tokens: {found['tokens']:,}")
    if len(found["projects"]) > 1:
        lines += ["By project:", *map(_line, found["projects"])]
    return "\n".join(lines)


def _project(ours: str, folder: str, group: Sequence[Record]) -> Json:
    name = group[0].project_name
    tokens = _tokens(row for record in group for row in iterations.rows(ours, record.loop_id))
    return {"project": folder, "project_name": name, **numbers(group), "tokens": tokens}


def numbers(found: Sequence[Record]) -> Json:
    """What `stats` says of some loops, without their tokens: those cost a file a loop."""
    ended = [record for record in found if record.status == records.COMPLETED]
    outcomes: dict[str, int] = {}
    for record in ended:
        outcomes[record.outcome] = outcomes.get(record.outcome, 0) + 1
    counted = len(ended) - sum(outcomes.get(name, 0) for name in _NOT_COUNTED)
    return {
        "loops": len(found),
        "active": sum(record.is_active for record in found),
        "lost": sum(record.status == records.LOST for record in found),
        "ended": len(ended),
        "outcomes": dict(sorted(outcomes.items(), key=lambda item: (-item[1], item[0]))),
        "success_rate": round(outcomes.get(lp.SUCCESS, 0) / counted, 3) if counted else None,
        "duration_seconds": _middle([r.duration_seconds for r in ended]),
        "iterations": _middle([r.iterations for r in ended]),
    }


def _middle(values: Iterable[int | None]) -> Json:
    known = sorted(value for value in values if value is not None)
    if not known:
        return {"average": None, "median": None}
    half = len(known) // 2
    median = (known[half] + known[-half - 1]) / 2
    return {"average": round(sum(known) / len(known), 1), "median": round(median, 1)}


def _tokens(rows: Iterable[Json]) -> int | None:
    counts = [n for row in rows if type(n := row.get("tokens")) is int]
    return sum(counts) if counts else None


def _states(found: Json) -> str:
    names = ("active", "ended", "lost")
    return ", ".join(f"{found[name]:,} {name}" for name in names if found[name])


def _line(row: Json) -> str:
    name = one_line(row["project_name"] or row["project"] or "unknown", _NAME_CHARACTERS)
    rate = row["success_rate"]
    return f"  {name}: {_states(row)}" + (f"; success rate {rate:.0%}" if rate is not None else "")
