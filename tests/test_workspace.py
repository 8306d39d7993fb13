from __future__ import annotations

import time
from typing import TYPE_CHECKING

from making import a_space, debug_log, ours, put

from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


def test_a_workspace_knows_its_folders(home: Path, project: Path) -> None:
    (project / "src").mkdir()
    space = a_space(project / "src")
    assert space.cwd == str(project / "src")
    assert space.root == str(project.resolve())
    assert space.home == str(home / ".claude")
    assert space.ours == str(ours(home, ""))


def test_its_settings_are_those_of_the_project(project: Path) -> None:
    put(project / ".claude" / "sisyphus.toml", "[rules]\nenabled = false\n")
    assert a_space(project).settings.get("rules.enabled") is False


def test_its_clock_is_the_given_one_or_the_real_one(project: Path) -> None:
    assert a_space(project).now == 1_000_000.0
    assert abs(Workspace(str(project)).now - time.time()) < 3_600


def test_it_writes_to_the_debug_log(home: Path, project: Path) -> None:
    a_space(project).log("something happened")
    assert "something happened" in debug_log(home)
