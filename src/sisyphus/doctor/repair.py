"""Repairs rows that nobody can read: half a JSON text, a word where a number should be, bytes that
are not UTF-8. Whoever reads a row trusts it. When something fails, or lets a session go without a
word, the door asks here whether a row is the cause, and then answers once more.

`find_faults` looks at every row, and changes nothing. `repair` takes the smallest step that makes
each one usable: a cache loses the row, a session its counters, a loop ends. What was in the row
goes into a file, and the user is told what was lost.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from sisyphus.boulder.plans import Checkpoint, PlanRecord
from sisyphus.ground import files, paths
from sisyphus.ground.record import Record
from sisyphus.ground.store import (
    SET_ASIDE,
    Error,
    Store,
    add_notice,
    empty,
    is_damaged,
    open_store,
    replace_damaged,
)
from sisyphus.hook.stops import Stops
from sisyphus.loops import runs
from sisyphus.loops.loop import (
    ACTIVE,
    BLOCKED,
    ENDED,
    FATAL_ERROR,
    HOLD,
    LOOP,
    PAUSED,
    RESULTS,
    RUN,
    STUCK,
    UNUSABLE,
    WORKER,
    Counters,
    Options,
)
from sisyphus.rules.rule import Rule
from sisyphus.runner.decide_command import Memory
from sisyphus.setup.record import Additions

_OUTSIDE = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY",
            "SQLITE_CANTOPEN", "SQLITE_NOMEM", "SQLITE_INTERRUPT")  # fmt: skip
"""How the names of SQLite's errors begin that come from outside of the database."""

_LARGEST = 2**53
"""No number in a row is larger: seconds since 1970, tokens and bytes all stay far below."""

_CACHES = ("settings_file", "rule_index", "rule_text", "sent", "advice", "chore")
"""Tables whose rows are made anew, so that nobody misses one."""

_WORDS = {
    ("loop", "kind"): (LOOP, HOLD, RUN, WORKER),
    ("loop", "status"): (ACTIVE, PAUSED, BLOCKED, STUCK, ENDED),
    ("loop", "outcome"): ("", *RESULTS),
    ("plan", "state"): ("active", "no_tasks", "complete", "missing", "dismissed"),
    ("handoff", "state"): ("open", "given", "closed"),
}  # fmt: skip
"""Columns that have one of a few words."""

_SPARE = ("origin", "why", "left_at", "file", "stamp", "logged")
"""The columns of a loop without which it can go on."""

_NO_VALUE = {"TEXT": "", "INTEGER": 0, "REAL": 0.0}
"""What a column holds, by its type, if its value is lost and the schema has no default."""

_EMPTY = {
    ("loop", "kind"): LOOP,
    ("plan", "record"): '{"checkpoint": null, "automatic": null}',
    ("plan", "state"): "dismissed",
    ("session", "client"): "claude-code",
}
"""The same of single columns; of all others with JSON it is {}."""

_LOST = {
    "waiting": "A text that waited for a session could not be read, and is not sent.",
    "enforcement": "What enforcement has counted in a session could not be read, and begins anew.",
    "enforced": "Enforcement is off in a project whose row could not be read. There, type "
    "`sisyphus enforce on`.",
    "handoff": "What was known of a handoff could not be read. Its document is still there.",
    "foreign_loop": "What was known of a loop that another program drives could not be read.",
    "installed": "What `sisyphus install` wrote to one file could not be read. `sisyphus doctor` "
    "says what is wired.",
}
"""What the user is told of a row that is removed. Of the journal's they hear nothing."""


class Fault(Record, frozen=True):
    """A row that cannot be used.

    where, key: a condition that finds it, and its values. row: its columns. wrong: the names of
    those that are unusable, and what they hold instead when the row is kept.
    """

    table: str
    where: str
    key: tuple[Any, ...]
    row: dict[str, Any]
    wrong: dict[str, Any]


class Repair(Record, frozen=True):
    """store: the repaired one, which may be another than before. news: for the user; each is also a
    notice in the store until somebody has said it."""

    store: Store
    news: tuple[str, ...] = ()


def is_cause(store: Store, error: BaseException) -> bool:
    """Tells whether an error comes from the store: the file is damaged, or a row cannot be used."""
    return is_damaged(error) or (not _is_named(error, _OUTSIDE) and is_broken(store))


