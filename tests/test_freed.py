"""A damaged store never frees a session of a hold or of enforcement in silence: the files beside it
tell of them."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from world import World

from sisyphus.ground import store

DONE = "All tasks are complete."
NOT_UTF8 = b"\xff\xfe\x80"
HALF = '{"at": 17'


def force(world: World, statement: str, *values: object) -> list[Any]:
    """Changes rows as no program does that keeps to the schema."""
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database:
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("PRAGMA ignore_check_constraints = ON")
        rows = database.execute(statement, values).fetchall()
        database.commit()
    return rows


def put(world: World, table: str, column: str, value: object) -> None:
    """Writes a value that the schema would not take: bytes become a TEXT that is not UTF-8."""
    mark = "CAST(? AS TEXT)" if value == NOT_UTF8 else "?"
    force(world, f"UPDATE {table} SET {column} = {mark}", value)


def hold(world: World) -> None:
    """A session that is held at its plan, and was."""
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    world.start()
    assert world.cli("boulder", "hold", "on").code == 0
    assert world.stop().reason


def enforce(world: World) -> None:
    """A session that is enforced, and was."""
    world.write(world.ours / "config.toml", "[enforce]\ncooldown_seconds = 0\nmax_failures = 0\n")
    world.start()
    assert world.cli("enforce", "on").code == 0
    assert world.stop(DONE).reason


def trace(world: World, name: str) -> Path | None:
    """The file of the project beside the database."""
    found = [*world.ours.glob(f"projects/*/{name}")]
    return found[0] if found else None


BAD_ROWS_OF_HOLD = [
    ("session", "plan", 4711),
    ("session", "plan", None),
    ("session", "client", "x"),
    ("session", "id", NOT_UTF8),
    ("session", "rests", 5),
    ("loop", "plan", 4711),
    ("loop", "plan", None),
    ("loop", "kind", "poop"),
    ("loop", "kind", "loop"),
    ("loop", "status", "paused?"),
    ("loop", "ended_at", 1.0),
    ("loop", "id", "ZZZZZ"),
    ("loop", "options", HALF),
    ("plan", "n", 99),
    ("plan", "path", NOT_UTF8),
]


@pytest.mark.parametrize(("table", "column", "value"), BAD_ROWS_OF_HOLD)
def test_after_a_bad_value_the_hold_holds_or_its_user_is_told_once(
    world: World, table: str, column: str, value: object
) -> None:
    hold(world)
    put(world, table, column, value)

    reply = world.stop("I still work.")

    assert reply.reason or reply.message, world.log()
    assert reply.reason or world.stop("And still.").is_silent
    # From here on all is well again.
    world.prompt()
    assert world.cli("boulder", "start", "PLAN.md").code == 0
    assert world.cli("boulder", "hold", "on").code == 0
    world.start("s2")
    assert world.stop(session="s2").reason


def test_a_hold_that_another_sessions_hook_has_repaired_is_told_of(world: World) -> None:
    hold(world)
    world.start("s2")
    world.start("s3")
    force(world, "UPDATE loop SET kind = 'poop'")

    told, other = world.stop(session="s2"), world.stop(session="s3")

    assert "Hold " in told.message
    assert "has ended" in told.message
    assert "not known any more" in other.message
    assert "PLAN.md" in other.message
    assert "sisyphus boulder hold on" in other.message
    assert world.stop(session="s3").is_silent
    assert world.cli("boulder", "hold", "off").code == 0
    world.start("s4")
    assert world.stop(session="s4").is_silent


@pytest.mark.parametrize("value", [5, NOT_UTF8, "/elsewhere"])
def test_enforcement_without_its_row_is_told_of_once(world: World, value: object) -> None:
    enforce(world)
    put(world, "enforced", "project", value)
    world.work()

    told, again = world.stop(DONE), world.stop(DONE)

    assert told.reason == ""
    assert "nforcement" in told.message
    assert "sisyphus enforce on" in told.message
    assert again.is_silent
    assert world.cli("enforce", "on").code == 0
    world.work()
    assert world.stop(DONE).reason
    force(world, "DELETE FROM enforced")
    world.work()
    assert "nforcement" in world.stop(DONE).message, "it was lost once more"
    assert world.cli("enforce", "off").code == 0
    world.start("s2")
    assert world.stop(DONE, session="s2").is_silent


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("enforcement", "is_stopped", 2**62),
        ("enforcement", "at", 1e300),
        ("enforcement", "iteration", HALF),
        ("enforcement", "failures", 1e300),
        ("session", "rests", "{}"),
        ("session", "stops", HALF),
    ],
)
def test_after_a_bad_count_enforcement_goes_on_or_its_user_is_told(
    world: World, table: str, column: str, value: object
) -> None:
    enforce(world)
    put(world, table, column, value)
    world.work()

    reply = world.stop(DONE)

    assert reply.reason or reply.message, world.log()
    world.prompt()
    world.work()
    assert world.stop(DONE).reason


def remove_logs(world: World) -> Path:
    for end in ("-wal", "-shm"):
        (world.ours / f"sisyphus.db{end}").unlink(missing_ok=True)
    return world.ours / "sisyphus.db"


def make_garbage(world: World) -> None:
    remove_logs(world).write_bytes(b"no database " * 1000)


def delete(world: World) -> None:
    remove_logs(world).unlink()


def cut(world: World) -> None:
    file = remove_logs(world)
    file.write_bytes(file.read_bytes()[:5000])


def zero_header(world: World) -> None:
    file = remove_logs(world)
    file.write_bytes(bytes(100) + file.read_bytes()[100:])


def put_folder(world: World) -> None:
    file = remove_logs(world)
    file.unlink()
    file.mkdir()


def put_fifo(world: World) -> None:
    file = remove_logs(world)
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize("begin", [hold, enforce])
@pytest.mark.parametrize("damage", [make_garbage, delete, cut, zero_header, put_folder, put_fifo])
def test_a_new_database_is_told_to_those_that_the_old_one_held(
    world: World, begin: Any, damage: Any
) -> None:
    begin(world)
    damage(world)
    world.work()

    told, again = world.stop(DONE), world.stop(DONE)

    word = "hold of the plan" if begin is hold else "Enforcement of this project"
    assert word in told.message
    assert again.is_silent


@pytest.mark.parametrize("begin", [hold, enforce])
def test_a_database_that_is_lost_before_the_first_stop_is_told_too(
    world: World, begin: Any
) -> None:
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    world.start()
    world.cli(*(("boulder", "hold", "on") if begin is hold else ("enforce", "on")))
    delete(world)

    assert "not known any more" in world.stop(DONE).message


@pytest.mark.parametrize("begin", [hold, enforce])
def test_a_lock_that_lets_nobody_read_is_told_to_those_who_were_held(
    world: World, monkeypatch: pytest.MonkeyPatch, begin: Any
) -> None:
    begin(world)
    world.work()
    with monkeypatch.context() as patch:
        patch.setattr(store, "LOCK_SECONDS", 0.1)
        with world.locked(for_readers=True):
            told, again = world.stop(DONE), world.stop(DONE)

    assert "does not hold this session" in told.message
    assert again.is_silent
    assert world.stop(DONE).reason


@pytest.mark.parametrize("begin", [World.loop, hold, enforce])
def test_a_second_outage_of_a_session_is_told_too(world: World, begin: Any) -> None:
    begin(world)
    for _ in range(2):
        world.work()
        force(world, "PRAGMA user_version = 10000")
        told, again = world.stop(DONE), world.stop(DONE)
        force(world, f"PRAGMA user_version = {store.VERSION}")

        assert "does not hold this session" in told.message
        assert again.is_silent
        assert world.stop(DONE).reason


# ---------------------------------------------------------------- switched off by a variable


@pytest.mark.parametrize("begin", [World.loop, hold, enforce])
def test_who_is_free_because_all_is_switched_off_is_told_once(world: World, begin: Any) -> None:
    begin(world)
    world.work()
    before = world.why()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SISYPHUS_DISABLE", "1")
        told, again = world.stop(DONE), world.stop(DONE)

        assert "does not hold this session, which should go on" in told.message
        assert "SISYPHUS_DISABLE is set" in told.message
        assert not told.reason
        assert again.is_silent
        assert world.why() == before
    assert world.stop(DONE).reason
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SISYPHUS_DISABLE", "1")
        assert "SISYPHUS_DISABLE" in world.stop(DONE).message, "it was held again"


def test_where_nothing_held_it_a_switch_is_no_news(world: World) -> None:
    world.loop(session="s0")
    world.start()
    world.setenv("SISYPHUS_DISABLE", "1")

    assert world.stop(DONE).is_silent
    assert world.stop(DONE, agent_id="a1", session="s0").is_silent
    assert world.hook("stop", b"no payload").is_silent
    assert "SISYPHUS_DISABLE" in world.stop(DONE, session="s0").message


def test_a_paused_loop_is_no_news_there(world: World) -> None:
    world.loop()
    world.cli("ralph", "pause")
    world.setenv("SISYPHUS_DISABLE", "1")

    assert world.stop(DONE).is_silent


def test_the_file_of_a_hold_goes_with_it(world: World) -> None:
    hold(world)
    file = trace(world, "hold.json")
    assert file
    content = json.loads(file.read_text())
    (entry,) = content["holds"]
    assert entry["plan"] == str(world.project / "PLAN.md")
    assert entry["status"] == "active"
    assert file.stat().st_mode & 0o777 == 0o600

    world.edit("PLAN.md", "[ ]", "[x]")
    world.stop()

    assert not file.exists()
    assert world.stop().is_silent


def test_a_hold_from_before_its_file_gets_one_at_a_stop(world: World) -> None:
    hold(world)
    file = trace(world, "hold.json")
    assert file
    file.unlink()

    assert world.stop().reason
    assert file.exists()


def test_a_hold_that_was_cancelled_or_is_of_another_plan_is_not_missed(world: World) -> None:
    hold(world)
    other = world.write("OTHER.md", "# Oven\n\n- [ ] bake\n")
    world.start("s2")
    assert world.cli("boulder", "start", other, "--session-id", "s2").code == 0

    assert world.stop(session="s2").is_silent

    ((held,),) = force(world, "SELECT id FROM loop WHERE kind = 'hold' AND ended_at IS NULL")
    assert world.cli("ralph", "cancel", held).code == 0
    assert world.stop().is_silent
    assert trace(world, "hold.json") is None


@pytest.mark.parametrize("begin", [World.loop, hold, enforce])
def test_a_fault_of_our_own_that_frees_a_session_is_told_once_and_at_the_next_start(
    world: World, monkeypatch: pytest.MonkeyPatch, begin: Any
) -> None:
    begin(world)
    assert world.stop(DONE).reason

    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    with monkeypatch.context() as broken:
        broken.setattr("sisyphus.stop.hooks.gather", fail)
        reply, again = world.stop(DONE), world.stop(DONE)

    told = "does not hold this session, which should go on: this Stop could not be answered"
    assert (told in reply.message, reply.reason, again.message) == (True, "", "")
    assert told in world.start(source="resume").message
    assert world.stop(DONE).reason, "it holds again"


def test_what_another_feature_says_does_not_hide_that_a_loop_is_free(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.loop()

    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("sisyphus.stop.hooks.gather", fail)
    world.fill(85)
    reply = world.stop(None)

    assert "Context: 85 %" in reply.message
    assert "does not hold this session" in reply.message


def test_the_fault_of_another_feature_is_no_news_of_a_loop_that_rests(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.loop("--wait-for-user")
    assert world.stop("I work.").reason

    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("sisyphus.handoff.hooks.look_at_context", fail)
    world.fill(85)
    reply = world.stop("Which of the two shall I take?")

    assert world.why()[-1]["notes"][-1] == "failed: handoff: RecursionError: too deep"
    assert "does not hold this session" not in reply.message


@pytest.mark.parametrize("begin", [World.loop, hold, enforce])
def test_a_transcript_that_nobody_can_search_frees_nobody(
    world: World, monkeypatch: pytest.MonkeyPatch, begin: Any
) -> None:
    begin(world)

    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("sisyphus.ralph.missed_starts.find", fail)

    assert world.stop(DONE).reason


@pytest.mark.parametrize(
    ("typed", "advice"),
    [
        ("/sisyphus:cancel-ralph", "See `sisyphus status`, or type it again."),
        ("/ralph-wiggum:cancel-ralph", "See `sisyphus status`, or type it again."),
        ("/sisyphus:enforce off", "See `sisyphus status`, or type it again."),
        ("/sisyphus:ralph-loop x", "If no loop goes on when the agent stops, type it again."),
        ("/ralph-wiggum:other", ""),
        ("hello", ""),
    ],
)
def test_a_command_that_nobody_heard_because_of_a_lock_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch, typed: str, advice: str
) -> None:
    world.loop()
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.1)
    with closing(sqlite3.connect(world.ours / "sisyphus.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        message = world.prompt(text=typed).message
        other.execute("ROLLBACK")

    name = typed.partition(" ")[0].lstrip("/")
    told = f"sisyphus may not have carried out {name}: another process has locked the database."
    assert message == (f"{told} {advice}" if advice else "")


def test_a_command_that_was_carried_out_is_not_told_as_unheard(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = world.loop()

    def fail(*_: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("sisyphus.sessions.hooks.look_at_prompt", fail)
    reply = world.prompt(text="/ralph-wiggum:cancel-ralph")
    own = world.prompt(text="/sisyphus:cancel-ralph")

    assert loop in reply.message
    assert own.reason
    assert "may not have carried out" not in reply.message + own.message
