from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import put

from ralph.repositories import a_repository, change, commit, latest
from sisyphus.ralph import signs
from sisyphus.ralph.loop import Loop
from sisyphus.times import iso
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


class Bench:
    """A repository, a loop in it, and a clock that is behind every change so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = a_repository(folder)
        self.loop = Loop("s1", "abcde", "do it")
        self.loop.project = str(folder)
        self.loop.started_at = iso(0)

    @property
    def now(self) -> float:
        return latest(self.folder)

    def begin(self) -> None:
        signs.begin(self.loop, self._space())

    def show(self, *edits: str) -> bool:
        return signs.show(self.loop, edits, self._space())

    def search(self) -> bool | None:
        return signs.search(self.loop, self._space())

    def _space(self) -> Workspace:
        return Workspace(str(self.folder), now=self.now)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """The loop has just begun."""
    bench = Bench(tmp_path / "project")
    bench.begin()
    return bench


def test_what_is_there_at_the_start_is_noted(bench: Bench) -> None:
    assert set(bench.loop.signs) == {"head", "names", "at"}
    assert len(bench.loop.signs["head"]) == 40
    assert bench.loop.signs["at"] == bench.now


def test_where_nothing_was_done_nothing_shows(bench: Bench) -> None:
    before = dict(bench.loop.signs)

    assert bench.show() is False
    assert bench.loop.signs == before
    assert bench.search() is False


def test_a_commit_shows_once(bench: Bench) -> None:
    put(bench.folder / "a.txt", "b\n")
    name = commit(bench.folder)

    assert bench.show() is True
    assert bench.loop.signs["head"] == name
    assert bench.show() is False


def test_a_change_of_the_work_tree_is_found_once(bench: Bench) -> None:
    change(bench.folder / "a.txt", bench.loop.signs["at"])

    assert bench.show() is False
    assert bench.search() is True
    assert bench.search() is False


def test_a_file_that_went_is_found(bench: Bench) -> None:
    (bench.folder / "a.txt").unlink()

    assert bench.search() is True


def test_behind_a_sign_the_names_are_learned_anew(bench: Bench) -> None:
    (bench.folder / "a.txt").unlink()
    commit(bench.folder)
    assert bench.show() is True
    assert bench.loop.signs["names"] == ""

    assert bench.search() is False
    assert bench.loop.signs["names"] != ""


EDITS = [
    pytest.param("src/b.py", True, id="a file of the project"),
    pytest.param("{folder}/src/b.py", True, id="by its whole path"),
    pytest.param("{folder}/../other/b.py", False, id="one of another project"),
    pytest.param("/nowhere/b.py", False, id="one of no project"),
    pytest.param("{folder}", False, id="the project itself"),
    pytest.param("{folder}-2/b.py", False, id="a project with a longer name"),
    pytest.param(".claude/PLAN.md", True, id="the plan"),
    pytest.param(".claude/handoffs/x.md", False, id="a handoff"),
    pytest.param(".claude/ralph-loop.local.md", False, id="the state of another loop"),
    pytest.param("docs/kord/boulder.json", False, id="the state of a boulder"),
]


@pytest.mark.parametrize(("edit", "counts"), EDITS)
def test_an_edit_of_the_project_shows(bench: Bench, edit: str, counts: bool) -> None:
    assert bench.show(edit.format(folder=bench.folder)) is counts


def test_of_several_edits_one_is_enough(bench: Bench) -> None:
    assert bench.show("/nowhere/b.py", "src/b.py") is True


HOMES = [
    pytest.param(".claude", "{home}/x.md", False, id="the client's folder in the project"),
    pytest.param(".claude", "{home}-2/x.md", True, id="a folder with a longer name"),
    pytest.param("..", "src/b.py", True, id="the project in the client's folder"),
]


@pytest.mark.parametrize(("home", "edit", "counts"), HOMES)
def test_the_clients_own_folder_is_no_project(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, home: str, edit: str, counts: bool
) -> None:
    folder = (bench.folder / home).resolve()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))

    assert bench.show(edit.format(home=folder)) is counts


def test_a_loop_that_no_hook_saw_begin_is_looked_at_from_its_start(bench: Bench) -> None:
    bench.loop.signs = {}
    assert bench.show() is False
    assert bench.search() is True

    bench.loop.signs, bench.loop.started_at = {}, iso(bench.now + 1)
    assert bench.search() is False


STRANGE: list[object] = [None, "x", [], {}, True, -1, float("nan"), float("inf"), 10**400]


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: f"{value!r:.9}")
def test_signs_that_are_none_are_looked_at_anew(bench: Bench, value: object) -> None:
    bench.loop.started_at = iso(bench.now + 1)
    bench.loop.signs = {"head": value, "names": value, "at": value, "new": 7}

    bench.show()
    assert bench.search() in (False, True)
    assert bench.loop.signs["at"] == bench.now
    assert bench.loop.signs["new"] == 7


def test_without_a_project_nothing_can_be_told(bench: Bench) -> None:
    bench.loop.project = ""
    bench.begin()

    assert bench.show("b.py") is False
    assert bench.search() is None