def is_broken(store: Store, session: int = 0) -> bool:
    """Tells whether the file is damaged, or a row in it cannot be used. session: the number of one;
    then only what holds it is looked at, which takes milliseconds."""
    if not store.is_durable:
        return False
    try:
        if session:
            parts = {
                "session": f"n = {session}",
                "loop": "ended_at IS NULL",
                "enforcement": f"session = {session}",
            }
            return bool(find_faults(store, parts))
        return bool(find_faults(store) or _file_faults(store))
    except (Error, UnicodeDecodeError) as error:
        return not _is_named(error, _OUTSIDE)


def _is_named(error: BaseException, names: tuple[str, ...]) -> bool:
    return str(getattr(error, "sqlite_errorname", "")).startswith(names)


def repair(store: Store) -> Repair:
    """Makes the store usable. A file that SQLite cannot read, or with a row that cannot be mended,
    is set aside whole. Raises `Error`."""
    try:
        with store.write():
            news = _repair_rows(store)
            if _file_faults(store):
                store.run("REINDEX")
                news += _repair_rows(store)
        if not _file_faults(store):
            return Repair(store, tuple(news))
    except (Error, UnicodeDecodeError) as error:
        if _is_named(error, _OUTSIDE):
            raise
    new = replace_damaged(store.path, store.inode)
    notices = [row[0] for row in new.all("SELECT text FROM notice")]
    return Repair(new, tuple(text for text in notices if text.startswith(SET_ASIDE)))


def after_command(our_home: str, error: BaseException) -> tuple[str, ...] | None:
    """Repairs the store in our folder if the error of a command comes from it. Returns what was
    lost; None if there was nothing to repair. Raises `Error`."""
    stores = [open_store(our_home)]
    try:
        if not is_cause(stores[0], error):
            return None
        result = repair(stores[0])
        stores += [] if result.store is stores[0] else [result.store]
        for text in result.news:  # the command says it
            result.store.run("DELETE FROM notice WHERE text = ?", text)
        return result.news
    finally:
        for store in stores:
            store.close()


def end_loop(store: Store, id: str) -> None:
    """Ends a loop that nobody can go on with."""
    list(_end(store, "id = ?", id))


# ---------------------------------------------------------------- the faults


def _file_faults(store: Store) -> list[str]:
    """Returns what is wrong in the file: pages, indexes, or the tables themselves."""
    found = [row[0] for row in store.all("PRAGMA integrity_check(20)") if row[0] != "ok"]
    return found or (["other tables"] if _columns(store) != _columns(empty()) else [])


def _columns(store: Store) -> list[tuple[str, str]]:
    """Returns the columns of all tables, each with its table's name."""
    return store.all(
        "SELECT tables.name, columns.name FROM sqlite_schema AS tables "
        "JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' ORDER BY 1, 2"
    )


def find_faults(store: Store, parts: dict[str, str] | None = None) -> list[Fault]:
    """Returns the rows that cannot be used, in the order of the tables in `schema.sql`. parts: the
    tables to look at → which of their rows; None = all of all."""
    store.read_anything()
    try:
        tables = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid"
        return [
            fault
            for table, sql in store.all(tables)
            if parts is None or table in parts
            for fault in _faults_of(
                store, table, (parts or {}).get(table, "true"), has_rowid="WITHOUT ROWID" not in sql
            )
        ]
    finally:
        store.read_strictly()


def _faults_of(store: Store, table: str, part: str, *, has_rowid: bool) -> Iterator[Fault]:
    columns = [_Column(table, *row[1:]) for row in store.all(f"PRAGMA table_info({table})")]
    parents = _parents(store, table)
    keys = ["rowid"] if has_rowid else [each.name for each in columns if each.place_in_key]
    for each in store.all(f"SELECT {', '.join(keys)}, * FROM {table} WHERE {part}"):
        key, values = each[: len(keys)], each[len(keys) :]
        row = {column.name: value for column, value in zip(columns, values, strict=True)}
        wrong = {column.name for column in columns if not column.accepts(row[column.name])}
        wrong |= {name for name, known in parents.items() if row[name] not in known}
        wrong |= _contradictions(table, row)
        if wrong:
            empty = {column.name: column.empty for column in columns if column.name in wrong}
            where = " AND ".join(map(_finds, keys, key))
            yield Fault(table, where, tuple(map(_as_stored, key)), row, empty)


