"""Real commands, as a user gives them and as they go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS, debug_log
from ralph.processes import ended_after_it_began, have_ended, is_running, pids_in, wait_for

from sisyphus.notify.run import Ending, run, run_and_log

if TYPE_CHECKING:
    from pathlib import Path

DATA = b'{"event": "pause"}'
LONG = float(HANG_SECONDS)


def _run(command: str, folder: Path, seconds: float = LONG) -> Ending:
    return run(command, DATA, str(folder), seconds)


def _run_too_long(command: str, folder: Path, *, pids: int) -> tuple[Ending, Path]:
    """How it ended, and the folder, whose name is how long it was given."""
    return ended_after_it_began(
        lambda seconds, place: _run(command, place, seconds),
        folder,
        lambda _, place: len(pids_in(place)) == pids,
    )


ENDS = [
    pytest.param("cat", 0, '{"event": "pause"}', id="it reads the message"),
    pytest.param("true", 0, "", id="it reads nothing"),
    pytest.param("echo out; echo err >&2", 0, "out\nerr", id="both outputs"),
    pytest.param("echo bad; exit 3", 3, "bad", id="it fails"),
    pytest.param("printf 'a\\033[31mb\\377'", 0, "a [31mb\ufffd", id="odd characters"),
    pytest.param("exec >&- 2>&-; exit 4", 4, "", id="it closes its output"),
]


@pytest.mark.parametrize(("command", "code", "output"), ENDS)
def test_a_command_ends_as_it_ends(tmp_path: Path, command: str, code: int, output: str) -> None:
    ending = _run(command, tmp_path)
    assert (ending.exit_code, ending.problem, ending.output) == (code, "", output)
    assert ending.words == f"exit code {code}"


def test_the_end_of_a_long_output_is_kept(tmp_path: Path) -> None:
    ending = _run("yes | head -n 100000; echo end", tmp_path)
    assert ending.output.endswith("y\nend")
    assert len(ending.output) <= 8_000


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    command = "echo begun; sleep 1000 & echo $! > a.pid; echo $$ > b.pid; wait"
    ending, place = _run_too_long(command, tmp_path, pids=2)
    assert ending.exit_code is None
    assert ending.problem == f"not done after {place.name} seconds, ended"
    assert ending.output == "begun"
    assert have_ended(*pids_in(place))


def test_one_that_does_not_listen_is_ended_all_the_same(tmp_path: Path) -> None:
    command = "trap '' TERM; echo $$ > a.pid; while :; do sleep 0.1; done"
    ending, place = _run_too_long(command, tmp_path, pids=1)
    assert ending.words == f"not done after {place.name} seconds, ended"
    assert have_ended(*pids_in(place))


def test_what_goes_on_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    ending = _run("(sleep 1000 & echo $! > a.pid); echo told", tmp_path)
    assert (ending.exit_code, ending.output) == (0, "told")
    (pid,) = pids_in(tmp_path)
    assert is_running(pid)
    _run(f"kill {pid}", tmp_path)


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    ending = _run("true", tmp_path / "gone")
    assert ending.exit_code is None
    assert ending.words.startswith("it could not be started: ")


FAILURES = [
    pytest.param("echo one; echo; echo 'no route '; exit 7", "exit code 7: no route", id="words"),
    pytest.param("exit 7", "exit code 7", id="no words"),
]


@pytest.mark.parametrize(("command", "told"), FAILURES)
def test_a_failure_is_a_line_in_the_log(
    home: Path, tmp_path: Path, command: str, told: str
) -> None:
    run_and_log(command, DATA, str(tmp_path))
    assert debug_log(home).rstrip().endswith(f"notify.command failed: {told}")


def test_success_is_not_worth_a_word(home: Path, tmp_path: Path) -> None:
    run_and_log("cat > told", DATA, str(tmp_path))
    assert wait_for(tmp_path / "told") == DATA.decode()
    assert debug_log(home) == ""
