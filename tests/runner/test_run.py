"""Whole runs of a scripted client."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS

from runner import scripted
from runner.runs import DONE, is_gone, wait_for
from runner.scripted import append, entry, forever, init, pause, said, tool, until, write

if TYPE_CHECKING:
    from runner.runs import Scene

OPEN = "- [x] one\n- [ ] two\n"
ALL = "- [x] one\n- [x] two\n"


def test_it_works_until_the_promise_is_kept(scene: Scene) -> None:
    done = scene.run(
        said("first"), said("second"), said(f"all\n\n{DONE}"), completion_promise="DONE"
    )

    assert (done.exit_code, scene.state["status"]) == (0, "completed")
    assert scene.state["iteration"] == 3
    rows = [(row["iteration"], row["checkpoint"]) for row in scene.state["context_history"]]
    assert rows == [(1, False), (2, False), (3, False)]
    assert scene.told.events == [
        "started 1", "go_on 1", "started 2", "go_on 2", "started 3", "complete 3",
    ]  # fmt: skip


def test_without_a_promise_the_items_end_it(scene: Scene) -> None:
    scene.items("one", "two")
    done = scene.run(said("a", write("fix_plan.md", OPEN)), said("b", write("fix_plan.md", ALL)))

    assert (done.exit_code, done.run.reason) == (0, "every item of fix_plan.md is done")
    assert (scene.state["todo_items"], scene.state["completed_items"]) == ([], ["one", "two"])
    assert "- **Item**: one" in scene.prompts[0]
    assert "- **Item**: two" in scene.prompts[1]


def test_with_a_promise_ticked_items_end_nothing(scene: Scene) -> None:
    scene.items("one")
    done = scene.run(
        said("a", write("fix_plan.md", "- [x] one\n")), completion_promise="DONE", max_iterations=2
    )

    assert (done.exit_code, done.run.status) == (3, "max_iterations")


def test_the_client_is_told_whose_it_is(scene: Scene) -> None:
    done = scene.run(said(DONE), completion_promise="DONE")
    [given] = scripted.runs(scene.folder)

    assert given["env"]["SISYPHUS_RUN"] == done.run.loop_id
    assert given["prompt"] == scene.prompt
    assert os.path.samefile(given["cwd"], scene.project)


def test_a_killed_runner_finds_its_living_client_again(scene: Scene) -> None:
    """And judges the iteration that it began, once."""
    client = scene.play(said("one", until(scene.followed)), said(DONE))
    process = scene.start(
        "--prompt", "x", "--completion-promise", "DONE", "--client-command", client
    )
    scene.at_rest()
    process.kill()
    process.communicate(timeout=HANG_SECONDS)

    done = scene.run(resume=True)

    assert (done.exit_code, done.run.iteration) == (0, 2)
    assert scene.told.events == ["followed 1", "go_on 1", "started 2", "complete 2"]
    assert len(scene.prompts) == 2


def test_a_client_that_ended_meanwhile_is_judged_and_not_run_again(scene: Scene) -> None:
    client = scene.play(said("one", until(scene.go)), said(DONE))
    process = scene.start(
        "--prompt", "x", "--completion-promise", "DONE", "--client-command", client
    )
    scene.at_rest()
    process.kill()
    process.communicate(timeout=HANG_SECONDS)
    scene.go.touch()
    scene.until_client_is_gone()

    done = scene.run(resume=True)

    assert (done.exit_code, done.run.iteration) == (0, 2)
    assert scene.told.events == ["go_on 1", "started 2", "complete 2"]
    assert "ended while nobody looked" in scene.told.notes[-1]
    assert [row["iteration"] for row in scene.state["context_history"]] == [1, 2]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_again_and_again_it_loses_nothing_and_does_nothing_twice(
    scene: Scene, seed: int
) -> None:
    moments = random.Random(seed)  # noqa: S311  # no secret
    client = scene.play(
        *(said(f"{n}", append("a.txt", f"{n}\n"), pause(0.1)) for n in range(1, 5)), said(DONE)
    )
    words = ["--prompt", "x", "--completion-promise", "DONE", "--client-command", client]
    process, kills = scene.start(*words), 0
    wait_for((scene.project / ".claude" / "ralph-state.json").exists)
    while kills < 4 and process.poll() is None:
        time.sleep(moments.uniform(0.0, 0.3))
        process.kill()
        kills += 1
        process.communicate(timeout=HANG_SECONDS)
        process = scene.start("--resume")
    process.communicate(timeout=HANG_SECONDS)

    assert (process.returncode, len(scene.prompts)) == (0, 5)
    assert (scene.project / "a.txt").read_text() == "1\n2\n3\n4\n"
    assert [row["iteration"] for row in scene.state["context_history"]] == [1, 2, 3, 4, 5]
    assert all(scene.progress.count(f"## Iteration {n} ") == 1 for n in range(1, 6))


def test_an_iteration_that_was_cut_short_is_done_again_with_its_handoff(scene: Scene) -> None:
    step = tool("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"})
    client = scene.play(entry(init(), step, forever()), said(DONE))
    process = scene.start(
        "--prompt", "x", "--completion-promise", "DONE", "--client-command", client
    )
    scene.at_rest()
    [given] = scripted.runs(scene.folder)
    process.kill()
    process.communicate(timeout=HANG_SECONDS)
    os.killpg(scene.state["in_flight"]["child"]["pid"], signal.SIGKILL)
    scene.until_client_is_gone()
    wait_for(lambda: is_gone(given["pid"]))

    done = scene.run(resume=True)

    assert (done.exit_code, done.run.iteration) == (0, 1)
    assert "it is done again" in scene.told.notes[-1]
    assert "CONTEXT CHECKPOINT RESUME" in scene.prompts[1]
    assert scene.state["context_checkpoint"]["active"] is False
    assert [row["iteration"] for row in scene.state["context_history"]] == [1]
