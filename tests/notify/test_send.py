from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from making import a_space, debug_log, notify_by, ours, put
from ralph.processes import wait_for

import sisyphus
from sisyphus.notify import send as module
from sisyphus.notify.send import send
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def told(tmp_path: Path) -> Callable[[str], Path]:
    """Sets a command and says into which file it is to write its news."""

    def use(command: str) -> Path:
        path = tmp_path / "told"
        notify_by(command.format(path=path))
        return path

    return use


def test_the_command_is_told(project: Path, told: Callable[[str], Path]) -> None:
    path = told("cat > {path}.new && mv {path}.new {path}")
    send(a_space(project), "checkpoint", level="L2", percent=87, session_id="s1")
    found = json.loads(wait_for(path))
    assert found["text"] == "Checkpoint L2 at 87%"
    assert found["project"] == str(project.resolve())
    assert (found["session_id"], found["loop_id"], found["at"]) == (
        "s1",
        None,
        "1970-01-12T13:46:40Z",
    )


def test_it_runs_in_our_folder_without_what_the_client_sets(
    home: Path, project: Path, told: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_MESSAGING_TOKEN", "secret")
    path = told("(pwd; echo [$CLAUDE_CODE_MESSAGING_TOKEN]) > {path}.new; mv {path}.new {path}")
    send(a_space(project), "pause")
    assert wait_for(path).splitlines() == [str(ours(home, "").resolve()), "[]"]


def test_nothing_is_waited_for(project: Path, told: Callable[[str], Path], tmp_path: Path) -> None:
    path = told("echo $$ > {path}; read line < {path}.fifo")
    os.mkfifo(tmp_path / "told.fifo")
    send(a_space(project), "pause")  # comes back while its command cannot go on
    wait_for(path)
    (tmp_path / "told.fifo").write_text("go on\n")


def test_a_command_that_fails_is_told_in_the_log(
    home: Path, project: Path, told: Callable[[str], Path]
) -> None:
    told("echo no route; exit 7")
    send(a_space(project), "failure")
    log = wait_for(ours(home, "logs/debug.log"))
    assert log.rstrip().endswith("notify.command failed: exit code 7: no route")


def test_without_a_command_nothing_happens(home: Path, project: Path) -> None:
    send(a_space(project), "pause", task="x")
    assert not ours(home, "").exists()


def test_without_a_command_nothing_is_imported(project: Path) -> None:
    code = (
        "import sys; from sisyphus.workspace import Workspace\n"
        "from sisyphus.notify.send import send\n"
        "space = Workspace(sys.argv[1]); space.settings; before = set(sys.modules)\n"
        "send(space, 'pause', task='x'); print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(project)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(sisyphus.__file__).parents[1])},
    )
    assert done.stdout == "[]\n"


def test_a_project_cannot_name_a_command(project: Path, tmp_path: Path) -> None:
    put(project / ".claude/sisyphus.toml", f'[notify]\ncommand = "touch {tmp_path}/owned"\n')
    before = len(module._started)  # noqa: SLF001
    send(a_space(project), "pause")
    assert len(module._started) == before  # noqa: SLF001


def test_the_users_file_names_one(home: Path, project: Path, tmp_path: Path) -> None:
    path = tmp_path / "told"
    put(ours(home, "config.toml"), f'[notify]\ncommand = "cat > {path}.n; mv {path}.n {path}"\n')
    send(a_space(project), "completion", task="Ship it")
    assert json.loads(wait_for(path))["text"] == "Completed: Ship it"


def test_what_fails_here_is_told_in_the_log(
    home: Path, project: Path, told: Callable[[str], Path]
) -> None:
    told("true")
    space = a_space(project)
    assert space.settings.get("notify.command")
    space.ours = str(put(project / "a-file", "") / "below")
    send(space, "pause")
    assert "notify: pause: FileExistsError: " in debug_log(home)


def test_a_message_that_a_pipe_might_not_hold_is_not_sent(
    home: Path, project: Path, told: Callable[[str], Path]
) -> None:
    told("true")
    send(Workspace(str(project), root="/" + "x" * 20_000), "pause")
    assert "notify: pause: ValueError: a message of 20," in debug_log(home)


def test_those_that_ended_are_forgotten(project: Path, told: Callable[[str], Path]) -> None:
    told("true")
    send(a_space(project), "pause")
    for process in module._started:  # noqa: SLF001
        process.wait()
    send(a_space(project), "pause")
    assert len(module._started) == 1  # noqa: SLF001
