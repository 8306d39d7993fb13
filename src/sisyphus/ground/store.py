"""The store: one SQLite file for all sessions and projects, described in `schema.sql`.

`open_store` always returns a `Store` that works. If the file cannot be used (no home, a home that
cannot be written, a full disk, a database of a later version), the store is in memory only and
`is_durable` is False. A file from before the first release, one that SQLite cannot read, and what
is no file at all are set aside whole, and a new one takes their place. A released version's file
goes on with all its rows (`MIGRATIONS`). Rows that nobody can read are the work of `repair`.
"""

from __future__ import annotations

import os
import time

from sisyphus.ground import files, paths
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.quick_sqlite import sqlite

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from types import TracebackType
    from typing import Any, ClassVar

    Value = str | int | float | None

RELEASED = 115
"""The version of the tables in 1.0.0. Earlier products wrote 2."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    ("ALTER TABLE session ADD COLUMN started_in TEXT NOT NULL DEFAULT ''",),
    (
        "CREATE TABLE tick (plan INTEGER NOT NULL REFERENCES plan ON DELETE CASCADE, "
        "task TEXT NOT NULL, is_done INTEGER NOT NULL, at REAL NOT NULL, evidence TEXT NOT NULL, "
        "checks TEXT NOT NULL, lost TEXT NOT NULL, output TEXT NOT NULL, is_told INTEGER NOT NULL, "
        "changed_at REAL NOT NULL, PRIMARY KEY (plan, task)) WITHOUT ROWID",
        "CREATE TABLE trusted_check (project TEXT NOT NULL, command TEXT NOT NULL, "
        "run TEXT NOT NULL, at REAL NOT NULL, files TEXT NOT NULL, "
        "PRIMARY KEY (project, command, run)) WITHOUT ROWID",
        "ALTER TABLE iteration ADD COLUMN evidence TEXT NOT NULL DEFAULT ''",
    ),
    (
        "ALTER TABLE run ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE run ADD COLUMN cost REAL NOT NULL DEFAULT 0",
    ),
    ("ALTER TABLE handoff ADD COLUMN said TEXT NOT NULL DEFAULT ''",),
)
"""The statements that lead from `RELEASED` to the next version, from there to the one after it, and
so on. To add a column, write it into `schema.sql`, last in its table, where ALTER puts it, and add
a step here. A step never changes once it is released. `tests/test_store.py` compares what the steps
make of the released tables with `schema.sql`.
"""

VERSION = RELEASED + len(MIGRATIONS)
"""The version of the tables, in `PRAGMA user_version`."""

SET_ASIDE = "sisyphus could not use its database and started a new one."

STOP_LOCK_SECONDS = 60
"""The longest at a Stop of a session that is held. The client waits 900 seconds there, and nobody
would hold the session if we gave up."""

LEAST_FREE_BYTES = 4_000_000
"""The least free space on the disk. With less, a write may fail half-way through an event."""

LOCK_SECONDS = 4.0
"""The longest that a transaction waits for the lock. The client kills most hooks after ten
seconds."""

QUICK_SECONDS = 0.1
"""How long the first query waits before we look whether files can be locked there at all. Without
locks (some network drives), SQLite says that somebody has the lock, and each hook would wait."""


Error = sqlite.Error
"""The error that every method of `Store` may raise."""

_CACHES = {"settings_file", "rule_index", "rule_text"}
"""The tables whose rows are read again from files when they are lost."""

_UNREADABLE = (sqlite.SQLITE_CORRUPT, sqlite.SQLITE_NOTADB)
_MAGIC = b"SQLite format 3\0"
_ENDS = ("-wal", "-shm", "-journal", "")
"""Of the names of SQLite's files. The database is last: without it, hooks make a new one."""


