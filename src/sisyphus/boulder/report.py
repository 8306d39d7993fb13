"""The answer of `boulder status`: what is remembered of a plan, and what its file says now."""

from __future__ import annotations

from sisyphus.boulder.parser.plan import parse
from sisyphus.boulder.record import is_stale
from sisyphus.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from sisyphus._types import Json, PlanStatus, StoryStatus, WaveStatus
    from sisyphus.boulder.look import Look
    from sisyphus.boulder.parser.plan import Plan
    from sisyphus.workspace import Workspace

_STATES: dict[str, Literal["active", "missing", "no_tasks", "complete"]] = {
    "open": "active",
    "unreadable": "active",
    "missing": "missing",
    "no_tasks": "no_tasks",
    "complete": "complete",
}


def no_plan() -> PlanStatus:
    return {
        "state": "none",
        "active_plan": None,
        "project_root": None,
        "plan_name": None,
        "started_at": None,
        "session_ids": [],
        "progress": parse("").progress(),
        "next_task": None,
        "waves": [],
        "stories": [],
        "checkpoint": None,
        "todos": [],
    }


def of_look(look: Look, record: Json | None = None, space: Workspace | None = None) -> PlanStatus:
    """What the file says, with what is remembered. The counts are those of the file, of the
    record only where the file is gone."""
    status: PlanStatus = {
        **no_plan(),
        "state": _STATES[look.state],
        "active_plan": look.path,
        "project_root": look.root,
        "plan_name": look.name,
        "progress": look.plan.progress(),
        "next_task": look.plan.next_task,
        "waves": _waves(look.plan),
        "stories": _stories(look.plan),
    }
    if record and space:
        _add_memory(status, look, record, space)
    return status


def readable(look: Look) -> Look:
    """`look` itself; raises `SisyphusError` where its file could not be read."""
    if look.state == "unreadable":
        raise SisyphusError(f"{look.problem}. Mend the file, or run `sisyphus boulder clear`.")
    return look


def _add_memory(status: PlanStatus, look: Look, record: Json, space: Workspace) -> None:
    status["started_at"] = record["started_at"]
    status["session_ids"] = record["session_ids"]
    days = space.settings.get("boulder.stale_days")
    if look.state in ("missing", "unreadable"):
        status["plan_name"] = record["plan_name"]
        status["progress"] |= record["progress"]
    elif look.state == "open" and is_stale(record, look.changed_at, space.now, days):
        status["state"] = "stale"


def _waves(plan: Plan) -> list[WaveStatus]:
    return [
        {
            "number": wave.number,
            "name": wave.name,
            "total": wave.counts.total,
            "completed": wave.counts.completed,
        }
        for wave in plan.waves
    ]


def _stories(plan: Plan) -> list[StoryStatus]:
    return [
        {
            "id": story.id,
            "title": story.title,
            "wave": story.wave,
            "status": story.status(plan.current_story),
            "total": story.counts.total,
            "completed": story.counts.completed,
        }
        for story in plan.stories
    ]
