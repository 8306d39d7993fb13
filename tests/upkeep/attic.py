"""Our folder with files of different ages."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from making import ours, put

from sisyphus.ralph import statefile
from sisyphus.ralph.loop import Loop
from sisyphus.session.process import identify
from sisyphus.state.files import update_json

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_795_200_000.0
DAY = 86_400

OF_SESSION = (
    "logs/journal-{}.jsonl",
    "sessions/{}.json",
    "sessions/{}.json.lock",
    "sessions/{}@agent1.json",
    "rules-injector/session-{}.json",
    "context-injector/session-{}@agent1.json",
    "queue/{}.json",
    "checkpoint/{}.json",
    "checkpoint/{}.json.lock",
    "enforce/{}.tools",
    "enforce/{}.waiter",
    "opencode/{}.jsonl",
    "opencode/{}/subagents/agent-a1.jsonl",
    "ralph/loops/session-{}.json",
    "ralph/loops/session-{}.json.lock",
    "ralph/loops/ralph-loop.{}.local.md.verify.lock",
    "queue/{}.json.tmp",
)
SAID_ONCE = (
    "sessions/{}.json",
    "sessions/{}.json.lock",
    "sessions/{}@agent1.json",
    "rules-injector/session-{}.json",
    "context-injector/session-{}@agent1.json",
    "queue/{}.json",
    "checkpoint/{}.json",
    "checkpoint/{}.json.lock",
)
OF_LOOP = (
    "ralph/transcripts/{}_full.txt",
    "ralph/transcripts/{}_verify.txt",
    "ralph/transcripts/{}_iter_1.txt",
    "ralph/transcripts/{}_iter_2.2.jsonl",
    "ralph/transcripts/{}_iter_2.pid",
    "ralph/checklists/{}-checklist.json",
    "ralph/checklists/{}-checklist.json.lock",
)
OF_NOBODY = (
    "logs/debug.log.1",
    "cache/rules-p-1.jsonl",
    "cache/rules-p-1.jsonl.lock",
    "projects/p-1/handoffs.json",
    "projects/p-1/handoffs/2026-01-01-1200-a.md",
    "projects/p-1/enforcements.jsonl.1",
    "replaced/0123456789ab-notes.md",
)
ON_REQUEST = (
    "ralph/transcripts/{}_iterations.jsonl",
    "sessions/{}.json.corrupt-20260101T000000Z",
    "projects/p-1/plans.json.corrupt-20260101T000000Z",
)
FOR_EVER = (
    "config.toml",
    "installs.json",
    "installs.json.lock",
    "logs/sessions.jsonl",
    "logs/sessions.jsonl.lock",
    "logs/sessions.archive.jsonl",
    "logs/debug.log",
    "cache/settings.json",
    "cache/empty-sha1.git/HEAD",
    "projects/p-1/boulder.json",
    "projects/p-1/plans.json",
    "projects/p-1/plans.json.lock",
    "projects/p-1/enforce.json",
    "projects/p-1/enforcements.jsonl",
    "ralph/runs/p-1.json",
    "ralph/runs/p-1.running.lock",
    "ralph/runs/abcde.json",
    "ralph/sessions/ppid.lock",
    "sessions/notes.txt",
    "logs/journal-a b.jsonl",
    "somebody/elses.json",
)


def aged(path: Path, days: float, content: str = "{}") -> Path:
    """A file that was written so many days before now."""
    return old(put(path, content), days)


def old(path: Path, days: float) -> Path:
    os.utime(path, (NOW - days * DAY, NOW - days * DAY))
    return path


def lay(home: Path, names: tuple[str, ...], days: float, owner: str = "") -> list[Path]:
    return [aged(ours(home, name.format(owner)), days) for name in names]


def a_loop(home: Path, session: str, loop_id: str, days: float = 0) -> Path:
    """The state file of a loop that has not ended."""
    loop = Loop(session, loop_id, "do it")
    text = statefile.render(loop)
    return aged(ours(home, f"ralph/loops/ralph-loop.{session}.local.md"), days, text)


def a_client(home: Path, session: str, *, lives: bool) -> list[Path]:
    """A client process that is, or was, in the session."""
    process = identify(os.getpid())
    if not lives:
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as gone:
            process = identify(gone.pid)
    path = ours(home, f"sessions/{session}.json")
    update_json(str(path), lambda found: {**found, "process": process.as_json()})
    named = put(ours(home, f"ralph/sessions/ppid_{process.pid}.id"), f"{session}\n")
    return [old(path, 90), old(named, 90)]


def below(home: Path) -> set[str]:
    """What there is in our folder."""
    folder = ours(home, "")
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() or p.is_symlink()}
