from __future__ import annotations

import json
from typing import Any

import pytest
from ralph.checklists.scene import a_loop, end_all, save
from typer.testing import CliRunner

from sisyphus.cli.app import app
from sisyphus.errors import SisyphusError
from sisyphus.paths import our_home


@pytest.fixture(autouse=True)
def _active() -> None:
    save(our_home(), a_loop())


def _run(*words: str) -> str:
    command = ["ralph", "checklist", *words]
    return CliRunner().invoke(app, command, catch_exceptions=False).stdout


def _statuses(*words: str) -> list[Any]:
    found = json.loads(_run(*words, "--json"))
    return [raw["status"] for raw in found["completion_criteria"]]


def test_a_checklist_grows_and_is_ticked() -> None:
    assert "- [ ] 2 docs say so" in _run("add", "tests pass", "docs say so")
    assert "- [x] 1 tests pass" in _run("done", "1")
    assert "- [>] 2 docs say so" in _run("start", "2")
    assert _run("list").splitlines() == [
        "Checklist of loop abcde (1 of 2 done)",
        "- [x] 1 tests pass",
        "- [>] 2 docs say so",
    ]
    assert "1 of 1 done" in _run("remove", "2")


def test_every_command_answers_in_json() -> None:
    assert _statuses("add", "one", "two") == ["pending", "pending"]
    assert _statuses("done", "1", "2") == ["completed", "completed"]
    assert _statuses("done", "--undo", "1") == ["pending", "completed"]
    assert _statuses("start", "1") == ["in_progress", "completed"]
    assert _statuses("remove", "1") == ["completed"]
    assert _statuses("list") == ["completed"]


def test_session_and_loop_can_be_named() -> None:
    save(our_home(), a_loop("fghij", "s2"))

    _run("add", "one", "--loop", "abcde")
    _run("add", "two", "--session-id", "s2")

    assert "1 one" in _run("list", "--session-id", "s1")
    assert "1 two" in _run("list", "--loop", "fghij")


def test_the_checklist_of_a_loop_that_has_ended_is_shown() -> None:
    _run("add", "one")
    end_all(our_home())

    assert "- [ ] 1 one" in _run("list", "--loop", "abcde")
    with pytest.raises(SisyphusError, match="has ended"):
        _run("add", "two", "--loop", "abcde")
