"""Plans as people look at them: all of them, and one with its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.boulder import enforcement as ef
from sisyphus.boulder import report
from sisyphus.boulder.in_use import read_global
from sisyphus.boulder.kord.notes import objects
from sisyphus.boulder.kord.todos import shown
from sisyphus.boulder.look import Look
from sisyphus.boulder.record import strings
from sisyphus.boulder.store import read_plans
from sisyphus.dashboard.views import going_on, plan_rows
from sisyphus.dashboard.views.plan_tree import tree
from sisyphus.paths import is_safe_id
from sisyphus.session.client_process import is_held
from sisyphus.text import line, sound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json, PlanStatus
    from sisyphus.boulder.store import Plans
    from sisyphus.dashboard.desk import Desk

COMPLETE = "complete"
ENDED = "ended"
"""The state, as a filter names it, of plans that nobody follows any more."""

MOST_ENDED, MOST_EVENTS, MOST_SESSIONS, MOST_TODOS = 50, 100, 100, 200


def boulders(desk: Desk, project: str = "", state: str = "") -> Json:
    """The plans of one project (its id) or all, in one state or any.

    `open`, `complete`, `others`: those that are followed, the one touched last first; `ended`: the
    latest of those that no longer are; `projects`: id -> name, `states`: what one may ask for.
    """
    known, over = plan_rows.followed(desk), plan_rows.ended(desk)
    rows = [row for row in known if _is_asked(row, project) and state in ("", row["state"])]
    past = [row for row in over if _is_asked(row, project) and state in ("", ENDED)]
    return {
        "open": [row for row in rows if row["state"] in plan_rows.OPEN],
        "complete": [row for row in rows if row["state"] == COMPLETE],
        "others": [row for row in rows if row["state"] not in (*plan_rows.OPEN, COMPLETE)],
        "ended": past[:MOST_ENDED],
        "projects": {row["project_id"]: row["project_name"] for row in (*known, *over)},
        "states": sorted({row["state"] for row in known} | ({ENDED} if over else set())),
    }


def boulder(desk: Desk, named: str) -> Json:
    """One plan by its `id`: what its row of `boulders` has and `boulder status --json` answers.

    Besides: `followed`; `problem`: why its file cannot be read; `sections`: its tasks, as `tree`
    has them; `checkpoints` and `events`: lines of its history, the newest first; `sessions` that
    worked on it; `holds`: the loops that hold them to it; `commands` for a terminal.
    Raises `FailedError`.
    """
    row = plan_rows.find(desk, named)
    root, path = row["project_root"], row["active_plan"]
    space, plans = desk.space(root), read_plans(desk.home, root)
    record, look = _record(plans, path, desk), Look(path, root)
    status = report.of_look(look, record, space)
    known = record or plan_rows.last_record(desk, root, path)
    return {
        **row,
        **status,
        "plan_name": row["plan_name"],
        "started_at": known.get("started_at"),
        "progress": _progress(status, row),
        "state": "unreadable" if look.state == "unreadable" else status["state"],
        "followed": record is not None,
        "problem": line(sound(look.problem)),
        "sections": tree(look.plan, status),
        **_past(desk, root, path),
        "todos": _todos(plans, path, status["todos"] if record else objects(known.get("todos"))),
        "sessions": _sessions(desk, known),
        "commands": {
            "to_forget": going_on.plan(row, "clear"),
            "to_start": going_on.plan(row, "start"),
        },
        "holds": [loop for loop in desk.loops() if loop["options"].get("plan") == path],
    }


def _is_asked(row: Json, project: str) -> bool:
    return project in ("", row["project_id"])


def _record(plans: Plans, path: str, desk: Desk) -> Json | None:
    """That of the project's book; the plan in use may be in none."""
    in_use = read_global(desk.home)
    is_in_use = in_use is not None and in_use["active_plan"] == path
    return plans.records.get(path) or (in_use if is_in_use else None)


def _past(desk: Desk, root: str, path: str) -> Json:
    found = plan_rows.history_of(desk, root, path)
    checkpoints = [one for one in found if one["what"] == plan_rows.CHECKPOINT]
    events = [one for one in found if one["what"] != plan_rows.CHECKPOINT]
    return {"checkpoints": checkpoints[:MOST_EVENTS], "events": events[:MOST_EVENTS]}


def _progress(status: PlanStatus, row: Json) -> Json:
    """Of a file that is gone, what was known last."""
    counts = {name: row[name] for name in ("completed", "total")}
    return {**status["progress"], **(counts if status["state"] == "missing" else {})}


def _todos(plans: Plans, path: str, todos: Sequence[Json]) -> list[Json]:
    """Each with the `session` whose list it is from, "" = it was written by hand."""
    owners = plans.notes_of(path).owners
    return [{**todo, "session": owners.get(todo["id"], "")} for todo in shown(todos)[:MOST_TODOS]]


def _sessions(desk: Desk, record: Json) -> list[Json]:
    """The latest first. `is_open`: None where its client cannot be told; `is_enforced`: it may not
    stop while there is something to do; `began`, `last` (epoch seconds) and `hooks` where its
    journal tells."""
    sessions, metadata = record.get("session_ids", []), record.get("metadata", {})
    over, raw = set(strings(metadata.get("ended_sessions"))), metadata.get(ef.KEY)
    held = ef.held_sessions(sessions, raw if isinstance(raw, dict) else None)
    known = {one.session: one for one in desk.sessions()}
    found = []
    for session in reversed(sessions[-MOST_SESSIONS:]):
        one = known.get(session)
        is_open = session not in over and is_safe_id(session)
        found.append({
            "session_id": session,
            "is_open": is_held(desk.ours, session) if is_open else False,
            "is_enforced": session in held,
            "began": (one and one.began) or None,
            "last": (one and one.ended) or None,
            "hooks": one.hooks if one else None,
        })  # fmt: skip
    return found
