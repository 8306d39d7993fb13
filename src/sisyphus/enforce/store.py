"""A project's enforcement on disk: `projects/ID/enforce.json`, and its log."""

from __future__ import annotations

import os

from sisyphus.clients.base import Outcome
from sisyphus.enforce import engine, log, marks
from sisyphus.enforce.limits import Limits
from sisyphus.enforce.record import Record
from sisyphus.errors import SisyphusError
from sisyphus.state.files import (
    check_version,
    ensure_folder,
    load_json,
    read_json,
    write_json,
)
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.enforce.record import Entry
    from sisyphus.workspace import Workspace

ENABLED = "enforce.enabled"


class SetAsideError(SisyphusError):
    """The record was unreadable; the user is told so once, by the first event that can."""

    @property
    def outcome(self) -> Outcome:
        return Outcome(messages=[f"[ENFORCEMENT OFF]\n\n{self}"], notes=[str(self)])


def milliseconds(seconds: float) -> int:
    return round(seconds * 1_000)


def limits(space: Workspace) -> Limits:
    return Limits(space.settings.get)


def glance(space: Workspace) -> Record:
    """What is known, without the lock; where nothing is, enforcement is off."""
    return Record(read_json(marks.state_path(space)) or {})


def seems_on(space: Workspace) -> bool:
    """Whether the project's sessions are enforced. A record that cannot be read is left where it
    is: this is for events that cannot tell the user of it."""
    if not marks.may_be_on(space) or not space.settings.get(ENABLED):
        return False
    return glance(space).is_on


def is_on(space: Workspace) -> bool:
    """Whether the project's sessions are enforced. Raises `SetAsideError` once where that could not
    be read; it is off from then on."""
    if not marks.may_be_on(space) or not space.settings.get(ENABLED):
        return False
    found = read_json(marks.state_path(space))
    if found is not None:
        return Record(found).is_on
    with Book(space) as book:
        if book.was_unreadable:
            raise SetAsideError(
                "the state of continuous enforcement could not be read and was set aside. "
                "Enforcement is off; `sisyphus enforce on` begins anew."
            )
        return book.record.is_on


class Book:
    """The project's record, under its lock inside a `with` block. Nothing is written but by `save`.

    Raises `NewerVersionError` where a newer version wrote it: nothing can be counted there, so
    nobody can be told to go on. `was_unreadable`: what lay there was set aside.
    """

    __slots__ = ("_lock", "_path", "_rows", "_space", "limits", "now", "record", "was_unreadable")

    def __init__(self, space: Workspace, now: float = 0) -> None:
        self._space = space
        self._path = marks.state_path(space)
        self._lock = Lock(self._path)
        self._rows: list[Json] = []
        self.limits = limits(space)
        self.now = milliseconds(now or space.now)
        self.record = Record({})
        self.was_unreadable = False

    def __enter__(self) -> Book:
        ensure_folder(os.path.dirname(self._path))
        self._lock.enter(self._load)
        return self

    def __exit__(self, *raised: object) -> None:
        self._lock.__exit__(None, None, None)

    def note(self, session: str, what: str, why: str = "", **more: int | str) -> None:
        """For the log, once the record is saved."""
        self._rows.append(log.row(self.now / 1_000, session, what, why, **more))

    def settle(self, session: str) -> str:
        """Judges what the session was told last: "worked", "failed", "" where that was done."""
        used = marks.used_at(self._space.ours, session)
        judged = engine.settle(self.record.entry(session), self.now, used, self.limits)
        if judged:
            was = "was" if judged == engine.WORKED else "was not"
            self.note(session, judged, f"the last enforcement {was} followed by a tool call")
        return judged

    def enforce(self, session: str, layer: int, why: str, claim: str = "") -> Entry:
        """Counts it, before anybody is told."""
        entry = self.record.entry(session)
        engine.enforce(entry, self.now)
        self.record.iteration += 1
        self.note(session, log.ENFORCED, why, layer=layer, claim=claim)
        return entry

    def save(self) -> None:
        write_json(self._path, self.record.as_json(self.status), indent=2)
        try:
            log.append(self._space, self._rows)
        except OSError as error:  # what is counted counts
            self._space.log(f"enforcements not logged: {error}")
        self._rows = []

    def status(self, entry: Entry) -> str:
        return engine.status(entry, self.now, self.limits)

    def _load(self) -> None:
        existed = os.path.lexists(self._path)
        found = load_json(self._path)
        check_version(self._path, found)
        self.was_unreadable = existed and not os.path.lexists(self._path)
        self.record = Record(found)
