"""`sisyphus purge`: removes what was not used for a while, and says before and after what goes."""

from __future__ import annotations

import io
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from world import Terminal, World

from sisyphus.ground.store import Store, open_store
from sisyphus.sessions import retention

DAY = 24 * 3600.0


def opened(world: World) -> closing[Store]:
    return closing(open_store(str(world.ours)))


def age(world: World, days: float) -> None:
    """Makes everything in the store so much older."""
    columns = (
        ("session", "seen_at"), ("session", "started_at"), ("plan", "used_at"),
        ("loop", "started_at"), ("loop", "ended_at"),
    )  # fmt: skip
    with opened(world) as store:
        for table, column in columns:
            store.run(f"UPDATE {table} SET {column} = {column} - ?", days * DAY)


def count(world: World, table: str) -> int:
    with opened(world) as store:
        row = store.one(f"SELECT count(*) FROM {table}")
        assert row is not None
        return int(row[0])


@pytest.fixture
def old(world: World) -> World:
    """A world in which a session with a rule, a loop that has ended, and a plan that is complete
    were used 40 days ago, and another session with a loop today."""
    world.rule("a.md", "MARK", applies_to="*.py")
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    world.loop(session="old")
    world.read("a.py", session="old")
    world.stop("So far.", session="old")
    world.edit("PLAN.md", "[ ]", "[x]", session="old")
    world.cli("ralph", "cancel")
    age(world, 40)
    world.write("PLAN.md", "# Oven\n\n- [ ] bake\n")
    world.project = world.new_project("other")
    world.loop(session="new")
    return world


def files(world: World) -> list[Path]:
    """The files of sessions and loops."""
    names = ("rules-injector", "ralph/transcripts")
    return sorted(file for name in names for file in (world.ours / name).glob("*"))


def test_it_shows_what_goes_and_what_stays_and_says_what_went(old: World) -> None:
    before = files(old)
    assert len(before) >= 2

    answer = old.cli("purge", "--yes")

    assert answer.code == 0, answer
    lines = answer.out.splitlines()
    assert lines[0] == "Not used for 30 days, so it goes:"
    assert "  1 session, with what was sent and decided there" in lines
    assert "  1 ended loop" in lines
    assert any(
        "  1 plan, complete, cleared or gone: what is known of it, not its file" in line
        for line in lines
    )
    assert any(f"  {len(before)} files below ~/.claude/.sisyphus, " in line for line in lines)
    assert any(
        line.startswith("What stays: 1 session,") and "1 open loop" in line for line in lines
    )
    assert lines[-1].startswith("Removed: 1 session, 1 ended loop, 1 plan, ")
    assert lines[-1].endswith(" freed.")
    assert files(old) == []
    assert len(old.loops()) == 1
    assert old.ended() == []
    assert (old.root / "project" / "PLAN.md").exists()


def test_a_second_one_has_nothing_to_remove(old: World) -> None:
    old.cli("purge", "--yes")

    answer = old.cli("purge")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "There is nothing to remove that was not used for 30 days.\n"


def test_a_dry_run_removes_nothing(old: World) -> None:
    before, sessions = files(old), count(old, "session")

    answer = old.cli("purge", "--dry-run")

    assert answer.out.endswith("Nothing was removed: this is a dry run.\n")
    assert "1 ended loop" in answer.out
    assert (files(old), count(old, "session")) == (before, sessions)


@pytest.mark.parametrize(("days", "goes"), [(39, True), (41, False)])
def test_days_says_how_old(old: World, days: int, goes: bool) -> None:
    answer = old.cli("purge", "--days", str(days), "--yes")

    assert ("Removed: " in answer.out) is goes
    assert (files(old) == []) is goes


@pytest.mark.parametrize(("words", "code"), [(["--days", "0"], 2), (["--days", "x"], 2)])
def test_wrong_days_are_refused(old: World, words: list[str], code: int) -> None:
    assert old.cli("purge", "--yes", *words).code == code
    assert count(old, "session") == 2


def test_the_setting_says_how_old_and_0_keeps_everything(old: World) -> None:
    old.cli("config", "state.keep_days", "0")

    answer = old.cli("purge", "--yes")

    assert (answer.code, answer.err) == (0, "")
    assert "state.keep_days is 0, which keeps everything" in answer.out
    assert "--days N" in answer.out
    old.cli("config", "state.keep_days", "50")
    assert "nothing to remove that was not used for 50 days" in old.cli("purge", "--yes").out
    old.cli("config", "state.keep_days", "0")
    assert "Removed: 1 session" in old.cli("purge", "--yes", "--days", "30").out


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_it_asks_once(old: World, monkeypatch: pytest.MonkeyPatch, typed: str, code: int) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))

    answer = old.cli("purge")

    assert answer.code == code
    assert answer.out.count("Remove this?") == 1
    assert (files(old) == []) is (code == 0)
    assert ("Nothing was removed." in answer.out) is (code == 1)


def test_without_a_terminal_it_needs_yes(old: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))

    answer = old.cli("purge")

    assert answer.code == 1
    assert "there is no terminal to ask you. Use --yes to purge." in answer.err
    assert count(old, "session") == 2


