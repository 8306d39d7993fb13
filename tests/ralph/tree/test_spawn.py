from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from making import HANG_SECONDS, without_coverage

from sisyphus.ralph.tree import spawn
from sisyphus.ralph.tree.bounds import Budget, TooMuchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Run = Callable[[list[str], dict[str, str], Budget], bytes]

WAYS = pytest.mark.parametrize("run", [spawn.output, spawn.spawned, spawn.by_subprocess])


def _shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def _time() -> Budget:
    return Budget(HANG_SECONDS, 1)


@WAYS
def test_what_it_prints_comes_back(run: Run) -> None:
    assert run(_shell("printf 'a\\0b'; echo never >&2"), {}, _time()) == b"a\0b"


@WAYS
def test_a_lot_comes_back_too(run: Run) -> None:
    script = "import sys; sys.stdout.write('x' * 3_000_000)"
    printed = run([sys.executable, "-S", "-c", script], without_coverage(), _time())
    assert printed == b"x" * 3_000_000


@WAYS
def test_it_has_the_environment_that_it_was_given_alone(run: Run) -> None:
    assert run(_shell('echo "$A$HOME"'), {"A": "a"}, _time()) == b"a\n"


@pytest.fixture
def payload() -> Iterator[None]:
    """Something waits on our own stdin."""
    kept = os.dup(0)
    reading, writing = os.pipe()
    os.write(writing, b"payload\n")
    os.dup2(reading, 0)
    for descriptor in (reading, writing):
        os.close(descriptor)
    yield
    os.dup2(kept, 0)
    os.close(kept)


@WAYS
@pytest.mark.usefixtures("payload")
def test_it_reads_nothing(run: Run) -> None:
    assert run(_shell("cat; echo end"), dict(os.environ), _time()) == b"end\n"


FAILURES = [
    pytest.param(_shell("echo x; exit 3"), "/bin/sh ended with 3", id="it fails"),
    pytest.param(_shell("kill -9 $$"), "/bin/sh ended with -9", id="it is killed"),
    pytest.param(["/nowhere/git"], "No such file", id="it is not there"),
    pytest.param(["/"], "ermission denied", id="it is no program"),
]


@WAYS
@pytest.mark.parametrize(("command", "words"), FAILURES)
def test_a_failure_is_an_error(run: Run, command: list[str], words: str) -> None:
    with pytest.raises(OSError, match=words):
        run(command, {}, _time())


@WAYS
def test_no_descriptor_is_left_open(run: Run) -> None:
    before = os.listdir("/dev/fd")
    run(_shell("echo x"), {}, _time())
    with pytest.raises(OSError, match="No such file"):
        run(["/nowhere/git"], {}, _time())
    assert os.listdir("/dev/fd") == before


TOO_LONG = [
    pytest.param("echo x; exec sleep 999", id="it goes on"),
    pytest.param("exec >&- 2>&-; exec sleep 999", id="it goes on without its output"),
]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that are started from now on."""
    begin, found = os.posix_spawn, []

    def noted(*given: Any, **options: Any) -> int:
        found.append(begin(*given, **options))
        return found[-1]

    monkeypatch.setattr(os, "posix_spawn", noted)
    return found


@pytest.mark.parametrize("script", TOO_LONG)
def test_what_takes_too_long_is_ended(script: str, started: list[int]) -> None:
    with pytest.raises(TooMuchError):
        spawn.spawned(_shell(script), dict(os.environ), Budget(0.2, 1))
    [pid] = started
    with pytest.raises(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def test_without_process_groups_it_is_ended_too() -> None:
    with pytest.raises(TooMuchError):
        spawn.by_subprocess(_shell("exec sleep 999"), dict(os.environ), Budget(0.2, 1))


def test_what_it_started_is_ended_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawn, "OUTPUT_BYTES", 1)
    number = tmp_path / "number"
    script = f"sleep 999 & echo $! >{number}; echo too much; wait"
    with pytest.raises(TooMuchError):
        spawn.spawned(_shell(script), dict(os.environ), _time())
    child = number.read_text().strip()
    while _is_running(child):
        time.sleep(0.01)


def _is_running(number: str) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", number], capture_output=True, check=False)
    return state.stdout.strip() not in (b"", b"Z")


def test_what_prints_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spawn, "OUTPUT_BYTES", 100_000)
    with pytest.raises(TooMuchError, match="printed more than 100,000 bytes"):
        spawn.spawned(_shell("exec yes"), dict(os.environ), _time())


def test_what_cannot_be_ended_is_left(monkeypatch: pytest.MonkeyPatch, started: list[int]) -> None:
    """A process that hangs in the kernel dies later than we can wait."""
    kill = os.killpg
    monkeypatch.setattr(os, "killpg", lambda _group, _signal: None)
    with pytest.raises(TooMuchError):
        spawn.spawned(_shell("exec sleep 999"), dict(os.environ), Budget(0, 1))
    [pid] = started
    kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
