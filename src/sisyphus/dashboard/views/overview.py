"""How everything stands, in a few numbers."""

from __future__ import annotations

from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING

from sisyphus import journal
from sisyphus.boulder.listing import plans_of
from sisyphus.dashboard.charts import days
from sisyphus.dashboard.views import loops, plan_rows
from sisyphus.dashboard.views.attention import attention
from sisyphus.ralph import loop as lp
from sisyphus.ralph.past import stats
from sisyphus.ralph.past.records import by_session
from sisyphus.times import epoch, iso

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk
    from sisyphus.ralph.past.records import Record

LATEST = 8
MOST_ACTIVE = 100

_KINDS = {
    lp.SUCCESS: "good", lp.CANCELLED: "idle", lp.ABANDONED: "idle", lp.ARCHIVED: "idle",
}  # fmt: skip


def overview(desk: Desk) -> Json:
    """`attention`: what waits for the user; `active`: loops as `views.loops.rows` has them,
    those around others too. `days`: of the last fortnight, oldest first, how the loops that ended
    there did."""
    records, found = desk.history(), desk.sessions()
    newest = found[-LATEST:][::-1]
    plans = plans_of(desk.home, ((one.session, one.project) for one in newest))
    return {
        "attention": attention(desk),
        "loops": stats.numbers(records),
        "active": loops.rows(desk, islice((one for one in records if one.is_active), MOST_ACTIVE)),
        "ended": latest(records),
        "boulders": plan_rows.open_plans(desk),
        "sessions": journal.totals(desk.memory, found),
        "latest": journal.rows(desk.memory, newest, by_session(records), plans),
        "days": by_day(records, desk.now()),
    }


def latest(records: Sequence[Record]) -> list[Record]:
    """Those that ended last, the last one first."""
    ended = [record for record in records if record.ended_at]
    return nlargest(LATEST, ended, key=lambda record: record.ended_at)


def by_day(records: Sequence[Record], now: float) -> list[tuple[str, dict[str, float]]]:
    """As `days.by_day` has it: how many loops ended well (`good`), by somebody's will (`idle`) or
    otherwise (`warn`)."""
    since = iso(days.since(now))
    ended = (  # compared as texts: parsing 10,000 of them takes longer than all else
        (epoch(record.ended_at), _KINDS.get(record.outcome, "warn"))
        for record in records
        if record.ended_at >= since
    )
    return days.by_day(ended, now)
