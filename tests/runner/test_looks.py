from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making import put
from ralph.repositories import a_repository, change, commit, latest

from sisyphus import git
from sisyphus.errors import TooMuchError
from sisyphus.runner import looks
from sisyphus.runner.desk import Desk, Screen
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import Run
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    space = Workspace(str(a_repository(tmp_path / "shop")))
    found = Desk(space, Places(space), Run(), Screen())
    looks.begin(found)
    found.run.signs["at"] = latest(tmp_path / "shop")
    return found


def test_nothing_changed(desk: Desk) -> None:
    before = desk.run.last_diff_hash
    found = looks.look(desk, 0)

    assert (found.progress, found.files, found.is_commit) == (False, 0, False)
    assert desk.run.last_diff_hash == before != ""


def test_files_changed(desk: Desk, tmp_path: Path) -> None:
    before, since = desk.run.last_diff_hash, desk.run.signs["at"]
    change(tmp_path / "shop" / "a.txt", since)
    change(tmp_path / "shop" / "new.txt", since)
    change(tmp_path / "shop" / ".claude" / "progress.txt", since)
    found = looks.look(desk, 0)

    assert (found.progress, found.files, found.is_commit) == (True, 2, False)
    assert desk.run.last_diff_hash != before


def test_our_own_files_are_no_progress(desk: Desk, tmp_path: Path) -> None:
    for name in ("ralph-state.json", "PROMPT.md", "progress.txt", "handoffs/a.md"):
        change(tmp_path / "shop" / ".claude" / name, desk.run.signs["at"])
    desk.run.signs["names"] = ""

    assert looks.look(desk, 0).progress is False


def test_a_commit_and_an_item_are_progress(desk: Desk, tmp_path: Path) -> None:
    assert looks.look(desk, done=1).progress is True
    change(tmp_path / "shop" / "a.txt", desk.run.signs["at"])
    commit(tmp_path / "shop")
    found = looks.look(desk, 0)

    assert (found.progress, found.is_commit) == (True, True)


def test_a_commit_of_our_own_files_is_none(desk: Desk, tmp_path: Path) -> None:
    change(tmp_path / "shop" / ".claude" / "progress.txt", desk.run.signs["at"])
    desk.run.signs["names"] = ""
    commit(tmp_path / "shop")
    found = looks.look(desk, 0)

    assert (found.progress, found.is_commit) == (False, False)


def test_a_commit_counts_where_the_files_cannot_be_looked_at(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path / "shop")
    monkeypatch.setattr(git, "names", _too_much)
    found = looks.look(desk, 0)

    assert (found.progress, found.is_commit) == (True, True)


def _too_much(*_: object) -> None:
    raise TooMuchError("there are too many files")


def _failed(text: str, **fields: Any) -> str:
    block = {"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": text}
    return json.dumps({"type": "user", "message": {"content": [block]}, **fields}) + "\n"


def test_the_last_error_is_that_of_the_main_thread(tmp_path: Path) -> None:
    said = json.dumps({"type": "assistant", "message": {"content": "x"}}) + "\n"
    subagents = _failed("theirs", parent_tool_use_id="call_1")
    path = put(tmp_path / "o.jsonl", _failed("one") + _failed("two") + said + subagents)

    assert looks.last_error(str(path)) == "two"
    assert looks.last_error(str(tmp_path / "none")) == ""
