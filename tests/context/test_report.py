from __future__ import annotations

from typing import TYPE_CHECKING

from making import a_space, put

from sisyphus.context.report import report

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_report_says_what_is_sent_and_why(project: Path) -> None:
    put(project / "README.md", "line\n" * 600)
    put(project / "AGENTS.md", "Be brief.\n")
    found = report(a_space(project))
    assert found["project"] == str(project.resolve())
    assert found["enabled"] is True
    assert found["documents"] == [
        {
            "name": "AGENTS.md",
            "path": str(project / "AGENTS.md"),
            "sent": False,
            "reason": "Claude Code loads it where there is no CLAUDE.md",
        },
        {
            "name": "README.md",
            "path": str(project / "README.md"),
            "sent": True,
            "reason": "first 500 of 600 lines",
            "characters": 2_570,
            "parts": 1,
        },
    ]
    assert len(found["texts"]) == 1
    assert found["texts"][0].startswith("<system-reminder>\n")


def test_where_it_is_switched_off_nothing_is_said_to_be_sent(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SISYPHUS_CONTEXT_ENABLED", "0")
    readme = put(project / "README.md", "How to build.\n")
    found = report(a_space(project))
    assert (found["enabled"], found["texts"]) == (False, [])
    assert found["documents"][1] == {
        "name": "README.md",
        "path": str(readme),
        "sent": False,
        "reason": "context.enabled is false",
    }


def test_an_empty_project_has_an_empty_report(project: Path) -> None:
    found = report(a_space(project))
    assert [(row["name"], row["reason"]) for row in found["documents"]] == [
        ("AGENTS.md", "absent"),
        ("README.md", "absent"),
    ]
    assert found["texts"] == []


def test_a_long_document_is_reported_reply_by_reply(project: Path) -> None:
    put(project / "README.md", "x" * 25_000)
    found = report(a_space(project))
    assert found["documents"][1]["parts"] == 3
    assert [f"part {n} of 3" in text for n, text in enumerate(found["texts"], 1)] == [True] * 3
