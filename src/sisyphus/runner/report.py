"""What people are told of a run that goes on, was left, or has ended."""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.plain import line
from sisyphus.runner import texts
from sisyphus.runner.keep import store
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import COMPLETED
from sisyphus.session.process import from_json, is_alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.keep.state import Run
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


def is_at_work(run: Run) -> bool:
    runner = from_json(run.extra.get("runner"))
    return runner is not None and is_alive(runner) is True
