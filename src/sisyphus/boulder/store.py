"""The plans of each project on disk, and those that are done with.

`HOME/.sisyphus/projects/ID/plans.json` is a project's book: a record for each plan that is
followed, which one is current, how plan files looked last (`seen`) and the contents with which
plans were dismissed.
"""

from __future__ import annotations

import json
import os

from sisyphus.boulder.record import valid_record
from sisyphus.paths import project_id
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from sisyphus._types import Json
    from sisyphus.boulder.discover import Stamp


def book_path(home: str, root: str) -> str:
    return os.path.join(home, ".sisyphus", "projects", project_id(root), "plans.json")


def history_path(home: str, root: str) -> str:
    return os.path.join(os.path.dirname(book_path(home, root)), "history.jsonl")


class Plans:
    """What a project's book says; plans are named by their absolute paths."""

    __slots__ = ("_found", "current", "dismissed", "records", "root", "seen")

    def __init__(self, found: Json, root: str) -> None:
        self._found = found
        self.root = root
        self.records: dict[str, Json] = {}
        for path, raw in _items(found, "plans"):
            ours = {"active_plan": path, "project_root": root}
            if record := valid_record({**raw, **ours} if isinstance(raw, dict) else {}):
                self.records[path] = record
        current = found.get("current")
        self.current = current if isinstance(current, str) and current in self.records else ""
        self.seen: dict[str, Stamp] = {p: s for p, s in _items(found, "seen") if _is_stamp(s)}
        self.dismissed: dict[str, int] = {
            path: crc for path, crc in _items(found, "dismissed") if isinstance(crc, int)
        }

    def of_session(self, session: str) -> str:
        """The plan that a session works on: the current one, unless it worked on others alone."""
        own = [path for path, record in self.records.items() if session in record["session_ids"]]
        if self.current in own or not own:
            return self.current
        return max(own, key=lambda path: str(self.records[path]["metadata"].get("updated_at")))

    def forget(self, path: str) -> None:
        del self.records[path]
        if self.current == path:
            self.current = ""

    def as_json(self) -> Json:
        return {
            **self._found,
            "project_root": self.root,
            "current": self.current or None,
            "plans": self.records,
            "seen": self.seen,
            "dismissed": self.dismissed,
        }


def read_plans(home: str, root: str) -> Plans:
    """A look without the lock."""
    return Plans(read_json(book_path(home, root)) or {}, root)


class Book(Plans):
    """A project's plans under their lock, inside a `with` block; written at its end if they
    changed and nothing failed.

    Raises `NewerVersionError`, `LockedError` and `OSError`.
    """

    __slots__ = ("_before", "_lock", "_path")

    def __init__(self, home: str, root: str) -> None:
        from sisyphus.state.files import ensure_folder
        from sisyphus.state.lock import Lock

        super().__init__({}, root)
        self._before = ""
        self._path = book_path(home, root)
        ensure_folder(os.path.dirname(self._path))
        self._lock = Lock(self._path)

    def __enter__(self) -> Book:
        self._lock.__enter__()
        try:
            self._load()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._save()
        finally:
            self._lock.__exit__(kind, error, trace)

    def _load(self) -> None:
        from sisyphus.state.files import check_version, load_json

        found = load_json(self._path)
        check_version(self._path, found)
        super().__init__(found, self.root)
        self._before = json.dumps(self.as_json())

    def _save(self) -> None:
        from sisyphus.state.files import write_json

        if json.dumps(self.as_json()) != self._before:
            write_json(self._path, self.as_json())


def add_history(home: str, record: Json, outcome: str, ended_at: str) -> None:
    """Keeps a record that ends. `outcome`: "completed" or "cleared"."""
    from sisyphus.state.files import append_line

    path = history_path(home, record["project_root"])
    append_line(path, {**record, "outcome": outcome, "ended_at": ended_at})


def _items(found: Json, name: str) -> list[tuple[str, Any]]:
    part = found.get(name)
    return list(part.items()) if isinstance(part, dict) else []


def _is_stamp(value: object) -> bool:
    return isinstance(value, list) and [type(part) for part in value] == [int, int]
