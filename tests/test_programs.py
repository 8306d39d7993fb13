from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.programs import Programs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A stranger's, and the folder where we are."""
    folder = tmp_path / "project"
    _program(folder / "bin/sisyphus")
    return folder


def _program(path: Path) -> str:
    put(path, "#!/bin/sh\n").chmod(0o755)
    return str(path)


def _with_path(monkeypatch: pytest.MonkeyPatch, *folders: object) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))


STRANGERS = [
    pytest.param("{project}/bin", id="in the project"),
    pytest.param("{project}/../project/bin", id="by a way around"),
    pytest.param("{outside}/into", id="by a link into the project"),
    pytest.param("{project}/out", id="by a link of the project"),
    pytest.param("bin", id="relative"),
    pytest.param(".", id="where we are"),
    pytest.param("", id="where we are, in few words"),
]


@pytest.mark.parametrize("folder", STRANGERS)
def test_a_folder_of_the_project_is_passed_over(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "into").symlink_to(project / "bin")
    (project / "out").symlink_to(tmp_path / "bin")
    _program(project / "sisyphus")
    monkeypatch.chdir(project)
    users = _program(tmp_path / "bin/sisyphus")
    _with_path(monkeypatch, folder.format(project=project, outside=outside), tmp_path / "bin")

    programs = Programs(str(project))

    assert programs.which("sisyphus") == users
    assert programs.path == str(tmp_path / "bin")
    assert programs.is_there("sisyphus")


def test_a_program_that_is_a_link_into_the_project_is_passed_over(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/sisyphus").symlink_to(project / "bin/sisyphus")
    _with_path(monkeypatch, tmp_path / "bin")

    assert Programs(str(project)).which("sisyphus") == ""


WHOLE = [
    pytest.param("{users}", True, id="the user's"),
    pytest.param("{project}/bin/sisyphus", False, id="in the project"),
    pytest.param("{project}/link", False, id="a link of the project to the user's"),
    pytest.param("./bin/sisyphus", False, id="relative"),
    pytest.param("{users}-2", False, id="not there"),
]


@pytest.mark.parametrize(("path", "is_found"), WHOLE)
def test_a_whole_path_is_found_where_no_stranger_chose_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, is_found: bool
) -> None:
    users = _program(tmp_path / "bin/sisyphus")
    (project / "link").symlink_to(users)
    monkeypatch.chdir(project)

    found = Programs(str(project)).which(path.format(users=users, project=project))

    assert found == (users if is_found else "")


def test_our_own_script_runs_already_wherever_it_is(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = str(project / "bin/sisyphus")
    _with_path(monkeypatch, project / "bin")

    assert Programs(str(project), own).which("sisyphus") == own
    assert Programs(str(project), own).which(own) == own


def test_a_home_that_is_a_project_is_the_users(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _program(home / ".local/bin/sisyphus")
    _with_path(monkeypatch, home / ".local/bin")

    assert Programs(str(home)).which("sisyphus") == path
    assert Programs(str(home / ".local")).which("sisyphus") == ""
