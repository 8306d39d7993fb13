from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import typer
from making import put
from typer.testing import CliRunner

from sisyphus.cli.ralph_context import context
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer()
app.command()(context)

KEYS = {
    "percent", "level", "tokens", "window", "tokens_left", "item", "complexity", "recommendation",
}  # fmt: skip


def an_answer(tokens: int, number: int) -> str:
    call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {}}
    return json.dumps({
        "type": "assistant", "uuid": f"u{number}", "timestamp": f"2026-01-07T11:{number:02}:00Z",
        "message": {
            "id": f"m{number}", "model": "claude-sonnet-4-5", "content": [call],
            "usage": {"input_tokens": tokens, "output_tokens": 500},
        },
    })  # fmt: skip


@pytest.fixture
def filled(home: Path, project: Path) -> Path:
    """The session "s1" has filled 67 % of its window in five answers."""
    text = "\n".join(an_answer(126_000 + 2_000 * n, n) for n in range(5))
    put(home / ".claude" / "projects" / "p" / "s1.jsonl", text + "\n")
    return project


def _context(project: Path, *words: str) -> str:
    found = CliRunner().invoke(
        app, ["--project", str(project), "--session-id", "s1", *words], catch_exceptions=False
    )
    assert found.exit_code == 0
    return found.stdout


def test_a_table(filled: Path) -> None:
    shown = _context(filled)
    assert "Current Context      67%" in shown
    assert "Level                L0 (Normal)\n" in shown
    assert "Estimated Remaining  ~66k tokens\n" in shown
    assert "Until L2" not in shown
    assert "Checkpoint will trigger automatically at " in shown


def test_a_table_with_a_forecast(filled: Path) -> None:
    assert "Until L2             about " in _context(filled, "--forecast")


def test_json(filled: Path) -> None:
    found = json.loads(_context(filled, "--json"))
    assert set(found) == KEYS
    assert (found["percent"], found["level"], found["tokens"]) == (67, "L0", 134_000)


def test_json_with_a_forecast(filled: Path) -> None:
    found = json.loads(_context(filled, "--json", "--forecast"))
    assert set(found) == {*KEYS, "forecast"}
    assert found["forecast"]["tokens_per_call"] == 2_000


def test_nothing_known_is_no_failure(project: Path) -> None:
    assert _context(project).startswith("Nothing is known of the context: ")
    found = json.loads(_context(project, "--json"))
    assert set(found) == KEYS
    assert found["percent"] is None


def test_what_is_no_session_is_said(project: Path) -> None:
    words = ["--project", str(project), "--session-id", "../x"]
    with pytest.raises(SisyphusError, match="is no session id"):
        CliRunner().invoke(app, words, catch_exceptions=False)
