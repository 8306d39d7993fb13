"""What is old goes, by hand and once a day; what anybody still needs stays."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from world import World

LOOP = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
RULE = '---\nglobs: "**/*.py"\n---\n\nAnnotate.\n'
LONG_AGO = 1_000_000_000


def types(world: World, prompt: str) -> None:
    world.hook("user-prompt-submit", prompt=prompt)


def notes(world: World, *words: str) -> list[str]:
    entries = world.sisyphus("why", "--json", "-n", "100", *words).json["entries"]
    return [note for entry in entries for note in entry.get("notes", [])]


def rows(world: World, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as memory, memory:
        return memory.execute(query).fetchall()


def sessions(world: World) -> set[str]:
    return {row["session_id"] for row in world.sisyphus("sessions --json").json["sessions"]}


def keep(world: World, *names: str, text: str = "{}", at: float = LONG_AGO) -> list[Path]:
    """Files in our folder that were written then."""
    paths = [world.write(world.ours / name, text) for name in names]
    for path in paths:
        os.utime(path, (at, at))
    return paths


def purged(world: World, *words: str) -> set[str]:
    """What a purge by hand removes, relative to our folder."""
    gone = world.sisyphus("purge", "--yes", "--json", *words).json["paths"]
    return {os.path.relpath(path, world.ours) for path in gone}


# By hand


@pytest.fixture
def old(world: World) -> World:
    """Session s1 ended long ago; it was sent a rule."""
    world.write(".cursor/rules/py.mdc", RULE)
    world.start()
    world.tool("Read", file_path="a.py")
    world.hook("session-end")
    world.age()
    return world


def test_what_belongs_to_an_old_session_goes_with_it(old: World) -> None:
    ledger = old.ours / "rules-injector/session-s1.json"
    assert ledger.exists()

    shown = old.sisyphus("purge --dry-run").stdout
    assert "1 session, 3 lines of the journal" in shown
    assert "`sisyphus purge` removes them." in shown
    assert ledger.exists()
    purged = old.sisyphus("purge --yes --json").json

    assert (purged["sessions"], purged["events"], purged["stays"]) == (1, 3, [])
    assert not ledger.exists()
    for table in ("session", "event", "sent", "waiting", "call", "wiring", "export"):
        assert rows(old, f"SELECT count(*) FROM {table}") == [(0,)], table
    assert old.sisyphus("purge").stdout.startswith("Nothing to purge: ")


def test_while_a_session_can_be_resumed_what_it_was_sent_stays_noted(old: World) -> None:
    old.remember({"type": "user"})

    assert old.sisyphus("purge --yes --json").json["events"] == 3

    assert rows(old, "SELECT count(*) FROM event") == [(0,)]
    assert old.start("resume").exit == 0
    assert old.tool("Read", file_path="a.py").text == ""
    old.transcript.unlink()
    old.age()
    assert old.sisyphus("purge --yes --json").json["sessions"] == 1


def test_a_session_that_a_client_is_in_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with monkeypatch.context() as patch:
        patch.setenv("CLAUDE_PID", str(client.pid))
        world.start()
    world.age()

    assert world.sisyphus("purge --yes --json").json["sessions"] == 0
    client.kill()
    client.communicate()
    assert world.sisyphus("purge --yes --json").json["sessions"] == 1


def test_a_session_whose_loop_goes_on_stays(world: World) -> None:
    world.start()
    types(world, LOOP)
    world.age()

    assert world.sisyphus("purge --yes --json").json["sessions"] == 0
    assert sessions(world) == {"s1"}
    assert world.hook("stop", said="not yet").blocked


def test_how_old_is_old_is_a_setting_and_an_option(old: World) -> None:
    old.write("~/.claude/.sisyphus/config.toml", "[state]\nkeep_days = 0\n")
    refused = old.sisyphus("purge --dry-run")
    assert (refused.exit, "everything is kept" in refused.stderr) == (1, True)
    old.session("s2").start()

    assert old.sisyphus("purge --days 1 --yes --json").json["sessions"] == 1
    assert old.sisyphus("purge --days 0 --yes").stdout.startswith("Nothing may go: ")
    assert sessions(old) == {"s2"}


def test_without_a_yes_and_by_the_model_nothing_goes(
    old: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "there is nobody to ask" in old.sisyphus("purge").stderr
    monkeypatch.setenv("CLAUDECODE", "1")
    refused = old.sisyphus("purge --yes")
    assert (refused.exit, "Do it in another terminal." in refused.stderr) == (1, True)
    assert sessions(old) == {"s1"}


def test_unreadable_files_that_were_set_aside_go_with_all_alone(world: World) -> None:
    aside = world.write("~/.claude/.sisyphus/projects/p/enforce.json.corrupt-20200101T000000Z", "{")
    foreign = world.write("~/.claude/.sisyphus/sessions-of-mine.txt", "not ours")
    world.start()
    os.utime(aside, (1, 1))
    os.utime(foreign, (1, 1))

    assert world.sisyphus("purge --yes --json").json["files"] == 0
    purged = world.sisyphus("purge --all --yes --json").json
    assert purged["paths"] == [str(aside)]
    assert foreign.exists()


OF_SESSIONS = [
    "rules-injector/session-x1.json",
    "rules-injector/session-x1@agent.json",
    "context-injector/session-x1.json",
    "checkpoint/x1.json",
    "checkpoint/x1.json.lock",
    "checkpoint/x1.json.tmp",
    "enforce/x1.tools",
    "enforce/x1.waiter",
    "opencode/x1.jsonl",
    "opencode/x1/subagents/agent-a.jsonl",
    "ralph/loops/session-x1.json",
    "ralph/loops/ralph-loop.x1.local.md.verify.lock",
]
OF_LOOPS = [
    "ralph/transcripts/abcde_iter_1.txt",
    "ralph/transcripts/abcde_iter_1.jsonl",
    "ralph/transcripts/abcde_iter_1.2.err",
    "ralph/transcripts/abcde_full.txt",
    "ralph/transcripts/abcde_verify.txt",
    "ralph/checklists/abcde-checklist.json",
]
OF_NOBODY = [
    "projects/p/handoffs.json",
    "projects/p/handoffs/h.md",
    "projects/p/enforcements.jsonl.1",
    "logs/debug.log.1",
    "replaced/0123456789ab-settings.json",
]
WITH_ALL = [
    "ralph/transcripts/abcde_iterations.jsonl",
    "checkpoint/x1.json.corrupt-20200101T000000Z",
    "projects/p/plans.json.corrupt-20200101T000000Z",
]
NEVER = [
    "config.toml",
    "installs.json",
    "notes.txt",
    "projects/p/plans.json",
    "projects/p/boulder.json",
    "projects/p/enforce.json",
    "projects/p/history.jsonl",
    "projects/p/enforcements.jsonl",
    "ralph/runs/p.json",
    "ralph/transcripts/notes_iter_one.txt",
    "ralph/loops/notes.md",
    "logs/sessions.jsonl",
    "logs/debug.log",
    "checkpoint/x 1.json",
    "checkpoint/..json",
    "opencode/notes/agent-a.jsonl",
    "cache/HEAD",
]


def test_each_kind_of_file_goes_when_it_is_old(world: World) -> None:
    world.start()
    expected = [*OF_SESSIONS, *OF_LOOPS, *OF_NOBODY]
    keep(world, *expected, *WITH_ALL, *NEVER)

    assert purged(world) == set(expected)
    assert purged(world, "--all") == set(WITH_ALL)
    assert not (world.ours / "opencode/x1").exists()
    assert [name for name in NEVER if not (world.ours / name).exists()] == []


def test_what_is_young_stays_and_so_does_all_of_its_session_or_loop(world: World) -> None:
    world.start()
    keep(world, *OF_SESSIONS, *OF_LOOPS, *OF_NOBODY)
    now = time.time()
    keep(world, "enforce/x1.tools", "ralph/checklists/abcde-checklist.json", at=now - 86_400)
    keep(world, "logs/debug.log.1", at=now)

    assert purged(world) == set(OF_NOBODY) - {"logs/debug.log.1"}
    assert purged(world, "--days", "0") == {*OF_SESSIONS, *OF_LOOPS}


def test_of_a_session_that_was_seen_lately_no_file_goes(world: World) -> None:
    world.session("x1").start()
    keep(world, *OF_SESSIONS)
    assert purged(world) == set()
    assert sessions(world) == {"x1"}


def test_files_of_a_loop_that_goes_on_stay(world: World) -> None:
    world.start()
    types(world, LOOP)
    (loop,) = world.sisyphus("ralph list --json").json
    name = loop["loop_id"]
    own = [one.replace("abcde", name) for one in OF_LOOPS]
    keep(world, *own, *OF_LOOPS, "enforce/s1.tools")
    world.age()

    assert purged(world) == set(OF_LOOPS)
    types(world, "/sisyphus:cancel-ralph")
    world.age()
    assert purged(world) >= {*own, "enforce/s1.tools"}


def test_while_a_loop_cannot_be_read_nothing_of_any_loop_goes(world: World) -> None:
    world.start()
    keep(world, *OF_LOOPS, *OF_SESSIONS, "ralph/loops/ralph-loop.x1.local.md", text="?")
    assert purged(world) == set()
    (world.ours / "ralph/loops/ralph-loop.x1.local.md").unlink()
    assert purged(world) == {*OF_LOOPS, *OF_SESSIONS}


def started(pid: int) -> str:
    """As records name it."""
    from sisyphus.session.process import identify

    return identify(pid).started


def test_what_a_run_works_with_stays(world: World) -> None:
    world.start()
    handoff = "projects/p/handoffs/h.md"
    keep(world, *OF_LOOPS, *OF_SESSIONS, handoff)
    run = {
        "loop_id": "abcde", "status": "running", "in_flight": {"session_id": "x1"},
        "context_checkpoint": {"handoff_file": str(world.ours / handoff)},
        "runner": {"pid": os.getpid(), "started": started(os.getpid())},
    }  # fmt: skip
    keep(world, "ralph/runs/p.json", text=json.dumps(run))
    assert purged(world) == set()
    keep(world, "ralph/runs/p.json", text=json.dumps({**run, "runner": {}}))
    assert purged(world) == {*OF_LOOPS, *OF_SESSIONS}  # it may go on, and is given the handoff then
    keep(world, "ralph/runs/p.json", text=json.dumps({**run, "runner": {}, "status": "completed"}))
    assert purged(world) == {handoff}


def test_a_handoff_stays_until_somebody_was_given_it(world: World) -> None:
    world.start()
    names = ["projects/p/handoffs.json", "projects/p/handoffs/h.md"]
    entry = {"handoff_file": "/anywhere/h.md", "session_id": "x1", "active": True}
    keep(world, *names, "projects/p/handoffs/other.md")
    keep(world, names[0], text=json.dumps({"handoffs": [entry]}))
    assert purged(world) == {"projects/p/handoffs/other.md"}
    keep(world, names[0], text=json.dumps({"handoffs": [{**entry, "active": False}]}))
    assert purged(world) == set(names)


def test_a_list_of_handoffs_that_cannot_be_read_stays(world: World) -> None:
    world.start()
    keep(world, "projects/p/handoffs.json", text="{")
    assert purged(world) == set()


def test_what_an_installation_may_give_back_stays(world: World) -> None:
    world.start()
    names = ["replaced/0123456789ab-settings.json", "replaced/ba9876543210-CLAUDE.md"]
    keep(world, *names)
    sums = {"edited": {"/p": {"states": [{"original": "ba9876543210" + "0" * 52}]}}}
    keep(world, "installs.json", text=json.dumps({"installs": [sums]}))
    assert purged(world) == {names[0]}
    keep(world, "installs.json", text="{")
    assert purged(world) == set()


def test_while_somebody_holds_a_lock_what_comes_behind_it_of_its_session_stays(
    world: World,
) -> None:
    world.start()
    keep(world, *OF_SESSIONS, *OF_LOOPS)
    with open(world.ours / "checkpoint/x1.json.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = world.sisyphus("purge", "--yes", "--json").json
    stays = {os.path.relpath(one["path"], world.ours): one["why"] for one in answer["stays"]}
    names = OF_SESSIONS[OF_SESSIONS.index("checkpoint/x1.json") :]
    assert stays == dict.fromkeys(
        (name for name in names if not name.startswith("opencode/")), "somebody is using it"
    )
    assert all((world.ours / name).exists() for name in stays)
    purged(world)
    assert not [name for name in OF_SESSIONS if (world.ours / name).exists()]


def test_no_link_is_followed(world: World) -> None:
    world.start()
    (kept,) = keep(world, "somewhere/x1.json")
    (world.ours / "checkpoint").symlink_to(kept.parent)
    (world.ours / "enforce").mkdir()
    (world.ours / "enforce/x1.tools").symlink_to(kept)
    (world.ours / "opencode").mkdir()
    (world.ours / "opencode/x1").symlink_to(kept.parent)
    os.utime(world.ours / "enforce/x1.tools", (LONG_AGO, LONG_AGO), follow_symlinks=False)
    assert purged(world, "--all") == set()
    assert kept.exists()


def test_a_file_that_was_written_since_it_was_found_stays(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start()
    (path, _) = keep(world, "enforce/x1.tools", "enforce/x2.tools")
    look = os.lstat

    def written_first(named: Any, **more: Any) -> os.stat_result:
        if str(named) == str(path):
            path.write_text("new")
        return look(named, **more)

    monkeypatch.setattr(os, "lstat", written_first)
    answer = world.sisyphus("purge", "--yes", "--json").json
    assert answer["stays"] == [{"path": str(path), "why": "it has changed meanwhile"}]
    assert path.read_text() == "new"
    assert answer["files"] == 1


def test_a_session_in_which_a_hook_ran_since_it_was_found_stays(
    old: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = keep(old, "enforce/x1.tools")
    look = os.lstat

    def seen_first(named: Any, **more: Any) -> os.stat_result:
        if str(named) == str(path):
            rows(old, f"UPDATE session SET seen_at = {time.time()}")
        return look(named, **more)

    monkeypatch.setattr(os, "lstat", seen_first)
    answer = old.sisyphus("purge", "--yes", "--json").json
    assert (answer["sessions"], answer["events"]) == (0, 0)
    assert sessions(old) == {"s1"}


def test_what_grew_old_while_the_user_thought_stays(old: World) -> None:
    old.session("s2").start()
    ours, theirs = os.openpty()
    words = [sys.executable, "-m", "sisyphus", "purge"]
    purge = subprocess.Popen(words, cwd=old.folder, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    while b"Remove them?" not in seen:
        seen += os.read(ours, 1_000)

    rows(old, f"UPDATE session SET seen_at = {LONG_AGO}")
    os.write(ours, b"y\n")
    with suppress(OSError):  # nobody writes there any more
        while part := os.read(ours, 1_000):
            seen += part
    assert purge.wait() == 0
    os.close(ours)
    assert b"1 session, 3 lines of the journal" in seen
    assert sessions(old) == {"s2"}


def test_while_a_session_can_be_resumed_its_lists_and_sizes_stay(world: World) -> None:
    world.start()
    other = world.session("x1")
    other.remember({"type": "user"})
    keep(world, *OF_SESSIONS)
    told = {"rules-injector/session-x1.json", "rules-injector/session-x1@agent.json"}
    told |= {"context-injector/session-x1.json", "checkpoint/x1.json", "checkpoint/x1.json.lock"}
    assert purged(world) == set(OF_SESSIONS) - told
    other.transcript.unlink()
    assert purged(world) == told


# A dry run


def everything(world: World) -> dict[str, tuple[int, bytes]]:
    """Each file below the home, with its time and what it holds."""
    paths = sorted(path for path in world.home.rglob("*") if path.is_file())
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in paths}


def test_a_dry_run_changes_nothing(old: World) -> None:
    old.write("~/.claude/.sisyphus/config.toml", "[state]\nkeep_days = 20\n")
    keep(old, *OF_SESSIONS)
    before = everything(old)
    assert old.sisyphus("purge --dry-run --json").json["files"] > len(OF_SESSIONS)
    assert everything(old) == before


def test_a_dry_run_leaves_an_unreadable_memory_where_it_is(old: World) -> None:
    old.write("~/.claude/.sisyphus/sisyphus.db", b"no database" * 1_000)
    before = everything(old)
    answer = old.process("purge", "--dry-run")
    assert (answer.exit, "cannot be used" in answer.stderr) == (1, True)
    assert everything(old) == before
    old.process("hook", "session-start", stdin=old.payload("session-start"))
    assert list(old.ours.glob("sisyphus.db.corrupt-*"))


def test_a_dry_run_makes_no_memory(world: World) -> None:
    assert world.sisyphus("purge --dry-run").stdout.startswith("Nothing to purge: ")
    assert everything(world) == {}


def test_after_a_dry_run_the_memory_is_written_as_before(old: World) -> None:
    old.sisyphus("purge --dry-run")
    assert purged(old) == {"rules-injector/session-s1.json"}


# What numbers are given


def test_no_number_is_given_twice(old: World) -> None:
    old.session("s2").hook("session-end")
    numbers = "SELECT (SELECT max(n) FROM session), (SELECT max(n) FROM event)"
    ((session, event),) = rows(old, numbers)
    old.age()
    purged(old)
    assert rows(old, numbers) == [(None, None)]
    old.session("s3").start()
    assert rows(old, numbers) == [(session + 1, event + 1)]


def test_no_number_is_given_twice_when_the_tables_are_made_anew(old: World) -> None:
    ((session, event),) = rows(old, "SELECT max(session.n), max(event.n) FROM session, event")
    purged(old)
    rows(old, "PRAGMA user_version = 1")
    old.session("s3").start()
    newest = rows(old, "SELECT max(session.n), max(event.n) FROM session, event")
    assert newest == [(session + 1, event + 1)]


def test_the_memory_of_an_earlier_version_is_carried_over(world: World) -> None:
    world.write(".cursor/rules/py.mdc", RULE)
    world.start()
    assert "Annotate." in world.tool("Read", file_path="a.py").text
    make_earlier(world.ours / "sisyphus.db")

    assert world.tool("Read", file_path="a.py").text == ""
    assert len(world.sisyphus("why --all --json").json["entries"]) == 3
    ((table,),) = rows(world, "SELECT sql FROM sqlite_master WHERE name = 'event'")
    assert "AUTOINCREMENT" in table
    assert rows(world, "SELECT count(*) FROM sqlite_master WHERE name GLOB 'earlier*'") == [(0,)]


def make_earlier(path: Path) -> None:
    """The same rows, in tables as the first version had them."""
    with closing(sqlite3.connect(path)) as database:
        statements = list(database.iterdump())
    path.unlink()
    with closing(sqlite3.connect(path)) as database:
        for line in statements:
            if "sqlite_sequence" not in line:
                database.execute(line.replace(" AUTOINCREMENT", ""))
        database.execute("PRAGMA user_version = 1")
        database.commit()


# Once a day


def test_the_end_of_a_session_cleans_up_once_a_day(old: World) -> None:
    yesterday = "UPDATE note SET value = '1' WHERE name = 'purged_at'"
    for name in ("s2", "s3"):
        old.session(name).start()
    rows(old, yesterday)
    old.session("s2").hook("session-end")

    assert sessions(old) == {"s2", "s3"}
    assert notes(old, "--session", "s2")[-1].startswith(
        "removed what was not used for 30 days: 1 session, 3 lines of the journal"
    )
    rows(old, "UPDATE session SET seen_at = 1 WHERE id = 's2'")
    old.session("s3").hook("session-end")
    assert sessions(old) == {"s2", "s3"}
    rows(old, yesterday)
    old.session("s3").start()
    old.session("s3").hook("session-end")
    assert sessions(old) == {"s3"}


def yesterday(world: World) -> None:
    """The last cleaning of the day was the day before."""
    rows(world, "UPDATE note SET value = '1' WHERE name = 'purged_at'")


def test_once_a_day_files_go_as_well_but_for_what_people_decide_on(world: World) -> None:
    world.start()
    own = [*OF_SESSIONS, *OF_LOOPS, *OF_NOBODY[:-1]]
    left = keep(world, OF_NOBODY[-1], *WITH_ALL, *NEVER)
    gone = keep(world, *own)
    world.hook("session-end")
    assert [path for path in gone if path.exists()] == []
    assert all(path.exists() for path in left)
    assert notes(world)[-1].startswith(f"removed what was not used for 30 days: {len(own)} files, ")
    (again, _) = keep(world, *OF_LOOPS[:2])
    world.start()
    world.hook("session-end")
    assert again.exists()
    yesterday(world)
    world.hook("session-end")
    assert not again.exists()


def test_a_setting_keeps_everything(world: World) -> None:
    world.write("~/.claude/.sisyphus/config.toml", "[state]\nkeep_days = 0\n")
    world.start()
    paths = keep(world, *OF_SESSIONS)
    world.hook("session-end")
    assert all(path.exists() for path in paths)


def test_a_hook_takes_no_longer_than_it_has(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.start()
    paths = keep(world, *(f"enforce/x{n}.tools" for n in range(600)))
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", itertools.count(1.0).__next__)
        world.hook("session-end")
    assert all(path.exists() for path in paths)
    assert notes(world)[-1] == (
        "nothing old was removed: 500 files and more are too many to look through here; "
        "`sisyphus purge` does"
    )


def test_a_hook_removes_so_many_files_and_the_rest_another_day(world: World) -> None:
    world.start()
    paths = keep(world, "logs/1", "logs/2", *(f"enforce/x{n}.tools" for n in range(2_003)))
    started_at = time.monotonic()
    world.patch.setattr(time, "monotonic", lambda: started_at)
    world.hook("session-end")
    assert sum(path.exists() for path in paths) == 5
    assert notes(world)[-1].endswith("; 3 files stay for another day")
