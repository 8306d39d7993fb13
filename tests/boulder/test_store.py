from __future__ import annotations

import json
import multiprocessing
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from boulder.kord.test_notes import JSON
from boulder.scene import PLAN, Scene
from sisyphus.boulder import store
from sisyphus.boulder.book import Book
from sisyphus.boulder.record import new_record
from sisyphus.errors import NewerVersionError

if TYPE_CHECKING:
    from pathlib import Path

    from sisyphus._types import Json


def book(scene: Scene) -> Path:
    return scene.path(store.book_path(str(scene.home), str(scene.project)))


def a_record(scene: Scene, name: str = "PLAN.md") -> Json:
    return new_record(str(scene.project / name), str(scene.project), scene.now)


def test_a_book_survives_a_round_trip_with_what_it_does_not_know(scene: Scene) -> None:
    put(book(scene), '{"version": 1, "shelf": 3}')
    record = {**a_record(scene), "squad": "red"}
    with Book(str(scene.home), str(scene.project)) as plans:
        plans.records[record["active_plan"]] = record
        plans.current = record["active_plan"]
        plans.seen["/a"] = [1, 2]
        plans.dismissed["/b"] = 3
    assert json.loads(book(scene).read_text()) == {
        "version": 1,
        "shelf": 3,
        "project_root": str(scene.project),
        "current": record["active_plan"],
        "chosen": None,
        "undecided": False,
        "plans": {record["active_plan"]: record},
        "notes": {},
        "parked": {},
        "sessions": {},
        "shown": {},
        "seen": {"/a": [1, 2]},
        "dismissed": {"/b": 3},
    }
    again = store.read_plans(str(scene.home), str(scene.project))
    assert (again.current, again.records[again.current]) == (record["active_plan"], record)


def shelved(scene: Scene, path: str, seconds: float) -> None:
    """Somebody writes a book with one plan, so many seconds after the scene's time."""
    put(book(scene), json.dumps({"plans": {path: {**a_record(scene), "active_plan": path}}}))
    os.utime(book(scene), (scene.now + seconds, scene.now + seconds))


def test_a_book_is_parsed_again_when_it_has_changed(scene: Scene) -> None:
    where = str(scene.home), str(scene.project)
    assert not store.read_plans(*where).records
    shelved(scene, "/a", 0)
    first = store.read_plans(*where)
    assert list(first.records) == ["/a"]
    assert store.read_plans(*where) is first
    shelved(scene, "/b", 1)
    assert list(store.read_plans(*where).records) == ["/b"]
    book(scene).unlink()
    assert not store.read_plans(*where).records


def test_a_book_that_did_not_change_is_not_written(scene: Scene) -> None:
    with Book(str(scene.home), str(scene.project)):
        pass
    assert not book(scene).exists()


def test_a_book_is_not_written_where_something_failed(scene: Scene) -> None:
    def fail() -> None:
        with Book(str(scene.home), str(scene.project)) as plans:
            plans.seen["/a"] = [1, 2]
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not book(scene).exists()


def test_a_newer_book_is_refused(scene: Scene) -> None:
    put(book(scene), '{"version": 2}')
    opened = Book(str(scene.home), str(scene.project))
    with pytest.raises(NewerVersionError):
        opened.__enter__()


WRONG = [
    {"plans": {"relative.md": {}, "/p/a": 7, "/p/b": {"session_ids": [1]}}, "current": "/p/c"},
    {"plans": {"/p/b": {}}, "seen": {"/a": [1], "/b": "x", "/c": [1.0, 2]}, "current": ["x"]},
    {"plans": {"/p/b": {"project_root": "/other"}}, "dismissed": {"/a": "x"}},
]


@pytest.mark.parametrize("found", WRONG)
def test_wrong_fields_of_a_book_are_passed_over(found: Json) -> None:
    plans = store.Plans(found, "/p")
    assert list(plans.records) == ["/p/b"]
    assert plans.records["/p/b"]["project_root"] == "/p"
    assert (plans.current, plans.seen, plans.dismissed) == ("", {}, {})


def test_a_session_works_on_the_current_plan_unless_it_worked_on_others_alone(
    scene: Scene,
) -> None:
    plans = store.Plans({}, "/p")
    for path, sessions, at in (
        ("/p/a", ["s1", "s2"], "1"),
        ("/p/b", ["s1"], "2"),
        ("/p/c", [], ""),
    ):
        record = {**a_record(scene), "session_ids": sessions, "metadata": {"updated_at": at}}
        plans.records[path] = record
    plans.current = "/p/c"
    assert [plans.of_session(s) for s in ("s1", "s2", "s3", "")] == ["/p/b", "/p/a", "/p/c", "/p/c"]
    plans.current = "/p/a"
    assert plans.of_session("s1") == "/p/a"


def three(**fields: object) -> store.Plans:
    """A book with the plans a, b and c of /p."""
    found = {"plans": {f"/p/{name}": {"session_ids": []} for name in "abc"}, **fields}
    return store.Plans(found, "/p")


