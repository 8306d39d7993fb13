"""Every plan of every project, and what became of those that ended: for people."""

from __future__ import annotations

import os

from sisyphus.boulder.discover import at_its_place, find_plans, standing_place
from sisyphus.boulder.enforcement import enforced
from sisyphus.boulder.in_use import read_global
from sisyphus.boulder.look import Look, affordable
from sisyphus.boulder.record import is_path, is_stale, last_touched, new_record, strings, text
from sisyphus.boulder.store import Plans, history_path, read_plans
from sisyphus.paths import is_safe_id, project_id
from sisyphus.state import jsonl
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

_STATES = {"open": "active"}


def boulders(space: Workspace) -> list[Json]:
    """A row for each plan that is followed anywhere, the one touched last first."""
    in_use = read_global(space.home)
    books = [read_plans(space.home, root) for root in _projects(space.home)]
    if in_use and not any(in_use["active_plan"] in plans.records for plans in books):
        found = {"plans": {in_use["active_plan"]: in_use}, "current": in_use["active_plan"]}
        books.append(Plans(found, in_use["project_root"]))
    return _rows(books, space)


def of_project(space: Workspace) -> list[Json]:
    """The rows of the project that `space` works on the plans of."""
    return _rows([read_plans(space.home, standing_place(space))], space)


def open_plans(space: Workspace) -> list[Json]:
    """The rows of its plans with something left to do, followed or not; dismissed ones aside."""
    space = at_its_place(space)
    plans = read_plans(space.home, space.root)
    found = {path: s for path, s in find_plans(space).items() if path not in plans.records}
    for look in affordable(found, space.root):
        if look.state == "open" and plans.dismissed.get(look.path) != look.crc:
            touched = min(look.changed_at, space.now)
            plans.records[look.path] = new_record(look.path, look.root, touched)
    return [row for row in _rows([plans], space) if row["state"] in ("active", "stale")]


def history(space: Workspace, *, everywhere: bool = False) -> list[Json]:
    """Checkpoints, and plans that ended or moved, the oldest first."""
    roots = _projects(space.home) if everywhere else [standing_place(space)]
    rows = [
        _told(entry, root) for root in roots for entry in jsonl.read(history_path(space.home, root))
    ]
    return sorted(rows, key=lambda row: str(row["at"]))


def plans_of(home: str, sessions: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Session -> name of the plan that it is at, of those that are at one. `sessions`: each with
    its project."""
    books: dict[str, Plans] = {}
    found: dict[str, str] = {}
    for session, root in sessions:
        if root and root not in books:
            books[root] = read_plans(home, root)
        record = books[root].records.get(books[root].own(session)) if root else None
        if record:
            found[session] = str(record["plan_name"])
    return found


def _told(entry: Json, root: str) -> Json:
    last = entry.get("checkpoint")
    message = entry.get("message") or (last.get("message") if isinstance(last, dict) else "")
    if entry.get("outcome") == "moved":
        message = f"from {entry.get('from', '')}"
    return {
        "at": text(entry.get("at")) or text(entry.get("ended_at")),
        "what": text(entry.get("outcome")),
        "project_root": root,
        "plan_name": text(entry.get("plan_name")),
        "active_plan": text(entry.get("active_plan")),
        "message": text(message),
        "by": text(entry.get("by")),
        "progress": entry.get("progress"),
    }


def _projects(home: str) -> list[str]:
    """The roots of the projects that have a book of ours."""
    folder = os.path.join(home, ".sisyphus", "projects")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = [(read_json(os.path.join(folder, n, "plans.json")) or {}, n) for n in names]
    roots = ((text(book.get("project_root")), name) for book, name in found)
    return [root for root, name in roots if is_path(root) and project_id(root) == name]


def _rows(books: list[Plans], space: Workspace) -> list[Json]:
    in_use = read_global(space.home)
    used = in_use["active_plan"] if in_use else ""
    rows = [_row(plans, path, used, space) for plans in books for path in plans.records]
    return sorted(rows, key=lambda row: str(row["touched_at"]), reverse=True)


def _row(plans: Plans, path: str, used: str, space: Workspace) -> Json:
    record = plans.records[path]
    look = Look(path, plans.root)
    is_read = look.state not in ("missing", "unreadable")
    counts = look.plan.progress() if is_read else record["progress"]
    return {
        "project_root": plans.root,
        "plan_name": look.name if is_read else record["plan_name"],
        "active_plan": path,
        "state": _state(look, record, space),
        "completed": counts["completed"],
        "total": counts["total"],
        "touched_at": last_touched(record),
        "sessions_open": _open_sessions(record, space),
        "is_current": path == plans.current,
        "in_use": path == used,
        "enforced": enforced(record) is not None,
    }


def _state(look: Look, record: Json, space: Workspace) -> str:
    days = space.settings.get("boulder.stale_days")
    if look.state == "open" and is_stale(record, look.changed_at, space.now, days):
        return "stale"
    return _STATES.get(look.state, look.state)


def _open_sessions(record: Json, space: Workspace) -> int:
    """Sessions that have not ended, as far as their client processes can be asked."""
    from sisyphus.session.client_process import is_held

    ended = set(strings(record["metadata"].get("ended_sessions")))
    going = [s for s in record["session_ids"] if s not in ended and is_safe_id(s)]
    return sum(is_held(space.ours, session) is not False for session in going)
