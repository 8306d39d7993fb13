from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import put
from typer.testing import CliRunner

from sisyphus.cli.app import app
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from pathlib import Path


def _show(*words: str) -> str:
    result = CliRunner().invoke(app, ["context", "show", *words], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


@pytest.fixture
def documented(project: Path) -> Path:
    put(project / "README.md", "# Ours\n\nHow to build é.\n")
    put(project / "AGENTS.md", "Be brief.\n")
    return project


def test_it_shows_what_is_sent_and_why(documented: Path) -> None:
    assert _show("--project", str(documented)) == (
        f"Project documentation of {documented.resolve()}\n"
        "  AGENTS.md: not sent (Claude Code loads it where there is no CLAUDE.md)\n"
        "  README.md: sent, whole, 23 characters\n"
        "\n"
        "--- reply 1 of 1\n"
        "<system-reminder>\n"
        "The following project documentation is available:\n"
        "\n"
        "# README.md\n"
        "\n"
        "# Ours\n"
        "\n"
        "How to build é.\n"
        "\n"
        "</system-reminder>\n"
    )


def test_the_project_is_that_of_the_current_folder(
    documented: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (documented / "src").mkdir()
    monkeypatch.chdir(documented / "src")
    assert _show().startswith(f"Project documentation of {documented.resolve()}\n")


def test_parts_are_counted(documented: Path) -> None:
    put(documented / "README.md", "x" * 25_000)
    shown = _show("--project", str(documented))
    assert "README.md: sent, whole, 25,000 characters, in 3 parts\n" in shown
    assert "--- reply 3 of 3\n" in shown


def test_an_empty_project_is_sent_nothing(project: Path) -> None:
    shown = _show("--project", str(project)).splitlines()
    assert shown[1:] == ["  AGENTS.md: not sent (absent)", "  README.md: not sent (absent)"]


def test_what_is_switched_off_is_said(documented: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SISYPHUS_CONTEXT_ENABLED", "0")
    shown = _show("--project", str(documented))
    assert "Nothing is sent: context.enabled is false.\n" in shown
    assert "How to build" not in shown


def test_it_can_be_had_as_json(documented: Path) -> None:
    found = json.loads(_show("--project", str(documented), "--json"))
    assert [row["sent"] for row in found["documents"]] == [False, True]
    assert "How to build é." in found["texts"][0]


def test_a_folder_that_does_not_exist_is_an_error(project: Path) -> None:
    with pytest.raises(SisyphusError, match=r"no such folder: .*/nowhere\. Name an existing one"):
        _show("--project", str(project / "nowhere"))
