"""What people are told of a run that goes on, was left, or has ended."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError
from sisyphus.runner import texts
from sisyphus.runner.client import launch
from sisyphus.runner.keep import store
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import COMPLETED, Run
from sisyphus.session.process import from_json, is_alive
from sisyphus.state.files import read_json
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Owner
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
    for name, run in _runs(ours):
        if run.loop_id and name != f"{run.loop_id}.json":
            yield run


def _runs(ours: str) -> Iterator[tuple[str, Run]]:
    """Every run that is known, by the name of its file."""
    folder = os.path.join(ours, "ralph", "runs")
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return
    for name in names:
        yield name, Run(read_json(os.path.join(folder, name)))


def needed(ours: str) -> Iterator[Owner]:
    """The loop and the session of each run that is at work, or whose client is; the handoff that a
    run is given when somebody goes on with it."""
    for _, run in _runs(ours):
        handoff = run.context_checkpoint.get("handoff_file")
        if run.status != COMPLETED and isinstance(handoff, str):
            yield "handoff", os.path.basename(handoff)
        if is_at_work(run) or launch.living(run.in_flight):
            yield "loop", run.loop_id
            yield "session", str(run.in_flight.get("session_id"))


def is_at_work(run: Run) -> bool:
    runner = from_json(run.extra.get("runner"))
    return runner is not None and is_alive(runner) is True
