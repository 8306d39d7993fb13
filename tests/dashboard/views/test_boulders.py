from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from boulder.scene import DAY, PLAN, Scene
from making import put

from sisyphus.boulder import actions
from sisyphus.boulder.store import book_path, history_path
from sisyphus.dashboard.desk import Desk
from sisyphus.dashboard.failures import FailedError
from sisyphus.dashboard.views import boulders, plan_rows
from sisyphus.paths import project_id
from sisyphus.text import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json


@pytest.fixture
def scene(home: Path, project: Path) -> Scene:
    return Scene(home, project)


@pytest.fixture
def desk(scene: Scene) -> Desk:
    return Desk(str(scene.home), lambda: scene.now)


def _follow(scene: Scene, text: str = PLAN) -> str:
    """A plan that a session has begun to work on: its id."""
    path = scene.write(text)
    scene.start()
    return fingerprint(str(path))


def _groups(found: Json) -> dict[str, list[str]]:
    names = ("open", "complete", "others", "ended")
    return {name: [row["plan_name"] for row in found[name]] for name in names if found[name]}


def _remove(scene: Scene) -> None:
    (scene.project / ".claude/PLAN.md").unlink()


def _folder_goes(scene: Scene) -> None:
    shutil.rmtree(scene.project)


def _becomes_unreadable(scene: Scene) -> None:
    (scene.project / ".claude/PLAN.md").write_bytes(b"\xff\xfe- [ ] a")


def _leads_elsewhere(scene: Scene) -> None:
    _remove(scene)
    put(scene.project.parent / "secret.md", "- [ ] a secret")
    (scene.project / ".claude/PLAN.md").symlink_to(scene.project.parent / "secret.md")


def _loses_its_tasks(scene: Scene) -> None:
    scene.write("# Ship it\n")


def _is_complete(scene: Scene) -> None:
    scene.write(PLAN.replace("[ ]", "[x]"))


def _rests_for_long(scene: Scene) -> None:
    scene.end()
    scene.now += 365 * DAY


def _is_cleared(scene: Scene) -> None:
    actions.clear(scene.space())


@pytest.mark.parametrize(
    ("happens", "group", "state"),
    [
        pytest.param(lambda _: None, "open", "active", id="a plan that is worked on"),
        pytest.param(_rests_for_long, "open", "stale", id="not touched for long"),
        pytest.param(_is_complete, "complete", "complete", id="all done, no Stop yet"),
        pytest.param(_remove, "others", "missing", id="its file is gone"),
        pytest.param(_folder_goes, "others", "missing", id="its folder is gone"),
        pytest.param(_becomes_unreadable, "others", "unreadable", id="not UTF-8"),
        pytest.param(_leads_elsewhere, "others", "unreadable", id="a link out of the project"),
        pytest.param(_loses_its_tasks, "others", "no_tasks", id="without tasks"),
    ],
)
def test_a_plan_is_in_the_group_of_its_state_and_has_a_page(
    happens: object, group: str, state: str, scene: Scene, desk: Desk
) -> None:
    named = _follow(scene)
    assert callable(happens)
    happens(scene)
    found = boulders.boulders(desk)
    assert {group: ["Ship it"]} == _groups(found)
    assert found[group][0]["id"] == named
    one = boulders.boulder(desk, named)
    assert (one["state"], one["followed"], one["plan_name"]) == (state, True, "Ship it")


def test_of_a_file_that_is_gone_what_was_known_last_is_told(scene: Scene, desk: Desk) -> None:
    named = _follow(scene)
    _folder_goes(scene)
    one = boulders.boulder(desk, named)
    assert (one["progress"]["completed"], one["progress"]["total"]) == (1, 3)
    assert one["sections"] == []


def test_a_folder_above_one_that_is_gone_is_not_taken_for_it(scene: Scene, desk: Desk) -> None:
    named = _follow(scene)
    _folder_goes(scene)
    (scene.project.parent / ".git").mkdir()
    put(scene.project.parent / ".claude/sisyphus.toml", "[boulder]\nstale_days = 1\n")
    assert boulders.boulder(desk, named)["project_root"] == str(scene.project)