class _Column(Record, frozen=True):
    """A column as `PRAGMA table_info` describes it."""

    table: str
    name: str
    kind: str
    is_needed: int
    default: str | None
    place_in_key: int

    @property
    def empty(self) -> Any:
        """What it holds if its value is lost."""
        if (self.table, self.name) in _EMPTY:
            return _EMPTY[self.table, self.name]
        if not self.is_needed:
            return None
        if self.name == "seen_at":
            return time.time()
        shape = SHAPES.get((self.table, self.name))
        if shape:
            return "{}" if isinstance(shape, Keys) else "[]"
        return _NO_VALUE[self.kind]

    def accepts(self, value: object) -> bool:
        if value is None:
            return not self.is_needed
        if self.kind == "INTEGER" and self.place_in_key:
            return isinstance(value, int)
        if self.kind != "TEXT":
            return _is_number(value, is_whole=self.kind == "INTEGER")
        if not isinstance(value, str) or _is_cut(value):
            return False
        place = self.table, self.name
        if place in _WORDS:
            return value in _WORDS[place]
        return place not in SHAPES or _has_shape(value, SHAPES[place])


def _parents(store: Store, table: str) -> dict[str, set[Any]]:
    """Returns the columns that name a row of another table, and what they may hold."""
    return {
        name: {None, *(row[0] for row in store.all(f"SELECT {to or 'rowid'} FROM {parent}"))}
        for _, _, parent, name, to, *_ in store.all(f"PRAGMA foreign_key_list({table})")
    }


def _finds(column: str, value: object) -> str:
    """Returns the condition that finds a row by `_as_stored` of its value."""
    return f"{column} IS CAST(? AS TEXT)" if isinstance(value, str) else f"{column} IS ?"