def test_only_the_user_purges(old: World) -> None:
    old.setenv("CLAUDE_CODE_SESSION_ID", "new")

    answer = old.cli("purge", "--yes")

    assert (answer.code, "Use another terminal" in answer.err) == (1, True)
    assert count(old, "session") == 2
    assert old.cli("purge", "--dry-run").code == 0


def test_records_of_other_programs_loops_go_too(world: World) -> None:
    with opened(world) as store:
        store.run("INSERT INTO foreign_loop VALUES (?, ?, '{}')", "/loop", time.time() - 40 * DAY)

    lines = world.cli("purge", "--yes").out.splitlines()

    assert lines[1] == "  1 `ralph decide` record"
    assert lines[-1].startswith("Removed: 1 `ralph decide` record. ")
    assert count(world, "foreign_loop") == 0


def test_a_session_that_came_back_while_the_user_was_asked_stays(old: World) -> None:
    with opened(old) as store:
        found = retention.find_old(store, 30, time.time())
        assert found.session_ids == ["old"]
        store.run("UPDATE session SET seen_at = ? WHERE id = 'old'", time.time())

        removed = retention.remove_old(store, 30, time.time())

    assert (removed.session_ids, len(removed.loops)) == ([], 1)
    assert count(old, "session") == 2


def test_a_plan_that_a_session_follows_stays(old: World) -> None:
    with opened(old) as store:
        store.run("UPDATE session SET plan = (SELECT n FROM plan) WHERE id = 'new'")

    answer = old.cli("purge", "--yes")

    assert "Removed: 1 session, 1 ended loop, 4 files" in answer.out
    assert count(old, "plan") == 1


def test_what_is_found_is_what_is_removed(old: World) -> None:
    now = time.time()
    with opened(old) as store:
        found = retention.find_old(store, 30, now)

        assert retention.remove_old(store, 30, now) == found
        assert retention.find_old(store, 30, now) == retention.Old()


def test_the_database_gets_smaller(old: World) -> None:
    with opened(old) as store, store.write():
        for number in range(200):
            store.run("INSERT INTO sent SELECT n, ?, ?, '', 0 FROM session WHERE id = 'old'",
                      f"h{number}", "x" * 9_000)  # fmt: skip
    file = old.ours / "sisyphus.db"
    before = file.stat().st_size

    answer = old.cli("purge", "--yes")

    assert "MB freed." in answer.out
    assert file.stat().st_size < before / 4
    assert len(old.loops()) == 1


def test_a_database_that_is_in_use_keeps_its_size(old: World) -> None:
    with opened(old) as other:
        other.run("BEGIN")
        other.all("SELECT count(*) FROM session")  # reads, so that the log must stay

        answer = old.cli("purge", "--yes")

        assert answer.code == 0, answer
        assert "The database keeps its size: another process uses it." in answer.out
    assert count(old, "session") == 1


def test_without_a_database_it_fails_in_one_line(world: World) -> None:
    world.claude.mkdir()
    world.ours.write_text("no folder")

    answer = world.cli("purge", "--yes")

    assert (answer.code, answer.out) == (1, "")
    why = "~/.claude/.sisyphus/sisyphus.db cannot be used: Not a directory"
    assert answer.err == f"error: Nothing can be noted: {why}\n"


# ---------------------------------------------------------------- a loop that the user deletes


def history(world: World) -> Path:
    return world.ours / "logs" / "sessions.jsonl"


def test_a_deleted_loop_leaves_no_words(world: World) -> None:
    gone = world.loop(prompt="Paint the ORIOLE.")
    world.cli("ralph", "cancel")
    stays = world.loop(prompt="Fire the kiln.")
    foreign = "not ours, and ORIOLE in it"
    with history(world).open("a") as file:
        file.write(f"{foreign}\n[]\n")
    before = history(world).read_text()
    history(world).with_name("sessions.jsonl.1").write_text(before)

    assert world.cli("ralph", "delete", gone).code == 0

    for name in ("sessions.jsonl", "sessions.jsonl.1"):
        lines = history(world).with_name(name).read_text().splitlines()
        assert [line for line in lines if gone in line] == []
        assert [line for line in lines if "ORIOLE" in line] == [foreign]
        assert len([line for line in lines if stays in line]) == 1
    assert history(world).stat().st_mode & 0o777 == 0o600
    assert not [file for file in world.ours.rglob("*") if b"Paint the" in _content(file)]


def _content(file: Path) -> bytes:
    """The database keeps deleted bytes until it is shrunk."""
    return file.read_bytes() if file.is_file() and "sisyphus.db" not in file.name else b""


def test_the_history_of_other_loops_is_not_written_anew(world: World) -> None:
    first = world.loop()
    world.cli("ralph", "cancel")
    history(world).write_text("{}\n")
    before = history(world).stat().st_ino

    world.cli("ralph", "delete", first)

    assert history(world).stat().st_ino == before
    assert world.loop() in history(world).read_text()
