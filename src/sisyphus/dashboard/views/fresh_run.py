"""A run in fresh contexts: it has an id like a loop's, and is none of the history of loops."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sisyphus.paths import is_safe_id
from sisyphus.runner import report, texts
from sisyphus.runner.keep.state import Run
from sisyphus.state.files import read_json
from sisyphus.text import harmless, one_line

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.dashboard.desk import Desk

_CHARACTERS = 100_000
_LATEST = 200


def find(desk: Desk, run_id: str) -> Json | None:
    """`state` and `counts` in words, `sessions`: id and times, the latest first; None where no
    run of this id is known."""
    run = _read(desk.ours, run_id) if is_safe_id(run_id) else None
    if run is None:
        return None
    found = [one for one in desk.sessions() if one.run == run_id]
    return {
        "run_id": run_id,
        "task": one_line(run.task_name),
        "is_at_work": report.is_at_work(run),
        "status": one_line(run.status),
        "state": texts.ended(run),
        "counts": texts.counts(run),
        "iteration": run.iteration,
        "max_iterations": run.max_iterations,
        "completion_promise": run.completion_promise,
        "started_at": run.started_at,
        "item": one_line(run.item),
        "open": run.todo_items,
        "done": run.completed_items,
        "prompt": harmless(run.prompt[:_CHARACTERS]),
        "sessions": [
            {"session_id": one.session, "began": one.began, "ended": one.ended}
            for one in found[: -_LATEST - 1 : -1]
        ],
    }


def _read(ours: str, run_id: str) -> Run | None:
    """The last run of a project lies under the project's name, those before it under their own."""
    folder = os.path.join(ours, "ralph", "runs")
    own = f"{run_id}.json"
    try:
        names = sorted(os.listdir(folder), key=lambda name: name != own)
    except OSError:
        return None
    runs = (Run(read_json(os.path.join(folder, name))) for name in names if name.endswith(".json"))
    return next((run for run in runs if run.loop_id == run_id), None)
