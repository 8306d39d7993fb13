from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.runner.client import launch
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import Run
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


def test_every_try_of_an_iteration_has_files_of_its_own(project: Path, home: Path) -> None:
    places, run = Places(Workspace(str(project))), Run({"loop_id": "abc12", "iteration": 3})
    first = launch.stem(places, run)
    put(home / ".claude/.sisyphus/ralph/transcripts/abc12_iter_3.jsonl", "")
    second = launch.stem(places, run)

    assert first.endswith("/abc12_iter_3")
    assert second == f"{first}.2"


CODES = [
    pytest.param("0\n", 0, id="well"),
    pytest.param("7\n", 7, id="not so well"),
    pytest.param("", None, id="it was about to be written"),
    pytest.param("x", None, id="no number"),
    pytest.param(None, None, id="it did not end by itself"),
]


@pytest.mark.parametrize(("content", "code"), CODES)
def test_how_it_ended(tmp_path: Path, content: str | None, code: int | None) -> None:
    if content is not None:
        put(tmp_path / "a.exit", content)

    assert launch.exit_code({"stem": str(tmp_path / "a")}) == code


def test_a_process_that_leads_no_session_is_no_client_of_ours(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    put(tmp_path / "a.pid", f"{other.pid}\n")
    found = launch.living({"stem": str(tmp_path / "a"), "child": None})
    other.communicate()

    assert found is None
    assert launch.living({"stem": str(tmp_path / "a"), "child": None}) is None
    assert launch.living({"stem": str(tmp_path / "b"), "child": None}) is None


def test_a_client_is_looked_for_where_the_user_has_programs(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (project / "bin", tmp_path / "first", tmp_path / "second"):
        put(folder / "claude", "#!/bin/sh\n").chmod(0o755)
    (tmp_path / "first" / "claude").chmod(0o644)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "claude").symlink_to(project / "bin" / "claude")
    folders = [".", project / "bin", tmp_path / "link", tmp_path / "first", tmp_path / "second"]
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, folders)))

    assert launch.find_client(str(project)) == str(tmp_path / "second" / "claude")
