"""The memory: one SQLite file for all sessions, projects and clients.

Whoever opens it gets a `Memory`, which is *off* where the file cannot be used: a newer sisyphus
made it, the home cannot be written, there is no home. Reading then finds nothing and writing raises
`MemoryOffError`. A file that SQLite cannot read is set aside, with what belongs to it, and a new
one begins. `docs/files.md` explains the tables to people who ask them with `sqlite3`.

What stands here was written by us: rows are taken as they are.
"""

from __future__ import annotations

import _sqlite3  # `sqlite3` only wraps it, and costs every hook 2 ms more
import os
import time
from _thread import _count, _local

from sisyphus.errors import MemoryOffError
from sisyphus.paths import NOWHERE
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any

    Value = str | bytes | int | float | None
    Row = tuple[Any, ...]
    Stamp = tuple[int, int, int]

VERSION = 2
"""Of the tables. A file with a later one is another sisyphus's: it is neither read nor written. The
rows of an earlier one are carried over to the tables of now, in the columns that both have.

2: numbers of sessions and events are given once.
"""

LOCK_SECONDS = 4.0
"""How long a transaction waits for its turn. The client gives up on a hook after ten seconds."""

TABLES = """
CREATE TABLE session (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    client TEXT NOT NULL, id TEXT NOT NULL, agent TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL DEFAULT 0,
    project TEXT, source TEXT, run TEXT, began_at REAL, seen_at REAL, ended_at REAL,
    pid INTEGER, process_started TEXT, bound_at REAL, in_process INTEGER NOT NULL DEFAULT 0,
    former_pid INTEGER, former_started TEXT, before TEXT,
    forked_at REAL, parents TEXT, forgot_at REAL, forgot_for TEXT,
    hooks INTEGER NOT NULL DEFAULT 0, ms REAL NOT NULL DEFAULT 0,
    units INTEGER NOT NULL DEFAULT 0, blocks INTEGER NOT NULL DEFAULT 0,
    UNIQUE (client, id, agent));
CREATE INDEX session_id ON session (id);
CREATE INDEX session_pid ON session (pid) WHERE in_process;
CREATE INDEX session_project ON session (project, seen_at);
CREATE INDEX session_seen ON session (seen_at);
CREATE TABLE wiring (
    session INTEGER NOT NULL, scope TEXT NOT NULL, started_at REAL NOT NULL,
    is_silent INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (session, scope)) WITHOUT ROWID;
CREATE TABLE sent (
    session INTEGER NOT NULL, hash TEXT NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL,
    at REAL NOT NULL, PRIMARY KEY (session, hash)) WITHOUT ROWID;
CREATE TABLE waiting (
    session INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL,
    hash TEXT NOT NULL, head TEXT NOT NULL, body TEXT NOT NULL, tail TEXT NOT NULL,
    late_head TEXT NOT NULL, PRIMARY KEY (session, seq)) WITHOUT ROWID;
CREATE TABLE call (
    session INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE TABLE event (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL, at REAL NOT NULL, event TEXT NOT NULL,
    ms REAL NOT NULL, sent INTEGER NOT NULL, blocked INTEGER NOT NULL, is_silent INTEGER NOT NULL,
    notes TEXT NOT NULL, texts TEXT NOT NULL);
CREATE INDEX event_session ON event (session, n);
CREATE TABLE rule_index (
    project TEXT NOT NULL, home TEXT NOT NULL, made_by TEXT NOT NULL, made INTEGER NOT NULL,
    head TEXT NOT NULL, bodies BLOB NOT NULL, PRIMARY KEY (project, home));
CREATE TABLE settings_file (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE export (
    session INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (session, name)) WITHOUT ROWID;
"""

OF_SESSIONS = ("wiring", "sent", "waiting", "call", "event", "export")
"""The tables whose rows belong to a session, and go with it."""

SET_ASIDE = "set aside"
"""Names the note of where an unreadable memory was kept, until the user has been told."""

PURGED = "purged_at"
"""Names the note of when a hook looked for what is old, in epoch seconds."""

_UNREADABLE = (_sqlite3.SQLITE_CORRUPT, _sqlite3.SQLITE_NOTADB)
_UNSUPPORTED = "unsupported file format"  # which has no code of its own
_ANY_CODE = 0xFF  # SQLite tells more in the higher bits
_SQLITE_LOCKS = 0x4000_0000, 512
"""Where SQLite locks the file, and how many bytes: each open connection holds some of them."""

_RESERVE_BYTES = 65_536
"""What a small transaction may write: its rows, and the pages of the indexes around them."""
_ROW_BYTES = 256
"""What one row more may take, besides its texts."""

