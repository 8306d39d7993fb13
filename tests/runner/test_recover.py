"""What is interrupted, killed or left, and taken up again."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from making import HANG_SECONDS, put

from runner import scripted
from runner.runs import DONE, is_gone, wait_for
from runner.scripted import entry, failing, forever, init, plain, said, text, tool, until
from sisyphus.errors import SisyphusError
from sisyphus.runner import work_loop
from sisyphus.runner.attend import Landed
from sisyphus.runner.client.failures import Failure
from sisyphus.runner.client.stream import Seen
from sisyphus.runner.desk import Desk
from sisyphus.runner.keep.places import Places
from sisyphus.runner.keep.state import Run
from sisyphus.runner.task import progress
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from runner.runs import Scene
    from runner.scripted import Entry

EDIT = tool("Edit", {"file_path": "a.py", "old_string": "a", "new_string": "b"})
AT_WORK = entry(init(), EDIT, forever())
STUBBORN = entry(init(), EDIT, forever(), ignores_interrupt=True)
SIGNALS = [signal.SIGINT, signal.SIGTERM]


def _start(scene: Scene, *entries: Entry) -> subprocess.Popen[str]:
    """A run of which a client is at rest."""
    client = scene.play(*entries)
    words = ("--prompt", "x", "--completion-promise", "DONE", "--client-command", client)
    process = scene.start(*words)
    scene.at_rest()
    return process


def _lines(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert "Traceback" not in err
    return process.returncode, out


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_ends_client_and_run_in_order(scene: Scene, number: int) -> None:
    process = _start(scene, AT_WORK, said(DONE))
    process.send_signal(number)
    code, out = _lines(process)
    [given] = scripted.runs(scene.folder)

    assert code == 130
    assert "Interrupted.\n" in out
    assert "Nothing is lost. Go on with `sisyphus ralph run --resume`." in out
    assert is_gone(given["pid"])
    assert scene.state["status"] == "cancelled"

    done = scene.run(resume=True)
    assert (done.exit_code, done.run.iteration) == (0, 1)
    assert "CONTEXT CHECKPOINT RESUME" in scene.prompts[1]


def test_the_second_signal_ends_them_at_once(scene: Scene) -> None:
    process = _start(scene, STUBBORN)
    process.send_signal(signal.SIGINT)
    with pytest.raises(Exception, match="timed out"):
        process.communicate(timeout=0.7)
    process.send_signal(signal.SIGINT)
    code, _ = _lines(process)
    [given] = scripted.runs(scene.folder)

    assert code == 130
    wait_for(lambda: is_gone(given["pid"]))
    assert scene.state["status"] == "cancelled"


ENDED = [
    pytest.param(said(DONE)["steps"], False, id="it had ended well"),
    pytest.param([init(), EDIT], True, id="it was at work"),
    pytest.param(failing("x")["steps"], True, id="it had failed"),
]


@pytest.mark.parametrize(("steps", "is_interrupted"), ENDED)
def test_an_interruption_marks_only_what_it_interrupted(
    scene: Scene, steps: list[Any], *, is_interrupted: bool
) -> None:
    space = Workspace(str(scene.project))
    desk = Desk(space, Places(space), Run({"in_flight": {"item": "one"}}), scene.told)
    seen = Seen()
    for step in steps:
        for event in step[1] if step[0] == "events" else [step[1]]:
            seen.feed(json.dumps(event).encode())
    work_loop.cancel(desk, Landed(seen, Failure(), 0.0, interrupted=True))

    assert scene.state["status"] == "cancelled"
    assert scene.state["in_flight"].get("interrupted", False) is is_interrupted


def test_a_client_of_another_kind_that_ended_is_known_by_its_exit(scene: Scene) -> None:
    process = _start(scene, entry(until(scene.go), plain(DONE)))
    process.kill()
    process.communicate(timeout=HANG_SECONDS)
    scene.go.touch()
    scene.until_client_is_gone()
    done = scene.run(resume=True)

    assert (done.exit_code, done.run.iteration, len(scene.prompts)) == (0, 1, 1)


def test_a_client_that_was_never_noted_is_found(scene: Scene) -> None:
    """The runner was killed between starting it and writing that down."""
    process = _start(scene, entry(init(), until(scene.followed), *said(DONE)["steps"][1:]))
    process.kill()
    process.communicate(timeout=HANG_SECONDS)
    _forget_child(scene)
    done = scene.run(resume=True)

    assert scene.told.events == ["followed 1", "complete 1"]
    assert (done.exit_code, len(scene.prompts)) == (0, 1)


def _forget_child(scene: Scene) -> None:
    [record] = [p for p in _runs(scene).iterdir() if p.suffix == ".json"]
    found = json.loads(record.read_text())
    found["in_flight"]["child"] = None
    put(record, json.dumps(found))


def _runs(scene: Scene) -> Path:
    from sisyphus.paths import our_home

    assert scene.project.is_dir()
    return Path(our_home()) / "ralph" / "runs"


def test_a_client_that_did_nothing_yet_leaves_no_handoff(scene: Scene) -> None:
    process = _start(scene, entry(init(), forever()), said(DONE))
    process.send_signal(signal.SIGINT)
    _lines(process)
    done = scene.run(resume=True)

    assert (done.exit_code, done.run.iteration) == (0, 1)
    assert "CONTEXT CHECKPOINT RESUME" not in scene.prompts[1]


def test_what_a_dead_client_was_given_is_not_given_again(scene: Scene) -> None:
    """It had answered, which nobody noted, and was cut short."""
    full = entry(init(), tool("Edit", {"file_path": "a.py"}, 880_000), *said("half")["steps"][1:])
    process = _start(scene, full, entry(init(), text("I read it"), forever()), said(DONE))
    assert scene.state["judged"] == 1
    process.send_signal(signal.SIGINT)
    _lines(process)
    done = scene.run(resume=True)

    assert (done.exit_code, done.run.iteration) == (0, 2)
    assert "CONTEXT CHECKPOINT RESUME" in scene.prompts[1]
    assert "CONTEXT CHECKPOINT RESUME" not in scene.prompts[2]


def test_files_that_are_gone_are_no_failure(scene: Scene) -> None:
    process = _start(scene, AT_WORK, said(DONE))
    process.send_signal(signal.SIGINT)
    _lines(process)
    for path in (_runs(scene).parent / "transcripts").iterdir():
        path.unlink()
    done = scene.run(resume=True)

    assert (done.exit_code, done.run.iteration) == (0, 1)


def test_an_end_that_is_asked_for_between_two_clients(scene: Scene) -> None:
    space = Workspace(str(scene.project))
    run = Run({"options": {"client_command": "false"}})
    code = work_loop.work(Desk(space, Places(space), run, scene.told, lambda: True))

    assert (code, scene.state["status"], scene.told.events) == (130, "cancelled", [])


def test_a_new_run_does_not_start_beside_a_living_client(scene: Scene) -> None:
    process = _start(scene, AT_WORK)
    process.kill()
    process.communicate(timeout=HANG_SECONDS)

    told = r"the client of the run before still works \(pid .* `(kill .*)` ends it"
    with pytest.raises(SisyphusError, match=told) as raised:
        scene.run(said(DONE))
    [given], words = scripted.runs(scene.folder), re.search(told, str(raised.value))
    assert words
    subprocess.run(["/bin/sh", "-c", words[1]], check=True)
    wait_for(lambda: is_gone(given["pid"]))


def test_two_runs_in_one_project_are_one_too_many(scene: Scene) -> None:
    process = _start(scene, AT_WORK)
    code, _, err = scene.command("--prompt", "y")

    assert code == 1
    assert "a run is at work in this project already: x (iteration 1 of 50)" in err
    assert f"`kill -INT {process.pid}`" in err
    process.kill()


def test_a_run_may_be_replaced(scene: Scene) -> None:
    process = _start(scene, AT_WORK)
    process.send_signal(signal.SIGINT)
    _lines(process)
    done = scene.run(said(DONE), completion_promise="DONE")

    assert done.exit_code == 0
    assert scene.state["context_history"] == [
        {"iteration": 1, "peak_percent": 0, "checkpoint": False}
    ]


def test_an_entry_of_progress_that_was_not_written_is_written(scene: Scene) -> None:
    """The runner was killed between deciding and telling of it."""
    scene.run(said("a"), completion_promise="DONE", max_iterations=1)
    entry_of_first = progress.read_last(str(scene.project / ".claude" / "progress.txt"))[0]
    note = f"{entry_of_first}\n"
    for written in (True, False):
        _set_note(scene, note)
        if not written:
            (scene.project / ".claude" / "progress.txt").unlink()
        scene.run(resume=True, max_iterations=2 if written else 3)

    assert scene.progress.count("## Iteration 1 ") == 1


def _set_note(scene: Scene, note: str) -> None:
    [record] = [p for p in _runs(scene).iterdir() if p.suffix == ".json"]
    put(record, json.dumps({**json.loads(record.read_text()), "note": note}))


def test_a_complete_run_says_so(scene: Scene) -> None:
    scene.run(said(DONE), completion_promise="DONE")
    code, out, _ = scene.command("--resume")

    assert code == 0
    assert out.startswith("The run is complete already (the promise was kept: DONE): do it.")
    assert len(scene.prompts) == 1


def test_a_run_at_its_limit_says_how_it_goes_on(scene: Scene) -> None:
    scene.run(said("a"), completion_promise="DONE", max_iterations=1)
    code, out, _ = scene.command("--resume")

    assert code == 3
    assert "the limit of 1 iteration is reached. Go on with `sisyphus ralph run --resume`" in out
    assert scene.run(resume=True, max_iterations=2).run.iteration == 2


def test_there_may_be_nothing_to_resume(scene: Scene) -> None:
    code, _, err = scene.command("--resume")

    assert code == 1
    assert "there is no run to resume" in err


def test_a_prompt_does_not_go_with_resume(scene: Scene) -> None:
    with pytest.raises(SisyphusError, match="--resume goes on with the prompt of the run"):
        scene.run(resume=True, prompt="x")
