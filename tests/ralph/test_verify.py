"""Real commands, as people give them and as they go wrong."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, debug_log, put

from ralph.processes import ended_after_it_began, have_ended, is_running, pids_in, wait_for
from sisyphus import processes
from sisyphus.processes import WAIT
from sisyphus.ralph.verify import KEPT_CHARACTERS, TAIL_CHARACTERS, Result, run

if TYPE_CHECKING:
    from pathlib import Path

LONG = float(HANG_SECONDS)


def _run(command: str, folder: Path, seconds: float = LONG) -> Result:
    return run(command, str(folder), seconds)


ENDS = [
    pytest.param("true", 0, "", id="success"),
    pytest.param("echo good; exit 0", 0, "good", id="success with words"),
    pytest.param("echo bad; exit 3", 3, "bad", id="failure"),
    pytest.param("kill -9 $$", 137, "", id="killed by a signal"),
    pytest.param("sh -c 'kill -9 $$'; exit $?", 137, "Killed", id="its child was killed"),
    pytest.param("no-such-command-here", 127, "no-such-command-here", id="not found"),
    pytest.param("if then", 2, "yntax error", id="no shell would run it"),
    pytest.param("echo to stdout; echo to stderr >&2", 0, "to stdout\nto stderr", id="both"),
    pytest.param("cat; echo end", 0, "end", id="there is no input"),
    pytest.param("exec >&- 2>&-; sleep 0.1; exit 4", 4, "", id="it closes its output"),
    pytest.param("printf 'a\\000\\377\\033[31mb'", 0, "a\ufffdb", id="binary output"),
    pytest.param("printf ' 1%%\\r 99%%\\rdone\\n'", 0, "done", id="a progress bar"),
    pytest.param("echo 'one\ntwo' | wc -l | tr -d ' '", 0, "2", id="several lines"),
    pytest.param("", 0, "", id="nothing"),
]


@pytest.mark.parametrize(("command", "code", "tail"), ENDS)
def test_a_command_ends_as_it_ends(tmp_path: Path, command: str, code: int, tail: str) -> None:
    result = _run(command, tmp_path)

    assert (result.exit_code, result.timed_out, result.problem) == (code, False, "")
    assert tail in result.tail if tail else result.tail == ""


def test_it_runs_in_the_folder_as_the_model_would_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", "/elsewhere")
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", "/plugin")
    variables = "$CLAUDECODE,$CLAUDE_PROJECT_DIR,$CLAUDE_PLUGIN_ROOT"

    assert _run(f'pwd; echo "{variables}"', tmp_path).tail == f"{tmp_path}\n1,,"


NOT_RUN = [
    pytest.param("true", "gone", "there is no folder", id="no folder"),
    pytest.param("true", "a file", "there is no folder", id="a file"),
    pytest.param("a\0b", ".", "embedded null byte", id="no command line"),
    pytest.param("x" * 3_000_000, ".", "Argument list too long", id="too long"),
    pytest.param("\ud800", ".", "surrogates not allowed", id="no text"),
]


@pytest.mark.parametrize(("command", "folder", "problem"), NOT_RUN)
def test_what_cannot_be_run_is_told(
    tmp_path: Path, command: str, folder: str, problem: str
) -> None:
    put(tmp_path / "a file", "")

    result = _run(command, tmp_path / folder)

    assert problem in result.problem
    assert (result.exit_code, result.timed_out, result.tail) == (None, False, "")


def test_a_flood_of_output_is_no_failure(tmp_path: Path) -> None:
    keep = tmp_path / "kept" / "x.txt"

    result = run("yes | head -c 30000000; echo end", str(tmp_path), LONG, str(keep))

    assert result.exit_code == 0
    assert result.tail.endswith("y\ny\nend")
    assert TAIL_CHARACTERS - 2 <= len(result.tail) <= TAIL_CHARACTERS
    assert KEPT_CHARACTERS - 2 <= len(keep.read_text()) <= KEPT_CHARACTERS + 1


def test_a_flood_without_end_ends_with_the_time(tmp_path: Path) -> None:
    result, _ = ended_after_it_began(
        lambda seconds, place: _run("yes", place, seconds), tmp_path, lambda found, _: found.tail
    )

    assert (result.exit_code, result.timed_out) == (None, True)
    assert result.tail.endswith("y\ny")


def test_the_tail_is_as_long_as_it_may_be(tmp_path: Path) -> None:
    assert run("seq 1000", str(tmp_path), LONG, characters=10).tail == "999\n1000"


def test_the_output_is_kept_for_the_user_alone(tmp_path: Path) -> None:
    keep = tmp_path / "kept" / "x.txt"

    run("echo one; printf '\\033[1mtwo\\033[0m'; exit 1", str(tmp_path), LONG, str(keep))

    assert keep.read_text() == "one\ntwo\n"
    assert stat.S_IMODE(keep.stat().st_mode) == 0o600


def test_the_output_of_the_last_run_replaces_the_one_before(tmp_path: Path) -> None:
    keep = put(tmp_path / "x.txt", "before")

    run("true", str(tmp_path), LONG, str(keep))

    assert keep.read_text() == ""


def test_output_that_cannot_be_kept_changes_no_result(tmp_path: Path, home: Path) -> None:
    put(tmp_path / "a file", "")

    result = run("echo x; exit 3", str(tmp_path), LONG, str(tmp_path / "a file" / "x.txt"))

    assert (result.exit_code, result.tail) == (3, "x")
    assert "is not kept" in debug_log(home)


SLOW = [
    pytest.param("echo $$ > a.pid; exec sleep 600", 1, id="one process"),
    pytest.param("sleep 600 & echo $! > a.pid; wait", 1, id="a child"),
    pytest.param(
        "sh -c 'trap \"\" TERM; echo $$ > a.pid; sleep 600 & echo $! > b.pid; wait; wait'",
        2,
        id="children that do not listen",
    ),
]


@pytest.mark.parametrize(("command", "pids"), SLOW)
def test_whatever_takes_too_long_ends_with_its_children(
    tmp_path: Path, command: str, pids: int
) -> None:
    result, place = ended_after_it_began(
        lambda seconds, place: _run(f"echo begun; {command}", place, seconds),
        tmp_path,
        lambda _, place: len(pids_in(place)) == pids,
    )

    assert (result.exit_code, result.timed_out, result.problem) == (None, True, "")
    assert result.tail == "begun"
    assert have_ended(*pids_in(place))


def test_a_server_that_is_left_over_ends_with_the_command(tmp_path: Path) -> None:
    result = _run("sleep 600 & echo $! > server.pid; echo ready; exit 5", tmp_path)

    assert (result.exit_code, result.tail) == (5, "ready")
    assert have_ended(*pids_in(tmp_path))


def test_what_is_about_to_end_may_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_LEFT_OVER", ((WAIT, LONG),))
    result = _run("(echo late) & exit 0", tmp_path)

    assert result.tail == "late"


def test_whoever_made_itself_independent_and_holds_the_output_is_not_waited_for(
    tmp_path: Path,
) -> None:
    own_one = "setsid sh -c 'echo $$ > own.pid; exec sleep 600'"
    until = "until [ -s own.pid ]; do sleep 0.01; done"

    result = _run(f"{own_one} & {until}; echo ready", tmp_path)

    assert (result.exit_code, result.tail) == (0, "ready")
    [own] = pids_in(tmp_path)
    assert is_running(own)
    os.kill(own, signal.SIGKILL)


WE_RUN = """
import signal
import sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup make test` has it ignored
from sisyphus.ralph.verify import run
result = run(sys.argv[1], ".", 600)
print(result.exit_code, result.problem)
"""

STUBBORN = "trap '' TERM HUP INT; sleep 600 & echo $! > a.pid; sleep 600 & echo $! > b.pid; "


def _start(command: str, folder: Path, setting: str = "") -> subprocess.Popen[str]:
    """A process of ours that verifies; `setting`: what comes before, in its own language."""
    code = [sys.executable, "-c", setting + WE_RUN, command]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(code, cwd=folder, stdout=subprocess.PIPE, stderr=quiet, text=True)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_when_we_are_told_to_end_the_command_ends_first(tmp_path: Path, name: str) -> None:
    number = signal.Signals[name]
    ours = _start(STUBBORN + "echo $$ > c.pid; wait; wait; wait", tmp_path)
    wait_for(tmp_path / "c.pid")

    ours.send_signal(number)

    assert ours.communicate(timeout=HANG_SECONDS)[0] == ""
    assert ours.returncode == -number
    assert len(pids_in(tmp_path)) == 3
    assert have_ended(*pids_in(tmp_path))


def test_who_handles_the_signal_is_told_of_the_interruption(tmp_path: Path) -> None:
    handle = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: None)\n"
    ours = _start("echo $$ > a.pid; exec sleep 600", tmp_path, handle)
    wait_for(tmp_path / "a.pid")

    ours.send_signal(signal.SIGTERM)

    assert ours.communicate(timeout=HANG_SECONDS)[0] == "None interrupted by SIGTERM\n"
    assert have_ended(*pids_in(tmp_path))


def test_a_failure_stays_one_where_ends_of_children_are_ignored(tmp_path: Path) -> None:
    ignore = "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    ours = _start("exit 3", tmp_path, ignore)

    assert ours.communicate(timeout=HANG_SECONDS)[0] == "3 \n"


def test_another_thread_can_verify_too(tmp_path: Path) -> None:
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(_run("exit 3", tmp_path)))
    thread.start()
    thread.join()

    assert [result.exit_code for result in results] == [3]
