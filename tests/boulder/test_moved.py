from __future__ import annotations

import os
from binascii import crc32
from typing import TYPE_CHECKING

import pytest
from making import a_space, put

from boulder.scene import PLAN
from sisyphus.boulder import moved
from sisyphus.boulder.look import Look
from sisyphus.boulder.moved import Search
from sisyphus.reading import PLAN_BYTES

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path


def found(project: Path, text: str | bytes = PLAN, known: Container[str] = ()) -> str:
    """Where a plan that said `text` is now, below the project."""
    data = text if isinstance(text, bytes) else text.encode()
    crc = crc32(data.removeprefix(b"\xef\xbb\xbf"))
    path = Search(a_space(project), str(project)).find(crc, len(data), known)
    return os.path.relpath(path, project).replace(os.sep, "/") if path else ""


PLACES = [
    pytest.param("notes.md", id="renamed"),
    pytest.param(".claude/old.md", id="in the project's .claude"),
    pytest.param("a/b/c/d/plan.md", id="far below"),
    pytest.param("packages/one/.claude/PLAN.md", id="in a .claude further below"),
    pytest.param("a b/ä☺.md", id="a name with a space and other letters"),
]


@pytest.mark.parametrize("place", PLACES)
def test_a_plan_is_found_where_it_went(project: Path, place: str) -> None:
    put(project / place, PLAN)
    assert found(project) == place


NOWHERE = [
    pytest.param(".git/plan.md", id="in git's folder"),
    pytest.param("node_modules/x/plan.md", id="in packages"),
    pytest.param("dist/plan.md", id="in what was built"),
    pytest.param(".hidden/plan.md", id="in a hidden folder"),
    pytest.param(".plan.md", id="hidden"),
    pytest.param("plan.txt", id="no Markdown"),
    pytest.param("plan.MD.bak", id="a backup"),
]


@pytest.mark.parametrize("place", NOWHERE)
def test_a_plan_is_not_looked_for_everywhere(project: Path, place: str) -> None:
    put(project / place, PLAN)
    assert found(project) == ""


OTHERS = [
    pytest.param(PLAN.replace("one", "1ne"), id="of the same size"),
    pytest.param(PLAN + "\n", id="of another size"),
    pytest.param(b"\xff" * len(PLAN), id="not UTF-8"),
]


@pytest.mark.parametrize("text", OTHERS)
def test_a_file_that_says_something_else_is_not_the_plan(project: Path, text: str) -> None:
    put(project / "notes.md", text)
    assert found(project) == ""


@pytest.mark.parametrize("text", ["\ufeff" + PLAN, PLAN.replace("\n", "\r\n")], ids=["BOM", "CRLF"])
def test_what_is_looked_for_is_what_a_look_saw(project: Path, text: str) -> None:
    path = put(project / "PLAN.md", text)
    look = Look(str(path), str(project))
    assert look.stamp
    path.rename(project / "moved.md")
    there = Search(a_space(project), str(project)).find(look.crc, look.stamp[1], ())
    assert there == str(project / "moved.md")


def test_the_nearest_one_is_found_the_first_by_name(project: Path) -> None:
    for name in ("a/a/plan.md", "b/z.md", "b/c.md", "c/b.md"):
        put(project / name, PLAN)
    assert found(project) == "b/c.md"


def test_another_plan_that_is_known_is_not_the_one(project: Path) -> None:
    known = put(project / "a.md", PLAN)
    assert found(project, known={str(known)}) == ""
    put(project / "b.md", PLAN)
    assert found(project, known={str(known)}) == "b.md"


