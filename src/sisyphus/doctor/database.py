"""Looks at the database, by a copy: opening a file in SQLite may write next to it."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from sisyphus.clients.finding import Finding, Level
from sisyphus.doctor import messages
from sisyphus.ground import files
from sisyphus.ground.record import Record
from sisyphus.ground.store import RELEASED, VERSION, Store, open_store
from sisyphus.ground.text import one_line

_NAME = "sisyphus.db"
_TRIES = 5
"""How often a copy is made anew because a hook has written meanwhile."""


class State(Record, frozen=True):
    """What is known of the file. version: 0 = it cannot be read. damage: what SQLite says. failure:
    why it could not be copied."""

    version: int = 0
    damage: str = ""
    failure: str = ""


class Copy(Record, frozen=True):
    """A copy of the database. store: empty where the file cannot be used. size: in bytes."""

    store: Store
    state: State
    size: int


@contextmanager
def copy(our_home: str) -> Iterator[Copy]:
    """Copies the database of our folder for a `with` block, and opens the copy."""
    original = os.path.join(our_home, _NAME)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, _NAME)
        state = _copy_and_check(original, path)
        size = os.path.getsize(path) if os.path.exists(path) else 0
        with closing(open_store(folder)) as store:
            yield Copy(store, state, size)


def look(copy: Copy, our_home: str) -> Iterator[Finding]:
    path = os.path.join(our_home, _NAME)
    text = mend = ""
    level = Level.PROBLEM
    if not os.path.lexists(path):
        level, text = Level.GOOD, messages.no_database(path)
    elif not os.path.isfile(path):
        text, mend = messages.damaged_database(path, messages.NO_FILE)
    elif copy.state.failure:
        level = Level.WARNING
        text, mend = messages.unread_database(path, copy.state.failure)
    elif copy.state.damage:
        text, mend = messages.damaged_database(path, copy.state.damage)
    elif copy.state.version > VERSION:
        text, mend = messages.later_database(path)
    elif copy.state.version < RELEASED:
        level, text = Level.GOOD, messages.earlier_database(path)
    else:
        level, text = Level.GOOD, messages.good_database(path, copy.size)
    yield Finding(messages.DATABASE, level, text, mend)
    if aside := _set_aside(our_home):
        text, mend = messages.set_aside(len(aside), path)
        yield Finding(messages.DATABASE, Level.GOOD, text, mend)


def is_whole(copy: Copy, our_home: str) -> bool:
    """Tells whether the copy has all that we remember: the database can be used, or there is none
    yet."""
    return RELEASED <= copy.state.version <= VERSION or not os.path.lexists(
        os.path.join(our_home, _NAME)
    )


def _copy_and_check(original: str, path: str) -> State:
    """Makes the copy. One that was made while a hook wrote may look damaged: it is made anew."""
    for _ in range(_TRIES):
        before = _stamps(original)
        try:
            _copy(original, path)
        except FileNotFoundError:
            continue
        except OSError as error:
            return State(failure=error.strerror or str(error))
        state = _check(path) if os.path.exists(path) else State()
        if not state.damage or before == _stamps(original):
            return state
    return State(VERSION)  # somebody writes to it all the time, so it works


def _copy(original: str, path: str) -> None:
    """Copies the file and its log, in place of an earlier copy. Raises `OSError`, also if one goes
    meanwhile: the last hook to close the file removes the log."""
    for end in ("", "-wal"):
        with suppress(FileNotFoundError):
            os.unlink(path + end)
        if os.path.isfile(original + end):
            shutil.copyfile(original + end, path + end)


def _stamps(path: str) -> list[str]:
    return [files.stamp(path + end) for end in ("", "-wal")]


def _check(path: str) -> State:
    try:
        with closing(sqlite3.connect(path)) as connection:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return State(damage=one_line(str(error)))
    return State(version, "" if found == "ok" else one_line(found))


def _set_aside(our_home: str) -> list[str]:
    """Returns the names of databases that could not be used."""
    try:
        names = os.listdir(our_home)
    except OSError:
        return []
    ends = "-wal", "-shm"
    return [name for name in names if name.startswith(f"{_NAME}.") and not name.endswith(ends)]
