"""How a run begins: what was asked for, on what, and whether it may."""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.ralph import breaker
from sisyphus.ralph.adopt import new_id
from sisyphus.runner.asked import prompt as prompt_of
from sisyphus.runner.client import launch
from sisyphus.runner.keep import store
from sisyphus.runner.keep.state import (
    BREAKER,
    COMPLETED,
    ITERATION_MINUTES_DEFAULT,
    MAX_ITERATIONS_DEFAULT,
    MAX_MINUTES_DEFAULT,
    Run,
)
from sisyphus.runner.task import prompt
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.asked import Asked
    from sisyphus.runner.keep.places import Places
    from sisyphus.runner.keep.store import Loaded
    from sisyphus.workspace import Workspace

DEFAULTS = {
    "max_minutes": MAX_MINUTES_DEFAULT,
    "max_tokens": 0,
    "iteration_minutes": ITERATION_MINUTES_DEFAULT,
}


class Begun:
    """`notes` are for the user; `goes_on` False: the run has ended already, as `run` tells."""

    __slots__ = ("goes_on", "notes", "run")

    def __init__(self, run: Run, notes: list[str], *, goes_on: bool = True) -> None:
        self.run = run
        self.notes = notes
        self.goes_on = goes_on


def new(space: Workspace, places: Places, asked: Asked, folder: str) -> Begun:
    """A new run; `folder` is where files that the user names are looked for. Nothing is written
    yet. Raises `SisyphusError`."""
    text = prompt_of(places, asked, folder)
    loaded = store.load(places)
    _check_client(loaded)
    run = Run({"max_iterations": MAX_ITERATIONS_DEFAULT, "options": dict(DEFAULTS)})
    run.loop_id, run.prompt, run.started_at = new_id(), text, iso(space.now)
    run.task_name = prompt.task_name(text)
    run.objective = (asked.objective or "").strip() or prompt.objective(text)
    run.iteration = 1
    run.breaker = breaker.reset()
    _apply(run, asked)
    launch.words(run, space.root, "a")  # raises now where there is no client
    return Begun(run, loaded.notes)


def resumed(space: Workspace, places: Places, asked: Asked) -> Begun:
    """The run of this project, as it was left. Raises `SisyphusError`."""
    if asked.prompt is not None or asked.prompt_file is not None:
        raise SisyphusError(
            "--resume goes on with the prompt of the run. Leave --prompt and --prompt-file out, or "
            "leave --resume out to begin a new run."
        )
    loaded = store.load(places, own_counts=True)
    run, notes = loaded.run, loaded.notes
    if run is None or not (run.prompt or run.objective or run.task_name):
        why = "; ".join(notes) or f"no {places.state}"
        raise SisyphusError(
            f"there is no run to resume: {why}. Begin one with `sisyphus ralph run "
            '--prompt "TASK"`.'
        )
    if not loaded.is_ours:
        notes.append(
            "this state was not written here: its limits, commands and client are not taken over; "
            "give those that are needed again"
        )
    _complete(run, space.now, is_ours=loaded.is_ours)
    _apply(run, asked)
    if run.status == BREAKER:
        run.breaker, run.no_change_count = breaker.reset(), 0
    launch.words(run, space.root, "a")
    return Begun(run, notes, goes_on=run.status != COMPLETED)


def _check_client(loaded: Loaded) -> None:
    """Raises where the client of the run before still works."""
    old = loaded.run
    if old is None or not loaded.is_ours or not old.in_flight:
        return
    if child := launch.living(old.in_flight):
        raise SisyphusError(
            f"the client of the run before still works (pid {child.pid}; {old.task_name}, "
            f"iteration {old.iteration}). `sisyphus ralph run --resume` goes on with it; "
            f"`{child.kill}` ends it."
        )


def _complete(run: Run, now: float, *, is_ours: bool) -> None:
    """Fields that a state of another origin may lack."""
    run.loop_id = run.loop_id or new_id()
    run.prompt = run.prompt or run.objective or run.task_name
    run.task_name = run.task_name or prompt.task_name(run.prompt)
    run.objective = run.objective or prompt.objective(run.prompt)
    run.started_at = run.started_at or iso(now)
    if not is_ours:
        run.judged = max(len(run.context_history), run.iteration - 1, 0)
        run.options = dict(DEFAULTS)
        run.max_iterations = run.judged + MAX_ITERATIONS_DEFAULT


def _apply(run: Run, asked: Asked) -> None:
    """What was given holds; what was not stays as it is."""
    if asked.objective:
        run.objective = asked.objective.strip()
    if asked.completion_promise is not None:
        if not asked.completion_promise.strip():
            raise SisyphusError("--completion-promise is empty. Give the words that end the run.")
        run.completion_promise = asked.completion_promise
    if asked.max_iterations is not None:
        run.max_iterations = asked.max_iterations
    for name in ("max_minutes", "max_tokens", "iteration_minutes", "verify", "client_command"):
        value = getattr(asked, name)
        if value is not None:
            run.options[name] = value
    if asked.flags:
        run.options["flags"] = list(asked.flags)
