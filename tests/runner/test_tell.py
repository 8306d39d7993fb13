from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from making import notify_by

from runner.runs import DONE, Scene, once_noted, wait_for
from runner.scripted import entry, failing, init, result, said, tool
from sisyphus.errors import SisyphusError
from sisyphus.runner.keep.places import Places
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from runner.scripted import Entry
    from sisyphus._types import Json

ENDS: list[Any] = [
    pytest.param(said(DONE), {}, "completion", "the promise was kept: DONE", id="completed"),
    pytest.param(
        failing("no", error="authentication_failed", status=401), {}, "failure",
        "the client is not logged in", id="fatal",
    ),
    pytest.param(
        said("a"), {"max_iterations": 1}, "pause", "the limit of 1 iteration is reached", id="limit"
    ),
]  # fmt: skip


@pytest.fixture
def told(tmp_path: Path) -> Path:
    """What the user's command gets, a line an event."""
    path = tmp_path / "told.jsonl"
    notify_by(f"(cat; echo) >> {path}")
    return path


def events(path: Path, number: int) -> list[Json]:
    wait_for(lambda: path.exists() and len(path.read_text().split()) and _count(path) >= number)
    return [json.loads(line) for line in path.read_text().splitlines() if line]


def _count(path: Path) -> int:
    return sum(line.endswith("}") for line in path.read_text().splitlines())


@pytest.mark.parametrize(("client", "asked", "event", "why"), ENDS)
def test_the_end_is_told(  # a row of the table
    scene: Scene, told: Path, client: Entry, asked: dict[str, Any], event: str, why: str
) -> None:
    done = scene.run(client, completion_promise="DONE", **asked)
    [found] = events(told, 1)

    assert (found["event"], found["loop_id"], found["iteration"]) == (event, done.run.loop_id, 1)
    assert found["reason"].startswith(why)
    assert found["task"] == "do it"


def test_a_checkpoint_is_told_once(scene: Scene, told: Path) -> None:
    full = entry(init(), tool("Edit", {"file_path": "a.py"}, 880_000), result("half"))
    scene.run(full, said(DONE), completion_promise="DONE")
    found = events(told, 2)

    assert sorted(one["event"] for one in found) == ["checkpoint", "completion"]
    [checkpoint] = [one for one in found if one["event"] == "checkpoint"]
    assert (checkpoint["level"], checkpoint["percent"]) == ("L2", 88)


def test_a_run_that_breaks_is_told(scene: Scene, told: Path) -> None:
    record = Places(Workspace(str(scene.project))).record
    client = f"{once_noted(f'mkdir -p {record}.tmp/x')}; {scene.play(said('a'))}"
    with pytest.raises(SisyphusError):
        scene.run(client_command=client)
    [found] = events(told, 1)

    assert found["event"] == "failure"
    assert found["reason"].startswith("the run cannot keep what it did: ")


def test_a_notifier_that_fails_stops_nothing(scene: Scene) -> None:
    notify_by("exit 7")

    assert scene.run(said(DONE), completion_promise="DONE").exit_code == 0


def test_an_end_by_the_user_is_no_news(scene: Scene, told: Path) -> None:
    from sisyphus.runner import tell
    from sisyphus.runner.desk import Desk, Screen
    from sisyphus.runner.keep.state import Run

    space = Workspace(str(scene.project))
    tell.end(Desk(space, Places(space), Run({"status": "cancelled"}), Screen()))

    assert not told.exists()
