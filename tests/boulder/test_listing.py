from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from making import know_session, put
from ralph.repositories import a_repository, git

from boulder.scene import DAY, DONE, PLAN, Scene
from sisyphus.boulder import actions, listing
from sisyphus.boulder.choose import names_of_plans
from sisyphus.boulder.store import book_path, history_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Json

SECOND = ".claude/plans/second.md"


def _row(scene: Scene) -> Json:
    (row,) = listing.boulders(scene.space())
    return row


def test_without_any_plan_there_is_nothing_to_list(scene: Scene) -> None:
    scene.write(PLAN)
    assert listing.boulders(scene.space()) == []
    assert not scene.home.exists()


def test_a_row_tells_what_is_known_of_a_plan(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    scene.write("# Ship it now\n- [x] a\n- [ ] b\n- [-] c\n")
    assert _row(scene) == {
        "project_root": str(scene.project),
        "plan_name": "Ship it now",
        "active_plan": str(plan),
        "state": "active",
        "completed": 1,
        "total": 2,
        "touched_at": "2001-09-09T01:46:41Z",
        "sessions_open": 1,
        "is_current": True,
        "in_use": True,
        "enforced": False,
    }


def _break(scene: Scene) -> None:
    (scene.project / ".claude/PLAN.md").write_bytes(b"\xff")


def _age(scene: Scene) -> None:
    scene.end()
    scene.now += 15 * DAY


STATES: dict[str, Callable[[Scene], object]] = {
    "active": lambda _: None,
    "complete": lambda scene: scene.write(DONE),
    "no_tasks": lambda scene: scene.write("# Ship it\n"),
    "missing": lambda scene: (scene.project / ".claude/PLAN.md").unlink(),
    "unreadable": _break,
    "stale": _age,
}


@pytest.mark.parametrize("state", STATES)
def test_a_plan_is_in_one_of_these_states(scene: Scene, state: str) -> None:
    scene.edit(PLAN)
    STATES[state](scene)
    row = _row(scene)
    assert (row["state"], row["plan_name"]) == (state, "Ship it")


@pytest.mark.parametrize("state", ["missing", "unreadable"])
def test_of_a_plan_that_says_nothing_the_record_tells(scene: Scene, state: str) -> None:
    scene.edit(PLAN)
    STATES[state](scene)
    row = _row(scene)
    assert (row["completed"], row["total"]) == (1, 3)


def test_the_plan_that_was_touched_last_comes_first(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    scene.write("# Other\n- [ ] x\n", "PLAN.md", other)
    scene.start("s2", cwd=str(other))
    scene.edit("# Second\n- [ ] x\n", SECOND)
    assert [row["plan_name"] for row in listing.boulders(scene.space())] == [
        "Second",
        "Other",
        "Ship it",
    ]
    assert [row["plan_name"] for row in listing.of_project(scene.space(str(other)))] == ["Other"]


def test_of_a_project_with_two_plans_one_is_current(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.edit("# Second\n- [ ] x\n", SECOND)
    actions.enforce(scene.space(), on=True)
    rows = {row["plan_name"]: row for row in listing.boulders(scene.space())}
    marks = ("is_current", "in_use", "enforced")
    assert [rows["Second"][mark] for mark in marks] == [True, True, True]
    assert [rows["Ship it"][mark] for mark in marks] == [False, False, False]


def test_a_plan_that_another_tool_put_in_use_is_listed(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.use({"active_plan": str(plan), "project_root": str(scene.project)})
    row = _row(scene)
    assert (row["active_plan"], row["is_current"], row["in_use"]) == (str(plan), True, True)


def test_a_project_that_is_gone_is_listed(scene: Scene) -> None:
    scene.edit(PLAN)
    shutil.rmtree(scene.project)
    assert _row(scene)["state"] == "missing"


BOOKS = [
    pytest.param("", id="empty"),
    pytest.param('{"project_root": "/p", ', id="half written"),
    pytest.param("[]", id="no object"),
    pytest.param("{}", id="of no project"),
    pytest.param('{"project_root": 7}', id="root is no text"),
    pytest.param('{"project_root": "\\ud800/x"}', id="root is no path"),
    pytest.param('{"project_root": "/another"}', id="of another project"),
]


@pytest.mark.parametrize("content", BOOKS)
def test_a_broken_book_hides_no_other_project(scene: Scene, other: Path, content: str) -> None:
    scene.edit(PLAN)
    put(scene.path(book_path(str(scene.home), str(other))), content)
    assert _row(scene)["plan_name"] == "Ship it"
    assert listing.of_project(scene.space(str(other))) == []


def test_sessions_that_ended_are_not_open(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.start("s2")
    scene.end("s1")
    assert _row(scene)["sessions_open"] == 1


def test_a_session_whose_client_is_gone_is_not_open(scene: Scene) -> None:
    scene.edit(PLAN)
    ours = scene.space().ours
    know_session(ours, "s1", pid=2_000_000_000, process_started="1-00000000", in_process=1)
    assert _row(scene)["sessions_open"] == 0


def test_what_is_no_session_id_is_not_looked_up(scene: Scene) -> None:
    plan = scene.write(PLAN)
    ids = ["../../etc/passwd", "a\0b", "\ud800"]
    scene.use({
        "active_plan": str(plan), "project_root": str(scene.project), "session_ids": ids,
    })  # fmt: skip
    assert _row(scene)["sessions_open"] == 0


def test_open_plans_are_those_with_something_left_to_do(scene: Scene) -> None:
    scene.write(DONE, "docs/kord/plans/done.md")
    scene.write("# None\n", "docs/kord/plans/none.md")
    scene.write("# Followed\n- [ ] x\n", SECOND)
    scene.start()
    scene.write("# New\n- [ ] x\n", ".claude/plans/new.md")
    found = listing.open_plans(scene.space())
    assert [(row["plan_name"], row["is_current"]) for row in found] == [
        ("New", False),
        ("Followed", True),
    ]
    assert found[0]["touched_at"] == "2001-09-09T01:46:44Z"


def test_looking_for_open_plans_writes_nothing(scene: Scene) -> None:
    scene.write(PLAN)
    assert len(listing.open_plans(scene.space())) == 1
    assert not scene.home.exists()


def test_a_stale_plan_is_still_an_open_one(scene: Scene) -> None:
    scene.edit(PLAN)
    _age(scene)
    assert [row["state"] for row in listing.open_plans(scene.space())] == ["stale"]


def test_the_history_tells_what_became_of_plans_in_order(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    actions.checkpoint(scene.space(), "first", session="s1")
    moved = scene.project / "docs/plan.md"
    moved.parent.mkdir()
    plan.rename(moved)
    scene.prompt()
    scene.write("# Second\n- [ ] x\n", SECOND)
    scene.now += 60
    actions.clear(scene.space())
    scene.now += 60
    scene.start("s2")
    scene.edit("# Second\n- [x] x\n", SECOND, session="s2")
    rows = listing.history(scene.space())
    assert [(row["what"], row["plan_name"], row["message"], row["by"]) for row in rows] == [
        ("checkpoint", "Ship it", "first", "user"),
        ("moved", "Ship it", f"from {plan}", ""),
        ("cleared", "Ship it", "first", ""),
        ("completed", "Second", "Second: all 1 tasks done", ""),
    ]
    assert rows[-1]["progress"] == {"total": 1, "completed": 1}
    assert {row["project_root"] for row in rows} == {str(scene.project)}


def test_the_history_of_all_projects_names_them(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    actions.clear(scene.space())
    scene.write("# Other\n- [ ] x\n", "PLAN.md", other)
    actions.start(scene.space(str(other)))
    actions.clear(scene.space(str(other)))
    rows = listing.history(scene.space(), everywhere=True)
    assert [(row["plan_name"], row["project_root"]) for row in rows] == [
        ("Ship it", str(scene.project)),
        ("Other", str(other)),
    ]
    assert len(listing.history(scene.space())) == 1


def test_whatever_stands_in_a_history_can_be_told(scene: Scene) -> None:
    lines = [
        {"outcome": "cleared", "checkpoint": "text", "at": 7, "plan_name": None},
        {"message": ["x"], "by": {}, "active_plan": 1},
        {},
    ]
    path = scene.path(history_path(str(scene.home), str(scene.project)))
    put(path, "\n".join(["no JSON", *map(json.dumps, lines)]))
    rows = listing.history(scene.space())
    assert [row["what"] for row in rows] == ["cleared", "", ""]
    assert {type(row[name]) for row in rows for name in ("at", "message", "by")} == {str}


def test_a_worktree_without_plans_shares_those_of_its_main_checkout(
    scene: Scene, tmp_path: Path
) -> None:
    shutil.rmtree(scene.project / ".git")
    a_repository(scene.project)
    git(scene.project, "worktree", "add", "../tree")
    scene.edit(PLAN)
    tree = scene.space(str(tmp_path / "tree"))
    assert [row["plan_name"] for row in listing.of_project(tree)] == ["Ship it"]
    assert names_of_plans(tree) == ["PLAN"]
