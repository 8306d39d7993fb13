"""What a handoff says of the plan. Pure."""

from __future__ import annotations

from sisyphus.checkpoint.paper.in_progress import relative
from sisyphus.checkpoint.paper.marks import code, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json, PlanStatus
    from sisyphus.checkpoint.paper.situation import Situation


def render(s: Situation) -> str:
    """ "" where there is no plan."""
    found = s.plan
    if found is None or not found["active_plan"]:
        return ""
    done = found["progress"]
    rows = (
        ("Name", text(found["plan_name"] or "")),
        ("File", code(relative(found["active_plan"], s.root))),
        ("Progress", f"{done['completed']} of {done['total']} tasks are complete{_blocked(found)}"),
        ("Next task", text(found["next_task"] or "")),
        ("Current wave", _wave(found)),
        ("Current story", _story(found)),
        ("Last checkpoint", _checkpoint(found["checkpoint"])),
    )
    return "\n".join(f"- **{name}**: {said}" for name, said in rows if said)


def _blocked(found: PlanStatus) -> str:
    blocked = found["progress"]["blocked"]
    return f", {blocked} blocked" if blocked else ""


def _wave(found: PlanStatus) -> str:
    waves = (wave for wave in found["waves"] if wave["number"] == found["current_wave"])
    wave = next(waves, None)
    if wave is None:
        return ""
    counted = f"{wave['completed']} of {wave['total']} tasks"
    return text(f"{wave['number']} {wave['name']}".strip()) + f" ({counted})"


def _story(found: PlanStatus) -> str:
    stories = (story for story in found["stories"] if story["id"] == found["current_story"])
    story = next(stories, None)
    if story is None:
        return ""
    counted = f"{story['completed']} of {story['total']} tasks"
    return text(f"{story['id']} {story['title']}".strip()) + f" ({counted})"


def _checkpoint(found: Json | None) -> str:
    if not found or not isinstance(found.get("message"), str):
        return ""
    at = found.get("timestamp")
    return text(found["message"]) + (f" ({text(at)})" if isinstance(at, str) and at else "")
