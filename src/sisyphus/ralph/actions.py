"""What people do with loops: plain functions for the command line, from any folder.

They raise `SisyphusError` with what is wrong and what to do, and take effect at the next Stop.
"""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.memory import open_memory
from sisyphus.paths import is_safe_id
from sisyphus.ralph import breaker, notices, store
from sisyphus.ralph import loop as lp
from sisyphus.ralph.past.living import living
from sisyphus.session import client_process
from sisyphus.session import store as session_store
from sisyphus.text import one_line
from sisyphus.times import epoch, iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.ralph.loop import Loop

HOURS = 4
IDLE = "An idle session needs a prompt to move."
_FIELDS = (
    "session_id", "loop_id", "project", "description", "status", "paused_by", "iteration",
    "max_iterations", "completion_promise", "started_at", "tokens", "options", "breaker", "waiting",
    "verified", "by_model", "prompt",
)  # fmt: skip


def list_loops(ours: str, now: float, hours: float = HOURS) -> list[Json]:
    """Every loop that has not ended, of all sessions: its state, its prompt, its file.

    By session, the current loop first; `is_outer` are those that wait for it. `health`: whether its
    client is "alive", "gone" or, after `hours` of silence, "stale".
    """
    return rows_of(living(ours), ours, now, hours)


def rows_of(
    found: list[tuple[Loop, str]], ours: str, now: float, hours: float = HOURS
) -> list[Json]:
    """As `list_loops` has them. `found`: loops, each with the path of its file."""
    rows: list[Json] = []
    current: dict[str, Json] = {}
    for loop, path in _in_order(found):
        listed = row(loop, path, ours, now, hours)
        inner = current.setdefault(loop.session_id, listed)
        if inner is not listed:
            listed.update(is_outer=True, work_seconds=_work_seconds(loop, inner, now))
        rows.append(listed)
    return rows


def of_session(ours: str, session: str, now: float, hours: float = HOURS) -> Json | None:
    """The current loop of the session; without one, of the client above us, else the only one."""
    named = session or client_process.current_session(ours)
    rows = [row for row in list_loops(ours, now, hours) if not row["is_outer"]]
    if not named:
        return rows[0] if len(rows) == 1 else None
    return next((row for row in rows if row["session_id"] == named), None)


def session_of(ours: str, loop: str, now: float) -> str:
    """The session of the loop that is named by its id or the start of it."""
    rows = (row for row in list_loops(ours, now) if loop and row["loop_id"].startswith(loop))
    found = {str(row["session_id"]) for row in rows}
    if len(found) != 1:
        how_many = "several active loops have" if found else "no active loop has"
        raise SisyphusError(
            f"{how_many} an id that begins with {one_line(loop, 40)}. `sisyphus ralph list` shows "
            "the active ones, `sisyphus ralph log` those that ended."
        )
    return found.pop()


def cancel(
    ours: str, session: str = "", *, now: float, by: str = "", where: str = ""
) -> list[Json]:
    """Ends a session's loops, those that wait for a nested one too; returns them.

    `by`: who does it; "" = whoever runs this command, which the session tells at its next Stop.
    `where`: the user does it there, as in "on the dashboard", not in a command.
    """
    from sisyphus.ralph.past import history

    rows, session = _meant(ours, session, now)
    with store.LoopStore(ours, session) as held:
        current = _current(held.loops)
        lp.rest(held.loops, _worked_until(held, ours, now))
        ended = {loop.loop_id for loop in held.loops}
        for loop in reversed(held.loops):
            history.ended(ours, loop, lp.CANCELLED, now, f"by {by or notices.who(where)}")
        held.memory.cancelled_at = iso(now)
        if not by:
            _note(ours, held, "cancelled", current, now, where)
        held.save([])
    return [row for row in rows if row["loop_id"] in ended]


def _note(ours: str, held: store.LoopStore, what: str, loop: Loop, now: float, where: str) -> None:
    """For `why`, and for the user at the session's next Stop."""
    from sisyphus.ralph import texts

    text = _journal(ours, loop, what, now, where)
    head = f"[{texts.name(loop)} {what.upper()}]"
    held.memory.news.append(f"{head}\n\n{text}: {loop.description}")


def _journal(ours: str, loop: Loop, what: str, now: float, where: str) -> str:
    text = f"loop {loop.loop_id} was {what} by {notices.who(where)}"
    session_store.note(open_memory(ours), loop.session_id, text, now)
    return text


def bury(ours: str, session: str, *, now: float) -> None:
    """Whatever began before in this session's transcript, seen by no hook, starts no loop."""
    with store.LoopStore(ours, session) as held:
        held.memory.cancelled_at = iso(now)
        held.save_memory()


