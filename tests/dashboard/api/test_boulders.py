from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import run_hook

from sisyphus.paths import project_id
from sisyphus.text import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient

PLAN = """\
# Shop

## Wave 1: Ground

- [x] Draw it
- [ ] Dig <b>it</b>
"""


@pytest.fixture
def plan(project: Path) -> Path:
    """A plan that a session follows."""
    path = project / ".claude" / "PLAN.md"
    path.parent.mkdir()
    path.write_text(PLAN, encoding="utf-8")
    met = {"session_id": "s1", "cwd": str(project), "source": "startup"}
    run_hook("session-start", met, cwd=project)
    return path


def test_no_plan_is_known(program: TestClient) -> None:
    found = program.get("/api/boulders").json()
    assert (found["boulders"], found["ended"], found["total"]) == ([], [], 0)


def test_plans_are_listed(program: TestClient, plan: Path, project: Path) -> None:
    found = program.get("/api/boulders").json()
    [row] = found["boulders"]
    assert (row["id"], row["active_plan"]) == (fingerprint(str(plan)), str(plan))
    assert (row["state"], row["completed"], row["total"]) == ("active", 1, 2)
    assert (row["project_root"], row["place"]) == (str(project), ".claude/PLAN.md")
    assert (row["is_current"], row["in_use"], row["enforced"]) == (True, True, False)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        pytest.param("state=active", 1, id="a state"),
        pytest.param("state=complete", 0, id="another state"),
    ],
)
@pytest.mark.usefixtures("plan")
def test_plans_can_be_chosen(program: TestClient, query: str, count: int) -> None:
    assert program.get(f"/api/boulders?{query}").json()["total"] == count


@pytest.mark.usefixtures("plan")
def test_a_project_can_be_chosen(program: TestClient, project: Path) -> None:
    named = project_id(str(project))
    assert program.get(f"/api/boulders?project={named}").json()["total"] == 1


def test_a_plan_answers_as_its_status_does(program: TestClient, plan: Path) -> None:
    found = program.get(f"/api/boulders/{fingerprint(str(plan))}").json()
    assert (found["active_plan"], found["state"]) == (str(plan), "active")
    assert found["progress"]["completed"] == 1
    assert found["next_task"] == "Dig <b>it</b>"
    assert found["waves"][0]["name"] == "Ground"


@pytest.mark.usefixtures("plan")
@pytest.mark.parametrize("named", ["0000000000000000", "a%00b", "..%2f..%2fetc", "%ff"])
def test_no_such_plan(program: TestClient, named: str) -> None:
    reply = program.get(f"/api/boulders/{named}")
    assert (reply.status_code, reply.json()["error"]) == (404, "NOT_FOUND")
