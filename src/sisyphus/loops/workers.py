"""The workers of a run, as far as a run counts: what they have used, when they were last heard of,
and who of them merges."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sisyphus.ground import processes
from sisyphus.ground.record import replace
from sisyphus.ground.store import Store
from sisyphus.loops import iterations, loops
from sisyphus.loops.runs import Run, Worker


def whole(store: Store, run: Run, apart: Run | None = None) -> Run:
    """Returns a run with what its workers have used added to its own: limits are of the run, and
    not of a worker. An iteration that somebody is at counts as used. apart: the worker that asks,
    whose own iteration does not."""
    others = loops.workers(store, run)
    counted = [each for each in others if each.state.is_working or each.state.is_counted]
    busy = [each for each in counted if apart is None or each.id != apart.id]
    finished = iterations.count(store, run) + len(busy)
    used = with_used(run, others)
    return replace(used, state=replace(used.state, finished=finished))


def with_used(run: Run, workers: Sequence[Run]) -> Run:
    """Returns a run as if it had used the tokens and dollars of these workers itself, and had last
    heard of its client when they did of theirs."""
    tokens = sum(each.all_tokens for each in workers)
    cost = sum(each.all_cost for each in workers)
    return replace(
        run,
        counters=replace(run.counters, tokens=run.counters.tokens + tokens),
        state=replace(run.state, cost=run.state.cost + cost),
        heard_at=max(run.heard_at, *(each.heard_at for each in workers), 0.0),
    )


def of(store: Store, run: Run) -> list[Worker]:
    """Returns the workers of a run; asks the store only for a run that may have some."""
    return loops.workers(store, run) if run.setup.jobs else []


def worked_at(store: Store, run: Run) -> float:
    """Returns when a run was last at work: its own process or, of one with workers, they."""
    return with_used(run, of(store, run)).worked_at


def doing(worker: Run, now: float) -> str:
    """Says that a worker merges or waits now; "" = its agent works."""
    state = worker.state
    if state.is_merging:
        return "merges"
    if state.waits_until > now:
        return f"waits until {time.strftime('%H:%M', time.localtime(state.waits_until))}"
    return ""


def forget(store: Store, run: Run) -> None:
    """Removes the rows of a run's workers: nobody goes on with their items. What they have used
    stays counted."""
    if found := of(store, run):
        used = with_used(run, found)
        run.counters.tokens, run.state.cost = used.counters.tokens, used.state.cost
        loops.forget_workers(store, run)
        loops.save(store, run)


def end_clients(store: Store, run: Run) -> bool:
    """Ends the client of a run whose own process is gone, and its workers with theirs; tells
    whether anything was still there."""
    if run.is_at_work:
        return False
    has_ended = run.end_client()  # where processes can be found, that ends all
    for worker in loops.workers(store, run) if run.id == run.owner else ():
        has_ended = processes.end(worker.runner) or has_ended
        has_ended = worker.end_client() or has_ended
    return has_ended


def may_merge(store: Store, worker: Run) -> bool:
    """Tells whether no other worker of its run merges now: each has to pass its check on top of
    what the others have merged, so they merge one after the other."""
    others = (each for each in loops.workers(store, worker) if each.id != worker.id)
    return not any(each.state.is_merging and each.is_at_work for each in others)