def pause(ours: str, session: str = "", *, now: float, by: str = "", where: str = "") -> list[Json]:
    """Lets the session stop; the loop keeps its place."""
    _, session = _meant(ours, session, now)
    with store.LoopStore(ours, session) as held:
        loop = _current(held.loops)
        lp.pause(held.loops, lp.BY_USER, now)
        if not by:
            _note(ours, held, "paused", loop, now, where)
        held.save(held.loops)
    return _current_row(ours, session, now)


def resume(
    ours: str, session: str = "", *, now: float, by: str = "", where: str = ""
) -> list[Json]:
    """Goes on with a paused loop, whoever paused it; its circuit breaker is closed."""
    _, session = _meant(ours, session, now)
    with store.LoopStore(ours, session) as held:
        loop = _current(held.loops)
        if not loop.is_paused and not loop.waiting:
            raise SisyphusError(f"loop {loop.loop_id} is not paused: {loop.progress}.")
        lp.end_wait(held.loops, now)
        lp.resume(held.loops, now)
        loop.breaker = breaker.reset()
        held.memory.blocks = 0
        if not by:
            _journal(ours, loop, "resumed", now, where)
        held.save(held.loops)
    return _current_row(ours, session, now)


def told(what: str, rows: Sequence[Json]) -> str:
    """One line a loop, for people."""
    lines = (f"Loop {row['loop_id']} {what}: {row['description']}" for row in rows)
    return "\n".join(map(one_line, lines))


def _meant(ours: str, session: str, now: float) -> tuple[list[Json], str]:
    """The loops of the session that is named, else the one around us, else the only one."""
    every = list_loops(ours, now)
    named = session or client_process.current_session(ours)
    rows = [row for row in every if named in ("", row["session_id"])]
    sessions = sorted({row["session_id"] for row in rows})
    if not sessions:
        where = f"session {named}" if named else "any session"
        others = "`sisyphus ralph list` shows those of other sessions. " if every else ""
        raise SisyphusError(
            f"no loop is active in {where}. {others}`sisyphus ralph log` shows how loops ended."
        )
    if len(sessions) > 1:
        known = ", ".join(f"{row['loop_id']} ({row['description']})" for row in rows)
        raise SisyphusError(
            "several sessions have a loop; name one by its id, or its session with --session-id: "
            f"{one_line(known, 400)}"
        )
    return rows, sessions[0]


def _current(loops: Sequence[Loop]) -> Loop:
    if not loops:
        raise SisyphusError("the loop has just ended.")
    return loops[-1]


def _current_row(ours: str, session: str, now: float) -> list[Json]:
    rows = [row for row in list_loops(ours, now) if row["session_id"] == session]
    return [row for row in rows if not row["is_outer"]]


def _in_order(every: list[tuple[Loop, str]]) -> list[tuple[Loop, str]]:
    """A loop lies twice for a moment while another one is nested in it."""
    found = [(loop, path) for loop, path in every if is_safe_id(loop.session_id)]
    found.sort(key=lambda one: (one[0].session_id, one[1].endswith(".outer.md"), -one[0].depth))
    once: dict[tuple[str, str], tuple[Loop, str]] = {}
    for loop, path in found:
        once.setdefault((loop.session_id, loop.loop_id), (loop, path))
    return list(once.values())


def row(loop: Loop, path: str, ours: str, now: float, hours: float = HOURS) -> Json:
    """A loop as people and programs read it; `path`: its state file."""
    from sisyphus.ralph import stale

    found: Json = {
        **{name: getattr(loop, name) for name in _FIELDS},
        "last_stop_at": loop.turned_at or None,
        "work_seconds": None,
        "paused_since": iso(loop.paused_at) if loop.is_paused and loop.paused_at else None,
        "is_outer": False,
        "health": stale.health(ours, loop.session_id, path, now, hours),
        "state_file_path": path,
    }
    return {**found, "work_seconds": _work_seconds(loop, found, now)}


def _work_seconds(loop: Loop, current: Json, now: float) -> float | None:
    """`current`: the row of the current loop of its session, which the others wait for."""
    from sisyphus.ralph import stale

    if not epoch(loop.started_at):
        return None
    return round(60 * loop.minutes(stale.worked_until(current, now)), 1)


def _worked_until(held: store.LoopStore, ours: str, now: float) -> float:
    from sisyphus.ralph import stale

    loop = _current(held.loops)
    return stale.worked_until(row(loop, held.path(loop), ours, now), now)
