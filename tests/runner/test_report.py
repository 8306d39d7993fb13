"""What people are told of a run that goes on, was left, or has ended."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.runner import report
from sisyphus.runner.keep import state, store
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import Run
from sisyphus.session.process import identify
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json

GOES_ON = "  It is not at work now. Go on with `sisyphus ralph run --resume`."


@pytest.fixture
def places(project: Path) -> Places:
    return Places(Workspace(str(project)))


def _save(places: Places, **fields: object) -> None:
    known = {"loop_id": "abc12", "task_name": "Mend the parser", "iteration": 3}
    store.save(places, Run({**known, "status": state.RUNNING, **fields}))


def _standing(project: Path) -> list[str]:
    return report.standing(Workspace(str(project))).splitlines()


def _at_work() -> Json:
    """This very process."""
    found: Json = identify(os.getpid()).as_json()
    return found


def test_of_a_project_without_a_run_nothing_is_told(project: Path) -> None:
    assert _standing(project) == []
    assert list(project.glob(".claude")) == []


def test_one_that_was_left_is_told_of(project: Path, places: Places) -> None:
    _save(
        places,
        status=state.CANCELLED,
        judged=2,
        worked_seconds=90,
        tokens=5_000,
        todo_items=["b", "c"],
        completed_items=["a"],
        context_checkpoint={"active": True, "handoff_file": ".claude/handoffs/x.md"},
    )
    assert _standing(project) == [
        "  Mend the parser (iteration 3 of 50)",
        "  2 iterations, 1 of 3 items done, 5,000 tokens, 1 min 30 s at work.",
        "  Handoff: .claude/handoffs/x.md",
        f"  What each iteration did: {places.progress}",
        GOES_ON,
    ]


def test_one_that_is_at_work_is_not_to_be_resumed(project: Path, places: Places) -> None:
    _save(places, runner=_at_work(), in_flight={"item": "b"}, max_iterations=0)
    rows = _standing(project)
    assert rows[0] == "  Mend the parser (iteration 3 without a limit)"
    assert "  at work on: b" in rows
    assert GOES_ON not in rows
    assert not any("What each iteration did" in row for row in rows)


NOT_AT_WORK = [
    pytest.param(None, id="nobody"),
    pytest.param(7, id="no process"),
    pytest.param({"pid": 2**22 + 1, "started": "x"}, id="one that has ended"),
    pytest.param({"pid": os.getpid(), "started": "long ago"}, id="another one with its number"),
]


@pytest.mark.parametrize("runner", NOT_AT_WORK)
def test_one_whose_runner_is_gone_is(project: Path, places: Places, runner: object) -> None:
    _save(places, runner=runner)
    assert _standing(project)[-1] == GOES_ON


STATUSES = [
    pytest.param(state.RUNNING, "It was left", id="running"),
    pytest.param(state.CHECKPOINTED, "It was left", id="between two iterations"),
    pytest.param(state.CANCELLED, "Interrupted", id="interrupted"),
    pytest.param(state.FATAL, "Ended by a fatal error", id="ended by an error"),
    pytest.param(state.MAX_ITERATIONS, "Ended at a limit", id="at a limit"),
    pytest.param(state.BREAKER, "Ended without progress", id="without progress"),
    pytest.param("else", "It was left", id="unknown"),
]


@pytest.mark.parametrize(("status", "how"), STATUSES)
def test_it_is_told_how_one_ended_and_how_to_go_on(
    project: Path, places: Places, status: str, how: str
) -> None:
    _save(places, status=status, reason="so it was. ")
    rows = _standing(project)
    assert rows[1] == f"  {how}: so it was."
    assert rows[-1] == GOES_ON


def test_with_one_that_is_complete_there_is_nothing_to_go_on(project: Path, places: Places) -> None:
    _save(places, status=state.COMPLETED, reason="all items are done")
    rows = _standing(project)
    assert rows[1] == "  Completed: all items are done."
    assert GOES_ON not in rows


def test_a_checkpoint_that_was_given_is_none(project: Path, places: Places) -> None:
    _save(places, context_checkpoint={"active": False, "handoff_file": "x.md"})
    assert not any("Handoff" in row for row in _standing(project))


STRANGE = [
    pytest.param("{", id="half a file"),
    pytest.param("[]", id="a list"),
    pytest.param('{"status": "running"}', id="no loop"),
    pytest.param('{"loop_id": 7, "status": ["running"]}', id="other kinds"),
]


@pytest.mark.parametrize("text", STRANGE)
def test_a_strange_state_file_is_told_nothing_of_and_stays(project: Path, text: str) -> None:
    path = put(project / ".claude" / "ralph-state.json", text)
    assert _standing(project) == []
    assert path.read_text("utf-8") == text


def test_what_a_project_says_cannot_move_the_cursor(project: Path) -> None:
    hostile = {
        "loop_id": "abc12",
        "status": "running",
        "task_name": "a\n\x1b[2Jb",
        "reason": "r\x1b[2J",
        "in_flight": {"item": "c\rd\x1b]0;x\x07"},
        "context_checkpoint": {"active": True, "handoff_file": "e\x1b[1mf"},
    }
    put(project / ".claude" / "ralph-state.json", json.dumps(hostile))
    rows = _standing(project)
    assert len(rows) == 5
    assert not any(sign in row for row in rows for sign in "\x1b\x07\r")


def test_a_folder_that_leads_away_is_no_place_of_a_run(project: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / ".claude").symlink_to(elsewhere)
    assert _standing(project) == []


def test_runs_that_are_at_work_are_named_from_anywhere(places: Places) -> None:
    ours = os.path.dirname(os.path.dirname(places.runs))
    assert report.at_work(ours) == ""
    _save(places, loop_id="abc11", runner=_at_work())
    store.retire(places)
    _save(places)
    assert report.at_work(ours) == ""
    _save(places, task_name="Mend\x1b it", runner=_at_work())
    assert report.at_work(ours).startswith(
        "A run in fresh contexts is at work: Mend  it (iteration 3). `sisyphus ralph status`"
    )
