"""A project's book, open for writing."""

from __future__ import annotations

import os

from sisyphus.boulder.store import Plans, book_path
from sisyphus.quick_json import dumps
from sisyphus.state.files import check_version, ensure_folder, load_json, write_json
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class Book(Plans):
    """A project's plans under their lock, inside a `with` block; written at its end if they
    changed and nothing failed.

    Raises `NewerVersionError`, `LockedError` and `OSError`.
    """

    __slots__ = ("_before", "_lock", "_path", "after_save")

    def __init__(self, home: str, root: str) -> None:
        super().__init__({}, root)
        self.after_save: Callable[[], None] | None = None  # under the lock still
        self._before = ""
        self._path = book_path(home, root)
        ensure_folder(os.path.dirname(self._path))
        self._lock = Lock(self._path)

    def __enter__(self) -> Book:
        self._lock.enter(self._load)
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
                if self.after_save:
                    self.after_save()
                    self._save()
        finally:
            self._lock.__exit__(kind, error, trace)

    def _load(self) -> None:
        found = load_json(self._path)
        check_version(self._path, found)
        super().__init__(found, self.root)
        self._before = dumps(self.as_json())

    def _save(self) -> None:
        now = dumps(self.as_json())
        if now != self._before:
            write_json(self._path, self.as_json())
            self._before = now
