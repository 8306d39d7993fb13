from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_files import put_foreign

from enforce.desk import NOT_DONE, Desk
from sisyphus.enforce import actions, commands

if TYPE_CHECKING:
    from pathlib import Path


def _answer(desk: Desk, prompt: str) -> str | None:
    outcome = desk.event("user-prompt-submit", prompt=prompt)
    if outcome.reason is not None:
        assert outcome.notes
    return outcome.reason


@pytest.mark.parametrize("name", ["/sisyphus:enforce", "/enforce", "  /enforce"])
def test_it_is_switched_on_and_off_where_it_is_typed(home: Path, project: Path, name: str) -> None:
    desk = Desk(home, project)

    answer = _answer(desk, f"{name} on")

    assert str(answer).startswith(f"Continuous enforcement is on for {project}.")
    assert "\n\nFrom its next stop on, a session that says it is done is told" in str(answer)
    assert "one that rests for\n30 s is woken: 50 times a session at most." in str(answer)
    assert desk.entry()["lastActivity"] == round(desk.now * 1_000)
    assert _answer(desk, f"{name} off") == "Continuous enforcement is off."
    assert not actions.status(desk.space())["on"]


def test_an_endless_one_says_so(home: Path, project: Path) -> None:
    desk = Desk(home, project)
    desk.set(max_iterations=0, idle_seconds=2.5)

    answer = _answer(desk, "/enforce on")

    assert "rests for\n2.5 s is woken: without an end." in str(answer)


def test_the_session_is_stopped_where_it_is_typed(desk: Desk) -> None:
    desk.says(session="s2")

    answer = _answer(desk, "/sisyphus:enforce stop")

    assert answer == "Continuous enforcement is stopped until your next prompt."
    assert desk.entry()["stopRequested"]
    assert not desk.entry("s2")["stopRequested"]


def test_what_cannot_be_done_is_said(home: Path, project: Path) -> None:
    answer = _answer(Desk(home, project), "/sisyphus:enforce stop")

    assert str(answer).startswith("enforcement is off here: nothing to stop.")


@pytest.mark.parametrize("prompt", ["/sisyphus:enforce", "/enforce", "/enforce status "])
def test_without_a_word_it_shows_this_session(desk: Desk, prompt: str) -> None:
    desk.says(session="s2")
    desk.stop(NOT_DONE)

    answer = str(_answer(desk, prompt))

    assert "Session s1 (CONTINUOUS)" in answer
    assert "s2" not in answer


def test_the_log_is_shown(desk: Desk) -> None:
    desk.stop(NOT_DONE)

    assert "held back" in str(_answer(desk, "/sisyphus:enforce log"))


def test_another_word_of_ours_is_a_slip(desk: Desk) -> None:
    assert _answer(desk, "/sisyphus:enforce now please") == commands.USAGE


OTHERS = [
    "/enforce the rules of the house",
    "/enforcer on",
    "/boulder-enforced on",
    "/other:enforce on",
    "please /enforce on",
    "/ enforce on",
]


@pytest.mark.parametrize("prompt", OTHERS)
def test_what_is_not_ours_goes_on_to_the_model(desk: Desk, prompt: str) -> None:
    assert _answer(desk, prompt) is None
    assert desk.whats == ["on"]


def test_a_users_own_command_of_the_name_is_his(desk: Desk, home: Path) -> None:
    put_foreign(home / ".claude", "enforce")
    assert _answer(desk, "/enforce off") is None
    assert desk.whats == ["on"]
    assert _answer(desk, "/sisyphus:enforce off")


@pytest.mark.parametrize("word", ["on", "off", "stop"])
def test_a_client_in_another_ones_shell_switches_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv("SISYPHUS_SESSION_ID", "ses_outer")
    before = desk.state
    assert desk.says(f"/enforce {word}").reason == (
        "the user alone begins and ends continuous enforcement"
    )
    assert desk.state == before
    assert str(desk.says("/enforce status").reason).startswith("Continuous enforcement")
