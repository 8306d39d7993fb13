"""Removes what sessions left that nobody has used for a while: rows, files for other programs.

Open plans and running loops stay, however old they are.
"""

import os
import time
from contextlib import suppress

from sisyphus import clients, files, paths
from sisyphus.sessions import ledger
from sisyphus.store import Store

_DAY_SECONDS = 24 * 3600
_LEFTOVER_SECONDS = 3600
"""A temporary file this old was left by a process that was killed while it wrote."""


def remove_old(store: Store, days: int, now: float) -> int:
    """Removes what was not used for `days`; returns the number of sessions. 0 days = keep all.
    now: seconds since 1970."""
    with store.write():
        store.run("INSERT OR REPLACE INTO chore VALUES ('retention', ?)", now)
        if not days:
            return 0
        before = now - days * _DAY_SECONDS
        ended = "DELETE FROM loop WHERE ended_at < ? AND logged = 2 RETURNING id"
        loops = {id for (id,) in store.all(ended, before)}
        removed = store.all(
            "DELETE FROM session WHERE seen_at < ? AND NOT EXISTS "
            "(SELECT 1 FROM loop WHERE loop.session = session.n) RETURNING id, agent",
            before,
        )
        store.run(
            "DELETE FROM plan WHERE used_at < ? AND state IN ('complete', 'dismissed', 'missing') "
            "AND NOT EXISTS (SELECT 1 FROM session WHERE session.plan = plan.n)",
            before,
        )
        store.run("DELETE FROM foreign_loop WHERE at < ?", before)
        _clear_caches(store)
    ids = [id for id, agent in removed if not agent]
    _remove_files(ids, loops, before)
    return len(ids)


def _clear_caches(store: Store) -> None:
    """Removes the cached content of settings files and rule folders that no longer exist."""
    for table, column in (("settings_file", "path"), ("rule_index", "folder")):
        for (path,) in store.all(f"SELECT DISTINCT {column} FROM {table}"):
            if not os.path.exists(path):
                store.run(f"DELETE FROM {table} WHERE {column} = ?", path)


def _remove_files(session_ids: list[str], loops: set[str], before: float) -> None:
    """Removes the files that these sessions and loops left, transcripts of ours that nobody has
    written to since `before`, and what killed processes left half written."""
    for id in session_ids:
        for path in ledger.export_files(id):
            _remove(path)
    transcripts = os.path.join(paths.our_home(), "ralph", "transcripts", "")
    sessions = tuple(os.path.join(f, "") for f in clients.transcript_folders(paths.our_home()))
    for path in files.walk(paths.our_home(), skipped=()):
        if path.startswith(transcripts) and os.path.basename(path).partition("_")[0] in loops:
            _remove(path)
        if path.startswith(sessions):
            is_left = os.path.basename(path).partition(".")[0] in session_ids
            if is_left or _age(path) > time.time() - before:
                _remove(path)
        if path.endswith(files.TEMPORARY) and _age(path) > _LEFTOVER_SECONDS:
            _remove(path)


def _age(path: str) -> float:
    """Returns the seconds since a file changed; 0 if it was deleted."""
    try:
        return time.time() - os.path.getmtime(path)
    except OSError:
        return 0.0


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
