"""Commands as they end, and what they have printed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from making import HANG_SECONDS
from ralph.processes import have_ended, pids_in, wait_for

from sisyphus.errors import TooMuchError
from sisyphus.processes import (
    ASK,
    FORCE,
    WAIT,
    end_group,
    interruptible,
    last_lines,
    output,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Start = Callable[[str], subprocess.Popen[bytes]]

PLAIN = [
    pytest.param(b"one\ntwo\n", "one\ntwo\n", id="text"),
    pytest.param(b"", "", id="nothing"),
    pytest.param(b"one\r\ntwo\r\r\n", "one\ntwo\n", id="line ends of Windows"),
    pytest.param(b" 10%\r 50%\r100%\ndone", "100%\ndone", id="progress bar"),
    pytest.param(b"100%\r", "100%", id="progress bar at its end"),
    pytest.param(b"\x1b[1;31mFAILED\x1b[0m tests", "FAILED tests", id="colours"),
    pytest.param(b"\x1b[2K\x1b[1Gagain", "again", id="cursor"),
    pytest.param(b"\x1b]0;title\x07text", "text", id="title"),
    pytest.param(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", id="link"),
    pytest.param(b"\x1bPq#0\x1b\\text", "text", id="device control"),
    pytest.param(b"\x1b(Btext\x1b=", "text", id="short sequences"),
    pytest.param(b"\x1b]0;never closed\nnext", "\nnext", id="title that is never closed"),
    pytest.param(b"a\0b\x07c\x7fd\te\x0cf", "abcd\tef", id="control characters"),
    pytest.param(
        "\u202eevil\u2028x\x9b31m".encode(), "evilx", id="control characters beyond ASCII"
    ),
    pytest.param(b"caf\xe9 \xff\xfe", "caf\ufffd \ufffd\ufffd", id="not UTF-8"),
    pytest.param("naïve 🎉".encode(), "naïve 🎉", id="UTF-8"),
]


@pytest.mark.parametrize(("output", "expected"), PLAIN)
def test_output_becomes_plain_text(output: bytes, expected: str) -> None:
    assert plain(output) == expected


ENDS = [
    pytest.param("one\ntwo\nthree", 9, "two\nthree", id="ends where a line begins"),
    pytest.param("one\ntwo\nthree", 8, "three", id="no part of a line"),
    pytest.param("one\ntwo\nthree", 99, "one\ntwo\nthree", id="all of it"),
    pytest.param("one\ntwo\n\n \n", 3, "two", id="empty lines at the end"),
    pytest.param("\n\none\ntwo", 99, "one\ntwo", id="empty lines at the start"),
    pytest.param("one\n\n\ntwo", 5, "two", id="empty lines at the cut"),
    pytest.param("one\n  two", 5, "  two", id="indentation stays"),
    pytest.param("abcdef", 3, "def", id="one long line"),
    pytest.param("one\nabcdef", 3, "def", id="a last line that is too long"),
    pytest.param("one", 0, "", id="no room"),
    pytest.param("one", -1, "", id="less than no room"),
    pytest.param(" \n ", 5, "", id="nothing to see"),
]


@pytest.mark.parametrize(("text", "characters", "expected"), ENDS)
def test_the_last_lines_are_whole(text: str, characters: int, expected: str) -> None:
    assert last_lines(text, characters) == expected


@given(st.text(alphabet=st.sampled_from("ab\n ")), st.integers(-1, 60))
@example("\n", 1)
def test_the_last_lines_are_the_end_of_the_text(text: str, characters: int) -> None:
    end = last_lines(text, characters)

    before = text.rstrip().removesuffix(end)
    assert before + end == text.rstrip()
    assert len(end) <= max(characters, 0)
    is_whole = not before or before.endswith("\n")
    assert is_whole or "\n" not in end
    assert is_whole or len(end) == max(characters, 0) or not end


@given(st.binary())
@example(b"\x1b[\x1b]")
def test_whatever_is_printed_nothing_that_does_something_is_left(output: bytes) -> None:
    assert all(c.isprintable() or c in "\n\t" or ord(c) > 0x9F for c in plain(output))


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert plain(text.encode()) == text


# Groups of processes

STEPS = ((ASK, 0.2), (FORCE, HANG_SECONDS))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a shell in a group of its own; what is left of it in the end is reaped."""
    started = []

    def start(command: str) -> subprocess.Popen[bytes]:
        shell = subprocess.Popen(["/bin/sh", "-c", command], cwd=tmp_path, start_new_session=True)
        started.append(shell)
        return shell

    yield start
    for shell in started:
        end_group(shell.pid, STEPS, shell)
        shell.wait(timeout=HANG_SECONDS)


