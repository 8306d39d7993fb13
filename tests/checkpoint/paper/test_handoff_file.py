from __future__ import annotations

import os
import resource
from typing import TYPE_CHECKING

import pytest
from making import put as put_file

from sisyphus.checkpoint.paper.handoff_file import put, put_in_project, put_new

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_for_this_user_alone(project: Path) -> None:
    path = put_in_project(str(project), "a.md", "text")
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700


def test_the_folder_of_all_is_made_as_the_user_would_make_it(project: Path) -> None:
    (project / "usual").mkdir()
    put_in_project(str(project), "a.md", "text")
    modes = [(project / name).stat().st_mode for name in ("usual", ".claude")]
    assert modes[0] == modes[1]


def test_no_file_is_replaced(tmp_path: Path) -> None:
    names = [os.path.basename(put(str(tmp_path), "a.md", str(n))) for n in range(3)]
    assert names == ["a.md", "a-2.md", "a-3.md"]
    assert (tmp_path / "a.md").read_text() == "0"


def test_not_even_a_link_to_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a.md").symlink_to(tmp_path / "nowhere")
    assert put(str(tmp_path), "a.md", "x") == str(tmp_path / "a-2.md")


def test_what_a_killed_writer_left_is_passed_over(tmp_path: Path) -> None:
    put_file(tmp_path / ".a.md.tmp", "half")
    assert put(str(tmp_path), "a.md", "x") == str(tmp_path / "a-2.md")


def test_who_was_late_writes_nothing(tmp_path: Path) -> None:
    path = put_file(tmp_path / "a.md", "first")
    assert not put_new(str(path), b"second")
    assert os.listdir(tmp_path) == ["a.md"]
    assert path.read_text() == "first"


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            put(str(tmp_path), "a.md", "x" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(tmp_path) == []


def test_a_folder_holds_only_so_many_of_a_minute(tmp_path: Path) -> None:
    for number in range(1_000):
        (tmp_path / (f"a-{number}.md" if number > 1 else "a.md")).touch()
    with pytest.raises(FileExistsError, match="999 handoffs"):
        put(str(tmp_path), "a.md", "x")


def test_the_users_own_gitignore_stays(project: Path) -> None:
    put_file(project / ".claude" / "handoffs" / ".gitignore", "*.tmp\n")
    put_in_project(str(project), "a.md", "x")
    assert (project / ".claude" / "handoffs" / ".gitignore").read_text() == "*.tmp\n"


@pytest.mark.parametrize("name", [".claude", ".claude/handoffs"])
def test_a_link_that_leaves_the_project_is_not_followed(
    project: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).symlink_to(outside)
    with pytest.raises(OSError, match="leaves the project"):
        put_in_project(str(project), "a.md", "x")
    assert os.listdir(outside) == []


def test_one_that_stays_in_it_is(project: Path) -> None:
    (project / "notes").mkdir()
    (project / ".claude").mkdir()
    (project / ".claude" / "handoffs").symlink_to(project / "notes")
    put_in_project(str(project), "a.md", "x")
    assert (project / "notes" / "a.md").read_text() == "x"


@pytest.mark.parametrize("name", [".claude", ".claude/handoffs"])
def test_a_file_is_no_folder(project: Path, name: str) -> None:
    put_file(project / name, "a file")
    with pytest.raises(OSError, match=r"exists|Not a directory"):
        put_in_project(str(project), "a.md", "x")


def test_the_clients_own_folder_is_no_projects(home: Path) -> None:
    (home / ".claude").mkdir()
    with pytest.raises(OSError, match="the client's own"):
        put_in_project(str(home), "a.md", "x")


def test_half_a_character_is_no_reason_to_fail(tmp_path: Path) -> None:
    put(str(tmp_path), "a.md", "a\ud800b")
    assert (tmp_path / "a.md").read_text() == "a?b"
