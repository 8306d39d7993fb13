from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter

from sisyphus.dashboard.api import shapes
from sisyphus.dashboard.api.common import UNKNOWN, LoopId
from sisyphus.dashboard.api.models.texts import ChecklistAnswer
from sisyphus.dashboard.failures import not_found
from sisyphus.dashboard.given import DeskOf
from sisyphus.dashboard.views.loops import progress
from sisyphus.ralph.checklists import checklist_store, criteria

if TYPE_CHECKING:
    from sisyphus._types import Json

router = APIRouter(prefix="/api/checklist", tags=["checklists"])


@router.get("/{loop_id}", summary="A loop's checklist", responses=UNKNOWN)
def checklist(desk: DeskOf, loop_id: LoopId) -> ChecklistAnswer:
    """What must be true before the loop may end, and what of it is."""
    found, done = checklist_store.read(desk.ours, loop_id), progress(desk.ours, loop_id)
    if not found or not done:
        raise not_found(f"loop {loop_id} has no checklist.")
    counts = {"completed": done["done"], "total": done["total"]}
    return ChecklistAnswer.model_validate({
        "checklist": {**found, "completion_criteria": _criteria(found)},
        "progress": {"criteria": shapes.criteria(done), **counts},
    })  # fmt: skip


def _criteria(found: Json) -> list[Json]:
    """Those that count, with what the file says of each besides."""
    known = {str(raw.get("id")): raw for raw in found["completion_criteria"] if _is_one(raw)}
    return [
        {**known[one.id], "id": one.id, "text": one.text, "status": one.status}
        for one in criteria.listed(found)
    ]


def _is_one(raw: object) -> bool:
    return isinstance(raw, dict)
