"""What `sisyphus ralph status` tells of a run in fresh contexts."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, HANG_SECONDS, put
from runner.scripted import said

from sisyphus.paths import our_home
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.store import LoopStore
from sisyphus.runner.keep import state, store
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import Run
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from runner.runs import Scene

HEAD = "A run in fresh contexts:"
GOES_ON = "It is not at work now. Go on with `sisyphus ralph run --resume`."


@pytest.fixture
def left(project: Path) -> Path:
    """A run was interrupted here."""
    known = {"loop_id": "abc12", "task_name": "Mend the parser", "iteration": 3, "judged": 2}
    places = Places(Workspace(str(project)))
    store.save(places, Run({**known, "status": state.CANCELLED}))
    return project


def _status(project: Path, *words: str) -> str:
    done = subprocess.run(
        [COMMAND, "ralph", "status", *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG_SECONDS,
        cwd=project,
    )
    assert done.stderr == ""
    return done.stdout


def test_a_run_that_was_left_is_shown(left: Path) -> None:
    rows = _status(left).splitlines()
    assert rows[:3] == [
        "No loop is active here.",
        HEAD,
        "  Mend the parser (iteration 3 of 50)",
    ]
    assert f"  {GOES_ON}" in rows
    assert rows[-1] == "`sisyphus ralph log` shows how loops ended."


def test_from_a_folder_of_the_project_as_well(left: Path) -> None:
    (left / "src").mkdir()
    assert HEAD in _status(left / "src")


def test_without_a_run_none_is_shown(project: Path) -> None:
    assert HEAD not in _status(project)


def test_a_strange_state_file_is_no_error(project: Path) -> None:
    put(project / ".claude" / "ralph-state.json", "{")
    assert HEAD not in _status(project)


def test_where_a_loop_is_active_it_alone_is_shown(left: Path) -> None:
    with LoopStore(our_home(), "s1") as held:
        held.save([Loop("s1", "fghij", "make the tests pass")])
    shown = _status(left, "--session-id", "s1")
    assert "make the tests pass" in shown
    assert HEAD not in shown


def test_json_is_of_loops_alone(left: Path) -> None:
    assert json.loads(_status(left, "--json")) is None


def test_how_a_run_came_to_its_end_is_shown(scene: Scene) -> None:
    client = scene.play(said("a"))
    code, _, _ = scene.command(
        "--prompt", "do it", "--max-iterations", "1", "--client-command", client
    )
    assert code != 0
    assert scene.state["status"] == state.MAX_ITERATIONS
    rows = _status(scene.project).splitlines()
    assert rows[1:4] == [
        HEAD,
        "  do it (iteration 1 of 1)",
        "  Ended at a limit: the limit of 1 iteration is reached.",
    ]
    assert f"  {GOES_ON}" in rows
