from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS

from sisyphus.ralph.checks.caught import Caught

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def noted() -> Iterator[list[int]]:
    """The signals that reached this process; its handlers are put back."""
    reached: list[int] = []
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda n, _: reached.append(n)) for number in numbers]
    yield reached
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_a_signal_waits_for_the_end_of_the_block(noted: list[int]) -> None:
    with Caught() as caught:
        os.kill(os.getpid(), signal.SIGTERM)
        assert (caught, noted) == ([signal.SIGTERM], [])
    assert noted == [signal.SIGTERM]


def test_of_several_signals_the_first_takes_effect(noted: list[int]) -> None:
    with Caught() as caught:
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
    assert caught == [signal.SIGHUP, signal.SIGTERM, signal.SIGHUP]
    assert noted == [signal.SIGHUP]


def test_an_interrupt_from_the_keyboard_waits_too() -> None:
    def interrupt() -> None:
        with Caught() as caught:
            os.kill(os.getpid(), signal.SIGINT)
            assert caught == [signal.SIGINT]

    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_the_handlers_are_as_they_were() -> None:
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    with Caught():
        pass
    assert {number: signal.getsignal(number) for number in before} == before


def test_what_was_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Caught() as caught:
        os.kill(os.getpid(), signal.SIGHUP)
    assert caught == []


def test_ends_of_children_are_told_again() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with Caught():
            assert subprocess.call([sys.executable, "-c", "exit(3)"], timeout=HANG_SECONDS) == 3
        assert signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_another_thread_than_the_main_one_catches_nothing(noted: list[int]) -> None:
    def watch() -> None:
        with Caught() as caught:
            os.kill(os.getpid(), signal.SIGTERM)
            assert caught == []

    thread = threading.Thread(target=watch)
    thread.start()
    thread.join()
    assert noted == [signal.SIGTERM]
