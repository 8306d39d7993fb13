"""What a session's model was sent, and what waits for its next reply.

Four files a session, guarded by one lock: the queue (there only while something waits, so that
a quiet hook asks the file system one question), the two ledgers of rules and documents, and the
session file for the rest. KEY is the session's id, for a subagent followed by `@` and its own.
"""

from __future__ import annotations

import os

from sisyphus.paths import queue_path
from sisyphus.state.files import (
    Removal,
    check_version,
    ensure_folder,
    load_json,
    read_json,
    stage_json,
)
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import TypeVar

    from sisyphus._types import Json, Piece
    from sisyphus.state.files import Staged

    Item = TypeVar("Item")

SESSION = "sessions"
WIRINGS = "wirings"
"""In the session file: scope -> when a hook of ours that its settings call last saw a start, in
epoch seconds."""
QUEUE = "queue"
LEDGERS = ("rules-injector", "context-injector")


def session_path(ours: str, key: str) -> str:
    return os.path.join(ours, SESSION, f"{key}.json")


def ledger_path(ours: str, ledger: str, key: str) -> str:
    return os.path.join(ours, ledger, f"session-{key}.json")


def sent_hashes(ours: str, ledger: str, key: str) -> frozenset[str]:
    """A glance without the lock: what this session was certainly sent."""
    if not key:
        return frozenset()
    return frozenset(_strings(read_json(ledger_path(ours, ledger, key)) or {}, "injected_hashes"))


class SessionStore:
    """The files of one session, read under its lock inside a `with` block."""

    def __init__(self, ours: str, key: str) -> None:
        self._ours = ours
        self._key = key
        ensure_folder(os.path.join(ours, SESSION))
        self._lock = Lock(session_path(ours, key))
        self._files: dict[str, Json] = {}
        self._changed: set[str] = set()

    def __enter__(self) -> SessionStore:
        self._lock.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._lock.__exit__(None, None, None)

    def reset(self) -> None:
        """Forgets every change made here and takes the files as they are on disk."""
        self._files = {}
        self._changed = set()

    @property
    def state(self) -> Json:
        """The session file; change it with `set`."""
        return self._file(SESSION)

    def set(self, **fields: object) -> None:
        if any(self.state.get(name) != value for name, value in fields.items()):
            self.state.update(fields)
            self._changed.add(SESSION)

    def began(self, scope: str, now: float) -> None:
        """Notes that a hook which settings of this scope call has seen the session start."""
        marks = self.state.get(WIRINGS)
        self.set(**{WIRINGS: {**(marks if isinstance(marks, dict) else {}), scope: int(now)}})

    @property
    def queue(self) -> list[Piece]:
        waiting = self._file(QUEUE).get("queue")
        return [p for p in waiting if _is_piece(p)] if isinstance(waiting, list) else []

    def wait(self, pieces: list[Piece]) -> None:
        """Replaces the queue."""
        if self._file(QUEUE).get("queue", []) != pieces:
            self._file(QUEUE)["queue"] = pieces
            self._changed.add(QUEUE)

    def has(self, piece: Piece) -> bool:
        """Whether the model was sent this text already."""
        name, field = _remembering(piece)
        return bool(piece["hash"]) and piece["hash"] in _strings(self._file(name), field)

    def remember(self, piece: Piece) -> None:
        """Notes that the model was sent this text."""
        if not piece["hash"]:
            return
        name, field = _remembering(piece)
        _add(self._file(name), field, piece["hash"])
        if piece["ledger"]:
            _add(self._file(name), "injected_paths", piece["path"])
        if piece["path"] and piece["kind"] != "loop":
            self._supersede(self._file(name), field, piece)
        self._changed.add(name)

    def _supersede(self, source: Json, field: str, piece: Piece) -> None:
        """Of a file the last text counts alone: one that comes back later is new to the model.

        `latest` of the session file holds it; a document's parts share what stands before the `/`.
        """
        latest, new = _texts(self.state, "latest"), piece["hash"].partition("/")[0]
        place = f"{piece['kind']} {piece['path']}"
        old = latest.get(place, "")
        self.set(latest={**latest, place: new})
        if old and old not in self.state["latest"].values():
            source[field] = [h for h in _strings(source, field) if h.partition("/")[0] != old]

    def inherit(self, parents: Sequence[str]) -> None:
        """Takes over what each of the sessions `parents` was sent."""
        for name in (*LEDGERS, SESSION):
            theirs = [read_json(_path(self._ours, name, parent)) or {} for parent in parents]
            for field in ("sent", "injected_hashes", "injected_paths"):
                for text in _in_all([_strings(found, field) for found in theirs]):
                    _add(self._file(name), field, text)
                    self._changed.add(name)
            if latest := _in_all([_texts(found, "latest").items() for found in theirs]):
                self.set(latest={**dict(latest), **_texts(self.state, "latest")})

    def forget(self) -> None:
        """The model's context is empty again: nothing was sent, nothing waits."""
        self.wait([])
        for name in (SESSION, *LEDGERS):
            for field in ("sent", "injected_hashes", "injected_paths"):
                if self._file(name).get(field):
                    self._file(name)[field] = []
                    self._changed.add(name)
        if self.state.get("latest"):
            self.set(latest={})
        if "forked_at" in self.state and "parents" not in self.state:
            self.set(parents=[])  # nothing is left to inherit

    def save(self) -> None:
        for staged in self.stage():
            staged.commit()

    def stage(self) -> list[Staged | Removal]:
        """The changed files, written and one rename away from counting.

        The queue comes last: killed before it, what was sent is remembered and not sent again.
        """
        return [self._stage(n) for n in (*LEDGERS, SESSION, QUEUE) if n in self._changed]

    def _stage(self, name: str) -> Staged | Removal:
        path = _path(self._ours, name, self._key)
        if name == QUEUE and not self.queue:
            check_version(path, self._file(name))
            return Removal(path)
        ensure_folder(os.path.dirname(path))
        return stage_json(path, self._file(name))

    def _file(self, name: str) -> Json:
        if name not in self._files:
            self._files[name] = load_json(_path(self._ours, name, self._key))
        return self._files[name]


def _path(ours: str, name: str, key: str) -> str:
    if name == SESSION:
        return session_path(ours, key)
    return queue_path(ours, key) if name == QUEUE else ledger_path(ours, name, key)


def _remembering(piece: Piece) -> tuple[str, str]:
    return (piece["ledger"], "injected_hashes") if piece["ledger"] else (SESSION, "sent")


def _texts(source: Json, field: str) -> dict[str, str]:
    found = source.get(field)
    if not isinstance(found, dict):
        return {}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def _strings(source: Json, field: str) -> list[str]:
    values = source.get(field)
    return [v for v in values if isinstance(v, str)] if isinstance(values, list) else []


def _in_all(groups: Sequence[Collection[Item]]) -> list[Item]:
    return [item for item in groups[0] if all(item in g for g in groups)] if groups else []


def _add(source: Json, field: str, text: str) -> None:
    texts = _strings(source, field)
    source[field] = texts if text in texts else [*texts, text]


def _is_piece(value: object) -> bool:
    fields = ("kind", "head", "body", "tail", "late_head", "ledger", "hash", "path")
    if not isinstance(value, dict) or not all(isinstance(value.get(f), str) for f in fields):
        return False
    from sisyphus.session.queue import PRIORITY  # not needed where nothing waits

    return value["kind"] in PRIORITY and value["ledger"] in ("", *LEDGERS)