def test_nothing_of_a_file_out_of_the_project_is_read(scene: Scene, desk: Desk) -> None:
    named = _follow(scene)
    _leads_elsewhere(scene)
    one = boulders.boulder(desk, named)
    assert "secret" not in str(one["sections"])
    assert one["problem"]


@pytest.mark.parametrize(
    "named",
    [
        pytest.param("0123456789abcdef", id="of nothing"),
        pytest.param("", id="empty"),
        pytest.param("../../etc/passwd", id="a path"),
        pytest.param("x" * 500, id="too long"),
        pytest.param("a\0b", id="no name of a file"),
    ],
)
def test_an_id_of_no_plan_is_not_found(named: str, scene: Scene, desk: Desk) -> None:
    _follow(scene)
    with pytest.raises(FailedError, match="no such plan") as raised:
        boulders.boulder(desk, named)
    assert raised.value.status == 404


def test_it_tells_what_the_command_line_tells(scene: Scene, desk: Desk) -> None:
    named = _follow(scene)
    actions.checkpoint(scene.space(), "half of it")
    told = actions.status(scene.space())
    one = boulders.boulder(desk, named)
    assert {name: one[name] for name in told} == dict(told)


@pytest.mark.parametrize(
    ("end", "what", "tasks"),
    [
        pytest.param(_is_complete, "completed", (3, 3), id="completed"),
        pytest.param(_is_cleared, "cleared", (1, 3), id="cleared"),
    ],
)
def test_a_plan_that_ended_stays_known(
    end: object, what: str, tasks: tuple[int, int], scene: Scene, desk: Desk
) -> None:
    named = _follow(scene)
    assert callable(end)
    end(scene)
    scene.stop()
    found = boulders.boulders(desk)
    assert _groups(found) == {"ended": ["Ship it"]}
    [row] = found["ended"]
    assert (row["what"], (row["completed"], row["total"])) == (what, tasks)
    one = boulders.boulder(desk, named)
    assert (one["followed"], one["what"]) == (False, what)
    assert [row["session_id"] for row in one["sessions"]] == ["s1"]
    assert [row["what"] for row in one["events"]] == [what]


def test_a_plan_that_is_followed_again_has_not_ended(scene: Scene, desk: Desk) -> None:
    named = _follow(scene)
    actions.clear(scene.space())
    actions.start(scene.space())
    assert _groups(boulders.boulders(desk)) == {"open": ["Ship it"]}
    assert boulders.boulder(desk, named)["followed"]


@pytest.mark.parametrize(
    ("folder", "state", "names"),
    [
        pytest.param("", "", {"open": ["Other", "Ship it"]}, id="all"),
        pytest.param("project", "", {"open": ["Ship it"]}, id="of a project"),
        pytest.param("other", "active", {"open": ["Other"]}, id="of a project, in a state"),
        pytest.param("", "missing", {}, id="in a state that none is in"),
        pytest.param("nowhere", "", {}, id="of a project that is not known"),
    ],
)
def test_plans_are_chosen_by_project_and_state(
    folder: str, state: str, names: Json, scene: Scene, desk: Desk
) -> None:
    _follow(scene)
    other = scene.project.parent / "other"
    (other / ".git").mkdir(parents=True)
    scene.write("# Other\n- [ ] a\n", project=other)
    scene.start("s2", cwd=str(other))
    asked = project_id(str(scene.project.parent / folder)) if folder else ""
    found = boulders.boulders(desk, asked, state)
    assert _groups(found) == names
    assert sorted(found["projects"].values()) == ["other", "project"]
    assert found["states"] == ["active"]


