"""The store is never silence: released tables go on, what cannot be read is repaired, and who is
free because of it is told."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from world import SISYPHUS, World

from sisyphus.door import door
from sisyphus.ground import store as stores
from sisyphus.ground.store import open_store

RELEASED = Path(__file__).parent / "schemas" / "115.sql"


def execute(world: World, statement: str, *values: object) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database:
        rows = database.execute(statement, values).fetchall()
        database.commit()
        return rows


def tables(database: sqlite3.Connection) -> dict[str, list[Any]]:
    """The columns of each table, and the indexes."""
    names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    columns = {name: database.execute(f"PRAGMA table_info({name})").fetchall() for (name,) in names}
    indexes = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql <> '' ORDER BY name"
    return {**columns, "indexes": database.execute(indexes).fetchall()}


def released(world: World) -> None:
    """The database of 1.0.0, with a row."""
    world.ours.mkdir(parents=True)
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database:
        database.executescript(RELEASED.read_text())
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA user_version = 115")
        database.execute(
            "INSERT INTO session (client, id, agent, project, seen_at) VALUES "
            "('claude-code', 's1', '', ?, 1)",
            (str(world.project),),
        )
        database.execute(
            "INSERT INTO loop (id, kind, session, project, prompt, options, started_at, origin, "
            "counters, status, outcome, why, file, stamp, by_model, logged) VALUES ('AAAAA', "
            "'loop', 1, '/p', 'Fix it.', '{\"promise\": \"DONE\"}', unixepoch(), '', '{}', "
            "'active', '', '', '', '', 0, 1)"
        )
        database.commit()


# ---------------------------------------------------------------- versions


def test_the_released_tables_and_the_steps_make_the_tables_of_today(world: World) -> None:
    released(world)
    world.start("s2")
    with closing(open_store(str(world.root / "new"))) as new:
        path = new.path

    with (
        closing(sqlite3.connect(world.ours / "sisyphus.db")) as old,
        closing(sqlite3.connect(path)) as today,
    ):
        assert tables(old) == tables(today)
        assert old.execute("PRAGMA user_version").fetchone() == (stores.VERSION,)


def test_a_loop_of_the_released_version_goes_on(world: World) -> None:
    released(world)

    assert "iteration" in world.stop().reason.lower()

    assert not list(world.ours.glob("*version*"))
    assert [each["loop_id"] for each in world.loops()] == ["AAAAA"]


STEPS = (
    ("ALTER TABLE loop ADD COLUMN label TEXT NOT NULL DEFAULT 'none'",),
    ("ALTER TABLE loop ADD COLUMN weight REAL", "UPDATE loop SET weight = 2.5"),
)


def add_steps(monkeypatch: pytest.MonkeyPatch, *steps: tuple[str, ...]) -> None:
    """Makes these the last steps of a later version."""
    every = (*stores.MIGRATIONS, *steps)
    monkeypatch.setattr(stores, "MIGRATIONS", every)
    monkeypatch.setattr(stores, "VERSION", stores.RELEASED + len(every))


def test_a_changed_table_keeps_all_rows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    released(world)
    for step in (0, 1):
        add_steps(monkeypatch, STEPS[step])
        assert world.stop().reason

    assert execute(world, "SELECT id, label, weight FROM loop") == [("AAAAA", "none", 2.5)]
    assert execute(world, "PRAGMA user_version") == [(stores.VERSION,)]


def test_steps_of_which_one_fails_change_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    released(world)
    with monkeypatch.context() as patch:
        add_steps(patch, STEPS[0], ("ALTER TABLE nowhere ADD COLUMN x",))
        assert "cannot be used" in world.start("s9").message

    assert execute(world, "PRAGMA user_version") == [(115,)]
    assert "label" not in str(execute(world, "PRAGMA table_info(loop)"))
    assert world.stop().reason


def test_of_many_first_hooks_one_takes_the_steps(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    released(world)
    add_steps(monkeypatch, *STEPS)
    problems: list[str] = []

    def hook() -> None:
        with closing(open_store(str(world.ours))) as store:
            problems.append(store.problem)

    threads = [threading.Thread(target=hook) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == [""] * 12
    assert execute(world, "PRAGMA user_version") == [(stores.VERSION,)]


def test_doctor_finds_a_released_database_well(world: World) -> None:
    released(world)

    assert "sets it aside" not in world.cli("doctor", "-v").out


@pytest.mark.parametrize("source", ["startup", "resume"])
def test_a_client_that_is_wired_twice_sends_each_text_once(
    world: World, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """Qwen Code keeps what we send at a start in its process, so that another one needs it anew."""
    world.write("AGENTS.md", "MARK\n")
    world.write("README.md", "README\n")
    payload = world.payload("SessionStart.startup", "q1", source=source)

    def start(pid: int) -> str:
        monkeypatch.setenv("QWEN_CODE_LAUNCHER_PID", str(pid))
        return world.hook("session-start", payload, "--client", "qwen").text

    own, other = os.getpid(), os.getppid()

    assert ["README" in start(pid) for pid in (own, own, other, other)] == [
        True, False, True, False,
    ]  # fmt: skip


# ---------------------------------------------------------------- what is no file


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("gone"))


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("make", [make_fifo, make_link_to_device, make_dangling_link, Path.mkdir])
def test_what_is_no_file_is_set_aside_and_nothing_hangs(world: World, make: Any, end: str) -> None:
    world.process("session-start", world.payload("SessionStart.startup"))
    file = world.ours / f"sisyphus.db{end}"
    file.unlink(missing_ok=True)
    make(file)

    hook = subprocess.run(
        [SISYPHUS, "hook", "session-start"],
        input=json.dumps(world.payload("SessionStart.startup", "s2")).encode(),
        capture_output=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    status = subprocess.run([SISYPHUS, "status"], capture_output=True, check=True, timeout=PATIENCE)

    assert "was no file" in json.loads(hook.stdout)["systemMessage"]
    assert list(world.ours.glob(f"sisyphus.db{end}.odd-*"))
    assert b"warning" not in status.stderr


OURS = ("config.toml", "logs", "logs/debug.log", "freed", "freed/s1", "ralph/loops",
        "ralph/loops/ralph-loop.s1.local.md")  # fmt: skip


@pytest.mark.parametrize("name", OURS)
def test_no_other_file_of_ours_can_hold_up_a_hook(world: World, name: str) -> None:
    file = world.ours / name
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    payload = world.payload("SessionStart.startup")
    for event in ("session-start", "stop", "session-start"):
        subprocess.run(
            [SISYPHUS, "hook", event, "--strict"],
            input=json.dumps(payload).encode(), check=True, timeout=PATIENCE,
        )  # fmt: skip


# ---------------------------------------------------------------- rows that nobody can read

NOT_UTF8 = b"\xff\xfe\x80"
HALF = '{"at": 17'
BAD_ROWS = [
    ("settings_file", "data", HALF),
    ("settings_file", "data", "[1]"),
    ("settings_file", "data", NOT_UTF8),
    ("session", "stops", HALF),
    ("session", "stops", "[]"),
    ("session", "stops", '{"at": "noon"}'),
    ("session", "stops", '{"at": NaN}'),
    ("session", "stops", '{"blocks": null}'),
    ("session", "stops", '{"offset": -1e999}'),
    ("session", "stops", '{"unknown": 1}'),
    ("session", "stops", NOT_UTF8),
    ("session", "id", NOT_UTF8),
    ("session", "client", NOT_UTF8),
    ("session", "agent", "?"),
    ("session", "level", "high"),
    ("session", "n", 2**62),
    ("session", "seen_at", "noon"),
    ("session", "idle_since", "noon"),
    ("loop", "prompt", NOT_UTF8),
    ("loop", "options", HALF),
    ("loop", "options", "null"),
    ("loop", "options", '{"max_iterations": "ten"}'),
    ("loop", "options", '{"promise": 5}'),
    ("loop", "counters", '{"iteration": 1e400}'),
    ("loop", "counters", '{"iteration": [1]}'),
    ("loop", "counters", "[" * 5000),
    ("loop", "counters", NOT_UTF8),
    ("loop", "status", "activf"),
    ("loop", "status", NOT_UTF8),
    ("loop", "status", "ended"),
    ("loop", "kind", "poop"),
    ("loop", "ended_at", "never"),
    ("loop", "ended_at", 1.0),
    ("loop", "ended_at", b"\0"),
    ("loop", "session", 4711),
    ("loop", "session", None),
    ("loop", "session", "s1"),
    ("loop", "started_at", "noon"),
    ("loop", "started_at", b"\1"),
    ("loop", "id", NOT_UTF8),
    ("loop", "id", "ZZZZZ"),
    ("loop", "file", NOT_UTF8),
    ("loop", "file", b"\0"),
    ("loop", "why", NOT_UTF8),
    ("loop", "by_model", "who"),
    ("loop", "plan", 99),
]


def put(world: World, table: str, column: str, value: object) -> None:
    """Writes a value that the schema would not take: bytes become a TEXT that is not UTF-8."""
    mark = "CAST(? AS TEXT)" if value == NOT_UTF8 else "?"
    execute(world, f"UPDATE {table} SET {column} = {mark}", value)


@pytest.mark.parametrize(("table", "column", "value"), BAD_ROWS)
def test_after_a_bad_value_the_loop_holds_or_its_user_is_told(
    world: World, table: str, column: str, value: object
) -> None:
    world.write(world.ours / "config.toml", "[ralph]\nbreaker_stops = 0\n")
    world.loop()
    assert world.stop().reason
    put(world, table, column, value)

    reply = world.stop("I go on.")

    assert reply.code == 0
    assert reply.reason or reply.message, world.log()
    # From here on all is well again.
    assert world.cli("status").code == 0
    assert world.cli("ralph", "list", "--json").code == 0
    assert world.cli("ralph", "log", "--json").code == 0
    world.start("s2")
    world.loop(session="s2")
    assert world.stop(session="s2").reason


@pytest.mark.parametrize("value", [HALF, "[1]", NOT_UTF8])
def test_a_bad_row_of_a_cache_is_read_anew_without_a_word(world: World, value: object) -> None:
    world.write(world.ours / "config.toml", "[ralph]\nbreaker_stops = 0\n")
    world.loop()
    put(world, "settings_file", "data", value)

    reply = world.stop()

    assert reply.reason
    assert reply.message == "Ralph loop: iteration 2 of 100"
    assert not list(world.ours.glob("set-aside-*"))


def test_a_loop_whose_row_is_unusable_ends_and_the_row_is_kept(world: World) -> None:
    loop = world.loop()
    put(world, "loop", "options", HALF)

    message = world.stop().message

    assert message.count(f"Ralph loop {loop} has ended") == 1
    assert "sisyphus ralph list" in message
    (aside,) = world.ours.glob("set-aside-*.json")
    assert aside.name in message
    assert aside.stat().st_mode & 0o777 == 0o600
    (entry,) = json.loads(aside.read_text())
    assert (entry["row"]["options"], entry["unusable"]) == (HALF, ["options"])
    assert [each["outcome"] for each in world.ended()] == ["error"]
    assert not world.loop_file().exists()
    assert world.stop().is_silent
    assert world.start("s2").message == "", "it was said"


def test_another_sessions_hook_repairs_and_the_loops_own_stop_says_so(world: World) -> None:
    world.write(world.ours / "config.toml", "[ralph]\nbreaker_stops = 0\n")
    loop = world.loop()
    put(world, "loop", "options", HALF)
    put(world, "settings_file", "data", HALF)

    assert f"Ralph loop {loop} has ended" in world.prompt("s2").message
    assert f"Ralph loop {loop} has ended" in world.stop().message


def test_what_an_event_cannot_tell_the_next_start_does(world: World) -> None:
    loop = world.loop()
    put(world, "loop", "options", HALF)
    world.hook("session-end", world.payload("SessionEnd.other"))

    assert f"Ralph loop {loop} has ended" in world.start("s2").message


def test_a_table_that_is_another_is_replaced(world: World) -> None:
    loop = world.loop()
    execute(world, "ALTER TABLE session RENAME COLUMN level TO lovel")

    message = world.stop().message

    assert "started a new one" in message
    assert f"Ralph loop {loop} holds this session no longer" in message
    world.loop(session="s2")
    assert world.stop(session="s2").reason


def test_an_index_that_lacks_the_loop_is_made_anew(world: World) -> None:
    """SQLite finds no loop by it, and reports no error."""
    world.loop()
    execute(world, "UPDATE loop SET ended_at = 1")  # the index has it no longer
    (index,) = execute(world, "SELECT * FROM sqlite_schema WHERE name = 'loop_live'")
    write_schema(world, "DELETE FROM sqlite_schema WHERE name = 'loop_live'")
    execute(world, "UPDATE loop SET ended_at = NULL")
    write_schema(world, "INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", *index)

    assert world.stop().reason
    assert execute(world, "PRAGMA integrity_check") == [("ok",)]


def write_schema(world: World, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute(statement, values)
        database.commit()


def test_a_session_whose_counters_are_unusable_is_held(world: World) -> None:
    world.loop()
    put(world, "session", "stops", HALF)

    reply = world.stop()

    assert reply.reason
    assert "begins anew" in reply.message


def test_the_other_features_answer_when_one_fails_for_another_reason(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are well are not asked twice, and nothing is repaired."""
    world.loop()
    calls: list[int] = []

    def fail(*_: object) -> None:
        calls.append(1)
        raise ValueError("not the store")

    monkeypatch.setattr("sisyphus.stop.hooks.gather", fail)

    assert "this Stop could not be answered (stop: ValueError: not the store)" in (
        world.stop().message
    )
    assert calls == [1]
    assert world.why()[-1]["notes"] == ["failed: stop: ValueError: not the store"]


