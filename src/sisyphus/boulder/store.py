"""The plans of each project on disk, and those that are done with.

`HOME/.sisyphus/projects/ID/plans.json` is a project's book: a record and `notes` for each plan that
is followed, which one is `current`, which one a person chose for the sessions to come, which plan
each session is at, whether it is `undecided` which of several goes on, how plan files looked last
(`seen`) and the contents with which plans were dismissed. `shown` is what we last wrote into the
record that everybody may read.
"""

from __future__ import annotations

import os

from sisyphus.boulder.discover import is_unchanged, stamp_of
from sisyphus.boulder.record import valid_record
from sisyphus.paths import project_id
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus._types import Json
    from sisyphus.boulder.discover import Stamp
    from sisyphus.boulder.kord.notes import Notes


REMEMBERED_SESSIONS = 500

_last: dict[str, tuple[Stamp, Plans]] = {}  # a hook asks for the same book again and again


def book_path(home: str, root: str) -> str:
    return os.path.join(home, ".sisyphus", "projects", project_id(root), "plans.json")


def history_path(home: str, root: str) -> str:
    return os.path.join(os.path.dirname(book_path(home, root)), "history.jsonl")


def record_in_project(root: str) -> str:
    return os.path.join(root, "docs", "kord", "boulder.json")


def own_record_path(home: str, root: str) -> str:
    return os.path.join(os.path.dirname(book_path(home, root)), "boulder.json")


def record_path(home: str, root: str) -> str:
    """Where the record lies that everybody may read: in the project where it has one."""
    theirs = record_in_project(root)
    return theirs if os.path.lexists(theirs) else own_record_path(home, root)


class Plans:
    """What a project's book says; plans are named by their absolute paths."""

    __slots__ = (
        "_found", "_notes", "_parked", "chosen", "current", "dismissed", "records", "root", "seen",
        "sessions", "shown", "undecided",
    )  # fmt: skip

    def __init__(self, found: Json, root: str) -> None:
        self._found = found
        self.root = root
        self.records: dict[str, Json] = {}
        for path, raw in _items(found, "plans"):
            ours = {"active_plan": path, "project_root": root}
            if record := valid_record({**raw, **ours} if isinstance(raw, dict) else {}):
                self.records[path] = record
        self.current = self._known(found.get("current"))
        self.chosen = self._known(found.get("chosen"))
        self.undecided = found.get("undecided") is True
        at = _items(found, "sessions")
        self.sessions: dict[str, str] = {s: path for s, path in at if self._known(path)}
        self._notes: dict[str, Notes] = {}  # those that were asked for; a hook seldom does
        self._parked: dict[str, list[Json]] | None = None
        self.shown: Json = dict(_items(found, "shown"))
        self.seen: dict[str, Stamp] = {p: s for p, s in _items(found, "seen") if _is_stamp(s)}
        self.dismissed: dict[str, int] = {
            path: crc for path, crc in _items(found, "dismissed") if isinstance(crc, int)
        }

    def _known(self, path: object) -> str:
        return path if isinstance(path, str) and path in self.records else ""

    def own(self, session: str) -> str:
        """The plan that a session is at; "" where it has worked on none."""
        if session in self.sessions:
            return self.sessions[session]
        own = [path for path, record in self.records.items() if session in record["session_ids"]]
        if self.current in own or not own:
            return self.current if own else ""
        return max(own, key=lambda path: str(self.records[path]["metadata"].get("updated_at")))

    def of_session(self, session: str) -> str:
        """The plan that a session is at, else the current one."""
        return self.own(session) or self.current

    def note_session(self, session: str, path: str) -> None:
        if session:
            self.sessions.pop(session, None)  # the latest come last
            self.sessions[session] = path

    def notes_of(self, path: str) -> Notes:
        """What is remembered of a plan beside its record; changes are kept."""
        from sisyphus.boulder.kord.notes import Notes

        raw = dict(_items(self._found, "notes")).get(path)
        return self._notes.setdefault(path, Notes(raw if isinstance(raw, dict) else {}))

    def set_notes(self, path: str, notes: Notes) -> None:
        self._notes[path] = notes

    @property
    def parked(self) -> dict[str, list[Json]]:
        """Records and notes of plans whose paths hold other plans now; changes are kept."""
        if self._parked is None:
            from sisyphus.boulder.parking import valid

            self._parked = valid(dict(_items(self._found, "parked")))
        return self._parked

    def drop_record(self, path: str) -> None:
        """Forgets what is known of a plan, though not that sessions are at its path."""
        from sisyphus.boulder.kord.notes import Notes

        del self.records[path]
        self._notes[path] = Notes({})

    def forget(self, path: str) -> None:
        del self.records[path]
        self.sessions = {s: at for s, at in self.sessions.items() if at != path}
        self.current = "" if self.current == path else self.current
        self.undecided = False
        self.chosen = "" if self.chosen == path else self.chosen

    def rename(self, old: str, new: str) -> None:
        """The plan at `old` is at `new` now, with all that is known of it."""
        self.records[new] = {**self.records.pop(old), "active_plan": new}
        self._notes[new] = self.notes_of(old)
        self.sessions = {s: new if at == old else at for s, at in self.sessions.items()}
        self.current = new if self.current == old else self.current
        self.chosen = new if self.chosen == old else self.chosen
        self.dismissed.pop(new, None)
        self.seen.pop(old, None)

    def _notes_as_json(self) -> Json:
        known = {path: raw for path, raw in _items(self._found, "notes") if path in self.records}
        asked = {path: notes.as_json() for path, notes in self._notes.items()}
        return {**known, **{path: raw for path, raw in asked.items() if path in self.records}}

    def as_json(self) -> Json:
        return {
            **self._found,
            "project_root": self.root,
            "current": self.current or None,
            "chosen": self.chosen or None,
            "undecided": self.undecided,
            "plans": self.records,
            "notes": self._notes_as_json(),
            "parked": self._found.get("parked", {}) if self._parked is None else self._parked,
            "sessions": dict(list(self.sessions.items())[-REMEMBERED_SESSIONS:]),
            "shown": self.shown,
            "seen": self.seen,
            "dismissed": self.dismissed,
        }


def read_plans(home: str, root: str) -> Plans:
    """A look without the lock, to be read only: as long as the file stays as it is, so do they."""
    path = book_path(home, root)
    stamp = stamp_of(path)
    known = _last.get(path)
    if stamp and known and is_unchanged(stamp, known[0]):
        return known[1]
    plans = Plans(read_json(path) or {}, root)
    if stamp:
        _last.clear()
        _last[path] = stamp, plans
    return plans


def add_history(home: str, root: str, entry: Json) -> None:
    """Appends a line to a project's history: a plan that ended, was moved, or a checkpoint."""
    from sisyphus.state.files import append_line

    append_line(history_path(home, root), entry)


def _items(found: Json, name: str) -> list[tuple[str, Any]]:
    part = found.get(name)
    return list(part.items()) if isinstance(part, dict) else []


def _is_stamp(value: object) -> bool:
    return isinstance(value, list) and [type(part) for part in value] == [int, int]
