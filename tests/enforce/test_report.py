from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from enforce.desk import DONE, NOT_DONE, Desk
from sisyphus.enforce import actions, report

if TYPE_CHECKING:
    from pathlib import Path


def _status(desk: Desk) -> str:
    return report.status_text(actions.status(desk.space()), desk.now)


def test_off(home: Path, project: Path) -> None:
    assert _status(Desk(home, project)) == (
        "Continuous enforcement is off here. `sisyphus enforce on` begins it."
    )


def test_before_the_first_enforcement(desk: Desk) -> None:
    desk.stop(NOT_DONE)
    desk.now += 12

    assert (
        _status(desk)
        == """\
Continuous enforcement: on (CONTINUOUS)
Enforcements: 0, the last one never
Failures in a row: 0
Last activity: 12 s ago

Session s1 (CONTINUOUS)
  ✓ main agent  the main agent
  ✗ idle        idle for 12 s of 30 s
  ✓ cooldown    nothing was enforced yet
  ✓ failures    0 of 5 in a row
  ✓ user        not stopped by the user
  ✓ limit       0 of 50
  Next: in 18 s, if the session stays idle"""
    )


def test_who_is_at_work_is_not_woken_now(desk: Desk) -> None:
    desk.now += 3_600

    assert _status(desk).endswith(
        "\n  Next: not before it stops: it is at work, or has not stopped since it was"
    )


def test_after_some(desk: Desk) -> None:
    desk.stop(DONE)
    desk.now += 10
    desk.stop("Which one?")
    desk.stops_it("s2")

    text = _status(desk)

    assert "Enforcements: 1, the last one 10 s ago\nFailures in a row: 1\n" in text
    assert "  ✗ cooldown    50 s of 1 min are left\n" in text
    assert "  Next: not by itself: the model asks the user something" in text
    assert "Session s2 (STOPPED)" in text
    assert "  ✗ user        stopped by the user until the next prompt\n" in text


def test_what_is_due_by_now(desk: Desk) -> None:
    desk.stop(NOT_DONE)
    desk.now += 99

    assert _status(desk).endswith("  Next: now, if the session stays idle")


def test_sessions_that_have_ended_are_not_shown(desk: Desk) -> None:
    desk.ends()

    assert "s1" not in _status(desk)


def test_many_sessions_are_counted(desk: Desk) -> None:
    for n in range(15):
        desk.says(session=f"t{n}")

    text = _status(desk)

    assert text.count("Session ") == 10
    assert text.endswith("\n6 more sessions")


WORDS = [
    pytest.param({"stopRequested": True}, "stopped until the user's next prompt", id="stopped"),
    pytest.param(
        {"iteration": 50}, "at its limit; `sisyphus enforce on` begins anew", id="exhausted"
    ),
]


@pytest.mark.parametrize(("keys", "words"), WORDS)
def test_how_it_stands_in_words(desk: Desk, keys: dict[str, object], words: str) -> None:
    state = desk.state
    state["sessions"]["s1"] |= keys
    desk.state_path.write_text(json.dumps(state))

    assert _status(desk).startswith(f"Continuous enforcement: {words} (")


def test_the_log(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    desk.stop(NOT_DONE)
    desk.stop(DONE)

    lines = report.log_text(desk.rows).split("\n")

    assert lines[0] == "2026-11-20 18:40:00            on"
    assert lines[1].startswith("2026-11-20 18:40:00  s1        held back  claim  ")
    assert lines[2].startswith("2026-11-20 18:40:00  s1        enforced   claim  ")
    assert DONE in lines[2]


IDS = [
    pytest.param(["0a1b2c3d-4e", "9f8e7d6c-5b"], ["0a1b2c3d", "9f8e7d6c"], id="short"),
    pytest.param(["0a1b2c3d-4e", "0a1b2c3d-5f"], ["0a1b2c3d-4e", "0a1b2c3d-5f"], id="too alike"),
]


@pytest.mark.parametrize(("sessions", "shown"), IDS)
def test_so_much_of_an_id_is_shown_as_tells_sessions_apart(
    sessions: list[str], shown: list[str]
) -> None:
    rows = [{"at": "2026-11-20T18:40:00Z", "session_id": one, "what": "on"} for one in sessions]

    assert [line.split()[2] for line in report.log_text(rows).split("\n")] == shown


def test_an_empty_log_says_so() -> None:
    assert report.log_text([]) == "Nothing was enforced here yet."


def test_a_strange_row_harms_nobody() -> None:
    row = {"at": 7, "what": "a\nb\x1b[2J", "why": ["x"], "session_id": None, "layer": []}

    text = report.log_text([row, {}])

    assert "\x1b" not in text
    assert len(text.split("\n")) == 2
