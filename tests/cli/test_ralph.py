from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from sisyphus.cli.app import app
from sisyphus.paths import our_home
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.store import LoopStore


@pytest.fixture
def _active() -> None:
    loop = Loop("s1", "abcde", "make the tests pass")
    loop.completion_promise, loop.max_iterations = "DONE", 50
    with LoopStore(our_home(), "s1") as held:
        held.save([loop])


def _run(*words: str) -> str:
    return CliRunner().invoke(app, ["ralph", *words], catch_exceptions=False).stdout


def test_without_a_loop_the_list_says_how_one_starts() -> None:
    assert ":ralph-loop" in _run("list")


@pytest.mark.usefixtures("_active")
def test_the_list_shows_promise_and_iteration() -> None:
    shown = _run("list")

    assert "abcde  make the tests pass" in shown
    assert "active, iteration 1 of 50" in shown
    assert "promise: DONE" in shown


@pytest.mark.usefixtures("_active")
def test_a_cancelled_loop_is_named_and_gone() -> None:
    assert "Loop abcde cancelled: make the tests pass" in _run("cancel")
    assert json.loads(_run("list", "--json")) == []


@pytest.mark.usefixtures("_active")
def test_cancel_answers_in_json() -> None:
    [row] = json.loads(_run("cancel", "--json"))

    assert row["loop_id"] == "abcde"
