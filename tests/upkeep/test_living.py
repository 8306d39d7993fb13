from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import ours, put

from sisyphus.session.process import identify
from sisyphus.upkeep import kept
from sisyphus.upkeep.kept import File
from sisyphus.upkeep.living import Living
from upkeep import attic
from upkeep.attic import aged

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json


def _living(home: Path) -> Living:
    return Living(str(ours(home, "")).rstrip("/"))


def _needs(home: Path, kind: str, name: str, content: object = None) -> bool:
    path = ours(home, name)
    if content is not None:
        put(path, content if isinstance(content, str) else json.dumps(content))
    path = path if path.exists() else put(path, "")
    return _living(home).needs(File(str(path), kind, ("", ""), "", os.lstat(path)))


def test_a_session_lives_while_its_client_does(home: Path) -> None:
    attic.a_client(home, "s1", lives=True)
    attic.a_client(home, "s2", lives=False)
    living = _living(home)
    assert living.sessions == {"s1"}
    assert living.has(("session", "s1"))
    assert not living.has(("session", "s2"))


def test_a_session_lives_while_its_loop_does(home: Path) -> None:
    attic.a_loop(home, "s.1", "abc12")
    waiting = attic.a_loop(home, "s.2", "abc13")
    waiting.rename(waiting.with_name("ralph-loop.s.2.abc13.outer.md"))
    living = _living(home)
    assert living.sessions == {"s.1", "s.2"}
    assert living.loops == {"abc12", "abc13"}
    assert living.has(("loop", "abc12"))
    assert not living.has(("loop", "abc14"))


def test_where_a_loop_cannot_be_read_nothing_of_any_loop_goes(home: Path) -> None:
    put(ours(home, "ralph/loops/ralph-loop.s1.local.md"), "torn")
    living = _living(home)
    assert living.has(("loop", "any"))
    assert living.has(("session", "s1"))
    assert not living.has(("session", "s2"))


def _run(home: Path, **fields: object) -> None:
    run: Json = {"loop_id": "run12", "status": "running", "in_flight": {"session_id": "s1"}}
    put(ours(home, "ralph/runs/p-1.json"), json.dumps({**run, **fields}))


def test_what_a_run_is_at_lives_while_its_runner_does(home: Path) -> None:
    _run(home)
    assert not _living(home).has(("loop", "run12"))
    _run(home, runner=identify(os.getpid()).as_json())
    living = _living(home)
    assert living.has(("loop", "run12"))
    assert living.has(("session", "s1"))


SAID_ONCE = [
    pytest.param(kept.SESSIONS, "s1", True, id="its session file"),
    pytest.param(kept.LEDGERS, "s1", True, id="what it was sent"),
    pytest.param(kept.QUEUES, "s1", True, id="what waits for it"),
    pytest.param(kept.CONTEXTS, "s1", True, id="the level that it was told"),
    pytest.param(kept.JOURNALS, "s1", False, id="its journal"),
    pytest.param(kept.LEDGERS, "s2", False, id="another session"),
]


@pytest.mark.parametrize(("kind", "session", "is_needed"), SAID_ONCE)
def test_what_a_session_was_sent_is_needed_while_the_client_can_resume_it(
    home: Path, kind: str, session: str, is_needed: bool
) -> None:
    put(home / ".claude/projects/-p/s1.jsonl", "")
    path = put(ours(home, "x"), "")
    file = File(str(path), kind, ("session", session), "", os.lstat(path))
    assert _living(home).needs(file) is is_needed


def test_a_client_process_is_forgotten_once_it_has_ended(home: Path) -> None:
    _, lives = attic.a_client(home, "s1", lives=True)
    _, gone = attic.a_client(home, "s2", lives=False)
    assert _needs(home, kept.PROCESSES, f"ralph/sessions/{lives.name}")
    assert not _needs(home, kept.PROCESSES, f"ralph/sessions/{gone.name}")


def test_a_pid_that_another_process_has_by_now_is_forgotten(home: Path) -> None:
    session, named = attic.a_client(home, "s1", lives=True)
    put(session, json.dumps({"process": {"pid": os.getpid(), "started": "1-another"}}))
    assert not _needs(home, kept.PROCESSES, f"ralph/sessions/{named.name}")


WAITS = {"handoffs": [{"handoff_file": "/x/h1.md", "active": True}, {"handoff_file": "h2.md"}]}
GIVEN = {"handoffs": [{"handoff_file": "h2.md", "active": False}, "nonsense"]}
LISTS = [
    pytest.param(WAITS, True, id="one waits"),
    pytest.param(GIVEN, False, id="all were given"),
    pytest.param({"handoffs": 3}, False, id="nothing in it"),
    pytest.param("{torn", True, id="unreadable"),
]


@pytest.mark.parametrize(("content", "is_needed"), LISTS)
def test_a_list_of_handoffs_stays_while_one_waits(
    home: Path, content: object, is_needed: bool
) -> None:
    assert _needs(home, kept.HANDOFFS, "projects/p/handoffs.json", content) is is_needed


def test_a_handoff_stays_while_it_waits_or_a_run_goes_on_with_it(home: Path) -> None:
    put(ours(home, "projects/p/handoffs.json"), json.dumps(WAITS))
    _run(home, context_checkpoint={"handoff_file": "/x/h3.md"})
    needed = {
        name: _needs(home, kept.HANDOFFS, f"projects/p/handoffs/{name}")
        for name in ("h1.md", "h2.md", "h3.md")
    }
    assert needed == {"h1.md": True, "h2.md": False, "h3.md": True}
    _run(home, status="completed", context_checkpoint={"handoff_file": "/x/h3.md"})
    assert not _needs(home, kept.HANDOFFS, "projects/p/handoffs/h3.md")


INSTALLS = [
    pytest.param(None, False, id="nothing is installed"),
    pytest.param("{torn", True, id="unreadable"),
    pytest.param({"installs": []}, False, id="nothing any more"),
    pytest.param({"installs": [{"files": [{"path": "/p/settings.json"}]}]}, True, id="that file"),
    pytest.param({"installs": [{"files": [{"path": "/p/other.md"}]}]}, False, id="another file"),
    pytest.param({"installs": [{"edited": {"/p/settings.json": {}}}]}, True, id="a file of others"),
    pytest.param(
        {"installs": [{"edited": {"/p/x": {"states": [{"original": "0123456789abcdef"}]}}}]},
        True,
        id="by its checksum",
    ),
]


@pytest.mark.parametrize(("installs", "is_needed"), INSTALLS)
def test_a_replaced_file_stays_while_something_is_installed_in_its_place(
    home: Path, installs: object, is_needed: bool
) -> None:
    if installs is not None:
        content = installs if isinstance(installs, str) else json.dumps(installs)
        aged(ours(home, "installs.json"), 90, content)
    name = "replaced/0123456789ab-settings.json"
    assert _needs(home, kept.REPLACED, name, "mine") is is_needed
