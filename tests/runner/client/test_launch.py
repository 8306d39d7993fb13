from __future__ import annotations

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


def test_a_command_line_is_run_by_the_shell() -> None:
    assert launch.custom_argv("mine | tee log", "posix") == ["/bin/sh", "-c", "mine | tee log"]


def test_a_command_line_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMSPEC", raising=False)
    assert launch.custom_argv("mine.bat", "nt") == ["cmd.exe", "/d", "/s", "/c", "mine.bat"]
