"""What a user does to a loop, hold or run from outside of its session. All raise `SisyphusError`
where it cannot be done, and say what can."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.store import Store
from sisyphus.hook.session import Session
from sisyphus.loops import history, lifecycle, loops, messages, transcripts, workers
from sisyphus.loops.loop import CANCELLED, PAUSED, Loop, Work
from sisyphus.loops.runs import Run


def require(store: Store, id: str) -> Work:
    """Returns the loop with this id."""
    loop = loops.find(store, id)
    if loop is None:
        raise SisyphusError(messages.unknown_loop(id))
    return loop


def owner_id(store: Store, loop: Work) -> str:
    """Returns the id of the session that works at a loop, or did last; "" = none."""
    return Session.load(store, loop.session).id


def session_ids(store: Store, loop: Work) -> list[str]:
    """Returns the ids of the sessions that work at a loop, or did last: of a run, those of its
    workers too."""
    found = workers.of(store, loop) if isinstance(loop, Run) else []
    return [id for each in (loop, *found) if (id := owner_id(store, each))]


def is_left(store: Store, loop: Work) -> bool:
    """Tells whether nobody can go on with a loop as it is: its session is over or, of an active
    run, its process is gone."""
    if loop.ended_at is not None:
        return False
    if isinstance(loop, Run):
        return loop.is_left
    if not isinstance(loop, Loop):
        return False
    return loop.left_at is not None or Session.load(store, loop.session).is_over


def pause(store: Store, loop: Work) -> Work:
    """Pauses a loop: its session may stop. A run stops after its iteration."""
    with _edit(store, loop) as fresh:
        fresh.pause(PAUSED, messages.YOU_PAUSED, time.time())
    return fresh


def stops_soon(loop: Work) -> str:
    """Says that a run which is paused stops after its iteration; "" = nobody works at it, or it is
    none."""
    return messages.STOPS_SOON if isinstance(loop, Run) and loop.is_at_work else ""


def resume(store: Store, loop: Work) -> tuple[Work, bool]:
    """Makes a loop active again; tells whether it was not. One that was left behind goes on only
    with its session, but it can be paused no longer."""
    if isinstance(loop, Loop) and is_left(store, loop) and loop.status != PAUSED:
        raise SisyphusError(messages.left_behind(loop, lifecycle.way_back(store, loop)))
    if isinstance(loop, Run) and loop.ended_at is None and not loop.is_at_work:
        raise SisyphusError(messages.nobody_works(loop))
    return reactivate(store, loop)


def reactivate(store: Store, loop: Work) -> tuple[Work, bool]:
    """Does the same for a loop that has just been moved to another session."""
    with _edit(store, loop) as fresh:
        was_paused = not fresh.is_active
        lifecycle.resume(store, _session(store, fresh), fresh, time.time())
    return fresh, was_paused


def cancel(store: Store, loop: Work) -> Work:
    """Ends a loop; ends the client of a run whose own process is gone."""
    with _edit(store, loop) as fresh:
        fresh.end(CANCELLED, messages.BY_USER, time.time())
    if isinstance(fresh, Run) and not fresh.is_at_work:
        workers.end_clients(store, fresh)
    return fresh


def delete(store: Store, picked: Iterable[Work]) -> None:
    """Deletes loops that have ended, with all that is known of their Stops."""
    picked = list(picked)
    for loop in picked:
        if loop.ended_at is None:
            raise SisyphusError(messages.not_to_delete(loop))
    with store.write():
        for loop in picked:
            loops.delete(store, loop)
            loops.forget_workers(store, loop)
        history.remove({loop.id for loop in picked})
    for loop in picked:
        transcripts.remove(loop.id)


@contextmanager
def _edit(store: Store, picked: Work) -> Iterator[Work]:
    """Yields the loop to be changed in one transaction; then writes its files. A run has rested
    since its process is gone."""
    with store.write():
        loop = require(store, picked.id)
        if loop.ended_at is not None:
            raise SisyphusError(messages.has_ended(loop))
        if isinstance(loop, Run) and loop.is_left:
            loop.counters.paused_at = workers.worked_at(store, loop)
        yield loop
        loops.save(store, loop)
    lifecycle.export(store, _session(store, loop))


def _session(store: Store, loop: Work) -> Session:
    """Returns the session of a loop. A run does nothing to its session's Stops and files."""
    return Session.load(store, loop.session) if isinstance(loop, Loop) else Session()
