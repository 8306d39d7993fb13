from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, put

from ralph.processes import is_running, pids_in, wait_for
from sisyphus.ralph.checks.processes import ASK, FORCE, WAIT, end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Start = Callable[[str], subprocess.Popen[bytes]]

STEPS = ((ASK, 0.2), (FORCE, HANG_SECONDS))
WITHOUT_PROC = "/nowhere"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a shell in a session of its own; what is left of it in the end is reaped."""
    started = []

    def start(command: str) -> subprocess.Popen[bytes]:
        shell = subprocess.Popen(["/bin/sh", "-c", command], cwd=tmp_path, start_new_session=True)
        started.append(shell)
        return shell

    yield start
    for shell in started:
        end(shell.pid, STEPS)
        shell.wait(timeout=HANG_SECONDS)


WAYS = [pytest.param("/proc", id="by /proc"), pytest.param(WITHOUT_PROC, id="by the group")]


@pytest.mark.parametrize("proc", WAYS)
def test_a_command_that_has_ended_leaves_nothing(start: Start, proc: str) -> None:
    shell = start("exit 0")
    shell.wait(timeout=HANG_SECONDS)

    assert end(shell.pid, [(WAIT, HANG_SECONDS)], proc)


@pytest.mark.parametrize("proc", WAYS)
def test_what_runs_in_the_background_ends(start: Start, tmp_path: Path, proc: str) -> None:
    shell = start("sleep 600 & echo $! > background.pid")
    shell.wait(timeout=HANG_SECONDS)
    assert not end(shell.pid, [(WAIT, 0)], proc)

    assert end(shell.pid, STEPS, proc)
    assert [is_running(pid) for pid in pids_in(tmp_path)] == [False]


@pytest.mark.parametrize("proc", WAYS)
def test_who_does_not_listen_is_forced(start: Start, tmp_path: Path, proc: str) -> None:
    shell = start("(trap '' TERM; echo > ready; sleep 600; sleep 600) & echo $! > background.pid")
    wait_for(tmp_path / "ready")
    shell.wait(timeout=HANG_SECONDS)

    assert not end(shell.pid, [(ASK, 0)], proc)
    assert end(shell.pid, [(FORCE, HANG_SECONDS)], proc)
    assert [is_running(pid) for pid in pids_in(tmp_path)] == [False]


def test_a_family_ends_across_sessions(start: Start, tmp_path: Path) -> None:
    shell = start("setsid sh -c 'echo $$ > child.pid; sleep 600 & echo $! > grandchild.pid; wait'")
    wait_for(tmp_path / "grandchild.pid")

    assert end(shell.pid, STEPS)
    assert [is_running(pid) for pid in pids_in(tmp_path)] == [False, False]


def test_who_left_the_session_can_be_left_out(start: Start, tmp_path: Path) -> None:
    """Although it descends from who is in it."""
    shell = start("setsid sh -c 'echo $$ > own.pid; exec sleep 600' & wait")
    own = int(wait_for(tmp_path / "own.pid"))

    assert not end(shell.pid, [(WAIT, 0)], descendants=False)
    os.kill(shell.pid, FORCE)
    assert end(shell.pid, [(WAIT, HANG_SECONDS)], descendants=False)
    assert is_running(own)
    os.kill(own, FORCE)


STUBBORN = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.setsid()
open("child.pid", "w").write(str(os.getpid()))
time.sleep(600)
"""


def test_one_of_another_session_stays_known_when_its_parent_is_gone(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    shell = start(f"'{sys.executable}' stubborn.py & wait")
    wait_for(tmp_path / "child.pid")

    assert end(shell.pid, STEPS)
    assert [is_running(pid) for pid in pids_in(tmp_path)] == [False]


def test_who_made_itself_independent_is_left_alone(start: Start, tmp_path: Path) -> None:
    shell = start("setsid sh -c 'echo $$ > own.pid; exec sleep 600' &")
    own = int(wait_for(tmp_path / "own.pid"))
    shell.wait(timeout=HANG_SECONDS)

    assert end(shell.pid, STEPS)
    assert is_running(own)
    os.kill(own, FORCE)


def test_a_first_process_that_nobody_has_reaped_is_not_waited_for(start: Start) -> None:
    shell = start("exit 3")
    os.waitid(os.P_PID, shell.pid, os.WEXITED | os.WNOWAIT)

    assert end(shell.pid, [(WAIT, HANG_SECONDS)])
    assert shell.wait(timeout=HANG_SECONDS) == 3


def test_strange_files_of_proc_are_passed_over(tmp_path: Path) -> None:
    rows = {
        "self": "1 (sh) S 0 1 1",
        "7": "no such form",
        "8": "8 (sh) S",
        "9": f"9 (a) Z 1 ) S 1 9 4711 {'0 ' * 15} 77",
    }
    for pid, row in rows.items():
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "stat").write_text(row)
    (tmp_path / "10").mkdir()

    assert not end(4711, [(WAIT, 0)], str(tmp_path))
    assert end(4712, [(WAIT, 0)], str(tmp_path))


def test_windows_is_asked_to_end_the_whole_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killer = put(tmp_path / "taskkill", f'#!/bin/sh\necho "$@" >> "{tmp_path}/asked"\n')
    killer.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    assert end(4711, [(WAIT, 0)], WITHOUT_PROC, "nt")
    assert not (tmp_path / "asked").exists()
    assert end(4711, STEPS, WITHOUT_PROC, "nt")
    assert (tmp_path / "asked").read_text() == "/F /T /PID 4711\n"