_PAUSE_SECONDS = 0.005
_COPY_BYTES = 1_000_000

_opened = _local()  # by thread: the dashboard has several


def memory_path(ours: str) -> str:
    return os.path.join(ours, "sisyphus.db")


def open_memory(ours: str) -> Memory:
    """The memory in our folder `ours`. It is opened once, until `close`."""
    known: Memory | None = getattr(_opened, "memory", None)
    if known is None or known.path != memory_path(ours):
        close()
        known = _opened.memory = _open(memory_path(ours))
    return known


def look_at(ours: str) -> Memory:
    """The memory in `ours` for somebody who changes nothing: it is not made, not set aside and not
    written. `open_memory` gives the same one until `close`."""
    close()
    found = _open(memory_path(ours), only_looks=True)
    _opened.memory = found
    return found


def close() -> None:
    """What was written goes into the one file, and nothing stays beside it."""
    known: Memory | None = getattr(_opened, "memory", None)
    _opened.memory = None
    if known is not None and known.database is not None:
        known.database.close()


class Memory:
    """An open memory. `problem`: why it is off; "" where it works. `is_busy`: it is off because
    another process has had it for too long."""

    __slots__ = ("_changes", "_stamp", "_written", "database", "is_busy", "path", "problem")

    def __init__(
        self,
        path: str,
        database: sqlite3.Connection | None,
        problem: str = "",
        stamp: Stamp | None = None,
        *,
        is_busy: bool = False,
    ) -> None:
        self.path = path
        self.database = database
        self.problem = problem
        self.is_busy = is_busy
        self._stamp = stamp
        self._written = self._changes = 0

    def __del__(self) -> None:
        """A thread that ends leaves its memory behind."""
        if self.database is not None:
            self.database.close()

    def rows(self, statement: str, *values: Value) -> list[Row]:
        """What a query finds, all at once; nothing where the memory is off."""
        if self.database is None:
            return []
        try:
            return self._execute(statement, values).fetchall()
        except _sqlite3.Error as error:
            self._learn_from(error)
            raise

    def row(self, statement: str, *values: Value) -> Row | None:
        """The first row that a query finds."""
        if self.database is None:
            return None
        try:
            found: Row | None = self._execute(statement, values).fetchone()
        except _sqlite3.Error as error:
            self._learn_from(error)
            raise
        return found

    def write(self, statement: str, *values: Value) -> int:
        """Changes rows inside a `transaction`, or as one of its own; returns how many there were.
        Raises `MemoryOffError`, and the database's own error where the disk is full."""
        if self.database is None:
            raise MemoryOffError(self.problem)
        self._written += sum(len(value) for value in values if isinstance(value, (str, bytes)))
        try:
            return self._execute(statement, values).rowcount
        except _sqlite3.Error as error:
            self._learn_from(error)
            raise

    def _execute(self, statement: str, values: Sequence[Value]) -> sqlite3.Cursor:
        assert self.database is not None  # noqa: S101  # whoever calls has looked
        try:
            return self.database.execute(statement, values)
        except UnicodeEncodeError:  # a path that is no UTF-8
            return self.database.execute(statement, [_sound(value) for value in values])

    def _learn_from(self, error: sqlite3.Error) -> None:
        """A file whose damage shows itself late is set aside as well; who has waited in vain for
        his turn does not wait again."""
        assert self.database is not None  # noqa: S101  # it raised this
        if _is_unreadable(error):
            self.database.close()
            self.database = None
            self.problem = _in_words(self.path, error)
            if self._stamp is not None:
                _set_aside(self.path, self._stamp)
        elif tells_of_others(error):
            self.database.execute("PRAGMA busy_timeout = 0")

    def begin(self) -> None:
        """See `transaction`."""
        self.write("BEGIN IMMEDIATE")
        assert self.database is not None  # noqa: S101  # or nothing would have begun
        self._written, self._changes = 0, self.database.total_changes

    def transaction(self) -> Transaction:
        """For a `with` block, whose writing counts as a whole at its end or not at all."""
        if self.database is None:
            raise MemoryOffError(self.problem)
        return Transaction(self)

    def reserve(self) -> None:
        """Makes sure of the room that the open transaction needs, so that a full disk shows itself
        before anything is said to the client that the commit could then not note.

        SQLite writes the pages of a transaction behind the valid part of its log as it commits.
        Behind that part it expects anything; so zeros are put there, unless they stand there
        already. Nobody else writes to the log meanwhile; outside a transaction somebody might.
        """
        if self.database is None or not self.database.in_transaction:
            return
        try:
            log = os.open(f"{self.path}-wal", os.O_RDWR)
        except OSError:
            return  # a network file system: SQLite keeps no log there
        try:
            rows = self.database.total_changes - self._changes
            needed = _RESERVE_BYTES + 4 * self._written + _ROW_BYTES * rows
            zeros = bytes(needed)
            end = os.lseek(log, 0, os.SEEK_END)
            os.lseek(log, max(0, end - needed), os.SEEK_SET)
            if os.read(log, needed) == zeros:
                return
            while needed > 0:
                needed -= os.write(log, zeros[:needed])
        finally:
            os.close(log)


