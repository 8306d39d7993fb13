"""Removes what sessions left that were not seen for a while: rows, files for other programs.

Open plans and running loops stay, however old they are.
"""

import os
import time
from contextlib import suppress

from sisyphus import paths
from sisyphus.store import Store

_EXPORT_FOLDERS = ("rules-injector", "context-injector")
_LEFT_SECONDS = 3600
"""A temporary file this old was left by a process that was killed while it wrote."""


def remove_old(store: Store, days: int, now: float) -> int:
    """Removes what was not used for `days`; returns the number of sessions. 0 days = keep all."""
    with store.write():
        store.run("INSERT OR REPLACE INTO chore VALUES ('retention', ?)", now)
        if not days:
            return 0
        before = now - days * 24 * 3600
        store.run("DELETE FROM loop WHERE ended_at < ? AND logged = 2", before)
        gone = store.all(
            "DELETE FROM session WHERE seen_at < ? AND NOT EXISTS "
            "(SELECT 1 FROM loop WHERE loop.session = session.n) RETURNING id, agent",
            before,
        )
        store.run(
            "DELETE FROM plan WHERE used_at < ? AND state IN ('complete', 'dismissed', 'missing') "
            "AND NOT EXISTS (SELECT 1 FROM session WHERE session.plan = plan.n)",
            before,
        )
        _forget_files_that_are_gone(store)
    ids = [id for id, agent in gone if not agent]
    _remove_files(ids)
    return len(ids)


def _forget_files_that_are_gone(store: Store) -> None:
    """Caches about settings files and rule folders that are not there any more."""
    for table, column in (("settings_file", "path"), ("rule_index", "folder")):
        for (path,) in store.all(f"SELECT DISTINCT {column} FROM {table}"):
            if not os.path.exists(path):
                store.run(f"DELETE FROM {table} WHERE {column} = ?", path)


def _remove_files(session_ids: list[str]) -> None:
    home = paths.our_home()
    for folder in _EXPORT_FOLDERS:
        for id in session_ids:
            _remove(os.path.join(home, folder, f"session-{id}.json"))
    for folder, _, names in os.walk(home):
        for name in names:
            path = os.path.join(folder, name)
            if name.rpartition(".")[2].isdigit() and _age(path) > _LEFT_SECONDS:
                _remove(path)


def _age(path: str) -> float:
    try:
        return time.time() - os.path.getmtime(path)
    except OSError:
        return 0.0


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
