from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import ours, put

from sisyphus.configuring.sources import read, read_all

if TYPE_CHECKING:
    from pathlib import Path


def test_the_users_file_comes_before_the_projects(home: Path, project: Path) -> None:
    put(project / ".claude/sisyphus.toml", "x = 1\n[rules]\nenabled = false\n")

    own, projects = read_all(str(ours(home, "")), str(project))

    assert (own.origin, own.exists, own.problem, list(own.values())) == ("user", False, "", [])
    assert (projects.origin, projects.exists) == ("project", True)
    assert list(projects.values()) == [("rules.enabled", False)]


PROBLEMS = [
    pytest.param(b"[rules\n", "no TOML: ", id="no TOML"),
    pytest.param(b"\xff", "not UTF-8", id="no text"),
    pytest.param(b"#" * 200_001, "too large", id="too large"),
    pytest.param(b"x = " + b"[" * 50_000, "no TOML: ", id="nested too deeply"),
]


@pytest.mark.parametrize(("content", "problem"), PROBLEMS)
def test_it_is_said_why_a_file_is_not_used(tmp_path: Path, content: bytes, problem: str) -> None:
    found = read(str(put(tmp_path / "config.toml", content)), "")

    assert found.problem.startswith(problem)
    assert (found.exists, found.table) == (True, {})


def test_a_folder_in_its_place_is_no_file(tmp_path: Path) -> None:
    assert read(str(tmp_path), "").problem == "not a regular file"
