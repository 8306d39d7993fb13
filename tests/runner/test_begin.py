from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from making import put

from runner.runs import DONE
from runner.scripted import install, on_path, runs, said
from sisyphus.errors import SisyphusError
from sisyphus.paths import is_safe_id

if TYPE_CHECKING:
    from pathlib import Path

    from runner.runs import Scene

PROMPT = "# Task: do it\r\n\r\n  all of it\n"


def test_the_prompt_may_be_a_file(scene: Scene) -> None:
    put(scene.project / "task.md", PROMPT)
    done = scene.run(said(DONE), prompt=None, prompt_file="task.md", completion_promise="DONE")

    assert (done.run.prompt, done.run.task_name) == (PROMPT, "do it")
    assert PROMPT in (scene.project / ".claude" / "PROMPT.md").read_bytes().decode()


def test_the_users_own_prompt_is_never_written(scene: Scene) -> None:
    put(scene.project / "PROMPT.md", PROMPT)
    done = scene.run(said(DONE), prompt=None, completion_promise="DONE")

    assert done.run.prompt == PROMPT
    assert (scene.project / "PROMPT.md").read_bytes().decode() == PROMPT


def test_options_are_kept(scene: Scene) -> None:
    done = scene.run(
        said("a"), objective=" the aim ", max_iterations=1, max_minutes=5, max_tokens=6,
        iteration_minutes=7, verify="true",
    )  # fmt: skip

    assert done.run.objective == "the aim"
    options = {name: value for name, value in done.run.options.items() if name != "client_command"}
    assert options == {"max_minutes": 5, "max_tokens": 6, "iteration_minutes": 7, "verify": "true"}


def test_defaults(scene: Scene) -> None:
    done = scene.run(said(DONE), completion_promise="DONE")

    assert done.run.max_iterations == 50
    assert done.run.options["max_minutes"] == 1_440
    assert done.run.options["iteration_minutes"] == 60
    assert len(done.run.loop_id) == 5


WRONG: list[Any] = [
    pytest.param({"prompt": None}, "the run has no task: there is no", id="no prompt"),
    pytest.param({"prompt": " \n"}, "--prompt is empty", id="a blank one"),
    pytest.param({"prompt_file": "x"}, "both given", id="two prompts"),
    pytest.param({"prompt": None, "prompt_file": "no.md"}, "cannot be read", id="no such file"),
    pytest.param({"completion_promise": " "}, "--completion-promise is empty", id="no promise"),
    pytest.param(
        {"client_command": None, "flags": ["--resume"]}, "cannot be given", id="a flag of ours"
    ),
]


@pytest.mark.parametrize(("asked", "why"), WRONG)
def test_what_cannot_be_done_is_said_before_anything_is_written(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], why: str
) -> None:
    install(scene.folder, [said(DONE)])
    monkeypatch.setenv("PATH", on_path(scene.folder))
    with pytest.raises(SisyphusError, match=why):
        scene.run(**{"client_command": "true", **asked})

    assert not (scene.project / ".claude").exists()


def test_a_prompt_that_leaves_the_project_is_not_read(scene: Scene, tmp_path: Path) -> None:
    put(tmp_path / "secret", "x")
    (scene.project / "PROMPT.md").symlink_to(tmp_path / "secret")
    with pytest.raises(SisyphusError, match="leaves"):
        scene.run(said(DONE), prompt=None)


