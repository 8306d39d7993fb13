"""The handoffs of a project that nobody was given yet, and those that were.

    projects/ID/handoffs.json   {"handoffs": [Checkpoint, …]}, the latest last

One that is `active` waits for whoever goes on: the same session behind a compaction or a resume,
the one behind /clear, or a new one of the project.
"""

from __future__ import annotations

import os

from sisyphus.paths import project_id
from sisyphus.state.files import read_json, update_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeGuard

    from sisyphus._types import Checkpoint, Json, Owner

    Wanted = Callable[[Checkpoint], bool]

KEPT = 50
SUPERSEDED, DELIVERED, DONE = "superseded", "delivered", "done"


def path(ours: str, root: str) -> str:
    return os.path.join(ours, "projects", project_id(root), "handoffs.json")


def needed(ours: str) -> Iterator[Owner]:
    """The handoffs that wait for somebody, and the projects whose list names one. While a list
    cannot be read, any handoff may wait."""
    projects = os.path.join(ours, "projects")
    for name in os.listdir(projects) if os.path.isdir(projects) else ():
        listed = os.path.join(projects, name, "handoffs.json")
        found = read_json(listed)
        is_unreadable = found is None and os.path.lexists(listed)
        waiting = [e.get("handoff_file", "") for e in _entries(found or {}) if e.get("active")]
        if waiting or is_unreadable:
            yield "project", name
        for path in ("*",) if is_unreadable else waiting:
            yield "handoff", os.path.basename(path)


def read(ours: str, root: str) -> list[Checkpoint]:
    """All that are known, the latest last; a glance without the lock."""
    return _entries(read_json(path(ours, root)) or {})


def active(ours: str, root: str) -> list[Checkpoint]:
    return [entry for entry in read(ours, root) if entry.get("active")]


def open_of(ours: str, root: str, session: str) -> Checkpoint | None:
    """The handoff that the session made and that nobody was given yet."""
    mine = [entry for entry in active(ours, root) if entry.get("session_id") == session]
    return mine[-1] if mine else None


def add(ours: str, root: str, entry: Checkpoint) -> None:
    """Notes a handoff. Those that its session made before are superseded by it; a session that was
    told to stop for one of them still may."""
    session = entry.get("session_id")

    def change(found: Json) -> Json:
        entries = _entries(found)
        for other in entries:
            if session and other.get("session_id") == session:
                if other.get("active") and other.get("lets_stop"):
                    entry["lets_stop"] = True
                _shut(other, SUPERSEDED)
        return {**found, "handoffs": _kept([*entries, entry])}

    update_json(path(ours, root), change)


def _kept(entries: list[Checkpoint]) -> list[Checkpoint]:
    """Those that are closed go first, the oldest ahead."""
    open_ones = [entry for entry in entries if entry.get("active")]
    closed = [entry for entry in entries if not entry.get("active")]
    wanted = closed[-max(KEPT - len(open_ones), 0) :] if len(open_ones) < KEPT else []
    chosen = {id(entry) for entry in [*wanted, *open_ones[-KEPT:]]}
    return [entry for entry in entries if id(entry) in chosen]


def take(ours: str, root: str, wanted: Wanted, by: str, at: str = "") -> Checkpoint | None:
    """The latest active one that is `wanted`, which is delivered to `by` at this time; None = there
    is none.

    Under the lock, so that of two sessions that begin at once one is given it.
    """
    taken: list[Checkpoint] = []

    def change(found: Json) -> Json | None:
        entries = _entries(found)
        fitting = [entry for entry in entries if entry.get("active") and wanted(entry)]
        if not fitting:
            return None
        taken.append({**fitting[-1]})
        _shut(fitting[-1], DELIVERED, by)
        fitting[-1]["given_at"] = at
        return {**found, "handoffs": entries}

    if any(map(wanted, active(ours, root))):
        update_json(path(ours, root), change)
    return taken[0] if taken else None


def close(ours: str, root: str, wanted: Wanted, why: str = DONE, by: str = "") -> bool:
    """Nobody needs to be given those any more; whether there was one."""
    if not any(map(wanted, active(ours, root))):
        return False

    def change(found: Json) -> Json:
        entries = _entries(found)
        for entry in entries:
            if entry.get("active") and wanted(entry):
                _shut(entry, why, by)
        return {**found, "handoffs": entries}

    update_json(path(ours, root), change)
    return True


def given_at(ours: str, root: str, session: str) -> str:
    """When the session was given its last one (ISO), "" = it was given none."""
    mine = [e for e in read(ours, root) if e.get("given_to") == session and not e.get("active")]
    at = mine[-1].get("given_at") if mine else ""
    return at if isinstance(at, str) else ""


def last_given(ours: str, root: str) -> Checkpoint | None:
    """The handoff that was given last, unless it is known to be at work or waits again."""
    given = [e for e in read(ours, root) if e.get("closed") == DELIVERED and not e.get("active")]
    return given[-1] if given and not given[-1].get("is_used") else None


def note_used(ours: str, root: str, session: str) -> None:
    """The session that was given handoffs has gone on with them."""

    def change(found: Json) -> Json:
        entries = _entries(found)
        for entry in entries:
            if entry.get("given_to") == session:
                entry["is_used"] = True
        return {**found, "handoffs": entries}

    update_json(path(ours, root), change)


def give_back(ours: str, root: str, session: str) -> bool:
    """The session has done nothing with the one that it was given last: that one waits again."""

    def was_given(entry: Checkpoint) -> bool:
        return entry.get("closed") == DELIVERED and entry.get("given_to") == session

    if not any(map(was_given, read(ours, root))):
        return False

    def change(found: Json) -> Json:
        entries = _entries(found)
        for entry in [*filter(was_given, entries)][-1:]:
            entry["active"] = True
        return {**found, "handoffs": entries}

    update_json(path(ours, root), change)
    return True


def of_session(session: str) -> Wanted:
    return lambda entry: entry.get("session_id") == session


def _shut(entry: Checkpoint, why: str, by: str = "") -> None:
    if entry.get("active"):
        entry["active"] = False
        entry["closed"] = why
        if by:
            entry["given_to"] = by


def _entries(found: Json) -> list[Checkpoint]:
    entries = found.get("handoffs")
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if _is_sound(entry)]


def _is_sound(entry: object) -> TypeGuard[Checkpoint]:
    if not isinstance(entry, dict):
        return False
    texts = ("handoff_file", "session_id", "timestamp")
    return all(isinstance(entry.get(field, ""), str) for field in texts)
