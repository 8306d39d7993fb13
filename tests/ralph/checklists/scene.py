"""Sessions with loops, for tests of their checklists."""

from __future__ import annotations

from sisyphus.ralph.loop import Loop
from sisyphus.ralph.store import LoopStore

NOW = 1_000_000_000.0
AT = "2001-09-09T01:46:40.000Z"


def a_loop(loop_id: str = "abcde", session: str = "s1", iteration: int = 1) -> Loop:
    loop = Loop(session, loop_id, "make the tests pass")
    loop.project, loop.iteration = "/home/me/shop", iteration
    return loop


def save(ours: str, *loops: Loop) -> None:
    """The loops of one session, the current one last."""
    with LoopStore(ours, loops[0].session_id) as held:
        held.save(loops)


def end_all(ours: str, session: str = "s1") -> None:
    with LoopStore(ours, session) as held:
        held.save([])