def test_the_client_is_found_on_the_path_and_gets_its_flags(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(scene.folder, [said(DONE)])
    monkeypatch.setenv("PATH", f"{on_path(scene.folder)}{os.pathsep}{os.environ['PATH']}")
    flags = ["--permission-mode", "acceptEdits"]
    scene.run(completion_promise="DONE", flags=flags)
    [given] = runs(scene.folder)

    assert given["argv"][-2:] == flags
    assert given["argv"][:4] == ["-p", "--output-format", "stream-json", "--verbose"]
    assert len(given["session"]) == 36


def test_a_client_of_the_project_is_not_run(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    install(scene.project, [said(DONE)])
    monkeypatch.setenv("PATH", on_path(scene.project))
    with pytest.raises(SisyphusError, match="there is no `claude` on the PATH"):
        scene.run()


def test_a_state_of_another_origin_is_taken_up_without_its_commands(scene: Scene) -> None:
    state = {
        "task_name": "Migrate", "objective": "All of it", "iteration": 5, "status": "running",
        "max_iterations": 10**9, "completion_promise": "DONE", "options": {"verify": "touch bad"},
        "context_history": [{"iteration": n, "peak_percent": 9} for n in range(1, 5)], "theirs": 1,
    }  # fmt: skip
    put(scene.project / ".claude" / "ralph-state.json", json.dumps(state))
    done = scene.run(resume=True, client_command=scene.play(said(DONE)))

    assert (done.exit_code, done.run.iteration, done.run.prompt) == (0, 5, "All of it")
    assert done.run.max_iterations == 54
    assert "this state was not written here" in scene.told.notes[0]
    assert not (scene.project / "bad").exists()
    assert scene.state["theirs"] == 1


def test_a_corrupt_state_is_said_and_kept(scene: Scene) -> None:
    put(scene.project / ".claude" / "ralph-state.json", "{")
    scene.run(said(DONE), completion_promise="DONE")

    assert "could not be read; it was set aside" in scene.told.notes[0]
    assert list((scene.project / ".claude").glob("ralph-state.json.corrupt-*"))


LOOP_IDS = ["../../../../../outside/x", "/{outside}/x", "a\0"]


@pytest.mark.parametrize("loop_id", LOOP_IDS)
def test_the_loop_of_a_stranger_leads_nowhere(scene: Scene, tmp_path: Path, loop_id: str) -> None:
    """It is part of the names of files that we write."""
    state = {"task_name": "x", "loop_id": loop_id.format(outside=str(tmp_path / "outside"))}
    put(scene.project / ".claude" / "ralph-state.json", json.dumps(state))
    done = scene.run(
        resume=True, completion_promise="DONE", client_command=scene.play(said(DONE)), verify="true"
    )

    assert done.exit_code == 0
    assert is_safe_id(done.run.loop_id)
    assert not list(tmp_path.rglob("*outside*"))
    assert runs(scene.folder)[0]["env"]["SISYPHUS_RUN"] == done.run.loop_id


def test_a_file_that_the_user_named_and_that_is_none_is_left_alone(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.json"
    monkeypatch.setenv("RALPH_STATE_FILE", str(path))
    for content in ("precious", '{"name": "a package"}'):
        put(path, content)
        with pytest.raises(SisyphusError, match="is no state file of a run"):
            scene.run(said(DONE))

        assert path.read_text() == content
        assert os.listdir(tmp_path).count("mine.json") == 1
    path.unlink()
    assert scene.run(said(DONE), completion_promise="DONE").exit_code == 0
    assert json.loads(path.read_text())["status"] == "completed"


def test_where_the_project_takes_no_file_nothing_begins(scene: Scene) -> None:
    put(scene.project / ".claude", "a file in the way of the folder")
    client = scene.play(said(DONE))
    code, _, err = scene.command("--prompt", "x", "--client-command", client)

    assert code == 1
    assert err.startswith(f"error: a run keeps its files in {scene.project}/.claude, and nothing")
    assert runs(scene.folder) == []


def test_a_corrupt_state_that_was_to_be_resumed_is_named(scene: Scene) -> None:
    put(scene.project / ".claude" / "ralph-state.json", "{")
    with pytest.raises(SisyphusError, match="could not be read; it was set aside"):
        scene.run(resume=True)


def test_a_run_that_ended_is_replaced_without_a_word(scene: Scene) -> None:
    scene.run(said(DONE), completion_promise="DONE")
    scene.run(said(DONE), completion_promise="DONE")

    assert scene.told.notes == []


def test_a_newer_state_is_left_alone(scene: Scene) -> None:
    path = put(scene.project / ".claude" / "ralph-state.json", '{"version": 99}')
    with pytest.raises(SisyphusError, match="newer sisyphus"):
        scene.run(said(DONE))

    assert path.read_text() == '{"version": 99}'
