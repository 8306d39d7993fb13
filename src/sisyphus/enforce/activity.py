"""A session moves: its user speaks, a machine does, it ends."""

from __future__ import annotations

from sisyphus.clients.base import Outcome
from sisyphus.enforce import engine, gates, log, marks, rest, store
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.enforce.record import Entry
    from sisyphus.enforce.store import Book
    from sisyphus.workspace import Workspace

LIFTED = "the user's prompt lifts the stop of continuous enforcement"


def heard(payload: Payload, space: Workspace, *, is_users: bool) -> Outcome | None:
    """A turn begins. The user's own prompt alone lifts what he stopped.

    Raises `OSError` and `SisyphusError`.
    """
    try:
        if run_id() or not store.is_on(space):
            return None
    except store.SetAsideError as error:
        return error.outcome
    marks.make(space.ours, payload.session)
    with store.Book(space) as book:
        entry = book.record.entry(payload.session)
        engine.activity(entry, book.now)
        entry.has_ended = False
        was_stopped = is_users and _speaks(book, payload.session, space)
        book.save()
    return Outcome(notes=[LIFTED]) if was_stopped else None


def _speaks(book: Book, session: str, space: Workspace) -> bool:
    """Whether the user's stop is lifted. What he interrupts has not failed."""
    entry = book.record.entry(session)
    entry.last_prompt = book.now
    if marks.used_at(space.ours, session) <= entry.last_enforcement:
        entry.pending = False
    was_stopped, entry.stop_requested = entry.stop_requested, False
    if was_stopped:
        book.note(session, log.LIFTED, "the user spoke")
    return was_stopped


def woken(payload: Payload, space: Workspace) -> Outcome | None:
    """The client delivers a waking; one that comes too late is answered, so that no model hears it:
    Claude Code 2.1.329 keeps it as long as the session works, and brings it along after /clear.

    Raises `OSError` and `SisyphusError`.
    """
    if not store.seems_on(space):
        return _cancelled(rest.OFF)
    with store.Book(space) as book:
        entry = book.record.entry(payload.session)
        why = _why_late(entry, payload)
        if why:
            entry.pending = False
            book.note(payload.session, log.HELD_BACK, why, layer=gates.IDLE)
        else:
            engine.activity(entry, book.now)
        book.save()
    return _cancelled(why) if why else None


def _why_late(entry: Entry, payload: Payload) -> str:
    if payload.plans_only:
        return "the session is in plan mode"
    if entry.stop_requested:
        return "the user stopped it"
    if not entry.pending or entry.last_prompt > entry.last_enforcement:
        return rest.AT_WORK
    return ""


def _cancelled(why: str) -> Outcome:
    text = f"Continuous enforcement leaves this session alone: {why}."
    return Outcome(text, notes=[f"not woken: {why}"])


def ended(payload: Payload, space: Workspace) -> Outcome | None:
    """The session has ended. Raises `OSError` and `SisyphusError`."""
    if not store.seems_on(space):
        return None
    with store.Book(space) as book:
        if payload.session in book.record.sessions:
            book.record.sessions[payload.session].has_ended = True
            book.save()
    marks.remove(space.ours, payload.session)
    return None
