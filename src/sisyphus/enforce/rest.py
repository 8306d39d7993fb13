"""Whether a session rests, for how long yet, and what it is told when that was long enough."""

from __future__ import annotations

import os

from sisyphus.clients.base import Outcome
from sisyphus.enforce import engine, gates, marks, store, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.enforce.record import Entry, Record
    from sisyphus.enforce.store import Book
    from sisyphus.workspace import Workspace

OFF = "enforcement is off"
UNKNOWN = "no Stop of the session is known"
ENDED = "the session has ended"
WENT_ON = "the session was told to go on"
AT_WORK = "the session is at work again"


class Seen:
    """What a look saw: `due`, in milliseconds since the epoch, is when the session is to be told to
    go on; None = it is not, and `why`. `is_final`: that was so before the last Stop already, which
    may not be noted yet."""

    __slots__ = ("due", "is_final", "last_stop", "why")

    def __init__(
        self, why: str, entry: Entry | None, due: int | None = None, *, is_final: bool = False
    ) -> None:
        self.why = why
        self.due = due
        self.is_final = is_final
        self.last_stop = entry.last_stop if entry else 0


def see(record: Record, payload: Payload, space: Workspace, now: int) -> Seen:
    """One look at a session that may rest. Judges what it was told last, in `record` alone."""
    entry = record.sessions.get(payload.session)
    if not record.is_on:
        return Seen(OFF, entry, is_final=True)
    if entry is None or not entry.last_stop:
        return Seen(UNKNOWN, entry)
    if entry.has_ended:
        return Seen(ENDED, entry, is_final=True)
    used, limits = marks.used_at(space.ours, payload.session), store.limits(space)
    engine.settle(entry, now, used, limits)
    if is_at_work(entry, used):
        return Seen(AT_WORK, entry)
    gate = gates.barred(entry, now, limits)
    if why := entry.held or (f"{gate.name}: {gate.why}" if gate else ""):
        return Seen(why, entry, is_final=True)
    due = engine.due(entry, now, limits, used) or 0
    return Seen("", entry, max(due, _stable_at(payload.transcript, space)))


def is_at_work(entry: Entry, used_at: int) -> bool:
    """Whether it has not come to rest since it last moved; nobody waits beside it then."""
    return max(entry.last_activity, used_at) > entry.last_stop or entry.held == WENT_ON


def _stable_at(transcript: str, space: Workspace) -> int:
    """When the transcript has not changed for long enough; the last lines of a turn are written
    some time after its Stop."""
    seconds = max(space.settings.get("enforce.stability_seconds"), 0)
    try:
        return store.milliseconds(os.stat(transcript).st_mtime + seconds)
    except (OSError, ValueError):
        return 0


def look(payload: Payload, space: Workspace, now: float) -> Outcome:
    """Tells the session to go on, if it is time; else says when it will be (`wake_after`), or why
    not. Raises `OSError` and `SisyphusError`."""
    with store.Book(space, now) as book:
        seen = see(book.record, payload, space, book.now)
        if seen.due is not None and seen.due <= book.now:
            return _wake(book, payload, space)
    outcome = Outcome(notes=[f"not woken: {seen.why or 'it is too early'}"])
    if seen.due is not None:
        outcome.wake_after = (seen.due - book.now) / 1_000
    return outcome


def _wake(book: Book, payload: Payload, space: Workspace) -> Outcome:
    before = book.record.sessions[payload.session].last_activity
    rested = book.now - before
    entry = book.enforce(payload.session, gates.IDLE, f"idle for {rested // 1_000} s")
    book.save()
    get = space.settings.get
    outcome = Outcome(texts.idle(rested, entry, book.limits))
    outcome.notes = [f"woken: idle for {rested // 1_000} s ({texts.count(entry, book.limits)})"]
    seconds, countdown = get("enforce.toast_seconds"), get("enforce.countdown_seconds")
    outcome.toasts = [texts.alarm(rested, entry, book.limits, seconds, countdown)]
    return outcome
