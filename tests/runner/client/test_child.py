from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS
from ralph.processes import have_ended, is_running, wait_for

from runner import scripted
from runner.clients import Clients
from sisyphus.errors import UnreadableError
from sisyphus.runner.client import child as child_module
from sisyphus.runner.client.child import UNKNOWN_EXIT, Child

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[Clients]:
    found = Clients(tmp_path)
    yield found
    found.end()


def test_a_client_has_its_prompt_its_folder_and_its_environment(clients: Clients) -> None:
    clients.prompt.write_text("prompt " * 150_000)
    command = scripted.install(clients.scenario, [scripted.said("hi")])
    child = clients.run(["/bin/sh", "-c", command], SISYPHUS_RUN="loop-1")
    assert child.wait(HANG_SECONDS) == 0

    (run,) = scripted.runs(clients.scenario)
    assert run["prompt"] == "prompt " * 150_000
    assert run["cwd"] == str(clients.project)
    assert run["env"] == {"SISYPHUS_RUN": "loop-1"}


def test_a_client_is_found_on_its_own_path(clients: Clients) -> None:
    scripted.install(clients.scenario, [scripted.said("hi")])
    path = f"{scripted.on_path(clients.scenario)}{os.pathsep}{os.environ['PATH']}"

    assert clients.run(["claude"], PATH=path).wait(HANG_SECONDS) == 0


def test_what_it_prints_and_what_it_complains_of_are_two_files(clients: Clients) -> None:
    clients.shell("echo out; echo err >&2").wait(HANG_SECONDS)

    assert clients.output.read_text() == "out\n"
    assert clients.errors.read_text() == "err\n"
    assert stat.S_IMODE(clients.output.stat().st_mode) == 0o600
    assert stat.S_IMODE(clients.output.parent.stat().st_mode) == 0o700


def test_a_second_try_is_told_from_the_first(clients: Clients) -> None:
    clients.shell("echo one; echo bad >&2").wait(HANG_SECONDS)
    second = clients.shell("echo two")
    second.wait(HANG_SECONDS)

    assert clients.output.read_text() == "one\ntwo\n"
    assert second.offset == len("one\n")
    assert clients.errors.read_text() == ""


ENDS = [
    pytest.param("exit 0", 0, id="well"),
    pytest.param("exit 7", 7, id="with a code"),
    pytest.param("kill -9 $$", 137, id="by a signal"),
]


@pytest.mark.parametrize(("command", "code"), ENDS)
def test_how_it_ended(clients: Clients, command: str, code: int) -> None:
    child = clients.shell(command)
    assert child.wait(HANG_SECONDS) == code
    assert child.poll() == code


def test_what_runs_has_no_exit_code_yet(clients: Clients) -> None:
    child = clients.shell("exec sleep 600")
    assert child.poll() is None
    assert child.wait(0.01) is None


NOT_STARTED = [
    pytest.param(["/nowhere/claude"], FileNotFoundError, id="no such program"),
    pytest.param(["no-such-claude"], FileNotFoundError, id="none on the path"),
    pytest.param(["/"], PermissionError, id="a folder"),
]


@pytest.mark.parametrize(("argv", "error"), NOT_STARTED)
def test_a_client_that_cannot_be_started(
    clients: Clients, argv: list[str], error: type[OSError]
) -> None:
    with pytest.raises(error) as raised:
        clients.run(argv)
    assert raised.value.filename == argv[0]


def test_a_prompt_that_is_no_file_holds_nobody_up(clients: Clients) -> None:
    clients.prompt.unlink()
    os.mkfifo(clients.prompt)
    with pytest.raises(UnreadableError):
        clients.shell("cat")


FOLLOWER = """
import json, sys, time
from sisyphus.runner.client.child import Child
import os
child = Child.start(
    ["/bin/sh", "-c", "cat; while [ ! -e go ]; do sleep 0.01; done; echo done"],
    folder=sys.argv[1], prompt=sys.argv[2], output=sys.argv[3], errors=sys.argv[4],
    environment=dict(os.environ),
)
print(json.dumps(child.as_json()), flush=True)
time.sleep(600)
"""


