from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import a_payload, ours, put

from sisyphus.upkeep import hooks, look
from sisyphus.workspace import Workspace
from upkeep import attic
from upkeep.attic import DAY, NOW, below, lay

if TYPE_CHECKING:
    from pathlib import Path

STAMP = "cache/purged"


def _end(
    project: Path,
    now: float = NOW,
    *,
    client: str = "claude",
    payload: dict[str, str] | None = None,
) -> list[str]:
    """What the journal is told."""
    space = Workspace(str(project), now=now, client=client)
    said = {"reason": "prompt_input_exit", **(payload or {})}
    outcome = hooks.on_session_end(a_payload("session-end", **said), space)
    return outcome.notes if outcome else []


def test_once_a_day_what_is_old_goes(home: Path, project: Path) -> None:
    lay(home, attic.OF_SESSION, 31, "old1")
    lay(home, attic.OF_SESSION, 3, "s1")
    kept = {name.format("s1") for name in attic.OF_SESSION}
    count = len(attic.OF_SESSION)
    assert _end(project) == [f"removed what was not used for 30 days: {count} files, 34 B"]
    assert below(home) == {*kept, STAMP}

    lay(home, attic.OF_SESSION[:1], 40, "old2")
    assert _end(project, NOW + DAY - 1) == []
    assert len(_end(project, NOW + DAY)) == 1
    assert below(home) == {*kept, STAMP}


def test_a_quiet_day_is_not_noted(home: Path, project: Path) -> None:
    assert _end(project) == []
    assert below(home) == {STAMP}


def test_what_people_are_to_decide_on_stays(home: Path, project: Path) -> None:
    lay(home, (*attic.ON_REQUEST, "replaced/0123456789ab-notes.md"), 90, "x1")
    assert _end(project) == []


LEFT_ALONE = [
    pytest.param({"agent_id": "a1"}, 30, id="of a subagent"),
    pytest.param({"session_id": ""}, 30, id="of no session"),
    pytest.param({}, 0, id="all is to be kept"),
]


@pytest.mark.parametrize(("payload", "days"), LEFT_ALONE)
def test_some_ends_look_at_nothing(
    home: Path, project: Path, payload: dict[str, str], days: int
) -> None:
    put(ours(home, "config.toml"), f"[state]\nkeep_days = {days}\n")
    lay(home, attic.OF_SESSION, 90, "old1")
    before = below(home)
    assert _end(project, payload=payload) == []
    assert before <= below(home)
    assert STAMP not in below(home)


@pytest.mark.parametrize("client", ["claude", "opencode"])
def test_in_print_mode_what_is_old_goes_as_well(home: Path, project: Path, client: str) -> None:
    lay(home, attic.OF_SESSION, 90, "old1")
    assert len(_end(project, client=client, payload={"reason": "other"})) == 1


@pytest.mark.parametrize("name", ["SISYPHUS_STATE_KEEP_DAYS", "a project"])
def test_neither_a_project_nor_a_variable_says_how_long(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "1")
    put(project / ".claude" / "sisyphus.toml", "[state]\nkeep_days = 1\n")
    lay(home, attic.OF_SESSION, 3, "s1")
    assert _end(project) == []


def test_what_is_too_much_for_one_day_waits_for_the_next(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "MOST_FILES", 5)
    lay(home, attic.OF_SESSION, 90, "old1")
    left = len(attic.OF_SESSION) - 5
    assert _end(project)[0].endswith(f"5 files, 10 B; {left} stay for another day")


def test_where_there_is_too_much_to_look_through_people_are_told(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "TELL_EVERY", 1)
    monkeypatch.setattr(hooks, "MOST_SECONDS", -1)
    lay(home, attic.OF_SESSION, 90, "old1")
    before = below(home)
    assert "`sisyphus purge` does" in _end(project)[0]
    assert below(home) == {*before, STAMP}


def test_a_clock_that_was_set_back_does_not_end_it(home: Path, project: Path) -> None:
    stamp = put(ours(home, STAMP), "")
    os.utime(stamp, (NOW + 90 * DAY, NOW + 90 * DAY))
    lay(home, attic.OF_SESSION, 90, "old1")
    assert len(_end(project)) == 1
