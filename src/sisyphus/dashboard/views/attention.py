"""What waits for the user: why, and what to type."""

from __future__ import annotations

import os
import shlex
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from sisyphus.dashboard.views import going_on, plan_rows
from sisyphus.dashboard.views import handoffs as handed_over
from sisyphus.enforce import actions, marks
from sisyphus.enforce.record import EXHAUSTED
from sisyphus.errors import SisyphusError
from sisyphus.ralph import loop as lp
from sisyphus.ralph import report, stale
from sisyphus.ralph.past import records
from sisyphus.session.client_process import is_held
from sisyphus.text import line, sound
from sisyphus.times import epoch, iso, local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk
    from sisyphus.ralph.past.records import Record
    from sisyphus.workspace import Workspace

MOST = 12
"""Of them are shown; the others are counted."""

LOST_DAYS = 7

PAUSED, LEFT, ENFORCEMENT, PLAN, HANDOFF, LIMIT, LOST = (
    "paused", "left", "enforcement", "plan", "handoff", "limit", "lost",
)  # fmt: skip
KINDS = (PAUSED, LEFT, ENFORCEMENT, PLAN, HANDOFF, LIMIT, LOST)
"""The most urgent first: what stands still before what goes on or is over by itself."""

_DAY = 86_400
_THEN = "once it is resumed, it needs a prompt in its session"
_PLANS = {
    "missing": "its file is gone: restore it, or forget the plan",
    "unreadable": "its file cannot be read as a plan: mend it, or forget the plan",
}


class Item(NamedTuple):
    """`what` it is, `why` it waits, `since` when, in whatever form a file has that; `href`: its
    page; `command`: makes what helps, one a line; "" = nothing needs to be typed."""

    kind: str
    what: str
    why: str
    since: object
    href: str
    command: Callable[[], str]

    @property
    def at(self) -> float:
        """In epoch seconds, 0 = not known."""
        found = self.since if isinstance(self.since, (int, float)) else epoch(self.since)
        return found if local(found) else 0.0

    def as_json(self) -> Json:
        """`since` in ISO, None = not known."""
        why = line(sound(self.why))
        return {
            **self._asdict(),
            "what": line(sound(self.what)),
            "why": why[:1].upper() + why[1:],
            "since": iso(self.at) if self.at else None,
            "command": sound(self.command()),
        }


def attention(desk: Desk) -> Json:
    """`items`: the first `MOST`, as `Item.as_json` has them; `total`: how many there are."""
    items = [
        *_of_loops(desk),
        *_of_enforcement(desk),
        *_of_plans(desk),
        *_of_handoffs(desk, {row["session_id"] for row in desk.loops()}),
        *_of_lost(desk.history(), desk.now()),
    ]
    return {"items": [item.as_json() for item in by_urgency(items)[:MOST]], "total": len(items)}


def by_urgency(items: Iterable[Item]) -> list[Item]:
    """Of one kind the newest first."""
    return sorted(items, key=lambda item: (KINDS.index(item.kind), -item.at))


def kind_of(row: Json) -> str:
    """Of a loop's row; "" = it waits for nobody. One that its user paused he knows of, and one
    around another waits for that."""
    if row["is_outer"]:
        return ""
    if row["status"] == lp.PAUSED:
        return PAUSED if row["paused_by"] not in ("", lp.BY_USER) else ""
    if row["health"] != stale.ALIVE:
        return LEFT
    return LIMIT if row["waiting"] else ""


def why_of(row: Json, now: float) -> str:
    """Of a loop's row that waits, in words."""
    found, is_left = report.state(row, now), row["health"] != stale.ALIVE
    if row["status"] == lp.PAUSED:
        why = row["breaker"].get("why") if row["paused_by"] == lp.BY_BREAKER else ""
        then = ", and its client has gone" if is_left else f"; {_THEN}"
        return f"{found}{f': {why}' if why else ''}{then}"
    if is_left:
        return f"{found}; its client has gone" if row["waiting"] else found
    by_itself = row["options"].get(lp.WAKES) is True
    return f"{found}; {'it goes on by itself' if by_itself else 'then it needs a prompt'}"


