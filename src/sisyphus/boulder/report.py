"""The answer of `boulder status`: what is remembered of a plan, and what its file says now."""

from __future__ import annotations

from sisyphus.boulder.enforcement import KEY as ENFORCED
from sisyphus.boulder.kord.file import RecordFile
from sisyphus.boulder.kord.notes import Notes
from sisyphus.boulder.parking import is_another
from sisyphus.boulder.parser.plan import parse
from sisyphus.boulder.parser.stories import current_parts, next_task, record_stories
from sisyphus.boulder.record import is_stale
from sisyphus.boulder.store import read_plans, record_in_project, record_path
from sisyphus.errors import SisyphusError
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from sisyphus._types import Json, PlanStatus, StoryStatus, WaveStatus
    from sisyphus.boulder.look import Look
    from sisyphus.boulder.parser.plan import Plan
    from sisyphus.workspace import Workspace

_NAMED = 20

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
        "next_task_line": None,
        "current_wave": None,
        "current_story": None,
        "waves": [],
        "stories": [],
        "checkpoint": None,
        "todos": [],
        "record_path": None,
        "in_repo": False,
        "record_problem": None,
        "enforced": None,
        "open_plans": [],
    }


def of_look(look: Look, record: Json | None = None, space: Workspace | None = None) -> PlanStatus:
    """What the file says, with what is remembered. The counts are those of the file, of the
    record only where the file is gone."""
    plans = read_plans(space.home, look.root) if space else None
    notes = plans.notes_of(look.path) if plans else Notes({})
    if plans and look.path in plans.records and is_another(plans, look):
        notes, record = Notes({}), record and {**record, "metadata": {}}
    wave, story, _ = current_parts(look.plan, notes.wave, notes.story)
    task = next_task(look.plan, notes.wave, notes.story)
    status: PlanStatus = {
        **no_plan(),
        "state": _STATES[look.state],
        "active_plan": look.path,
        "project_root": look.root,
        "plan_name": look.name,
        "progress": look.plan.progress(),
        "next_task": task.text if task else None,
        "next_task_line": task.line if task else None,
        "current_wave": wave,
        "current_story": story or None,
        "waves": _waves(look.plan),
        "stories": _stories(look.plan, story),
    }
    if record and space:
        status |= {"checkpoint": notes.checkpoint, "todos": notes.todos}
        _add_memory(status, look, record, space)
    return status


def parts_named(plan: Plan, wave: int | None, story: str) -> tuple[int | None, str] | None:
    """Wave and story as a person names them, None where neither is; raises `SisyphusError` where
    the plan has no such thing."""
    if wave is None and not story:
        return None
    known = {found.id.casefold(): found for found in record_stories(plan)}
    if story and story.casefold() not in known:
        names = ", ".join(line(found.id) for found in list(known.values())[:_NAMED])
        raise SisyphusError(f"the plan has no story {line(story)}. Its stories: {names or 'none'}.")
    waves = {found.number for found in plan.waves}
    if wave is not None and wave not in waves:
        names = ", ".join(map(str, sorted(waves)[:_NAMED]))
        raise SisyphusError(f"the plan has no wave {wave}. Its waves: {names or 'none'}.")
    found = known.get(story.casefold())
    if found and wave not in (None, found.wave):
        place = "no wave" if found.wave is None else f"wave {found.wave}"
        raise SisyphusError(f"story {line(found.id)} is in {place}, not in wave {wave}.")
    if found and found.status == "completed":
        raise SisyphusError(f"story {line(found.id)} is complete. Name one that goes on.")
    return wave, found.id if found else ""


def readable(look: Look) -> Look:
    """`look` itself; raises `SisyphusError` where its file could not be read."""
    if look.state == "unreadable":
        problem = line(look.problem)
        raise SisyphusError(f"{problem}. Mend the file, or run `sisyphus boulder clear`.")
    return look


def _add_memory(status: PlanStatus, look: Look, record: Json, space: Workspace) -> None:
    status["started_at"] = record["started_at"]
    status["session_ids"] = record["session_ids"]
    status["record_path"] = path = record_path(space.home, look.root)
    status["in_repo"] = path == record_in_project(look.root)
    status["record_problem"] = RecordFile(path, look.root).problem or None
    status["enforced"] = record["metadata"].get(ENFORCED)
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
            "line": wave.line,
            "total": wave.counts.total,
            "completed": wave.counts.completed,
            "blocked": wave.counts.blocked,
        }
        for wave in plan.waves
    ]


def _stories(plan: Plan, current: str) -> list[StoryStatus]:
    now = next((story for story in plan.stories if story.id == current), None)
    return [
        {
            "id": story.id,
            "title": story.title,
            "line": story.line,
            "wave": story.wave,
            "status": story.status(now),
            "total": story.counts.total,
            "completed": story.counts.completed,
        }
        for story in plan.stories
    ]