def test_the_end_of_its_starter_takes_nothing_from_it(clients: Clients) -> None:
    clients.prompt.write_text("x" * 1_000_000)
    places = [clients.project, clients.prompt, clients.output, clients.errors]
    words = [sys.executable, "-c", FOLLOWER, *map(str, places)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as starter:
        assert starter.stdout
        told = json.loads(starter.stdout.readline())
        starter.kill()
    child = Child.attach(told)
    assert child
    assert child.poll() is None

    (clients.project / "go").touch()
    assert child.wait(HANG_SECONDS) == UNKNOWN_EXIT
    child.release()
    assert clients.output.read_text() == "x" * 1_000_000 + "done\n"


def test_a_child_is_known_again(clients: Clients) -> None:
    clients.output.parent.mkdir()
    clients.output.write_text("before\n")
    child = clients.shell("exec sleep 600")
    again = Child.attach(json.loads(json.dumps(child.as_json())))

    assert again
    assert (again.pid, again.offset) == (child.pid, len("before\n"))
    again.release()


def _gone() -> dict[str, object]:
    ended = subprocess.Popen(["/bin/true"])
    ended.wait()
    return {"pid": ended.pid, "started": "1-2", "offset": 0}


NOBODY = [
    pytest.param(None, id="nothing"),
    pytest.param({"pid": "7"}, id="no number"),
    pytest.param({"pid": os.getpid(), "started": "1-2"}, id="a later process of its number"),
    pytest.param({"pid": os.getpid(), "started": ""}, id="nobody knows when it began"),
    pytest.param(_gone(), id="it has ended"),
]


@pytest.mark.parametrize("value", NOBODY)
def test_who_is_gone_is_nobody(value: object) -> None:
    assert Child.attach(value) is None


def test_a_client_is_asked_first(clients: Clients) -> None:
    child = clients.play(scripted.entry(scripted.init(), scripted.forever()))
    wait_for(clients.output)

    assert child.end()
    assert child.poll() == 0
    assert "aborted_tools" in clients.output.read_text()


def test_who_does_not_listen_is_forced(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_module, "GRACE_SECONDS", 0.1)
    entry = scripted.entry(scripted.init(), scripted.forever(), ignores_interrupt=True)
    child = clients.play(entry)
    wait_for(clients.output)

    assert child.end()
    assert child.poll() == 128 + signal.SIGTERM


WAYS = [pytest.param(True, id="gently"), pytest.param(False, id="at once")]


@pytest.mark.parametrize("gently", WAYS)
def test_nothing_that_it_started_is_left(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, gently: bool
) -> None:
    monkeypatch.setattr(child_module, "GRACE_SECONDS", 0.3)
    pid = clients.project / "child.pid"
    child = clients.play(
        scripted.entry(scripted.child("child.pid"), scripted.init(), scripted.forever())
    )
    wait_for(clients.output)

    assert child.end(gently=gently)
    assert have_ended(int(pid.read_text()))


def test_one_of_another_runner_is_ended_as_well(clients: Clients) -> None:
    child = clients.play(scripted.entry(scripted.init(), scripted.forever()))
    wait_for(clients.output)
    again = Child.attach(child.as_json())

    assert again
    assert again.end()
    assert again.poll() == UNKNOWN_EXIT
    again.release()
    assert child.wait(HANG_SECONDS) == 0


def test_who_has_ended_is_not_ended_again(clients: Clients) -> None:
    child = clients.shell("exit 3")
    child.wait(HANG_SECONDS)

    child.interrupt()
    assert child.end()
    assert child.poll() == 3


def test_what_was_left_in_its_group_is_ended_too(clients: Clients) -> None:
    child = clients.shell("sleep 600 & echo $! > left.pid; kill -9 $$")
    assert child.wait(HANG_SECONDS) == 137
    left = int((clients.project / "left.pid").read_text())
    assert is_running(left)

    assert child.end()
    assert have_ended(left)
    assert child.end()


def test_an_interruption_reaches_its_whole_group(clients: Clients) -> None:
    child = clients.shell("(trap 'echo inner; exit' INT; echo ready; while :; do sleep 0.01; done)")
    wait_for(clients.output)
    child.interrupt()

    child.wait(HANG_SECONDS)
    while "inner" not in clients.output.read_text():
        time.sleep(0.01)


def test_where_the_system_tells_of_no_end_it_is_asked(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    child = clients.shell("exit 4")
    assert child.wait(HANG_SECONDS) == 4
    running = clients.shell("exec sleep 600")
    assert running.wait(0.05) is None
    again = Child.attach(running.as_json())
    assert again
    assert again.wait(0.05) is None