def test_checkpoints_and_history_are_told_the_newest_first(scene: Scene, desk: Desk) -> None:
    named = _follow(scene)
    for text in ("first", "second"):
        scene.now += 60
        actions.checkpoint(scene.space(), text)
    one = boulders.boulder(desk, named)
    assert [row["message"] for row in one["checkpoints"]] == ["second", "first"]
    assert one["checkpoint"]["message"] == "second"
    assert one["events"] == []


def test_the_history_goes_on_where_the_file_was_moved(scene: Scene, desk: Desk) -> None:
    _follow(scene)
    actions.checkpoint(scene.space(), "before")
    old = scene.project / ".claude/PLAN.md"
    new = scene.project / "plans/ship.md"
    new.parent.mkdir()
    os.rename(old, new)
    scene.stop()
    one = boulders.boulder(desk, fingerprint(str(new)))
    assert [row["what"] for row in one["events"]] == ["moved"]
    assert [row["message"] for row in one["checkpoints"]] == ["before"]


def test_todos_name_the_session_whose_they_are(scene: Scene, desk: Desk) -> None:
    named = _follow(scene)
    scene.todo("write it", "done", done="completed")
    found = boulders.boulder(desk, named)["todos"]
    assert {(todo["content"], todo["session"]) for todo in found} >= {("write it", "s1")}


def test_sessions_tell_whether_they_may_stop(scene: Scene, desk: Desk) -> None:
    named = _follow(scene)
    scene.start("s2")
    scene.end("s1")
    actions.enforce(scene.space(), on=True)
    found = boulders.boulder(desk, named)
    rows = {row["session_id"]: row for row in found["sessions"]}
    assert list(rows) == ["s2", "s1"]
    assert [rows[name]["is_open"] for name in ("s2", "s1")] == [None, False]
    assert all(row["is_enforced"] for row in rows.values())
    assert boulders.boulders(desk)["open"][0]["enforced"]


_JUNK: list[Json] = [
    {},
    {"outcome": "completed"},
    {"outcome": "completed", "active_plan": "/a/b\0c.md", "ended_at": 5, "progress": 7},
    {"outcome": "completed", "active_plan": "relative.md"},
    {"outcome": "cleared", "active_plan": "/p/a.md", "progress": {"total": "x", "completed": -1}},
    {"outcome": "cleared", "active_plan": "/p/b.md", "plan_name": ["x"], "session_ids": "no",
     "todos": 7, "metadata": []},
]  # fmt: skip


def test_lines_of_the_history_may_hold_anything(scene: Scene, desk: Desk) -> None:
    _follow(scene)
    path = history_path(str(scene.home), str(scene.project))
    put(scene.path(path), "\n".join([*map(json.dumps, _JUNK), "no json", "[]"]))
    found = boulders.boulders(desk)["ended"]
    assert {row["active_plan"] for row in found} == {"/p/a.md", "/p/b.md"}
    for row in found:
        one = boulders.boulder(desk, row["id"])
        assert (one["completed"], one["total"], one["sessions"], one["todos"]) == (0, 0, [], [])


def test_to_look_changes_no_file(scene: Scene, desk: Desk) -> None:
    named = _follow(scene)
    before = {path: path.read_bytes() for path in scene.home.rglob("*") if path.is_file()}
    boulders.boulders(desk)
    boulders.boulder(desk, named)
    after = {path: path.read_bytes() for path in scene.home.rglob("*") if path.is_file()}
    assert {path: after.get(path) for path in before} == before


def test_a_book_that_cannot_be_read_is_left_as_it_is(scene: Scene, desk: Desk) -> None:
    _follow(scene)
    path = scene.path(book_path(str(scene.home), str(scene.project)))
    path.write_text("{")
    assert _groups(boulders.boulders(desk)) == {"open": ["Ship it"]}  # the plan in use
    assert path.read_text() == "{"


def test_the_history_is_read_again_where_nobody_watches(scene: Scene, desk: Desk) -> None:
    _follow(scene)
    assert plan_rows.ended(desk) == []
    actions.clear(scene.space())
    assert [row["plan_name"] for row in plan_rows.ended(desk)] == ["Ship it"]
