"""`sisyphus ralph run`, without a word of the command line."""

from __future__ import annotations

from sisyphus.runner import begin, handed, judge, signals, work_loop
from sisyphus.runner.desk import Desk, Shielded
from sisyphus.runner.keep import kept, store
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import MAX_ITERATIONS
from sisyphus.runner.task import users_prompt
from sisyphus.session.process import identify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.asked import Asked
    from sisyphus.runner.desk import Screen
    from sisyphus.runner.keep.state import Run
    from sisyphus.workspace import Workspace


class Result:
    """`worked` False: there was nothing left to do, and nothing was done."""

    __slots__ = ("exit_code", "run", "worked")

    def __init__(self, run: Run, exit_code: int, *, worked: bool = True) -> None:
        self.run = run
        self.exit_code = exit_code
        self.worked = worked


def run(space: Workspace, asked: Asked, screen: Screen, *, resume: bool, folder: str) -> Result:
    """Works until the run ends. Raises `SisyphusError` where it may not begin."""
    import os

    places, screen = Places(space), Shielded(screen)
    with store.Alone(places), signals.Interrupts() as interrupted:
        store.check_writable(places)
        if resume:
            begun = begin.resumed(space, places, asked)
        else:
            begun = begin.new(space, places, asked, folder)
        for note in begun.notes:
            screen.note(note)
        if not begun.goes_on:
            return Result(begun.run, 0, worked=False)
        desk = Desk(space, places, begun.run, screen, interrupted)
        if over := _is_over(desk):
            return over
        places.check_room()
        if not resume and (replaced := store.retire(places)):
            handed.finish_run(space, replaced)
        if not resume and (note := users_prompt.set_aside(places)):
            screen.note(note)
        kept.forget_old(places, space.now)
        begun.run.extra["runner"] = identify(os.getpid()).as_json()
        code = work_loop.work(desk)
        return Result(desk.run, code)


def _is_over(desk: Desk) -> Result | None:
    """Where a limit is reached already, nothing begins."""
    run = desk.run
    reached = "" if run.in_flight or run.waiting else judge.limit(run, run.judged)
    if not reached:
        return None
    run.status, run.reason = MAX_ITERATIONS, reached
    return Result(run, work_loop.EXIT_CODES[MAX_ITERATIONS], worked=False)
