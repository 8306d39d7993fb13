from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from boulder.scene import PLAN, Scene
from enforce.desk import Desk as Enforced

from sisyphus.paths import project_id

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.testclient import TestClient


@pytest.fixture
def world(home: Path, project: Path) -> Enforced:
    """A session "s1" that was told to go on, in a project that its plan makes known."""
    scene = Scene(home, project)
    scene.write(PLAN)
    scene.start()
    found = Enforced(home, project)
    found.on()
    found.says()
    found.stop()
    return found


@pytest.mark.parametrize("is_chosen", [False, True])
def test_programs_are_told_how_enforcement_stands(
    is_chosen: bool, world: Enforced, program: TestClient
) -> None:
    asked = {"project": project_id(str(world.project))} if is_chosen else {}
    reply = program.get("/api/enforcement", params=asked)
    assert reply.status_code == 200
    found = reply.json()
    assert found["counts"]["enforced"] == 1
    assert [one["project_root"] for one in found["projects"]] == [str(world.project)]
    assert [session["session_id"] for session in found["projects"][0]["alive"]] == ["s1"]
    assert [row["failures"] for row in found["backoff"]] == [0, 1, 2, 3, 4, 5]


def test_an_unknown_project_is_answered_404(world: Enforced, program: TestClient) -> None:
    reply = program.get("/api/enforcement", params={"project": f"no-{world.project.name}"})
    assert (reply.status_code, reply.json()["error"]) == (404, "NOT_FOUND")


def test_a_stranger_is_told_nothing(world: Enforced, stranger: TestClient) -> None:
    reply = stranger.get("/api/enforcement")
    assert (reply.status_code, str(world.project) in reply.text) == (401, False)
