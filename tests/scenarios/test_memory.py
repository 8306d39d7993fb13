"""The memory of a session: what its model has is not sent again, and what waits arrives."""

from __future__ import annotations

import itertools
import sqlite3
import stat
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from world import Answer, World

numbers = itertools.count()

RULE = '---\nglobs: ["**/*.py"]\n---\n'
REPLY_UNITS = 10_000


def reads(world: World, file: str = "a.py") -> Answer:
    given = {"file_path": str(world.folder / file)}
    call = {"tool_name": "Read", "tool_input": given, "tool_use_id": f"call-{next(numbers)}"}
    return world.hook("post-tool-use", hook_event_name="PostToolBatch", tool_calls=[call])


def prompts(world: World) -> Answer:
    return world.hook("user-prompt-submit", prompt="go on")


def asked(world: World, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database, database:
        return database.execute(query, values).fetchall()


IDS = ["a", "A" * 128, "-", "_", ".a", "a.b", "0", "CON", "a-.-b"]


@pytest.mark.parametrize("name", IDS)
def test_a_session_may_be_called_anything_safe(world: World, name: str) -> None:
    world.write(".cursor/rules/one.mdc", f"{RULE}MARK\n")
    session = world.session(name)
    assert "MARK" in reads(session).text
    assert reads(session).text == ""
    assert (world.ours / "rules-injector" / f"session-{name}.json").exists()


@pytest.mark.parametrize("name", ["..", "a/b", "a b", "A" * 129, "é", "a@b", ""])
def test_an_event_of_nobody_leaves_nothing(world: World, name: str) -> None:
    world.write(".cursor/rules/one.mdc", f"{RULE}MARK\n")
    session = world.session(name)
    for answer in (reads(session), prompts(session), session.hook("stop", said="That is all.")):
        assert (answer.exit, answer.stdout) == (0, "")
    assert not (world.ours / "rules-injector").exists()


def test_sessions_subagents_and_clients_have_contexts_of_their_own(world: World) -> None:
    world.write(".cursor/rules/one.mdc", f"{RULE}MARK\n")
    others = [world, world.subagent("b"), world.subagent("c"), world.session("b")]
    for one in others:
        assert "MARK" in reads(one).text
    for one in others:
        assert reads(one).text == ""
    opencode = world.client("opencode")
    assert "MARK" in opencode.tool("read", filePath="a.py").text
    assert asked(world, "SELECT count(*) FROM sent") == [(len(others) + 1,)]


def test_a_clock_that_is_set_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("README.md", "MARK-README\n")
    world.write(".cursor/rules/one.mdc", f"{RULE}MARK\n")
    assert "MARK-README" in world.start().text
    assert "MARK" in reads(world).text
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 90_000)
    assert reads(world).text == ""
    assert "MARK-README" not in world.start("resume").text
    assert "MARK-README" in world.start("compact").text
    assert "MARK" in reads(world).text


def test_a_rule_of_half_a_megabyte_arrives_once_and_cut(world: World) -> None:
    world.write(".cursor/rules/one.mdc", f"{RULE}MARK\n" + "word " * 100_000)
    answer = reads(world)
    assert answer.text.count("MARK") == 1
    assert len(answer.text) <= REPLY_UNITS
    assert reads(world).text == prompts(world).text == ""


def test_ten_thousand_texts_wait_and_arrive_in_order(world: World) -> None:
    world.start("resume")
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database, database:
        database.executemany(
            "INSERT INTO waiting (session, seq, kind, path, hash, head, body, tail, late_head) "
            "VALUES (1, ?, 'rules', '', ?, '<', ?, '>', '')",
            [(n, f"hash-{n}", f"[{n}]" + "x" * 200) for n in range(10_000)],
        )
    arrived = 0
    for _ in range(3):
        said = prompts(world).text
        assert len(said) <= REPLY_UNITS
        while f"[{arrived}]" in said:
            arrived += 1
    assert arrived > 100
    assert asked(world, "SELECT count(*), min(seq) >= 0 FROM waiting") == [(10_000 - arrived, 1)]


def ours(world: World) -> list[Path]:
    return [path for path in world.ours.rglob("*") if not path.is_dir()]


def test_a_session_leaves_four_files_that_are_its_users_alone(world: World) -> None:
    world.write("README.md", "MARK-README\n")
    world.write(".cursor/rules/one.mdc", f"{RULE}MARK\n")
    world.start()
    for _ in range(3):
        prompts(world)
        reads(world)
        world.hook("stop", said="That is all.")
    world.hook("session-end")
    assert len(ours(world)) <= 4
    assert not [path for path in ours(world) if path.suffix in {".lock", ".tmp"}]
    assert {stat.S_IMODE(path.stat().st_mode) for path in ours(world)} == {0o600}
    folders = [world.ours, *(path for path in world.ours.rglob("*") if path.is_dir())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}


def test_of_an_old_start_and_an_end_nothing_is_asked_twice(world: World) -> None:
    """A start and an end change the same record, one after the other."""
    world.write("README.md", "MARK-README\n")
    for source in ("startup", "resume", "compact", "fork"):
        world.start(source)
        world.hook("session-end", reason="clear")
    assert asked(world, "SELECT count(*) FROM session") == [(1,)]
    assert asked(world, "SELECT count(*) FROM event") == [(8,)]
