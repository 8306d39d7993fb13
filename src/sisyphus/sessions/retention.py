"""Removes what sessions left that nobody has used for a while: rows, files for other programs.

Open plans and running loops stay, however old they are. The rows of workers stay as long as that of
their run.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress

from sisyphus import clients
from sisyphus.ground import files, paths
from sisyphus.ground.record import Record, field
from sisyphus.ground.store import Store
from sisyphus.hook.session import Session
from sisyphus.sessions import ledger, sessions

_DAY_SECONDS = 24 * 3600
_LEFTOVER_SECONDS = 3600
"""A temporary file this old was left by a process that was killed while it wrote. A status line is
kept no longer, either."""


class Old(Record):
    """What nobody has used for a while.

    loops, runs: ids of those that have ended; a hold is a loop. sessions: with subagents.
    plans: the numbers of those that are no longer open. drivers: the files of loops that
    somebody else drives. files: path → bytes.
    """

    loops: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    plans: list[int] = field(default_factory=list)
    drivers: list[str] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)

    @property
    def session_ids(self) -> list[str]:
        """The sessions without their subagents."""
        return [each.id for each in self.sessions if not each.agent]


def find_old(store: Store, days: int, now: float) -> Old:
    """Returns what `remove_old` would remove. now: seconds since 1970."""
    if not days:
        return Old()
    before = now - days * _DAY_SECONDS
    old = _find_rows(store, before)
    old.files = dict(_find_files(old, before))
    return old


def remove_old(store: Store, days: int, now: float) -> Old:
    """Removes what was not used for `days`, and returns it. 0 days = keep all."""
    before = now - days * _DAY_SECONDS
    with store.write():
        store.run("INSERT OR REPLACE INTO chore VALUES ('retention', ?)", now)
        if not days:
            return Old()
        old = _find_rows(store, before)
        for table, column, keys in (
            ("loop", "id", old.loops + old.runs),
            ("session", "n", [each.n for each in old.sessions]),
            ("plan", "n", old.plans),
            ("foreign_loop", "path", old.drivers),
        ):
            for key in keys:
                store.run(f"DELETE FROM {table} WHERE {column} = ?", key)
        _forget_workers(store)
        _clear_caches(store)
    for path, size in _find_files(old, before):
        with suppress(OSError):
            os.unlink(path)
            old.files[path] = size
    return old


def _find_rows(store: Store, before: float) -> Old:
    """Returns the rows that nobody has used since `before`, without their files."""
    ended = store.all(
        "SELECT id, kind FROM loop WHERE ended_at < ? AND logged = 2 AND kind <> 'worker'", before
    )
    going = sessions.unused_since(store, before)
    staying = sessions.plans_besides(store, {each.n for each in going})
    plans = store.all(
        "SELECT n FROM plan WHERE used_at < ? AND state IN ('complete', 'dismissed', 'missing')",
        before,
    )
    return Old(
        loops=[id for id, kind in ended if kind != "run"],
        runs=[id for id, kind in ended if kind == "run"],
        sessions=going,
        plans=[n for (n,) in plans if n not in staying],
        drivers=[p for (p,) in store.all("SELECT path FROM foreign_loop WHERE at < ?", before)],
    )


def _forget_workers(store: Store) -> None:
    """Removes the rows of workers whose run is gone."""
    store.run(
        "DELETE FROM loop AS own WHERE kind = 'worker' AND NOT EXISTS (SELECT 1 FROM loop AS lead "
        "WHERE lead.id = substr(own.id, 1, instr(own.id, '-') - 1))"
    )


def _clear_caches(store: Store) -> None:
    """Removes the cached content of settings files and rule folders that no longer exist."""
    for table, column in (("settings_file", "path"), ("rule_index", "folder")):
        for (path,) in store.all(f"SELECT DISTINCT {column} FROM {table}"):
            if not os.path.exists(path):
                store.run(f"DELETE FROM {table} WHERE {column} = ?", path)


def _find_files(old: Old, before: float) -> Iterator[tuple[str, int]]:
    """Yields the files that these sessions and loops left, transcripts of ours that nobody has
    written to since `before`, and what killed processes left half written, each with its size."""
    ids, loops = set(old.session_ids), {*old.loops, *old.runs}
    exported = {path for id in ids for path in ledger.export_files(id)}
    transcripts = os.path.join(paths.our_home(), "ralph", "transcripts", "")
    lines = os.path.join(paths.our_home(), "statusline", "")
    folders = tuple(os.path.join(f, "") for f in clients.transcript_folders(paths.our_home()))
    for path in files.walk(paths.our_home(), skipped=()):
        try:
            status = os.lstat(path)
        except OSError:  # deleted
            continue
        name = os.path.basename(path)
        is_leftover = status.st_mtime < time.time() - _LEFTOVER_SECONDS
        if (
            path in exported
            or (path.startswith(transcripts) and name.partition("_")[0] in loops)
            or (path.startswith(folders) and name.partition(".")[0] in ids)
            or (path.startswith(folders) and status.st_mtime < before)
            or (path.startswith(lines) and is_leftover)
            or (path.endswith(files.TEMPORARY) and is_leftover)
        ):
            yield path, status.st_size
