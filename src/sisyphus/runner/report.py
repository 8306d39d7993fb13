"""What people are told of a run that goes on, was left, or has ended."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError
from sisyphus.runner import texts
from sisyphus.runner.keep import store
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import COMPLETED, Run
from sisyphus.session.process import from_json, is_alive
from sisyphus.state.files import read_json
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.workspace import Workspace


def standing(space: Workspace) -> str:
    """The project's run, in a few lines; "" = there is none."""
    try:
        places = Places(space)
    except SisyphusError:
        return ""
    run = store.glance(places)
    if not run.loop_id:
        return ""
    is_busy = is_at_work(run)
    rows = [
        f"{line(run.task_name)} (iteration {run.iteration} {run.of_most})",
        f"at work on: {line(run.item)}" if run.item and is_busy else "",
        "" if is_busy else texts.ended(run),
        texts.counts(run),
        texts.handoff(run),
        f"What each iteration did: {places.progress}" if run.judged else "",
        "" if is_busy or run.status == COMPLETED else _NOT_NOW,
    ]
    return "\n".join(f"  {row}" for row in rows if row)


_NOT_NOW = f"It is not at work now. Go on with `{texts.RESUME}`."


def at_work(ours: str) -> str:
    """One line about the runs that are at work, whatever their project; "" = none is."""
    busy = [run for run in _last_ones(ours) if is_at_work(run)]
    if not busy:
        return ""
    named = ", ".join(f"{line(run.task_name)} (iteration {run.iteration})" for run in busy)
    count = f"{len(busy)} runs" if len(busy) > 1 else "A run"
    verb = "are" if len(busy) > 1 else "is"
    return f"{count} in fresh contexts {verb} at work: {named}. {_WHERE}"


_WHERE = "`sisyphus ralph status` in the project tells more, `sisyphus sessions` what it costs."


def _last_ones(ours: str) -> Iterator[Run]:
    """The last run of every project; those before it lie under the names of their loops."""
    folder = os.path.join(ours, "ralph", "runs")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        run = Run(read_json(os.path.join(folder, name)) if name.endswith(".json") else None)
        if run.loop_id and name != f"{run.loop_id}.json":
            yield run


def is_at_work(run: Run) -> bool:
    runner = from_json(run.extra.get("runner"))
    return runner is not None and is_alive(runner) is True
