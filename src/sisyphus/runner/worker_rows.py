"""The row of a worker: made from that of its run, and taken over into it when nobody works at its
item any more."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence

from sisyphus.ground import git
from sisyphus.ground.record import replace
from sisyphus.ground.text import one_line
from sisyphus.loops import loops
from sisyphus.loops.loop import MAX_JOBS, SUCCESS, Counters, Options
from sisyphus.loops.runs import Run, RunState, Worker
from sisyphus.loops.workers import with_used
from sisyphus.runner import item_checks, worktrees
from sisyphus.runner.drive import Drive


def add(drive: Drive, item: str, others: Collection[str]) -> Worker:
    """Adds a worker at an item. others: the ids of those that have a process."""
    run, now = drive.run, time.time()
    taken = {*others, *(worker.id for worker in loops.workers(drive.store, run))}
    id = next(id for n in range(1, MAX_JOBS + 1) if (id := f"{run.id}-{n}") not in taken)
    verify = "" if run.setup.verifies_at_end else run.options.verify
    worker = Worker(
        id, run.project, run.prompt,
        Options(verify=verify, max_iterations=0, max_minutes=0), now,
        Counters(evidence=run.counters.evidence),
        setup=replace(run.setup, audits=0, jobs=0),
        state=RunState(
            only=item, todo=[item], head=git.head(drive.folder), client=run.state.client
        ),
    )  # fmt: skip
    worktrees.assign(worker)
    state = worker.state
    state.plan = os.path.join(state.worktree, os.path.relpath(run.state.plan, run.folder))
    for name in ("asides", "checks", "answers"):
        setattr(state, name, dict(getattr(run.state, name)))
    with drive.change():
        loops.insert(drive.store, worker)
        item_checks.forget(run.state, item)
    return worker


def as_reported(run: Run, begun: Sequence[Worker]) -> Run:
    """Returns a run as its report has it: with what the workers have used that are still at an
    item, and why these are not done. begun: those workers."""
    used = with_used(run, begun)
    failed, untrusted = dict(run.state.failed), [*run.state.untrusted]
    for worker in begun:
        failed |= worker.state.failed
        untrusted += worker.state.untrusted
    return replace(used, state=replace(used.state, failed=failed, untrusted=untrusted))


def take_over(run: Run, worker: Worker) -> None:
    """Notes in a run what has come of a worker: what it has used, what it has merged, and what it
    has set aside."""
    ours, theirs, item = run.state, worker.state, worker.state.only
    run.counters.tokens += worker.all_tokens
    ours.cost += worker.all_cost
    ours.action = theirs.action or ours.action
    for name in ("evidence", "lost_checks", "passed_before", "commits", "asides"):
        getattr(ours, name).update(getattr(theirs, name))
    for name in ("check_changed", "untrusted", "flaky"):
        both = [*getattr(ours, name), *getattr(theirs, name)]
        setattr(ours, name, list(dict.fromkeys(both)))
    ours.passed_at.update(theirs.passed_at)
    if worker.result == SUCCESS:
        ours.blocked.pop(item, None)
    else:
        ours.blocked[item] = theirs.blocked.get(item) or one_line(worker.why)
        ours.evidence.pop(item, None)