def _as_stored(value: object) -> object:
    """Returns a text as the bytes that the file has. They need not be UTF-8."""
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def _is_cut(text: str) -> bool:
    """Tells whether a text has bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _is_number(value: object, *, is_whole: bool) -> bool:
    is_right = isinstance(value, int if is_whole else int | float) and not isinstance(value, bool)
    return is_right and -_LARGEST < value < _LARGEST  # type: ignore[operator]  # NaN is not


def _contradictions(table: str, row: dict[str, Any]) -> set[str]:
    """Returns the columns of a row that cannot be true together."""
    if table != "loop":
        return set()
    has_ended = row["ended_at"] is not None
    wrong = set()
    if has_ended != (row["status"] == ENDED) or has_ended != bool(row["outcome"]):
        wrong.add("status")
    if row["kind"] == LOOP and row["session"] is None:
        wrong.add("session")
    if row["kind"] == HOLD and row["plan"] is None:
        wrong.add("plan")
    return wrong


# ---------------------------------------------------------------- the shapes of JSON columns


class Keys(Record, frozen=True):
    """A JSON object that becomes the arguments of a function. is_whole: it has all of them; else
    the others have defaults."""

    types: dict[str, Any]
    is_whole: bool = False


def _arguments(kind: Any) -> dict[str, Any]:
    """Returns the names and types of a record's fields, or of a function's arguments."""
    types = get_type_hints(kind, localns={"Any": Any})
    types.pop("return", None)
    return types


_PLAN = {
    name: kind
    for name, kind in _arguments(PlanRecord).items()
    if name not in ("path", "project", "name", "state", "stamp", "used_at")  # columns of their own
}

_OF_ONE_CLIENT = {"client": str, "permission_mode": str}
"""What the options of a run had before it could have several clients, see `runs.options_of`."""

SHAPES: dict[tuple[str, str], Any] = {
    ("session", "stops"): Keys(_arguments(Stops)),
    ("waiting", "frame"): tuple[str, str, str],
    ("event", "notes"): list[str | tuple[str, str]],
    ("event", "texts"): list[str],
    ("plan", "record"): Keys(_PLAN),
    ("loop", "options"): Keys(_arguments(Options)),
    ("loop", "counters"): Keys(_arguments(Counters)),
    ("iteration", "denied"): list[str],
    ("run", "options"): Keys(_arguments(runs.RunOptions) | _OF_ONE_CLIENT),
    ("run", "state"): Keys(_arguments(runs.RunState)),
    ("foreign_loop", "state"): Keys(_arguments(Memory)),
    ("handoff", "files"): list[tuple[str, str]],
    ("rule_index", "stamps"): dict[str, str],
    ("rule_index", "rules"): Keys(
        {"rules": list[Rule], "problems": list[tuple[str, int, str]]}, is_whole=True
    ),
    ("settings_file", "data"): dict[str, Any],
    ("installed", "added"): Keys(_arguments(Additions)),
}
"""What each JSON column holds, by table and name: the types of those who read it."""

_SHAPE_OF: dict[Any, Keys] = {
    Checkpoint: Keys(_arguments(Checkpoint)),
    **{kind: Keys(_arguments(kind)) for kind in (runs.Seat, runs.FailedCheck, runs.ItemCommits)},
    Rule: Keys(_arguments(Rule.__init__), is_whole=True),
}


def _has_shape(text: str, shape: Any) -> bool:
    try:
        return _fits(json.loads(text), shape)
    except (ValueError, RecursionError):
        return False


def _fits(value: Any, shape: Any) -> bool:
    """Tells whether a value of JSON is of a type."""
    origin, inner = get_origin(shape), get_args(shape)
    if origin is UnionType:
        return any(_fits(value, each) for each in inner)
    if origin in (list, tuple):
        types = inner if origin is tuple else inner * len(value) if isinstance(value, list) else ()
        return (
            isinstance(value, list) and len(value) == len(types) and all(map(_fits, value, types))
        )
    if origin is dict:
        return isinstance(value, dict) and all(_fits(each, inner[1]) for each in value.values())
    if isinstance(shape, Keys) or shape in _SHAPE_OF:
        return _fits_keys(value, shape if isinstance(shape, Keys) else _SHAPE_OF[shape])
    if shape in (int, float):
        return _is_number(value, is_whole=shape is int)
    return shape is Any or isinstance(value, NoneType if shape is None else shape)


def _fits_keys(value: object, shape: Keys) -> bool:
    if not isinstance(value, dict) or not value.keys() <= shape.types.keys():
        return False
    is_long = not shape.is_whole or len(value) == len(shape.types)
    return is_long and all(_fits(each, shape.types[name]) for name, each in value.items())


# ---------------------------------------------------------------- the steps


def _repair_rows(store: Store) -> list[str]:
    """Makes every row usable, in the open transaction. Returns what the user should know."""
    faults = find_faults(store)
    kept = [fault for fault in faults if fault.table not in _CACHES]
    aside = _write_aside(store, kept) if kept else ""
    texts = [text for fault in faults for text in _mend(store, fault)]
    news = [*dict.fromkeys(texts)]
    if news:
        news[-1] += f" What the row held is in {paths.display(aside, '')}."
    for text in news:
        add_notice(store, text)
    return news


def _write_aside(store: Store, faults: list[Fault]) -> str:
    """Writes what is in rows to a new file; returns its path."""
    at = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09}"
    path = os.path.join(os.path.dirname(store.path), f"set-aside-{at}.json")
    content = [
        {"table": fault.table, "unusable": sorted(fault.wrong), "row": fault.row}
        for fault in faults
    ]
    data = json.dumps(content, indent=2, default=lambda value: value.hex())  # bytes
    files.replace(path, data.encode() + b"\n", 0o600)
    return path


def _mend(store: Store, fault: Fault) -> Iterator[str]:
    """Makes one row usable, or removes it; yields what the user should know."""
    if worker := _worker_of(store, fault):
        yield from _forget_worker(store, worker)
    elif fault.table == "session":
        yield from _mend_session(store, fault)
    elif fault.table == "plan":
        yield from _mend_plan(store, fault)
    elif fault.table == "loop":
        yield from _mend_loop(store, fault)
    elif fault.table == "run" and "loop" not in fault.wrong:
        _empty(store, fault)
        if {"options", "state"} & fault.wrong.keys():
            yield from _end(store, "n = ?", fault.row["loop"])
    else:
        store.run(f"DELETE FROM {fault.table} WHERE {fault.where}", *fault.key)
        if fault.table in _LOST:
            yield _LOST[fault.table]


def _mend_session(store: Store, fault: Fault) -> Iterator[str]:
    """Resets what is wrong. Nobody knows any more whose row it is without client, id and agent."""
    is_lost = bool({"client", "id", "agent"} & fault.wrong.keys())
    _empty(store, fault, **({"id": f"lost-{fault.row['n']}"} if is_lost else {}))
    if is_lost:
        yield from _end(store, "kind = 'loop' AND session = ?", fault.row["n"])
    elif "stops" in fault.wrong:
        yield f"What was counted of session {fault.row['id']} could not be read, and begins anew."
    if "plan" in fault.wrong or (is_lost and fault.row["plan"] is not None):
        which = "A session" if is_lost else f"Session {fault.row['id']}"
        yield (
            f"{which} follows its plan no longer, and no hold holds it: its row in the database "
            "could not be read. There, `sisyphus boulder start` lets it follow the plan again."
        )


def _mend_plan(store: Store, fault: Fault) -> Iterator[str]:
    """Resets what is wrong. Without its path and state a plan is followed no longer."""
    if {"path", "state"} & fault.wrong.keys():
        _empty(store, fault, path=f"lost-{fault.row['n']}", state="dismissed")
        yield from _end(store, "kind = 'hold' AND plan = ?", fault.row["n"])
        yield (
            "A plan is followed no longer: its row in the database could not be read. Start it "
            "again: `sisyphus boulder start`."
        )
    else:
        _empty(store, fault, stamp="")  # so that its file is read again
        yield f"What was known of the plan {_short(fault.row['path'])} could not be read."


def _mend_loop(store: Store, fault: Fault) -> Iterator[str]:
    """Resets what is wrong. A loop that lacks more than a file's name ends."""
    n, row = fault.row["n"], fault.row
    is_over = row["status"] == ENDED and not {"status", "ended_at"} & fault.wrong.keys()
    values = {"id": f"{n:05}"} if "id" in fault.wrong else {}
    if row["plan"] is not None and row["session"] is None:
        values["kind"] = HOLD  # nothing else has a plan
    _empty(store, fault, **values)
    if is_over or all(name in _SPARE for name in fault.wrong):
        return
    store.run("UPDATE loop SET ended_at = NULL WHERE n = ?", n)
    yield from _end(store, "n = ?", n)


