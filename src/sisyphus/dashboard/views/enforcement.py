"""How continuous enforcement stands in each project, and what it did."""

from __future__ import annotations

import os
from operator import itemgetter
from typing import TYPE_CHECKING

from sisyphus.boulder.enforcement import KEY, held_sessions
from sisyphus.boulder.store import read_plans
from sisyphus.dashboard.failures import not_found
from sisyphus.dashboard.views import plan_rows
from sisyphus.dashboard.views.enforcement_log import Line, sums
from sisyphus.enforce import actions, log, marks, store
from sisyphus.enforce.record import OFF, Record
from sisyphus.errors import SisyphusError
from sisyphus.paths import project_id
from sisyphus.ralph import breaker
from sisyphus.state.files import read_json
from sisyphus.text import line, sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk
    from sisyphus.enforce.limits import Limits
    from sisyphus.workspace import Workspace

MOST_ROWS = 5_000
"""Of one project's log: some 700 KB of it."""

MOST_SESSIONS, LATEST = 10, 30
STEPS = 8
"""Of the backoff, where there is no limit of failures; at most `_MOST_STEPS`."""

_MOST_STEPS = 12
_OPTIONS = ("max_iterations", "max_minutes", "max_tokens")


def enforcement(desk: Desk, project: str = "") -> Json:
    """Of one project (its id) or of all that were ever enforced. Raises `FailedError`.

    `names`: id -> name of those; `projects`: how each stands, with its sessions and their gates;
    what `sums` tells of their logs; `latest`: the last lines, the newest first; `plans` that are
    enforced; `breakers` that are open; `backoff`: of the project, else by the user's own settings.
    """
    spaces = _spaces(desk)
    if project and project not in spaces:
        raise not_found("nothing was enforced in such a project. The list of projects names them.")
    meant = {project: spaces[project]} if project else spaces
    standing = [_standing(space) for space in meant.values()]
    known = {named: _lines(space) for named, space in meant.items()}
    lines = sorted((one for found in known.values() for one in found), key=lambda one: one.at)
    only = next(iter(meant.values())) if len(meant) == 1 else desk.space(desk.home)
    return {
        "names": {named: _name(space) for named, space in spaces.items()},
        "projects": sorted(map(_cut, standing), key=lambda one: (not one["on"], -one["at"])),
        **sums(lines, desk.now()),
        "latest": _latest(known),
        "plans": [row for row in _plans(desk) if project in ("", row["project_id"])],
        "breakers": [row for row in _breakers(desk) if project in ("", row["project_id"])],
        "backoff": backoff(store.limits(only), [one for row in standing for one in row["alive"]]),
    }


def backoff(limits: Limits, sessions: Sequence[Json]) -> list[Json]:
    """How long the next enforcement waits by `failures` in a row: `seconds`, `rests` where they are
    as many as there may be, `sessions`: how many are there now."""
    most = limits.max_failures
    count = min(most, _MOST_STEPS) if most else STEPS
    rows = [(n, limits.cooldown_of(n), False) for n in range(count)]
    rows += [(most, limits.recovery, True)] if 0 < most <= _MOST_STEPS else []
    now = [one["failureCount"] for one in sessions]
    return [
        {"failures": n, "seconds": wait / 1_000, "rests": rests, "sessions": now.count(n)}
        for n, wait, rests in rows
    ]


def _spaces(desk: Desk) -> dict[str, Workspace]:
    found = {named: desk.space(root) for named, root in desk.projects().items()}
    return {named: space for named, space in found.items() if _was_enforced(space)}


def _was_enforced(space: Workspace) -> bool:
    return marks.may_be_on(space) or os.path.lexists(log.log_path(space))


def _name(space: Workspace) -> str:
    return sound(os.path.basename(space.root)) or space.root


def _lines(space: Workspace) -> list[Line]:
    return [Line(raw) for raw in log.read(space, MOST_ROWS)]


def _latest(known: dict[str, list[Line]]) -> list[Json]:
    rows = [
        {**one.as_json(), "project_id": named}
        for named, lines in known.items()
        for one in lines[-LATEST:]
    ]
    return sorted(rows, key=lambda row: row["at"] or 0)[::-1][:LATEST]


def _standing(space: Workspace) -> Json:
    """What `enforce status --json` answers; `alive`: the sessions that have not ended, with how
    long each `waits`; `at`: of the last activity in epoch seconds. Where the state cannot be read,
    `problem` says so and nothing is known."""
    found, problem = _status(space)
    limits = store.limits(space)
    alive = [one for one in found["sessions"] if not one["ended"]]
    for one in alive:
        one["waits"] = limits.cooldown_of(one["failureCount"]) / 1_000
        one["held"] = line(sound(one["held"])) if one["held"] else None
    state = found["state"]
    return {
        **{name: value for name, value in found.items() if name != "sessions"},
        "project_id": project_id(space.root),
        "project_root": sound(space.root),
        "project_name": _name(space),
        "is_there": os.path.isdir(space.root),
        "problem": problem,
        "at": max(state["lastActivity"], state["lastEnforcement"]) / 1_000,
        "alive": alive,
        "open": len(alive),
        "ended": len(found["sessions"]) - len(alive),
    }


def _cut(row: Json) -> Json:
    """Of `alive` no more than a page shows; `open` counts them all."""
    return {**row, "alive": row["alive"][:MOST_SESSIONS]}


def _status(space: Workspace) -> tuple[Json, str]:
    """To look must not set aside what is unreadable: the next hook does, and tells the user."""
    path = marks.state_path(space)
    if os.path.lexists(path) and read_json(path) is None:
        return _unknown(), "its state cannot be read; the next event sets it aside"
    try:
        return actions.status(space), ""
    except (SisyphusError, OSError) as error:
        return _unknown(), line(sound(str(error)))


def _unknown() -> Json:
    state = Record({}).keys(lambda _: OFF)
    return {"on": False, "status": OFF, "since": None, "state": state, "sessions": []}


def _plans(desk: Desk) -> list[Json]:
    """Those that sessions may not leave: `since`, `limits`, how many sessions it holds, and the
    `loops` that do."""
    return [{**row, **_held(desk, row)} for row in plan_rows.followed(desk) if row["enforced"]]


def _held(desk: Desk, row: Json) -> Json:
    path = row["active_plan"]
    record = read_plans(desk.home, row["project_root"]).records.get(path)
    raw = record["metadata"].get(KEY) if record else None
    told = raw if isinstance(raw, dict) else {}
    limits = {name: n for name in _OPTIONS if type(n := told.get(name)) is int and n > 0}
    loops = [loop for loop in desk.loops() if loop["options"].get("plan") == path]
    return {
        "since": told.get("since"),
        "limits": limits,
        "held": len(held_sessions(record["session_ids"], told)) if record else 0,
        "loops": loops,
        "iterations": sum(map(itemgetter("iteration"), loops)),
    }


def _breakers(desk: Desk) -> list[Json]:
    """Of loops that get nowhere: those that are open, and those that cool down."""
    found = (row for row in desk.loops() if isinstance(row["breaker"], dict))
    return [
        {**row, "project_id": project_id(row["project"]), "why": line(str(row["breaker"]["why"]))}
        for row in found
        if row["breaker"].get("state") in (breaker.OPEN, breaker.HALF_OPEN)
    ]
