from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS

from runner.runs import DONE, Scene, wait_for
from runner.scripted import entry, failing, init, said, tool
from sisyphus.runner import waits
from sisyphus.runner.client import failures
from sisyphus.runner.desk import Desk

if TYPE_CHECKING:
    from runner.scripted import Entry

OVERLOADED = failing("Overloaded", error="overloaded", status=529)


def limit(seconds: float) -> Entry:
    words = "You've hit your session limit"
    return failing(words, error="rate_limit", status=429, resets_at=int(time.time() + seconds))


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "delay", lambda *_: 0.02)


@pytest.mark.usefixtures("_at_once")
def test_a_failure_that_passes_counts_for_nothing(scene: Scene) -> None:
    done = scene.run(OVERLOADED, OVERLOADED, said(DONE), completion_promise="DONE")

    assert (done.exit_code, done.run.iteration) == (0, 1)
    assert scene.told.events == [
        "started 1", "wait 1", "started 1", "wait 1", "started 1", "complete 1",
    ]  # fmt: skip
    assert (scene.state["tries"], scene.state["waiting"]) == (0, {})
    assert len(scene.state["context_history"]) == 1


@pytest.mark.usefixtures("_at_once")
def test_after_many_in_a_row_it_is_given_up(scene: Scene) -> None:
    done = scene.run(OVERLOADED, completion_promise="DONE")

    assert (done.exit_code, done.run.status) == (1, "fatal_error")
    assert done.run.reason.endswith(", 20 times in a row")
    assert len(scene.prompts) == 20


@pytest.mark.usefixtures("_at_once")
def test_what_was_done_before_is_handed_over(scene: Scene) -> None:
    step = tool("Edit", {"file_path": "a.py"})
    done = scene.run(
        entry(init(), step, *OVERLOADED["steps"][1:], exit_code=1),
        said(DONE),
        completion_promise="DONE",
    )

    assert (done.exit_code, done.run.iteration) == (0, 1)
    assert "CONTEXT CHECKPOINT RESUME" in scene.prompts[1]


def test_a_named_reset_is_waited_for(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits finds the clock an hour later when he looks again."""
    now = Desk.now
    monkeypatch.setattr(Desk, "now", lambda desk: now(desk) + 3_600 * bool(scene.told.waited))
    monkeypatch.setattr(waits, "_STEP", 0.01)
    done = scene.run(limit(3_000), said(DONE), completion_promise="DONE")

    assert (done.exit_code, done.run.iteration, scene.state["tries"]) == (0, 1, 0)
    [waited] = scene.told.waited
    assert 2_000 < waited < 3_600


def test_a_reset_that_has_passed_is_not_tried_for_ever(scene: Scene) -> None:
    client = scene.play(limit(-60))
    process = scene.start("--prompt", "x", "--client-command", client, "--completion-promise", "D")
    wait_for((scene.project / ".claude/ralph-state.json").exists)
    while not (state := scene.state)["waiting"]:
        time.sleep(0.01)
    process.terminate()
    process.communicate(timeout=HANG_SECONDS)

    assert state["tries"] == 1
    assert state["waiting"]["until"] < time.time() + 6


def test_a_wait_survives_its_runner(scene: Scene) -> None:
    client = scene.play(limit(3_600), said(DONE))
    words = ("--prompt", "x", "--completion-promise", "DONE", "--client-command", client)
    process = scene.start(*words)
    scene.until(1)
    wait_for(lambda: scene.state["waiting"])
    process.kill()
    process.communicate(timeout=HANG_SECONDS)

    again = scene.start("--resume")
    assert again.stdout is not None
    assert again.stdout.readline().startswith("iteration 1 of 50: waits ")
    again.terminate()
    again.communicate(timeout=HANG_SECONDS)
    assert again.returncode == 130
    assert len(scene.prompts) == 1
    assert scene.state["waiting"]["kind"] == "limit"


FORGED = [
    pytest.param({}, id="nothing"),
    pytest.param({"until": "soon"}, id="no number"),
    pytest.param({"until": 9e11}, id="in thirty thousand years"),
    pytest.param({"until": 5}, id="long ago"),
]


@pytest.mark.parametrize("waiting", FORGED)
def test_what_is_no_moment_is_not_waited_for(scene: Scene, waiting: dict[str, object]) -> None:
    from sisyphus.runner.keep.places import Places
    from sisyphus.runner.keep.state import Run
    from sisyphus.workspace import Workspace

    space = Workspace(str(scene.project))
    desk = Desk(space, Places(space), Run({"waiting": waiting}), scene.told)

    assert waits.wait(desk) is True
    assert desk.run.waiting == {}