class Store:
    """An open store.

    path: the file. inode: identifies it, in case another hook replaces it. "" and 0 in memory.
    problem: why the store is in memory only; "" = it is durable.
    """

    __slots__ = ("_connection", "inode", "path", "problem")

    open_paths: ClassVar[list[str]] = []
    """The files of this process's open stores."""

    def __init__(self, connection: sqlite3.Connection, path: str = "", problem: str = "") -> None:
        self._connection = connection
        self.path = path
        self.inode = 0
        self.problem = problem

    @property
    def is_durable(self) -> bool:
        return not self.problem

    def one(self, statement: str, *values: Value) -> tuple[Any, ...] | None:
        """Returns the first row of a query's result; None if it has none."""
        row: tuple[Any, ...] | None = self._execute(statement, values).fetchone()
        return row

    def all(self, statement: str, *values: Value) -> list[tuple[Any, ...]]:
        return self._execute(statement, values).fetchall()

    def run(self, statement: str, *values: Value) -> int:
        """Runs a statement in the open transaction, or in its own; returns the number of changed
        rows."""
        return self._execute(statement, values).rowcount

    def _execute(self, statement: str, values: tuple[Value, ...]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except UnicodeEncodeError:  # half a surrogate pair, as in a path that is not UTF-8
            return self._connection.execute(statement, [_encodable(value) for value in values])

    def write(self) -> Transaction:
        """Returns a transaction, for `with store.write():`. It waits for the lock and keeps it."""
        return Transaction(self._connection, "BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))

    def wait_longer(self, seconds: int) -> None:
        """Makes transactions wait longer for the lock than those of a hook may."""
        self.run(f"PRAGMA busy_timeout = {seconds * 1000}")

    def savepoint(self) -> Transaction:
        """Returns a part of a transaction, for `with store.savepoint():`. It can fail by itself."""
        undo = "ROLLBACK TO part", "RELEASE part"
        return Transaction(self._connection, "SAVEPOINT part", "RELEASE part", undo)

    def read_anything(self) -> None:
        """Lets queries return texts that are not UTF-8, with half surrogate pairs for their bytes,
        instead of failing."""
        self._connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")

    def read_strictly(self) -> None:
        """Ends `read_anything`."""
        self._connection.text_factory = str

    def close(self) -> None:
        try:
            self._connection.close()
        finally:
            if self.inode:
                self.inode = 0
                self.open_paths.remove(self.path)

    def __del__(self) -> None:
        try:
            self.close()  # a command's store ends with the command
        except sqlite.ProgrammingError:  # garbage is collected in any thread, and in another one
            return  # than its own only the connection itself can close


class Copy(Store):
    """A store in memory with the rows of a file that cannot be written. Caches are filled, and what
    would note anything else raises `SisyphusError`: it would be lost."""

    __slots__ = ()

    def take(self, original: sqlite3.Connection) -> None:
        """Copies all rows."""
        original.backup(self._connection)

    def protect(self) -> None:
        """Ends the time in which all can be written. SQLite writes tables of its own to read."""
        writes = sqlite.SQLITE_INSERT, sqlite.SQLITE_UPDATE, sqlite.SQLITE_DELETE
        names = self.all("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ours = {name for (name,) in names} - _CACHES

        def judge(action: int, table: str | None, *_: str | None) -> int:
            is_lost = action in writes and table in ours
            return sqlite.SQLITE_DENY if is_lost else sqlite.SQLITE_OK

        self._connection.set_authorizer(judge)

    def _execute(self, statement: str, values: tuple[Value, ...]) -> sqlite3.Cursor:
        try:
            return super()._execute(statement, values)
        except Error as error:
            if getattr(error, "sqlite_errorcode", 0) != sqlite.SQLITE_AUTH:
                raise
            raise SisyphusError(f"Nothing can be noted: {self.problem}") from error


class Transaction:
    """A `with` block: commits at the end, rolls back if it raises."""

    __slots__ = ("_begin", "_commit", "_connection", "_undo")

    def __init__(
        self, connection: sqlite3.Connection, begin: str, commit: str, undo: tuple[str, ...]
    ) -> None:
        self._connection = connection
        self._begin = begin
        self._commit = commit
        self._undo = undo

    def __enter__(self) -> None:
        self._connection.execute(self._begin)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self._connection.execute(self._commit)
        elif self._connection.in_transaction:  # SQLite has already rolled back if the disk is full
            for statement in self._undo:
                self._connection.execute(statement)


def open_store(folder: str) -> Store:
    """Opens the store in our folder; creates it if needed."""
    path = os.path.join(folder, paths.DATABASE)
    if problem := paths.why_unused(folder):
        return _in_memory(problem)
    try:
        files.make_folder(folder)
        if problem := _why_unwritable(folder, path):
            return _in_memory(problem)
        odd = _set_odd_aside(path) if _odd_files(path) else ""
        store = _open_version(path)
        if odd:
            add_notice(store, odd)
        return store
    except (OSError, Error) as error:
        return _in_memory(f"{path} cannot be used: {getattr(error, 'strerror', None) or error}")


def _open_version(path: str) -> Store:
    """Opens the file if its version is one of ours, or can become it."""
    inode, version = _read_header(path)
    if version > VERSION:
        return _in_memory(f"{path} was made by a later version of sisyphus")
    if 0 < version < RELEASED:
        return replace_damaged(path, inode, f"version-{version}")
    return _open_or_replace(path, inode)


def open_to_read(folder: str) -> Store | None:
    """Opens the store for queries alone; None if there is none of this version. Makes no file and
    sets none aside."""
    try:
        store = open_anyhow(folder)
        return store if store and _version(store) == VERSION else None
    except Error:
        return None


def open_copy(folder: str, problem: str) -> Store | None:
    """Returns a store in memory with the rows of a file that cannot be written; None if it cannot
    be read either, or is none of this version. problem: see `Store`."""
    path = os.path.join(folder, paths.DATABASE)
    if paths.why_unused(folder) or not os.path.isfile(path) or _odd_files(path):
        return None
    # A log needs its index beside it, which nobody can make in a folder that cannot be written.
    # Without an index nobody has the file open, and it is read as it is.
    for way in ("mode=ro", "mode=ro&immutable=1"):
        try:
            return _copied(path, way, problem)
        except (OSError, Error) as error:
            if is_locked(error):
                return None  # somebody has it open, and writes
    return None


def _copied(path: str, way: str, problem: str) -> Store | None:
    from urllib.parse import quote

    store = Copy(sqlite.connect(":memory:", isolation_level=None), problem=problem)
    original = sqlite.connect(f"file:{quote(path)}?{way}", uri=True, timeout=QUICK_SECONDS)
    try:
        original.execute("SELECT 1 FROM sqlite_schema")  # for a lock, a backup waits without end
        store.take(original)
    finally:
        original.close()
    if _is_foreign(store) or not RELEASED <= _version(store) <= VERSION:
        return None
    _migrate(store)
    store.protect()
    return store


def open_anyhow(folder: str) -> Store | None:
    """Opens the file for queries, whatever its version is and whatever is wrong with it; None if
    there is none. Raises `Error`."""
    path = os.path.join(folder, paths.DATABASE)
    if not os.path.isfile(path) or _odd_files(path):
        return None
    return Store(_connect(path, QUICK_SECONDS))  # a query waits for nobody who writes


def _open_or_replace(path: str, inode: int) -> Store:
    """Opens the file. Replaces it if it is damaged, or has triggers or views: we make none, and
    they would run with our statements."""
    try:
        store = _open(path)
        if not _is_foreign(store):
            return store
        store.close()
        mark = "foreign"
    except UnicodeDecodeError:  # what SQLite says of damaged tables has their bytes in it
        mark = "corrupt"
    except Error as error:
        if not is_damaged(error):
            raise
        mark = "corrupt"
    return replace_damaged(path, inode, mark)


def _is_foreign(store: Store) -> bool:
    found = store.one("SELECT 1 FROM sqlite_schema WHERE type IN ('trigger', 'view')")
    return found is not None


def is_damaged(error: BaseException) -> bool:
    """Tells whether an error means that SQLite cannot read the file."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNREADABLE


def is_locked(error: BaseException) -> bool:
    """Tells whether an error means that another process has the lock, and kept it for too long."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite.SQLITE_BUSY


def replace_damaged(path: str, inode: int, mark: str = "corrupt") -> Store:
    """Sets a file aside that cannot be used, and opens a new one. mark: goes into its new name."""
    aside = _set_aside(path, inode, mark)
    store = _open(path)
    if aside:
        add_notice(store, f"{SET_ASIDE} The old file is kept: {aside}")
    return store


def add_notice(store: Store, text: str) -> None:
    """Lets the user read a text at the next start of a session."""
    store.run("INSERT OR IGNORE INTO notice VALUES (?)", text)


def _set_aside(path: str, inode: int, mark: str) -> str:
    """Renames the file and its logs; returns its new path, "" if another hook was quicker."""
    folder = _lock_folder(path)
    try:
        if _read_header(path)[0] != inode:
            return ""
        aside = _new_name(path, mark, inode)
        for end in _ENDS:
            if os.path.lexists(path + end):
                os.replace(path + end, aside + end)
        return aside
    finally:
        os.close(folder)


def _lock_folder(path: str) -> int:
    """Lets no other process set files aside until the descriptor that it returns is closed."""
    import fcntl

    folder = os.open(os.path.dirname(path), os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    return folder


def _new_name(path: str, mark: str, number: int) -> str:
    return f"{path}.{mark}-{time.strftime('%Y%m%d-%H%M%S')}-{number}"


def _odd_files(path: str) -> list[str]:
    """Returns what stands in the place of a file of SQLite's and is none: a FIFO or a device, on
    which opening waits for ever, a folder, a link to one of these or to nothing."""
    every = [path + end for end in _ENDS]
    return [each for each in every if not os.path.isfile(each) and os.path.lexists(each)]


def _set_odd_aside(path: str) -> str:
    """Renames what is no file; returns what the user should know. Another hook may be quicker."""
    folder = _lock_folder(path)
    try:
        names = {each: _new_name(each, "odd", os.lstat(each).st_ino) for each in _odd_files(path)}
        for old, new in names.items():
            os.rename(old, new)
    finally:
        os.close(folder)
    kept = ", ".join(names.values())
    return f"{SET_ASIDE} What stood in its place was no file. It is kept: {kept}" if kept else ""


def _open(path: str) -> Store:
    store = Store(_connect(path, QUICK_SECONDS), path)
    _wait_for_lock(store)
    # In WAL mode a commit need not wait for the disk: a power cut may lose the last events, and
    # never damages the file. Keep the log short: the first process to open it reads all of it.
    store.run("PRAGMA synchronous = NORMAL")
    store.run("PRAGMA wal_autocheckpoint = 400")  # pages of 4 KB
    store.run("PRAGMA foreign_keys = ON")
    version = _version(store)
    if version == 0:
        os.chmod(path, 0o600)
        os.chmod(os.path.dirname(path), 0o700)
        _create(store)
    elif RELEASED <= version < VERSION:
        _migrate(store)
    elif version != VERSION:
        store.close()  # this moves the version from the log into the file, for the next hook
        return _in_memory(f"{path} was made by another version of sisyphus")
    store.inode = os.stat(path).st_ino
    store.open_paths.append(path)
    return store


def _connect(path: str, seconds: float = LOCK_SECONDS) -> sqlite3.Connection:
    connection: sqlite3.Connection = sqlite.connect(path, timeout=seconds, isolation_level=None)
    return connection


def _wait_for_lock(store: Store) -> None:
    """Makes the store wait as long as a hook may, unless no lock is to be had there. Raises
    `OSError` then."""
    try:
        _version(store)
    except Error as error:
        if not is_locked(error):
            raise
        _try_lock(f"{store.path}.{os.getpid()}{files.TEMPORARY}")
    store.run(f"PRAGMA busy_timeout = {LOCK_SECONDS * 1000:.0f}")


def _try_lock(path: str) -> None:
    """Locks a new file as SQLite does. Raises `OSError`. It is no file of SQLite's: to close one of
    these drops the locks that this process has on it."""
    import fcntl

    with files.open_private(path, os.O_EXCL) as file:
        os.unlink(path)
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            why = f"files cannot be locked there ({error.strerror})"
            raise OSError(error.errno, why) from error


def _version(store: Store) -> int:
    row = store.one("PRAGMA user_version")
    assert row is not None
    return int(row[0])


def _create(store: Store) -> None:
    _use_wal(store)
    with store.write():
        if _version(store) == 0:  # another hook may have made the tables
            _make_tables(store)


def _migrate(store: Store) -> None:
    """Takes the tables of an earlier release to `VERSION`: all steps, or none."""
    with store.write():
        version = _version(store)  # another hook may have been quicker
        for step in MIGRATIONS[version - RELEASED :]:
            for statement in step:
                store.run(statement)
        store.run(f"PRAGMA user_version = {max(version, VERSION)}")


def _use_wal(store: Store) -> None:
    """Switches to write-ahead logging. SQLite does not wait for the lock here, and several first
    hooks may run at once."""
    give_up = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            store.run("PRAGMA journal_mode = WAL")
        except Error:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.005)
        else:
            return


def _make_tables(store: Store) -> None:
    path = os.path.join(os.path.dirname(__file__), "schema.sql")
    with open(path, encoding="utf-8") as file:
        lines = [line.partition("--")[0] for line in file]
    for statement in "".join(lines).split(";"):
        store.run(statement)
    store.run(f"PRAGMA user_version = {VERSION}")


def empty() -> Store:
    """Returns a store in memory with today's tables and nothing in them."""
    return _in_memory("it is for comparison")


def _in_memory(problem: str) -> Store:
    """problem: for people; it begins with the path of what cannot be used, if that is known."""
    store = Store(_connect(":memory:"), problem=paths.display(problem, ""))
    _make_tables(store)
    return store


def _encodable(value: Value) -> Value:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _why_unwritable(folder: str, path: str) -> str:
    """Returns why the file cannot be written; "" if it can. SQLite opens what it can read, and
    fails only at the first write."""
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES:
        return f"{path}: its disk has less than {LEAST_FREE_BYTES:,} bytes free"
    if not all(os.access(each, os.W_OK) for each in (folder, path) if os.path.exists(each)):
        return f"{path} cannot be written"
    return ""


def _read_header(path: str) -> tuple[int, int]:
    """Returns the inode and version of a file; 0, 0 if it does not exist.

    SQLite does not open it for this: it would write its log next to a file that another hook is
    setting aside. If this process has it open, we do not open it either: closing a file drops all
    locks of the process (POSIX), and the next process to close would remove the log in use.
    """
    try:
        if path in Store.open_paths:
            return os.stat(path).st_ino, VERSION
        with open(path, "rb", buffering=0) as file:
            head = file.read(64)
            version = int.from_bytes(head[60:], "big") if head.startswith(_MAGIC) else 0
            return os.fstat(file.fileno()).st_ino, version
    except FileNotFoundError:
        return 0, 0
