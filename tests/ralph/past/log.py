"""Loops that ran, holding nothing but what a test is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sisyphus.paths import our_home
from sisyphus.ralph.loop import SUCCESS, Loop
from sisyphus.ralph.past import history
from sisyphus.ralph.store import LoopStore
from sisyphus.times import epoch, iso

if TYPE_CHECKING:
    from sisyphus.ralph.past.records import Record

AT = "2026-11-20T15:00:00.000Z"


def a_loop(loop_id: str = "aaaaa", session: str = "s1", *, minute: int = 0) -> Loop:
    """A loop in the project "shop" that began so many minutes after `AT`."""
    loop = Loop(session, loop_id, "make the tests pass")
    loop.project = "/home/me/shop"
    loop.started_at = iso(epoch(AT) + 60 * minute)
    loop.max_iterations = 50
    loop.completion_promise = "DONE"
    return loop


def starts(loop: Loop) -> Loop:
    """It is in the history from now on, without a state file."""
    history.started(our_home(), loop, f"/state/{loop.session_id}.md")
    return loop


def ends(loop: Loop, outcome: str = SUCCESS, *, after: int = 60, reason: str = "") -> Loop:
    """So many seconds after it began."""
    history.ended(our_home(), loop, outcome, epoch(loop.started_at) + after, reason)
    return loop


def ran(loop: Loop, outcome: str = SUCCESS, *, after: int = 60, reason: str = "") -> Loop:
    return ends(starts(loop), outcome, after=after, reason=reason)


def lives(loop: Loop) -> Loop:
    """It has a state file."""
    with LoopStore(our_home(), loop.session_id) as held:
        held.save([loop])
    return loop


def known() -> list[Record]:
    return history.read(our_home())