def test_links_are_not_followed(project: Path, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere/plan.md", PLAN)
    (project / "folder").symlink_to(tmp_path / "elsewhere")
    (project / "file.md").symlink_to(tmp_path / "elsewhere/plan.md")
    (project / "circle").symlink_to(project)
    (project / "gone.md").symlink_to("nowhere")
    assert found(project) == ""


def test_a_pipe_is_not_waited_for(project: Path) -> None:
    os.mkfifo(project / "a.md")
    put(project / "b.md", PLAN)
    assert found(project) == "b.md"


@pytest.mark.parametrize("marker", ["a file", "a folder"])
def test_a_project_within_this_one_has_plans_of_its_own(project: Path, marker: str) -> None:
    inner = project / ".claude/worktrees/one"
    put(inner / "PLAN.md", PLAN)
    put(inner / ".git" if marker == "a file" else inner / ".git/HEAD", "gitdir: x")
    assert found(project) == ""


def test_the_clients_own_plans_are_none_of_the_project(home: Path) -> None:
    put(home / ".claude/plans/a.md", PLAN)
    assert found(home) == ""
    put(home / "work/.claude/plans/b.md", PLAN)
    assert found(home) == "work/.claude/plans/b.md"


SIZES = [pytest.param("", id="empty"), pytest.param("x" * (PLAN_BYTES + 1), id="too large")]


@pytest.mark.parametrize("text", SIZES)
def test_what_can_be_no_plan_is_not_looked_for(project: Path, text: str) -> None:
    put(project / "a.md", text)
    assert found(project, text) == ""


def test_a_search_opens_so_many_files_and_no_more(project: Path) -> None:
    for number in range(moved.MOST_READ):
        put(project / f"a{number:03}.md", PLAN.replace("one", "1ne"))
    put(project / "b.md", PLAN)
    assert found(project) == ""
    (project / "a000.md").unlink()
    assert found(project) == "b.md"


def test_a_search_reads_no_more_than_the_longest_plan(project: Path) -> None:
    text = "x" * (PLAN_BYTES // 2)
    for name in ("a.md", "b.md"):
        put(project / name, text[:-1] + "y")
    put(project / "c.md", text)
    assert found(project, text) == ""
    (project / "a.md").unlink()
    assert found(project, text) == "c.md"


def test_a_search_meets_so_many_entries_and_no_more(project: Path) -> None:
    put(project / "z/z/plan.md", PLAN)
    assert found(project) == "z/z/plan.md"
    for folder in range(11):
        (project / f"{folder:02}").mkdir()
        for number in range(2_000):
            (project / f"{folder:02}" / str(number)).touch()
    assert found(project) == ""


def test_a_crowded_folder_does_not_hide_the_others(project: Path) -> None:
    (project / "a").mkdir()
    for number in range(3_000):
        (project / "a" / str(number)).touch()
    put(project / "b/plan.md", PLAN)
    assert found(project) == "b/plan.md"


def test_what_cannot_be_looked_at_is_passed_over(project: Path) -> None:
    for root in (str(project / "gone"), "\0"):
        assert Search(a_space(project), root).find(crc32(PLAN.encode()), len(PLAN), ()) == ""


class Vanishing:
    """Known plans; a file goes away while one asks whether it is known."""

    def __contains__(self, path: object) -> bool:
        os.unlink(str(path))
        return False


def test_a_file_that_goes_away_during_the_search_is_passed_over(project: Path) -> None:
    put(project / "a.md", PLAN)
    assert found(project, known=Vanishing()) == ""


class Sought:
    """Plans that one search is asked for, one after the other; what it found is known."""

    def __init__(self, project: Path) -> None:
        self._search = Search(a_space(project), str(project))
        self._known: set[str] = set()

    def find(self, text: str) -> str:
        path = self._search.find(crc32(text.encode()), len(text.encode()), self._known)
        self._known.add(path)
        return os.path.basename(path)


def numbered(number: int) -> str:
    return PLAN.replace("one", f"task {number:04}")


def test_one_search_finds_many(project: Path) -> None:
    names = [put(project / f"x/{n % 7}/{n}.md", numbered(n)).name for n in range(50)]
    sought = Sought(project)
    order = [*range(30, 50), *range(30)]
    assert [sought.find(numbered(n)) for n in order] == [names[n] for n in order]
    assert sought.find(PLAN) == ""


def test_of_two_that_said_the_same_each_finds_one(project: Path) -> None:
    for name in ("a.md", "b.md"):
        put(project / name, PLAN)
    sought = Sought(project)
    assert [sought.find(PLAN) for _ in range(3)] == ["a.md", "b.md", ""]


def test_a_file_that_was_met_before_is_found_for_another_plan(project: Path) -> None:
    for name, text in (("a.md", PLAN + "\n"), ("b.md", numbered(1)), ("c.md", PLAN)):
        put(project / name, text)
    sought = Sought(project)
    assert [sought.find(text) for text in (PLAN, numbered(1), PLAN + "\n")] == [
        "c.md",
        "b.md",
        "a.md",
    ]


def test_many_plans_that_are_gone_cost_one_search(project: Path) -> None:
    for number in range(moved.MOST_READ + 1):
        put(project / f"a{number:03}.md", numbered(number))
    sought = Sought(project)
    assert [sought.find(numbered(1_000 + n)) for n in range(3)] == ["", "", ""]
    assert sought.find(numbered(moved.MOST_READ - 1)) == f"a{moved.MOST_READ - 1}.md"
    assert sought.find(numbered(moved.MOST_READ)) == ""  # which nobody has read


def test_the_plans_of_one_search_share_what_may_be_read(project: Path) -> None:
    half, less = "x" * (PLAN_BYTES // 2), "y" * (PLAN_BYTES // 2 - 1)
    for name, text in (("a.md", half[:-1] + "z"), ("b.md", half), ("c.md", less)):
        put(project / name, text)
    sought = Sought(project)
    assert [sought.find(text) for text in (half, less)] == ["b.md", ""]


def test_a_file_that_goes_away_between_two_questions_is_passed_over(project: Path) -> None:
    put(project / "a.md", PLAN)
    gone = put(project / "b.md", numbered(1))
    sought = Sought(project)
    assert sought.find(PLAN) == "a.md"
    gone.unlink()
    assert sought.find(numbered(1)) == ""
