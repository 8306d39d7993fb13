from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from checkpoint.telling import answer, called
from making import COMMAND, HANG_SECONDS, put
from ralph.lines import prompt, raw

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {
    "active", "handoff_file", "occasion", "percent_at_checkpoint", "resume_summary", "session_id",
    "task", "timestamp",
}  # fmt: skip


@pytest.fixture
def filled(home: Path, project: Path) -> Path:
    """The session "s1" has filled 72 % of its window."""
    lines = [prompt("Mend the parser"), *called("Read", {"file_path": "a.py"}), answer(144_000)]
    put(home / ".claude" / "projects" / "p" / "s1.jsonl", raw(*lines))
    return project


def _checkpoint(project: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "ralph", "checkpoint", "--project", str(project), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
        env={**os.environ, **environment},
    )


def test_a_person_asks_for_a_handoff(filled: Path) -> None:
    done = _checkpoint(filled, "--session-id", "s1")
    assert (done.returncode, done.stderr) == (0, "")
    [file] = (filled / ".claude" / "handoffs").glob("*.md")
    assert done.stdout == (
        f"Checkpoint written.\nContext: 72%\nHandoff: .claude/handoffs/{file.name}\n"
        "The next session of this project goes on from it.\n"
    )
    assert file.read_text("utf-8").startswith("# Handoff: Mend the parser\n")


def test_a_program_asks_for_one(filled: Path) -> None:
    done = _checkpoint(filled, "--json", CLAUDE_CODE_SESSION_ID="s1")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found.keys() >= KEYS
    assert (found["occasion"], found["session_id"]) == ("asked", "s1")
    assert (filled / found["handoff_file"]).is_file()


def test_without_a_session_there_is_nothing_to_write_of(filled: Path) -> None:
    done = _checkpoint(filled, "--session-id", "s7")
    assert done.returncode == 1
    assert "the client has written no transcript of this session yet" in done.stderr
    assert not (filled / ".claude").exists()