class Transaction:
    """Waits for its turn, then keeps all others from writing."""

    __slots__ = ("_memory",)

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def __enter__(self) -> None:
        self._memory.begin()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._memory.write("COMMIT")
        elif self._memory.database is not None and self._memory.database.in_transaction:
            self._memory.write("ROLLBACK")  # SQLite has done so itself where the disk was full


class Change:
    """A record's new values, decided on what version `version` of it said; 0 = there was none.

    `table` has a column `version`; `key` names the record by columns and values.
    """

    __slots__ = ("key", "table", "values", "version")

    def __init__(
        self, table: str, key: dict[str, Value], version: int, values: dict[str, Value]
    ) -> None:
        self.table = table
        self.key = key
        self.version = version
        self.values = values

    @property
    def touches_sent(self) -> bool:
        """Whether what a session was sent is not the same afterwards."""
        return False

    def apply(self, memory: Memory) -> bool:
        """Whether it counts. It does not where the record has changed since it was read: what was
        decided then is stale."""
        if not self.version:
            names = [*self.key, *self.values, "version"]
            marks = ", ".join("?" * len(names))
            return memory.write(
                f"INSERT OR IGNORE INTO {self.table} ({', '.join(names)}) VALUES ({marks})",
                *self.key.values(), *self.values.values(), 1,
            ) > 0  # fmt: skip
        assigned = "".join(f"{name} = ?, " for name in self.values)
        where = " AND ".join(f"{name} = ?" for name in self.key)
        return memory.write(
            f"UPDATE {self.table} SET {assigned}version = version + 1 "  # our names
            f"WHERE {where} AND version = ?",
            *self.values.values(), *self.key.values(), self.version,
        ) > 0  # fmt: skip


def _sound(value: Value) -> Value:
    """A text that SQLite takes: half surrogate pairs are spelled."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


class Removal(Change):
    """A record that goes. It does not count where another process has removed it."""

    __slots__ = ()

    def __init__(self, table: str, key: dict[str, Value]) -> None:
        super().__init__(table, key, 0, {})

    def apply(self, memory: Memory) -> bool:
        where = " AND ".join(f"{name} = ?" for name in self.key)
        return memory.write(f"DELETE FROM {self.table} WHERE {where}", *self.key.values()) > 0


def _open(path: str, tries: int = 3, *, only_looks: bool = False) -> Memory:
    database = None
    stamp = _stamp(path)
    if only_looks and not (stamp and stamp[1]):
        return Memory(path, None)
    try:
        if stamp is None:
            _make_file(path)
        database = _sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
        database.execute("PRAGMA synchronous = NORMAL")
        (found,) = database.execute("PRAGMA user_version").fetchone()
        if only_looks:
            database.execute("PRAGMA query_only = 1")
            stamp = None  # so that it is not set aside later either
        elif found < VERSION:
            found = _make_tables(database, path)
    except (OSError, _sqlite3.Error) as error:
        if database is not None:
            database.close()
        if tries and not only_looks and _is_unreadable(error) and _set_aside(path, stamp):
            return _open(path, tries - 1)
        return Memory(path, None, _in_words(path, error), is_busy=tells_of_others(error))
    if not found:
        database.close()
        return Memory(path, None)
    if found > VERSION:
        database.close()
        return Memory(path, None, f"{path} was made by a newer sisyphus. Upgrade this one")
    return Memory(path, database, stamp=stamp)


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0) & _ANY_CODE


def tells_of_others(error: Exception) -> bool:
    """Whether another process has had the memory for too long."""
    return _code(error) == _sqlite3.SQLITE_BUSY


def _is_unreadable(error: Exception) -> bool:
    return _code(error) in _UNREADABLE or _UNSUPPORTED in str(error)


def _in_words(path: str, error: Exception) -> str:
    if path.startswith(NOWHERE):
        return "HOME is empty, so there is no folder to keep it in"
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return f"{path} cannot be used: {reason}"


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _make_file(path: str) -> None:
    """For this user alone. SQLite gives the files beside it the same rights."""
    from sisyphus.state.files import ensure_folder

    ensure_folder(os.path.dirname(path))
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _make_tables(database: sqlite3.Connection, path: str) -> int:
    """Makes the tables of now unless another process has done so meanwhile; returns their
    version."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            break
        except _sqlite3.OperationalError as error:  # no waiting is done for a change of the mode
            if _code(error) != _sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
    database.execute("BEGIN IMMEDIATE")
    (found,) = database.execute("PRAGMA user_version").fetchone()
    if found < VERSION:
        given = _numbers_given(database)
        earlier = _put_apart(database)
        for statement in filter(str.strip, TABLES.split(";\n")):
            database.execute(statement)
        _carry_over(database, earlier)
        for last, name in given:
            database.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            database.execute("INSERT INTO sqlite_sequence (seq, name) VALUES (?, ?)", (last, name))
        if not found:
            _note_set_aside(database, path)
        database.execute(f"PRAGMA user_version = {VERSION}")
        found = VERSION
    database.execute("COMMIT")
    return int(found)