@pytest.mark.parametrize("words", [("status",), ("ralph", "list"), ("sessions",), ("config",)])
def test_a_command_repairs_the_database_and_says_so(world: World, words: tuple[str, ...]) -> None:
    world.write(world.ours / "config.toml", "[ralph]\nbreaker_stops = 0\n")
    world.loop()
    world.stop()
    put(world, "settings_file", "data", HALF)
    put(world, "session", "stops", HALF)
    put(world, "loop", "options", HALF)
    put(world, "session", "id", NOT_UTF8)

    first = world.cli(*words)

    assert "Traceback" not in first.out + first.err
    assert first.code == 0 or "is repaired. Run this again." in first.err
    assert world.cli(*words).code == 0


def test_a_repair_keeps_the_journal_of_enforcement(world: World) -> None:
    world.cli("enforce", "on")
    world.start()
    world.stop("All tests pass. The task is complete.")
    notes = world.why()[-1]["notes"]
    put(world, "session", "stops", HALF)
    world.stop("I work.")

    assert notes == ["enforcement 1 of 50: the agent says that it is done"]
    assert notes in [each["notes"] for each in world.why()]


# ---------------------------------------------------------------- nobody holds the session


def test_a_command_says_who_keeps_the_database(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.loop()
    monkeypatch.setattr(stores, "LOCK_SECONDS", 0.1)
    with world.locked():
        answer = world.cli("ralph", "cancel")

    mend = "`fuser ~/.claude/.sisyphus/sisyphus.db`. Wait until it is done, or end it."
    assert answer.code == 1
    assert answer.err.startswith("error: Another process has locked the database for more than ")
    assert answer.err.endswith(f" seconds. Find it: {mend} Then run this again.\n")
    looked = " ".join(world.cli("doctor").out.split())
    assert f"Another process has locked the database. Find it: {mend}" in looked
    assert "debug.log" not in looked
    assert world.cli("ralph", "cancel").code == 0


@pytest.mark.parametrize("words", [("ralph", "cancel"), ("ralph", "list"), ("status",)])
def test_no_command_waits_for_ever_for_who_lets_nobody_read(
    world: World, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    world.loop()
    monkeypatch.setattr(stores, "LOCK_SECONDS", 0.1)
    with world.locked(for_readers=True):
        answer = world.cli(*words)

    assert "sisyphus.db cannot be used: database is locked" in answer.err


def test_a_stop_that_is_held_waits_for_the_lock(world: World) -> None:
    """Longer than other hooks may."""
    world.loop()
    path = world.ours / "sisyphus.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(stores.LOCK_SECONDS + 1, other.execute, ["ROLLBACK"])
        timer.start()
        reply = world.stop()
        timer.join()

    assert reply.reason


def test_who_is_freed_by_a_lock_is_told_at_once_and_at_the_next_start(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "STOP_LOCK_SECONDS", 0)
    world.loop()
    with world.locked():
        reply = world.stop()

    assert reply.reason == ""
    assert "does not hold this session" in reply.message
    assert "locked" in reply.message
    assert "does not hold this session" in world.start(source="resume").message
    assert "does not hold" not in world.start(source="resume").message
    assert world.stop().reason


def test_who_is_freed_by_a_lock_that_lets_nobody_read_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.loop()
    monkeypatch.setattr(stores, "LOCK_SECONDS", 0.1)
    with world.locked(for_readers=True):
        told, again = world.stop(), world.stop()

    assert "does not hold this session" in told.message
    assert again.is_silent
    assert world.stop().reason


def test_a_session_without_a_loop_hears_nothing_of_a_lock(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "LOCK_SECONDS", 0.1)
    world.start()
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    with world.locked():
        assert world.stop().is_silent


@pytest.mark.parametrize("kind", ["loop", "hold", "enforcement"])
def test_who_is_freed_by_a_later_version_is_told_once(world: World, kind: str) -> None:
    world.start("other")
    if kind == "loop":
        world.loop()
    else:
        world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
        world.start()
        on = ("boulder", "hold", "on") if kind == "hold" else ("enforce", "on")
        assert world.cli(*on).code == 0
    execute(world, "PRAGMA user_version = 10000")

    told, again, other = world.stop(), world.stop(), world.stop(session="s7")

    assert told.reason == ""
    assert "made by a later version" in told.message
    assert again.is_silent
    assert other.is_silent or kind == "enforcement"
    execute(world, f"PRAGMA user_version = {stores.VERSION}")
    assert "does not hold this session" in world.start(source="resume").message


def test_who_is_freed_because_the_database_is_new_is_told(world: World) -> None:
    loop = world.loop()
    (world.ours / "sisyphus.db").write_bytes(b"This is no database at all. " * 100)
    for end in ("-wal", "-shm"):
        (world.ours / f"sisyphus.db{end}").unlink(missing_ok=True)

    reply = world.stop()

    assert f"Ralph loop {loop} holds this session no longer" in reply.message
    assert world.stop().is_silent


def test_a_file_that_a_killed_hook_left_says_nothing(world: World) -> None:
    world.loop()
    text = world.loop_file().read_bytes()
    world.stop("<promise>DONE</promise>")
    world.loop_file().write_bytes(text)

    assert world.stop().is_silent


# ---------------------------------------------------------------- nobody listens


@pytest.mark.parametrize("stdout", [">&-", ">/dev/full", "1</dev/null"])
def test_a_stop_that_nobody_hears_is_not_counted(world: World, stdout: str) -> None:
    world.loop()
    world.write("payload.json", json.dumps(world.stop_payload("So far.")))

    done = subprocess.run(f"{SISYPHUS} hook stop < payload.json {stdout}", shell=True, check=False)

    assert done.returncode == 0
    assert [each["iteration"] for each in world.loops()] == [1]
    assert "2" in world.stop("So far.").reason


# ---------------------------------------------------------------- a home that can be read


READERS = (
    ("status",),
    ("sessions",),
    ("why",),
    ("rules",),
    ("ralph", "list"),
    ("ralph", "log"),
    ("boulder", "status"),
    ("enforce", "status"),
)


@pytest.fixture
def read_only(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A session with a loop and a plan, in a home that then can be read alone."""
    world.rule("kilns.md", "MARK", applies_to="*.txt")
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    world.loop()
    can = os.access
    monkeypatch.setattr(
        os,
        "access",
        lambda path, mode: (
            can(path, mode) and not (mode & os.W_OK and str(path).startswith(str(world.ours)))
        ),
    )
    return world


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_home_that_can_be_read_alone_is_shown(read_only: World, words: tuple[str, ...]) -> None:
    before = execute(read_only, "SELECT * FROM event")

    answer = read_only.cli(*words)

    assert answer.code == 0
    assert "warning: what is noted is shown, and no more can be: " in answer.err
    assert "sisyphus.db cannot be written" in answer.err
    assert execute(read_only, "SELECT * FROM event") == before
    if words == ("ralph", "list"):
        assert "active, iteration 1 of 100" in answer.out
    if words == ("why",):
        assert "session-start" in answer.out


def test_what_has_changed_meanwhile_is_shown(read_only: World) -> None:
    read_only.write("PLAN.md", "# Kiln\n\n- [x] fire\n- [ ] cool\n")
    read_only.rule("wheels.md", "MARK", applies_to="*.md")
    (read_only.ours / "config.toml").write_text("[rules]\nunscoped = 'send'\n")

    for words in READERS:
        answer = read_only.cli(*words)
        assert answer.code == 0, (words, answer)
    assert "1/2 tasks" in read_only.cli("boulder", "status").out
    assert "wheels.md" in read_only.cli("rules").out


def test_what_is_to_be_noted_is_refused_in_a_home_that_can_be_read_alone(read_only: World) -> None:
    for words in (
        ("boulder", "hold", "on"),
        ("boulder", "clear"),
        ("ralph", "cancel"),
        ("ralph", "start", "Go on.", "--session-id", "s1"),
        ("purge", "--yes"),
    ):
        answer = read_only.cli(*words)
        assert answer.code == 1, words
        assert "sisyphus.db cannot be written" in answer.err.splitlines()[-1]

    assert [row[0] for row in execute(read_only, "SELECT status FROM loop")] == ["active"]


def test_a_released_database_is_shown_where_it_cannot_be_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    released(world)
    monkeypatch.setattr(stores, "_why_unwritable", lambda folder, path: "no room")

    assert "AAAAA  active" in world.cli("ralph", "list").out

    assert execute(world, "PRAGMA user_version") == [(115,)]


@pytest.mark.parametrize("version", [3, stores.VERSION + 1])
def test_a_database_of_another_product_or_a_later_one_is_not_shown(
    read_only: World, version: int
) -> None:
    execute(read_only, f"PRAGMA user_version = {version}")

    answer = read_only.cli("ralph", "list")

    assert "warning: nothing is known here" in answer.err
    assert "active" not in answer.out


# ---------------------------------------------------------------- a home without locks


@pytest.fixture
def without_locks(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Where no lock is to be had, SQLite says that somebody has it, as it does here."""
    world.loop()

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "lockf", refuse)
    with world.locked(for_readers=True):
        yield world


def test_a_home_without_locks_costs_a_hook_little(without_locks: World) -> None:
    began = time.monotonic()

    told, again = without_locks.stop(), without_locks.stop()

    assert time.monotonic() - began < 2 * 0.5
    assert "files cannot be locked there (No locks available)" in told.message
    assert again.is_silent
    names = [each.name for each in without_locks.ours.iterdir()]
    assert not [name for name in names if name.endswith(".tmp")]
    assert [name for name in names if "corrupt" in name] == []


def test_who_waits_for_a_lock_that_there_is_gets_it(world: World) -> None:
    """The first query waits, too: somebody may have the file for himself."""
    world.loop()
    path = world.ours / "sisyphus.db"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(5 * stores.QUICK_SECONDS, other.close)
        timer.start()
        reply = world.stop()
        timer.join()

    assert reply.reason
