from __future__ import annotations

from typing import TYPE_CHECKING

from making import put

from sisyphus.rules.target import relative

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_of_the_project_is_named_from_its_root(project: Path) -> None:
    assert relative(str(project / "src/a.py"), str(project)) == ("src/a.py", True)


def test_dots_in_the_path_are_resolved(project: Path) -> None:
    assert relative(f"{project}/src/../lib/./a.py", str(project)) == ("lib/a.py", True)


def test_a_file_reached_through_a_link_to_the_project_is_in_it(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(project)

    assert relative(str(tmp_path / "link/src/a.py"), str(project)) == ("src/a.py", True)


def test_a_link_in_the_project_counts_by_its_own_path(project: Path, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere.py", "")
    (project / "a.py").symlink_to(tmp_path / "elsewhere.py")

    assert relative(str(project / "a.py"), str(project)) == ("a.py", True)


def test_a_file_outside_is_named_relative_to_the_project(project: Path, tmp_path: Path) -> None:
    assert relative(str(tmp_path / "other/a.py"), str(project)) == ("../other/a.py", False)


def test_a_folder_whose_name_begins_like_the_project_is_outside(project: Path) -> None:
    assert relative(f"{project}-other/a.py", str(project)) == ("../project-other/a.py", False)


def test_the_root_of_the_file_system_can_be_a_project() -> None:
    assert relative("/etc/hosts", "/") == ("etc/hosts", True)