def _of_loops(desk: Desk) -> Iterator[Item]:
    for row in desk.loops():
        if kind := kind_of(row):
            since = row["waiting"].get("since") if kind == LIMIT else row["last_stop_at"]
            yield Item(
                kind=kind,
                what=row["description"] or row["loop_id"],
                why=why_of(row, desk.now()),
                since=since or row["started_at"],
                href=_loop_href(row["loop_id"]),
                command=partial(_loop_command, desk, row, kind),
            )


def _loop_command(desk: Desk, row: Json, kind: str) -> str:
    """One that cannot be gone on with can be ended."""
    if kind == LIMIT:
        return ""
    return going_on.with_loop(desk, row) or f"sisyphus ralph cancel {shlex.quote(row['loop_id'])}"


def _of_enforcement(desk: Desk) -> Iterator[Item]:
    """Projects in which sessions were told to go on as often as they may be."""
    for named, root in desk.projects().items():
        if spent := _spent(desk.space(root)):
            yield Item(
                kind=ENFORCEMENT,
                what=f"Enforcement of {os.path.basename(root) or root}",
                why=f"a session was told to go on {spent[0]['iteration']:,} times, its limit",
                since=max(one["lastEnforcement"] for one in spent) / 1_000,
                href=f"/enforcement?project={quote(named, safe='')}",
                command=partial(going_on.ours, root, "enforce on"),
            )


def _spent(space: Workspace) -> list[Json]:
    """Its sessions that are at their limit. What cannot be read is told on its own page."""
    if not marks.may_be_on(space):
        return []
    try:
        found = actions.status(space)
    except (SisyphusError, OSError):
        return []
    return [one for one in found["sessions"] if _is_spent(one)] if found["on"] else []


def _is_spent(one: Json) -> bool:
    return one["status"] == EXHAUSTED and not one["ended"]


def _of_plans(desk: Desk) -> Iterator[Item]:
    for row in plan_rows.followed(desk):
        if row["state"] in _PLANS:
            yield Item(
                kind=PLAN,
                what=row["plan_name"],
                why=_PLANS[row["state"]],
                since=row["touched_at"],
                href=f"/boulders/{row['id']}",
                command=partial(going_on.plan, row, "clear"),
            )


def _of_handoffs(desk: Desk, at_work: set[str]) -> Iterator[Item]:
    """Of each project the one that its next session is given. A session that has a loop (`at_work`)
    goes on with its own; its loop is told of."""
    seen: set[str] = set()
    for row in handed_over.handoffs(desk):
        if row["project"] in seen or row["session_id"] in at_work or not _is_left(desk, row):
            continue
        seen.add(row["project"])
        yield Item(
            kind=HANDOFF,
            what=row["next_step"] or row["task"] or "Work in progress",
            why="a handoff waits for whoever goes on: a new session of the project is given it",
            since=row["at"],
            href=f"/handoffs/{quote(row['project_id'], safe='')}/{row['id']}",
            command=partial(going_on.anew, desk, row["project"], row["session_id"]),
        )


def _is_left(desk: Desk, row: Json) -> bool:
    """Whether nobody else goes on from it: no living client is in its session, and no run. What is
    as old as no new session is given waits for nobody."""
    if row["state"] != handed_over.WAITING or row["in_run"] or not row["at"]:
        return False
    days: int = desk.space(row["project"]).settings.get("checkpoint.keep_days")
    is_fresh = desk.now() - row["at"] <= _DAY * days
    return is_fresh and is_held(desk.ours, row["session_id"]) is not True


def _of_lost(found: Iterable[Record], now: float) -> Iterator[Item]:
    since = iso(now - _DAY * LOST_DAYS)
    for one in found:
        if one.status == records.LOST and one.started_at > since:
            yield Item(
                kind=LOST,
                what=one.task or one.loop_id,
                why="nobody saw its end, and its state file is gone",
                since=one.started_at,
                href=_loop_href(one.loop_id),
                command=partial("sisyphus ralph archive {}".format, shlex.quote(one.loop_id)),
            )


def _loop_href(loop_id: str) -> str:
    return f"/loops/{quote(sound(loop_id), safe='')}"
