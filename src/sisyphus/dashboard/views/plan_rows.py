"""The plans that are known: those that are followed, and those that ended."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sisyphus.boulder.record import is_path, valid_record
from sisyphus.boulder.store import history_path
from sisyphus.dashboard.failures import not_found
from sisyphus.paths import display, is_safe_id, project_id
from sisyphus.state import jsonl
from sisyphus.text import fingerprint, line, sound

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk

COMPLETED, CLEARED, CHECKPOINT, MOVED = "completed", "cleared", "checkpoint", "moved"
"""What a line of the history says of a plan."""

_ENDS = (COMPLETED, CLEARED)

OPEN = ("active", "stale")
"""States of plans that sessions go on with."""

_FROM = "from "


def followed(desk: Desk) -> list[Json]:
    """As `boulder list --json` has them, each with an `id` and names that are short."""
    return [{**row, **_named(row)} for row in desk.boulders()]


def open_plans(desk: Desk) -> list[Json]:
    return [row for row in followed(desk) if row["state"] in OPEN]


def ended(desk: Desk) -> list[Json]:
    """The plans that nobody follows any more, the one that ended last first, each once: `id`,
    names, `what` became of it, `at`, `completed`, `total`."""
    known = {row["active_plan"] for row in desk.boulders()}
    found: dict[str, Json] = {}
    for row in reversed(desk.plans_past()):
        path = row["active_plan"]
        if row["what"] in _ENDS and path not in known and is_path(path):
            found.setdefault(path, {**row, **_named(row), **_counts(row["progress"])})
    return list(found.values())


def history_of(desk: Desk, root: str, path: str) -> list[Json]:
    """Of one plan, the newest first, also from where it lay before."""
    paths, found = {path}, []
    for row in reversed(desk.plans_past()):
        if row["project_root"] == root and row["active_plan"] in paths:
            found.append({**row, "message": line(row["message"]), "by": line(row["by"])})
            if row["what"] == MOVED:
                paths.add(row["message"].removeprefix(_FROM))
    return found


def last_record(desk: Desk, root: str, path: str) -> Json:
    """What was known of a plan when it ended, with its `todos`; {} where nothing is."""
    entries = jsonl.read(history_path(desk.home, root))
    found = [e for e in entries if e.get("active_plan") == path and e.get("outcome") in _ENDS]
    return (valid_record(found[-1]) or {}) if found else {}


def find(desk: Desk, named: str) -> Json:
    """The row of the plan of this id, followed or not. Raises `FailedError`."""
    if is_safe_id(named):
        for rows in (followed, ended):
            for row in rows(desk):
                if row["id"] == named:
                    return row
    raise not_found("no such plan is known. The list of plans names them all.")


def _named(row: Json) -> Json:
    root, path = row["project_root"], row["active_plan"]
    return {
        "id": fingerprint(path),
        "plan_name": line(sound(row["plan_name"])) or "a plan without a name",
        "project_id": project_id(root),
        "project_name": sound(os.path.basename(root)) or root,
        "place": line(sound(display(path, root))),
    }


def _counts(progress: object) -> Json:
    known = progress if isinstance(progress, dict) else {}
    counts = {name: known.get(name) for name in ("completed", "total")}
    return {name: n if type(n) is int and n >= 0 else 0 for name, n in counts.items()}
