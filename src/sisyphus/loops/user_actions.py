"""What a user does to a loop, hold or run from outside of its session. All raise `SisyphusError`
where it cannot be done, and say what can."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.store import Store
from sisyphus.hook.session import Session
from sisyphus.loops import history, lifecycle, loops, messages, runs, transcripts
from sisyphus.loops.loops import CANCELLED, PAUSED, Loop


def require(store: Store, id: str) -> Loop:
    """Returns the loop with this id."""
    loop = loops.find(store, id)
    if loop is None:
        raise SisyphusError(messages.unknown_loop(id))
    return loop


def owner_id(store: Store, loop: Loop) -> str:
    """Returns the id of the session that works at a loop, or did last; "" = none."""
    session = runs.of(store, loop).session if loop.is_run else loop.session
    return Session.load(store, session).id


def is_left(store: Store, loop: Loop) -> bool:
    """Tells whether nobody can go on with a loop as it is: its session is over or, of an active
    run, its process is gone."""
    if loop.ended_at is not None or loop.is_hold:
        return False
    if loop.is_run:
        return loop.is_active and not runs.of(store, loop).is_at_work
    return loop.left_at is not None or Session.load(store, loop.session).is_over


def pause(store: Store, loop: Loop) -> Loop:
    """Pauses a loop: its session may stop. A run stops after its iteration."""
    with _edit(store, loop) as fresh:
        fresh.pause(PAUSED, messages.YOU_PAUSED, time.time())
    return fresh


def resume(store: Store, loop: Loop) -> tuple[Loop, bool]:
    """Makes a loop active again; tells whether it was not. One that was left behind goes on only
    with its session, but it can be paused no longer."""
    if not loop.is_run and is_left(store, loop) and loop.status != PAUSED:
        raise SisyphusError(messages.left_behind(loop, lifecycle.way_back(store, loop)))
    if loop.is_run and loop.ended_at is None and not runs.of(store, loop).is_at_work:
        raise SisyphusError(messages.nobody_works(loop))
    return reactivate(store, loop)


def reactivate(store: Store, loop: Loop) -> tuple[Loop, bool]:
    """Does the same for a loop that has just been moved to another session."""
    with _edit(store, loop) as fresh:
        was_paused = not fresh.is_active
        lifecycle.resume(store, Session.load(store, fresh.session), fresh, time.time())
    return fresh, was_paused


def cancel(store: Store, loop: Loop) -> Loop:
    """Ends a loop; ends the client of a run whose own process is gone."""
    with _edit(store, loop) as fresh:
        fresh.end(CANCELLED, messages.BY_USER, time.time())
    if fresh.is_run:
        runs.end_client(runs.of(store, fresh))
    return fresh


def delete(store: Store, picked: Iterable[Loop]) -> None:
    """Deletes loops that have ended, with all that is known of their Stops."""
    picked = list(picked)
    for loop in picked:
        if loop.ended_at is None:
            raise SisyphusError(messages.not_to_delete(loop))
    with store.write():
        for loop in picked:
            loops.delete(store, loop)
        history.remove({loop.id for loop in picked})
    for loop in picked:
        transcripts.remove(loop.id)


@contextmanager
def _edit(store: Store, picked: Loop) -> Iterator[Loop]:
    """Yields the loop to be changed in one transaction; then writes its files. A run has rested
    since its process is gone."""
    with store.write():
        loop = require(store, picked.id)
        if loop.ended_at is not None:
            raise SisyphusError(messages.has_ended(loop))
        if loop.is_run and is_left(store, loop):
            loop.counters.paused_at = runs.of(store, loop).worked_at
        yield loop
        loops.save(store, loop)
    lifecycle.export(store, Session.load(store, loop.session))
