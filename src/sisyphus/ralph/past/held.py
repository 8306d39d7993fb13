"""Both files of the history at once, while their lock is held: whose each line is.

Lines of loops go from the archive first. What a killed process leaves is then the end of what was
known of a loop, its last line with it: a loop that had ended is one that has ended still, never
one that was lost, and it can be deleted again.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from sisyphus.errors import LockedError, SisyphusError
from sisyphus.paths import is_safe_id
from sisyphus.ralph import store
from sisyphus.ralph.past import history, records, timeline
from sisyphus.ralph.past.lines import Lines
from sisyphus.ralph.past.living import living, unreadable
from sisyphus.state.files import Staged
from sisyphus.state.lock import Lock
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from sisyphus.ralph.past.records import Record

_TRIES = 3
"""A rotation comes after some hundreds of loops: two in a row while we read are none by chance."""


@contextmanager
def holding(ours: str) -> Iterator[Held]:
    """The history under its lock. A hook waits for that, to note a line: it is taken when the files
    were read, and what was appended meanwhile is read under it. Raises as `Held`, and `OSError`."""
    files = Files(ours)
    try:
        for _ in range(_TRIES):
            with history.lock(ours):
                if files.go_on():
                    yield Held(ours, files)
                    return
            files.close()
            files = Files(ours)
        with history.lock(ours):
            files.close()
            files = Files(ours)
            yield Held(ours, files)
    finally:
        files.close()


class Files:
    """Both, read one after the other. Raises `UnreadableError` for one that is too large."""

    __slots__ = ("archive", "log", "merge")

    def __init__(self, ours: str) -> None:
        self.merge = records.Merge()
        self.archive = Lines(history.archive_path(ours), self.merge)
        try:
            self.log = Lines(history.log_path(ours), self.merge)
        except BaseException:
            self.archive.close()
            raise

    def go_on(self) -> bool:
        """Reads what the log has more; False where they changed otherwise."""
        if not self.archive.is_current() or not self.log.may_go_on():
            return False
        self.log.read_on()
        return True

    def close(self) -> None:
        self.archive.close()
        self.log.close()


class Held:
    """The records, newest first.

    A loop whose start was just noted has no state file yet; its session's lock is held meanwhile.
    So the locks are tried before the state files are looked for.
    """

    __slots__ = ("_busy", "_files", "records")

    def __init__(self, ours: str, files: Files) -> None:
        files.close()  # Windows replaces no file that is open
        self._files = (files.archive, files.log)
        sessions = self._open_sessions()
        self._busy = {session for session in sessions if _is_locked(ours, session)}
        alive = living(ours)
        self._busy |= _with_faults(unreadable(ours, alive), sessions)
        self.records = files.merge.settle(alive)

    def named(self, loop_id: str) -> Record:
        """The newest loop of exactly this id. Raises `SisyphusError`."""
        for record in self.records:
            if record.loop_id == loop_id:
                self.check(record)
                return record
        raise timeline.unknown(loop_id)

    def over(self) -> list[Record]:
        """The loops that are not active, as far as that is certain."""
        return [one for one in self.records if not one.is_active and not self._is_busy(one)]

    def strike(self, going: Collection[Record]) -> None:
        """Takes their lines away; every other byte stays. Raises `OSError`."""
        staged = []
        for file in self._files:
            staying = file.without(going)
            if staying is not None:
                staged.append(Staged(file.path, staying))
        for one in staged:
            one.commit()

    def check(self, record: Record) -> None:
        """Raises `SisyphusError` where nobody can tell whether it has ended."""
        if self._is_busy(record):
            raise SisyphusError(
                f"whether loop {one_line(record.loop_id)} has ended is not certain: its session "
                "is just changing its loops, or has a state file that cannot be read. Try again "
                "after the session's next stop, which sets such a file aside."
            )

    def _open_sessions(self) -> set[str]:
        """Those of the loops of which no end is noted."""
        found = {record for file in self._files for record in file.owners()}
        return {one.session_id for one in found if one.status != records.COMPLETED}

    def _is_busy(self, record: Record) -> bool:
        return record.status == records.LOST and record.session_id in self._busy


def _is_locked(ours: str, session: str) -> bool:
    """Whether somebody is changing the loops of the session."""
    path = store.memory_path(ours, session)
    if not is_safe_id(session) or not os.path.lexists(path + ".lock"):
        return False
    try:
        with Lock(path, wait=0):
            return False
    except (LockedError, OSError):
        return True


def _with_faults(names: Iterable[str], sessions: Iterable[str]) -> set[str]:
    """The sessions that have a state file that is unreadable."""
    found = tuple(names)
    return {one for one in sessions if any(n.startswith(f"ralph-loop.{one}.") for n in found)}