def test_a_session_is_at_the_plan_that_was_noted_last_and_at_none_where_it_worked_on_none() -> None:
    plans = three(current="/p/a")
    plans.note_session("s1", "/p/b")
    plans.note_session("", "/p/c")
    assert [plans.own(s) for s in ("s1", "s2", "")] == ["/p/b", "", ""]
    assert plans.of_session("s2") == "/p/a"
    assert plans.sessions == {"s1": "/p/b"}


def test_of_the_sessions_the_latest_are_remembered() -> None:
    plans = three()
    for number in [*range(store.REMEMBERED_SESSIONS + 1), 1]:
        plans.note_session(f"s{number}", "/p/a")
    kept = list(plans.as_json()["sessions"])
    assert (len(kept), kept[0], kept[-1]) == (store.REMEMBERED_SESSIONS, "s2", "s1")


def test_a_plan_that_is_forgotten_leaves_nothing_behind() -> None:
    plans = three(
        current="/p/a", chosen="/p/a", sessions={"s1": "/p/a", "s2": "/p/b"}, notes={"/p/a": {}}
    )
    plans.notes_of("/p/a").mark = "x"
    plans.forget("/p/a")
    book = plans.as_json()
    assert (book["current"], book["chosen"], book["sessions"]) == (None, None, {"s2": "/p/b"})
    assert (list(book["plans"]), book["notes"]) == (["/p/b", "/p/c"], {})


def test_a_plan_that_is_renamed_takes_all_along() -> None:
    plans = three(
        current="/p/a",
        chosen="/p/a",
        sessions={"s1": "/p/a", "s2": "/p/b"},
        notes={"/p/a": {"mark": "x", "shelf": 1}},
        seen={"/p/a": [1, 2]},
        dismissed={"/p/new": 3},
    )
    plans.rename("/p/a", "/p/new")
    book = plans.as_json()
    assert (book["current"], book["chosen"]) == ("/p/new", "/p/new")
    assert book["sessions"] == {"s1": "/p/new", "s2": "/p/b"}
    assert (book["notes"]["/p/new"]["mark"], book["notes"]["/p/new"]["shelf"]) == ("x", 1)
    assert (book["plans"]["/p/new"]["active_plan"], list(book["notes"])) == ("/p/new", ["/p/new"])
    assert (book["seen"], book["dismissed"]) == ({}, {})
    assert store.Plans(book, "/p").as_json() == book


@pytest.mark.parametrize("is_there", [False, True])
def test_the_record_lies_in_the_project_where_it_has_one(scene: Scene, is_there: bool) -> None:
    if is_there:
        put(scene.theirs, "")
    expected = scene.theirs if is_there else scene.own
    assert store.record_path(str(scene.home), str(scene.project)) == str(expected)


PARTS = ["plans", "notes", "sessions", "shown", "seen", "dismissed", "current", "chosen", "shelf"]
PATHS = st.sampled_from(["/p/a", "/p/b", "relative", ""])


@given(st.dictionaries(st.sampled_from(PARTS), JSON | st.dictionaries(PATHS, JSON)))
def test_whatever_is_found_becomes_a_book_that_is_read_again_as_it_is(found: Json) -> None:
    plans = store.Plans(found, "/p")
    for path in plans.records:
        plans.notes_of(path)
    once = plans.as_json()
    assert store.Plans(json.loads(json.dumps(once)), "/p").as_json() == once
    assert once.get("shelf") == found.get("shelf")
    assert set(once["notes"]) == set(plans.records)


def _work(home: Path, project: Path, number: int) -> None:
    scene = Scene(home, project)
    plan = project / "PLAN.md"
    for turn in range(5):
        scene.start(f"session-{number}-{turn}")
        scene.tool(plan, f"session-{number}-{turn}")
        scene.end(f"session-{number}-{turn}")


def test_many_processes_at_once_lose_no_session(scene: Scene, other: Path) -> None:
    """Half of them work on another project's plan: neither record suffers from the other."""
    projects = (scene.project, other)
    for project in projects:
        put(project / "PLAN.md", PLAN)
    spawn = multiprocessing.get_context("fork")
    workers = [
        spawn.Process(target=_work, args=(scene.home.parent, projects[number % 2], number))
        for number in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for half, project in enumerate(projects):
        record = scene.record(project / "PLAN.md", project)
        assert record
        sessions = {f"session-{n}-{turn}" for n in range(half, 8, 2) for turn in range(5)}
        assert set(record["session_ids"]) == sessions
        assert set(record["metadata"]["ended_sessions"]) == sessions
        assert record["progress"] == {"total": 3, "completed": 1}
    assert [worker.exitcode for worker in workers] == [0] * 8
    assert [*scene.home.rglob("*.corrupt-*")] == []


EDITS = 8


def _tick(home: Path, project: Path, number: int) -> None:
    done = "- [x] a\n" * (number + 1) + "- [ ] b\n" * (EDITS - number)
    put(project / "PLAN.md", done)
    Scene(home, project).tool(project / "PLAN.md")


def test_after_many_edits_at_once_the_progress_is_that_of_the_file(scene: Scene) -> None:
    spawn = multiprocessing.get_context("fork")
    workers = [
        spawn.Process(target=_tick, args=(scene.home.parent, scene.project, number))
        for number in range(EDITS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    text = (scene.project / "PLAN.md").read_text()
    assert scene.in_use
    assert scene.in_use["progress"]["completed"] == text.count("[x]")
