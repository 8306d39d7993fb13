"""What a person does with continuous enforcement, in a terminal or by a slash command."""

from __future__ import annotations

from sisyphus.enforce import engine, gates, log, marks, rest, store
from sisyphus.enforce.store import Book
from sisyphus.errors import SisyphusError
from sisyphus.times import iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.enforce.limits import Limits
    from sisyphus.enforce.record import Entry
    from sisyphus.workspace import Workspace

SHOWN = 20
"""Sessions of a project that are told of what a person did in another terminal."""

_DAY = 86_400_000  # milliseconds

_LIMITS = (
    "idle_seconds", "cooldown_seconds", "backoff", "max_failures", "recovery_seconds",
    "max_iterations", "stability_seconds",
)  # fmt: skip


def on(space: Workspace, session: str = "") -> Json:
    """The project's sessions are enforced from now on; what was counted before is over.

    `session`: the one it was said in. Raises `SisyphusError` and `OSError`, as all of these.
    """
    if not space.settings.get(store.ENABLED):
        raise SisyphusError("continuous enforcement is switched off. Set enforce.enabled = true.")
    with Book(space) as book:
        book.record.begin(iso(space.now))
        if session:
            entry = book.record.entry(session)
            engine.activity(entry, book.now)
            entry.last_prompt = book.now
            marks.make(space.ours, session)
        book.note(session, log.ON)
        book.save()
    return status(space)


def off(space: Workspace, session: str = "") -> list[str]:
    """Nobody is told to go on any more. Returns the sessions that were at work."""
    with Book(space) as book:
        if not book.record.is_on:
            return []
        book.record.is_on = False
        book.note(session, log.OFF)
        book.save()
        for known in book.record.sessions:
            marks.remove(space.ours, known)
        return _at_work(book)


def stop(space: Workspace, session: str = "") -> list[str]:
    """The session, or each one of the project, is left alone until its user's next prompt.

    Returns the sessions that were at work.
    """
    if not store.is_on(space):
        raise SisyphusError(
            "enforcement is off here: nothing to stop. `sisyphus enforce status` shows more."
        )
    with Book(space) as book:
        entries = book.record.sessions.values()
        for entry in [book.record.entry(session)] if session else list(entries):
            entry.stop_requested = True
        book.record.stops_all = book.record.stops_all or not session
        book.note(session, log.STOPPED, "until the next prompt of the user")
        book.save()
        return [session] if session else _at_work(book)


def status(space: Workspace, session: str = "") -> Json:
    """`enforce status --json`; `session`: that one alone."""
    is_on = store.is_on(space)
    record, limits, now = store.glance(space), store.limits(space), store.milliseconds(space.now)
    for known, entry in record.sessions.items():
        used = marks.used_at(space.ours, known)
        engine.settle(entry, now, used, limits)
        engine.activity(entry, min(used, now))
    state = record.keys(lambda entry: engine.status(entry, now, limits))
    wanted = [known for known in record.latest if session in ("", known)]
    return {
        "on": is_on,
        "status": state["status"],
        "since": record.since if is_on else None,
        "project_root": space.root,
        "state": state,
        "sessions": [_session(known, record.sessions[known], now, limits) for known in wanted],
        "limits": {name: space.settings.get(f"enforce.{name}") for name in _LIMITS},
    }


def _session(session: str, entry: Entry, now: int, limits: Limits) -> Json:
    found = gates.every(entry, now, limits, gates.IDLE)
    is_held = bool(entry.held) or entry.has_ended
    is_resting = not rest.is_at_work(entry, entry.last_activity)
    return {
        "session_id": session,
        **entry.keys(engine.status(entry, now, limits)),
        "held": entry.held or None,
        "resting": is_resting,
        "ended": entry.has_ended,
        "gates": [
            {"gate": g.name, "passed": g.passed, "why": g.why, "opens_at": _iso(g.opens_at)}
            for g in found
        ],
        "due": None if is_held or not is_resting else _iso(engine.due(entry, now, limits)),
    }


def _iso(moment: int | None) -> str | None:
    return None if moment is None else iso(moment / 1_000)


def _at_work(book: Book) -> list[str]:
    record = book.record
    alive = [
        session
        for session in record.latest
        if not record.sessions[session].has_ended
        and book.now - record.sessions[session].last_activity < _DAY
    ]
    return alive[:SHOWN]