def test_a_command_that_has_ended_leaves_nothing(start: Start) -> None:
    shell = start("exit 3")

    assert end_group(shell.pid, [(WAIT, HANG_SECONDS)], shell)
    assert shell.wait(timeout=HANG_SECONDS) == 3


def test_what_runs_in_the_background_ends(start: Start, tmp_path: Path) -> None:
    shell = start("sleep 600 & echo $! > background.pid")
    shell.wait(timeout=HANG_SECONDS)
    assert not end_group(shell.pid, [(WAIT, 0)], shell)

    assert end_group(shell.pid, STEPS, shell)
    assert have_ended(*pids_in(tmp_path))


def test_who_does_not_listen_is_forced(start: Start, tmp_path: Path) -> None:
    shell = start("(trap '' TERM; echo > ready; sleep 600; sleep 600) & echo $! > background.pid")
    wait_for(tmp_path / "ready")
    shell.wait(timeout=HANG_SECONDS)

    assert not end_group(shell.pid, [(ASK, 0)], shell)
    assert end_group(shell.pid, [(FORCE, HANG_SECONDS)], shell)
    assert have_ended(*pids_in(tmp_path))


# Signals


@pytest.fixture
def reached() -> Iterator[list[int]]:
    """The signals that reached this process; its handlers are put back."""
    found: list[int] = []
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda n, _: found.append(n)) for number in numbers]
    yield found
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_a_signal_leaves_the_block_and_takes_effect_behind_it(reached: list[int]) -> None:
    lines = []
    with interruptible() as signals:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            lines.append("not reached")
        finally:
            assert reached == []
    assert (lines, signals, reached) == ([], [signal.SIGTERM], [signal.SIGTERM])


def test_one_that_comes_while_something_is_started_waits_for_it(reached: list[int]) -> None:
    lines = []
    with interruptible() as signals:
        signals.are_held = True
        os.kill(os.getpid(), signal.SIGTERM)
        lines.append("started")
        try:
            signals.release()
            lines.append("not reached")
        finally:
            lines.append("ended")
    assert (lines, signals, reached) == (["started", "ended"], [signal.SIGTERM], [signal.SIGTERM])


def test_a_second_one_does_not_cut_off_what_the_first_one_ends(reached: list[int]) -> None:
    lines = []
    with interruptible() as signals:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGHUP)
            lines.append("ended")
    assert (lines, signals) == (["ended"], [signal.SIGTERM, signal.SIGHUP])
    assert reached == [signal.SIGTERM]


def test_an_interrupt_from_the_keyboard_is_one_behind_the_block() -> None:
    def interrupt() -> None:
        with interruptible():
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_handlers_are_as_they_were() -> None:
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    with interruptible():
        pass
    assert {number: signal.getsignal(number) for number in before} == before


@pytest.mark.usefixtures("reached")
def test_what_was_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with interruptible() as signals:
        os.kill(os.getpid(), signal.SIGHUP)
    assert signals == []


def test_ends_of_children_are_told_again() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with interruptible():
            assert subprocess.call([sys.executable, "-c", "exit(3)"], timeout=HANG_SECONDS) == 3
        assert signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)


# What a program prints


def _output(code: str, seconds: float = HANG_SECONDS) -> bytes:
    return output([sys.executable, "-c", code], dict(os.environ), seconds)


def test_what_a_program_prints_is_returned_and_what_it_complains_of_is_not() -> None:
    assert _output("import sys; print('yes'); print('no', file=sys.stderr)") == b"yes\n"


def test_a_program_that_fails_is_an_error() -> None:
    with pytest.raises(OSError, match="ended with 3"):
        _output("print('half'); raise SystemExit(3)")


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(600)",
        "import os, time; os.close(1); time.sleep(600)",
        "import subprocess; subprocess.run(['sleep', '600'])",
    ],
)
def test_a_program_that_takes_too_long_is_ended(code: str) -> None:
    with pytest.raises(TooMuchError, match="took longer than"):
        _output(code, 0.3)


def test_a_program_that_prints_without_end_is_ended() -> None:
    with pytest.raises(TooMuchError, match="printed more than 64,000,000 bytes"):
        _output("while True: print('x' * 100_000)")
