from __future__ import annotations

import pytest
from ralph.lines import read

from checkpoint.telling import called, failed, todos
from sisyphus.checkpoint.seen import work


def _todos(*calls: list[dict[str, object]]) -> list[tuple[str, str]]:
    found = work.read(read(*(record for call in calls for record in call))).todos
    return [(todo["content"], todo["status"]) for todo in found]


def _create(name: object, subject: object = "do x") -> list[dict[str, object]]:
    given = {"subject": subject, "description": "d"}
    return called("TaskCreate", given, {"task": {"id": name, "subject": subject}})


def _update(name: object, **given: object) -> list[dict[str, object]]:
    return called("TaskUpdate", {"taskId": name, **given}, {"success": True, "taskId": name})


def _refused(name: str) -> list[dict[str, object]]:
    return called("TaskUpdate", {"taskId": name, "status": "completed"}, {"success": False})


LISTS = [
    pytest.param([todos(("a", "completed"), ("b", "pending"))],
        [("a", "completed"), ("b", "pending")], id="a list"),
    pytest.param([todos(("a", "pending")), todos(("b", "in_progress"))], [("b", "in_progress")],
        id="the last one"),
    pytest.param([todos(("a", "pending")), todos()], [], id="an empty one"),
    pytest.param([todos(("a", "?"), ("", "pending"))], [("a", "pending")], id="odd ones"),
    pytest.param([called("TodoWrite", {"todos": 7})], [], id="no list"),
    pytest.param([called("TodoWrite", {"todos": [7, {}]})], [], id="no todos"),
    pytest.param([failed("TodoWrite", {"todos": [{"content": "a"}]}, "disabled")], [],
        id="refused"),
    pytest.param([_create("1")], [("do x", "pending")], id="a task"),
    pytest.param([_create("1"), _update("1", status="in_progress")], [("do x", "in_progress")],
        id="that begins"),
    pytest.param([_create("1"), _update("1", subject="do y")], [("do y", "pending")],
        id="reworded"),
    pytest.param([_create("1"), _update("1", status="deleted")], [], id="deleted"),
    pytest.param([_update("4", status="completed")], [("Task 4", "completed")], id="unseen before"),
    pytest.param([_update("4", owner="me")], [], id="of which nothing is told"),
    pytest.param([_create(None)], [], id="without an id"),
    pytest.param([called("TaskCreate", {"subject": "x"}, "done")], [], id="without an answer"),
    pytest.param(
        [_create("1"), _refused("1")], [("do x", "pending")], id="an update that was refused"),
]  # fmt: skip


@pytest.mark.parametrize(("calls", "found"), LISTS)
def test_the_models_list_is_told(
    calls: list[list[dict[str, object]]], found: list[tuple[str, str]]
) -> None:
    assert _todos(*calls) == found


def test_a_very_long_list_is_cut() -> None:
    assert len(_todos(todos(*((str(n), "pending") for n in range(999))))) == 200
