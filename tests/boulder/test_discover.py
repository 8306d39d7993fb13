from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.boulder.discover import (
    MAX_ENTRIES,
    find_plans,
    is_unchanged,
    locate,
    may_be_plan,
    stamp_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from boulder.scene import Scene

SPELLED = [
    pytest.param("/p/PLAN.md", True, id="root"),
    pytest.param("PLAN.md", True, id="alone"),
    pytest.param("/p/.claude/PLAN.md", True, id=".claude"),
    pytest.param("/p/docs/kord/plans/a.md", True, id="kord"),
    pytest.param("/p/.claude/plans/a.md", True, id="plans"),
    pytest.param("/p/MY-PLAN.md", False, id="another name"),
    pytest.param("/p/plan.md", False, id="small letters"),
    pytest.param("/p/plans/a.md", False, id="another folder"),
    pytest.param("/p/docs/kord/plans/a.txt", False, id="another suffix"),
    pytest.param("", False, id="nothing"),
]


@pytest.mark.parametrize(("path", "expected"), SPELLED)
def test_a_path_is_spelled_like_a_plan(path: str, expected: bool) -> None:
    assert may_be_plan(path) is expected


def test_plans_are_found_newest_first(scene: Scene) -> None:
    names = ["PLAN.md", "docs/kord/plans/b.md", ".claude/PLAN.md", ".claude/plans/a.md"]
    paths = [str(scene.write("x", name)) for name in names]
    assert list(find_plans(scene.space())) == paths[::-1]


def test_what_is_no_plan_file_is_not_found(scene: Scene) -> None:
    for name in ("docs/kord/plans/.x.md", "docs/kord/plans/x.txt", "docs/kord/plans/d.md/x.md"):
        scene.write("x", name)
    os.mkfifo(scene.project / "PLAN.md")
    (scene.project / ".claude").symlink_to("nowhere")
    assert find_plans(scene.space()) == {}


def test_of_a_crowded_folder_a_bounded_number_of_plans_is_looked_at(scene: Scene) -> None:
    folder = put(scene.project / ".claude/plans/0.md", "").parent
    for number in range(1, MAX_ENTRIES + 10):
        (folder / f"{number}.md").touch()
    assert len(find_plans(scene.space())) == MAX_ENTRIES


def test_a_file_that_has_just_been_written_goes_first_and_must_be_read_again(scene: Scene) -> None:
    scene.write("x", "PLAN.md")
    fresh = str(put(scene.project / ".claude/PLAN.md", "y"))
    found = find_plans(scene.space())
    assert (next(iter(found)), found[fresh]) == (fresh, [0, 1])
    assert not is_unchanged(found[fresh], found[fresh])


def test_a_settled_file_is_known_by_time_and_size(scene: Scene) -> None:
    plan = scene.write("x", "PLAN.md")
    seen = stamp_of(str(plan))
    assert seen == [plan.stat().st_mtime_ns, 1]
    assert is_unchanged(seen, seen)
    assert not is_unchanged(seen, None)
    scene.write("y", "PLAN.md")
    later = stamp_of(str(plan))
    assert later
    assert not is_unchanged(later, seen)


@pytest.mark.parametrize("path", ["", "/nowhere", "/", "/dev/zero", "/a\0b", "/\ud800"])
def test_what_is_no_regular_file_has_no_stamp(path: str) -> None:
    assert stamp_of(path) is None


def test_a_plan_belongs_to_the_project_that_it_lies_in(scene: Scene, other: Path) -> None:
    mine, theirs = scene.project / "PLAN.md", other / ".claude/PLAN.md"
    assert locate(scene.space(), str(mine)) == (str(scene.project), str(mine))
    assert locate(scene.space(), str(theirs)) == (str(other), str(theirs))
    assert locate(scene.space(), str(other / "deep/PLAN.md")) is None


def test_a_folder_without_any_marker_is_a_project_where_the_session_stands(
    scene: Scene, tmp_path: Path
) -> None:
    plan = str(tmp_path / "docs/kord/plans/x.md")
    assert locate(scene.space(str(tmp_path)), plan) == (str(tmp_path), plan)
    assert locate(scene.space(), plan) is None


def test_a_folder_that_is_a_link_within_the_project_names_the_plan_as_it_is_spelled(
    scene: Scene,
) -> None:
    scene.write("x", "settings/PLAN.md")
    (scene.project / ".claude").symlink_to("settings")
    plan = str(scene.project / ".claude/PLAN.md")
    assert list(find_plans(scene.space())) == [plan]
    assert locate(scene.space(), plan) == (str(scene.project), plan)
