from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ralph.past.log import AT

from dashboard.api import stand
from sisyphus.paths import our_home
from sisyphus.ralph.checklists import checklist_store
from sisyphus.state.files import write_json

if TYPE_CHECKING:
    from starlette.testclient import TestClient

HERE = "/api/checklist/aaaaa"


def test_a_checklist_says_what_is_done(program: TestClient) -> None:
    stand.must(stand.active(), "tests pass", "it is told", done=1)
    found = program.get(HERE).json()
    progress = {"criteria": "1/2 criteria", "criteriaCompleted": 1, "criteriaTotal": 2}
    assert found["progress"] == progress
    first, second = found["checklist"]["completion_criteria"]
    assert first == {
        "id": "1", "text": "tests pass", "status": "completed", "created_at": AT,
        "completed_at": AT, "completed_iteration": 4,
    }  # fmt: skip
    assert (second["status"], second["completed_at"]) == ("pending", None)
    assert found["checklist"]["loop_id"] == "aaaaa"


def test_it_outlives_its_loop(program: TestClient) -> None:
    stand.must(stand.over(), "tests pass")
    assert program.get(HERE).json()["progress"]["criteria"] == "0/1 criteria"


@pytest.mark.parametrize(
    "criteria",
    [
        pytest.param(None, id="none"),
        pytest.param([], id="an empty list"),
        pytest.param({"id": "1"}, id="no list"),
        pytest.param([None, 5, [], {}, {"id": "1"}, {"text": "no id"}], id="no criterion"),
    ],
)
def test_what_holds_no_criterion_is_no_checklist(program: TestClient, criteria: object) -> None:
    stand.must(stand.active(), "one")
    path = checklist_store.checklist_path(our_home(), "aaaaa")
    write_json(path, {"completion_criteria": criteria})
    reply = program.get(HERE)
    assert (reply.status_code, reply.json()["error"]) == (404, "NOT_FOUND")


def test_what_makes_no_sense_in_it_is_passed_over(program: TestClient) -> None:
    stand.must(stand.active(), "one")
    items = [None, 5, {"id": 2, "text": "tests pass", "status": ["x"], "created_at": {}}]
    path = checklist_store.checklist_path(our_home(), "aaaaa")
    write_json(path, {"completion_criteria": items, "session_id": 5, "project": None})
    checklist = program.get(HERE).json()["checklist"]
    [one] = checklist["completion_criteria"]
    assert (one["id"], one["status"], one["created_at"]) == ("2", "pending", None)
    assert (checklist["session_id"], checklist["project"]) == ("", "")


def test_no_checklist(program: TestClient) -> None:
    assert program.get("/api/checklist/zzzzz").json()["error"] == "NOT_FOUND"
    assert program.get("/api/checklist/a%00").json()["error"] == "INVALID_LOOP_ID"
