from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import a_space, ours, put

from sisyphus.checkpoint import in_run
from sisyphus.workspace import RUN_VARIABLE, run_id

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [
    pytest.param("abc12", "abc12", id="a loop's id"),
    pytest.param("", "", id="nothing"),
    pytest.param("../x", "", id="a path"),
    pytest.param("a b", "", id="no name"),
    pytest.param("x" * 200, "", id="too long"),
]


@pytest.mark.parametrize(("value", "loop_id"), NAMES)
def test_the_runner_names_its_loop(
    monkeypatch: pytest.MonkeyPatch, value: str, loop_id: str
) -> None:
    monkeypatch.setenv(RUN_VARIABLE, value)
    assert run_id() == loop_id


def test_any_other_client_is_in_no_run() -> None:
    assert run_id() == ""


def _put(project: Path, content: str | bytes) -> Path:
    return put(project / in_run.STATE_FILE, content)


def test_the_state_of_this_very_run_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"loop_id": "abc12", "iteration": 3}
    _put(project, json.dumps(found))
    assert in_run.state(a_space(project)) == {}
    monkeypatch.setenv(RUN_VARIABLE, "other")
    assert in_run.state(a_space(project)) == {}
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    assert in_run.state(a_space(project)) == found
    assert in_run.read_state(str(project)) == found


def test_the_runners_own_record_comes_before_what_lies_in_the_project(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    own = {"loop_id": "abc12", "iteration": 3, "version": 1}
    _put(project, json.dumps({**own, "iteration": 99}))
    put(ours(home, "ralph/runs/a.json"), "{")
    put(ours(home, "ralph/runs/b.json"), json.dumps({"loop_id": "other"}))
    put(ours(home, "ralph/runs/c.json"), json.dumps(own))
    put(ours(home, "ralph/runs/c.json.tmp"), json.dumps({**own, "iteration": 7}))
    assert in_run.state(a_space(project)) == own


STRANGE = [
    pytest.param("{", id="no JSON"),
    pytest.param("[]", id="a list"),
    pytest.param(b"\xff\xfe", id="no text"),
    pytest.param("[" * 100_000, id="brackets without end"),
    pytest.param(" " * (in_run.STATE_BYTES + 1), id="too long"),
]


@pytest.mark.parametrize("content", STRANGE)
def test_a_strange_file_tells_nothing(project: Path, content: str | bytes) -> None:
    _put(project, content)
    assert in_run.read_state(str(project)) == {}


def test_a_link_that_leaves_the_project_is_not_followed(project: Path, tmp_path: Path) -> None:
    elsewhere = put(tmp_path / "state.json", '{"loop_id": "abc12"}')
    (project / ".claude").mkdir()
    (project / in_run.STATE_FILE).symlink_to(elsewhere)
    assert in_run.read_state(str(project)) == {}


def test_a_project_without_a_run_has_no_state(project: Path) -> None:
    assert in_run.read_state(str(project)) == {}
