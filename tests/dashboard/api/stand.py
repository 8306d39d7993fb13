"""Loops in every state that an answer depends on."""

from __future__ import annotations

from ralph.past.log import AT, a_loop, lives, ran, starts

from sisyphus.paths import our_home
from sisyphus.ralph import iterations
from sisyphus.ralph import loop as lp
from sisyphus.ralph.checklists import checklist_store, criteria
from sisyphus.ralph.store import LoopStore
from sisyphus.times import epoch, iso


def active(loop_id: str = "aaaaa", session: str = "s1", minute: int = 0) -> lp.Loop:
    return lives(starts(a_loop(loop_id, session, minute=minute)))


def paused() -> lp.Loop:
    loop = a_loop()
    loop.pause(lp.BY_USER, epoch(AT))
    return lives(starts(loop))


def lost() -> lp.Loop:
    return starts(a_loop())


def over(loop_id: str = "aaaaa", outcome: str = lp.SUCCESS, minute: int = 0) -> lp.Loop:
    return ran(a_loop(loop_id, minute=minute), outcome)


def nested() -> None:
    outer, inner = starts(a_loop("outer")), starts(a_loop("inner", minute=1))
    with LoopStore(our_home(), "s1") as held:
        held.save([outer, inner])


def speaks(loop: lp.Loop, *texts: str) -> None:
    """An iteration with each of the texts."""
    for number, text in enumerate(texts, 1):
        row = {
            "iteration": number,
            "started_at": loop.started_at,
            "ended_at": iso(epoch(loop.started_at) + 60 * number),
            "decision": "blocked",
            "why": "the promise was not made",
            "tools": 3,
        }
        iterations.note(our_home(), loop.loop_id, row, text)


def must(loop: lp.Loop, *texts: str, done: int = 0) -> None:
    """A checklist with these criteria; the first `done` of them are done."""
    head = {"loop_id": loop.loop_id, "session_id": "s1", "project": loop.project}
    checklist_store.update(our_home(), head, AT, lambda found: criteria.added(found, texts, AT))
    ids = [str(number) for number in range(1, done + 1)]
    checklist_store.update(
        our_home(), head, AT, lambda found: criteria.marked(found, ids, "completed", AT, 4)
    )
