"""What was begun and forgotten: loops and plans."""

from __future__ import annotations

from sisyphus.boulder import listing
from sisyphus.doctor.finding import Finding, ok, typed, warning
from sisyphus.ralph import actions
from sisyphus.ralph.stale import STALE
from sisyphus.session.transcripts import resume_command
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

LOOPS, PLANS = "loops", "plans"

_WORDS = 60
_SHOWN = 3


def loops(case: Case) -> Iterator[Finding]:
    hours = case.space.settings.get("ralph.stale_hours")
    rows = actions.list_loops(case.space.ours, case.space.now, hours)
    old = [row for row in rows if row["health"] == STALE and not row["is_outer"]]
    for row in old:
        name, what = one_line(row["loop_id"]), one_line(row["description"], _WORDS)
        resume = resume_command(case.space.home, row["session_id"])
        yield warning(
            LOOPS,
            f"loop {name} ({what}) has been silent for over {hours:g} h and its client has gone",
            f"`cd {typed(row['project'])} && {resume}`, or `sisyphus ralph cancel {typed(name)}`",
        )
    if not old:
        yield ok(LOOPS, f"{len(rows)} under way" if rows else "none under way")


def plans(case: Case) -> Iterator[Finding]:
    rows = listing.boulders(case.space)
    days = case.space.settings.get("boulder.stale_days")
    old = [row for row in rows if row["state"] == "stale"]
    gone = [row for row in rows if row["state"] in ("missing", "unreadable")]
    if old:
        text = f"{_plans(len(old))} untouched for over {days} days: {_names(old)}"
        yield warning(PLANS, text, "`sisyphus boulder start NAME`, or `sisyphus boulder clear`")
    if gone:
        text = f"{_plans(len(gone))} gone or unreadable: {_names(gone)}"
        where = typed(gone[0]["project_root"])
        yield warning(PLANS, text, f"`sisyphus boulder clear --project {where}`")
    if not old and not gone:
        yield ok(PLANS, f"{len(rows)} followed" if rows else "none followed")


def _plans(count: int) -> str:
    return "1 plan is" if count == 1 else f"{count} plans are"


def _names(rows: list[dict[str, object]]) -> str:
    names = [one_line(str(row["plan_name"]), _WORDS) for row in rows[:_SHOWN]]
    more = [f"{len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    return ", ".join([*names, *more])
