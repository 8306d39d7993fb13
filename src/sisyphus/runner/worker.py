"""The process of a worker: works at one item of a run, in a worktree of its own, until the item is
merged or set aside. `team.py` starts it.

It does what a run would that has one item alone. So where it is killed, it goes on like one.
"""

from __future__ import annotations

import json
import os
import sys

from sisyphus.ground import git, log, processes, rebasing, repository
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.text import one_line
from sisyphus.loops import loops
from sisyphus.loops.iterations import Iteration
from sisyphus.loops.runs import Run, Worker
from sisyphus.runner import asides, decide, landing, run, worktrees
from sisyphus.runner.decide import Decision
from sisyphus.runner.drive import Drive, Signals
from sisyphus.runner.screen import Lines
from sisyphus.terminal import show

_LOCK_SECONDS = 300
"""How long it waits for the store, as a run does."""

_LEFT = "What was left in the worktree"
"""What is set aside where a worker finds changes before it begins with an item."""


class WorkerLines(Lines):
    """What a worker says, for the process of the run, which shows the iterations itself."""

    def end(self, run: Run, iteration: Iteration) -> None:
        """Shows nothing."""


def main() -> None:
    """Works at the item of the worker whose id stdin names. Only the process of its run may ask for
    that: an agent may run any of our modules."""
    asked = json.loads(sys.stdin.read())
    place = show.place_to_change(asked["project"])
    place.store.wait_longer(_LOCK_SECONDS)
    worker = loops.find_run(place.store, asked["worker"])
    lead = loops.find_run(place.store, worker.owner) if worker else None
    if isinstance(worker, Worker) and lead and lead.runner == processes.key(os.getppid()):
        worker.setup.seats = lead.setup.seats  # others, perhaps, since a resume
        with WorkerLines() as lines, Signals() as signals:
            try:
                work(Drive(place, worker, lines, signals))
            except Exception as error:
                lines.say(log.failure("the worker has ended", error))
                raise SystemExit(1) from None


def work(drive: Drive) -> None:
    """Works until the item is merged or set aside, or the run has to stop. Raises `SisyphusError`
    if somebody else works at it."""
    run.take_up(drive.place, drive.run)
    try:
        _enter(drive)
        decision = run.go_on(drive)
    except SisyphusError as error:
        decision = Decision(decide.FATAL, one_line(str(error)))
    run.close(drive, decision, decision.why)
    drive.export()


def _enter(drive: Drive) -> None:
    """Prepares the worktree, and brings it to where the run's branch is before a new item begins.
    Raises `SisyphusError`."""
    state = drive.state
    worktrees.make(drive.run)
    worktrees.make_ready(drive.run, drive.settings)
    if state.is_merging:
        _end_merge(drive)
    if state.tip:
        return
    state.tip = repository.commit_of(drive.folder, worktrees.run_branch(drive.run))
    if _is_untouched(drive):
        done = repository.go_back(drive.folder, state.branch, state.tip, state.branch)
        if done.code:
            raise SisyphusError(f"The worktree cannot begin with an item: {done.output.strip()}")
    else:
        landing.take_back(drive.run)
        asides.begin(state, _LEFT)
        asides.finish(drive)
    drive.save()


def _end_merge(drive: Drive) -> None:
    """Ends a merge at which we were killed. A rebase may have written half of its files, which look
    like what an agent has made of them, so it begins anew. Raises `SisyphusError`."""
    if rebasing.is_under_way(drive.folder):
        landing.take_back(drive.run)
    drive.state.is_merging = False
    drive.save()


def _is_untouched(drive: Drive) -> bool:
    """Tells whether nothing is in the worktree but what the run's branch has."""
    folder, state = drive.folder, drive.state
    if git.unfinished(folder) or repository.branch(folder) != state.branch:
        return False
    done = repository.stage(folder, asides.own_files(folder))
    head = git.head(folder)
    is_known = bool(head) and repository.is_ancestor(folder, head, state.tip)
    return done.code == 0 and is_known and not repository.staged_since(folder, head)


if __name__ == "__main__":
    main()
