from __future__ import annotations

import pytest

from sisyphus.upkeep import kept

NAMES = [
    pytest.param("logs", "journal-a.b.jsonl", (kept.JOURNALS, "session", "a.b", ""), id="journal"),
    pytest.param(
        "sessions", "a@b.json", (kept.SESSIONS, "session", "a", "sessions/a@b.json"), id="subagent"
    ),
    pytest.param(
        "rules-injector", "session-a.json",
        (kept.LEDGERS, "session", "a", "sessions/a.json"), id="by the session's lock",
    ),
    pytest.param(
        "queue", "a.json.tmp", (kept.LEFT_OVER, "session", "a", "sessions/a.json"), id="left over"
    ),
    pytest.param(
        "checkpoint", "a.json.lock", (kept.LOCKS, "session", "a", "checkpoint/a.json"), id="lock"
    ),
    pytest.param(
        "ralph/loops", "ralph-loop.a.b.local.md.verify.lock",
        (kept.LOCKS, "session", "a.b", "ralph/loops/ralph-loop.a.b.local.md.verify"),
        id="lock of a check",
    ),
    pytest.param(
        "ralph/loops", "ralph-loop.a.local.md.corrupt-2026", (kept.CORRUPT, "", "", ""),
        id="a loop that could not be read",
    ),
    pytest.param(
        "sessions", "a.json.corrupt-2026", (kept.CORRUPT, "session", "a", ""), id="unreadable"
    ),
    pytest.param(
        "ralph/transcripts", "x_iter_1_iter_22.3.jsonl", (kept.TRANSCRIPTS, "loop", "x_iter_1", ""),
        id="an iteration",
    ),
    pytest.param(
        "ralph/transcripts", "x_iterations.jsonl", (kept.ITERATIONS, "loop", "x", ""), id="numbers"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("folder", "name", "told"), NAMES)
def test_a_name_tells_what_it_is_and_whose(folder: str, name: str, told: tuple[str, ...]) -> None:
    found = kept.read(folder, name)
    assert found is not None
    assert (found.kind, *found.owner, found.guarded) == told


FOREIGN = [
    pytest.param("logs", "sessions.jsonl", id="the history"),
    pytest.param("logs", "sessions.jsonl.lock", id="its lock"),
    pytest.param("logs", "debug.log", id="the debug log"),
    pytest.param("logs", "journal-.jsonl", id="nobody's"),
    pytest.param("logs", "journal-a..b.jsonl", id="no session"),
    pytest.param("sessions", "a@.json", id="no subagent"),
    pytest.param("sessions", "a b.json", id="a name that we never write"),
    pytest.param("ralph/loops", "ralph-loop.a.local.md", id="a loop"),
    pytest.param("ralph/loops", "ralph-loop.a.x1.outer.md", id="a loop that waits"),
    pytest.param("ralph/loops", "ralph-loop.a.local.md.tmp", id="a loop that is being written"),
    pytest.param("ralph/transcripts", "x_iter_.txt", id="no iteration"),
    pytest.param("ralph/transcripts", "_iter_1.txt", id="no loop"),
]


@pytest.mark.parametrize(("folder", "name"), FOREIGN)
def test_what_is_not_known_stays(folder: str, name: str) -> None:
    assert kept.read(folder, name) is None