def _note_set_aside(database: sqlite3.Connection, path: str) -> None:
    """Where an unreadable memory lies that this one takes the place of."""
    folder, name = os.path.split(path)
    kept = [other for other in os.listdir(folder) if other.startswith(f"{name}.corrupt-")]
    if kept := [other for other in kept if not other.endswith(("-wal", "-shm"))]:
        note = (SET_ASIDE, os.path.join(folder, max(kept)))
        database.execute("INSERT OR IGNORE INTO note (name, value) VALUES (?, ?)", note)


def _numbers_given(database: sqlite3.Connection) -> list[Row]:
    """The last number that each table has given; its row may have gone since."""
    is_there = "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'"
    if database.execute(is_there).fetchone() is None:
        return []
    return database.execute("SELECT seq, name FROM sqlite_sequence").fetchall()


_EARLIER = "earlier_"


def _put_apart(database: sqlite3.Connection) -> list[str]:
    """Copies the tables of an earlier version out of the way; returns their names."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"
    names = [str(name) for (name,) in database.execute(query).fetchall()]
    for name in names:
        database.execute(f'CREATE TABLE "{_EARLIER}{name}" AS SELECT * FROM "{name}"')
        database.execute(f'DROP TABLE "{name}"')
    return names


def _carry_over(database: sqlite3.Connection, names: Sequence[str]) -> None:
    """The rows of those tables, to the tables of now that are called so."""
    for name in names:
        then, now = (
            [str(row[1]) for row in database.execute(f'PRAGMA table_info("{table}")').fetchall()]
            for table in (f"{_EARLIER}{name}", name)
        )
        if shared := ", ".join(column for column in then if column in now):
            database.execute(
                f'INSERT OR IGNORE INTO "{name}" ({shared}) '  # our names
                f'SELECT {shared} FROM "{_EARLIER}{name}"'
            )
        database.execute(f'DROP TABLE "{_EARLIER}{name}"')


def _set_aside(path: str, stamp: Stamp | None) -> bool:
    """Keeps an unreadable memory for whoever wants to look, and empties the file; False where that
    cannot be done now. `stamp`: of the file that was found so. Of several processes one does it.

    The file stays the same one: SQLite opens its log by name, later than the file itself, and would
    mix an old file with a new one's log.
    """
    if _count():  # another thread may have it open, and a lock is the whole process's
        return False
    try:
        with open(path, "r+b") as file:
            if not _lock(file.fileno()):
                return False
            if _stamp(path) != stamp:
                return True
            kept = f"{path}.corrupt-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
            while os.path.lexists(kept):
                kept += "x"
            with open(os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
                while part := file.read(_COPY_BYTES):
                    copy.write(part)
            for beside in ("-wal", "-shm"):
                if os.path.exists(path + beside):
                    os.rename(path + beside, kept + beside)
            file.truncate(0)
            os.chmod(path, 0o600)
    except OSError as error:
        debug.log(f"not set aside: {path}: {error}")
        return False
    debug.log(f"set aside an unreadable memory: {kept}")
    return True


def _lock(descriptor: int) -> bool:
    """Keeps all connections out, as SQLite itself does; False where some stay too long."""
    try:
        import fcntl
    except ImportError:  # Windows, where only the last one may do such things to a file
        return True
    start, length = _SQLITE_LOCKS
    deadline = time.monotonic() + LOCK_SECONDS
    while time.monotonic() < deadline:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except OSError:
            time.sleep(_PAUSE_SECONDS)
        else:
            return True
    return False