def _worker_of(store: Store, fault: Fault) -> int:
    """Returns the number of the worker that cannot go on with such a row; 0 = it is none's."""
    row, wrong = fault.row, fault.wrong.keys()
    if fault.table == "loop":
        return row["n"] if row["kind"] == WORKER else 0
    if fault.table != "run" or "loop" in wrong or not {"options", "state"} & wrong:
        return 0
    found = store.one("SELECT n FROM loop WHERE n = ? AND kind = ?", row["loop"], WORKER)
    return found[0] if found else 0


def _forget_worker(store: Store, n: int) -> Iterator[str]:
    """Removes the row of a worker: one that does not know its item can do nothing. Another one
    begins with that, and keeps what is in the worktree."""
    store.run("DELETE FROM loop WHERE n = ?", n)
    yield (
        "A worker of a run has ended: its row in the database could not be read. "
        "Its run begins with the item anew, and sets the half work aside."
    )


def _empty(store: Store, fault: Fault, **values: Any) -> None:
    """Resets the columns of a row that are wrong, and sets these."""
    new = {**fault.wrong, **values}
    sets = ", ".join(f"{name} = ?" for name in new)
    store.run(f"UPDATE {fault.table} SET {sets} WHERE {fault.where}", *new.values(), *fault.key)


def _end(store: Store, where: str, value: Any) -> Iterator[str]:
    """Ends the loops, holds and runs that a condition finds; yields what their user should know."""
    found = f"FROM loop WHERE ended_at IS NULL AND {where}"
    for n, id, kind in store.all(f"SELECT n, id, kind {found}", value):
        outcome = FATAL_ERROR if kind == RUN else UNUSABLE
        store.run(
            "UPDATE loop SET status = 'ended', outcome = ?, why = ?, ended_at = ? WHERE n = ?",
            outcome, WHY, time.time(), n,
        )  # fmt: skip
        yield f"{_NAMES[kind]} {id} has ended: {WHY}. {_WAYS[kind]}"


WHY = "its row in the database could not be read"

_NAMES = {LOOP: "Ralph loop", HOLD: "Hold", RUN: "Run"}
_WAYS = {
    LOOP: "`sisyphus ralph list` shows the loops that go on; start it again if it should.",
    HOLD: "To hold the plan again: `sisyphus boulder hold on`.",
    RUN: "Start it again: `sisyphus ralph run`.",
}


def _short(path: object) -> str:
    return os.path.basename(str(path)).encode("utf-8", "replace").decode()
