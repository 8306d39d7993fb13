"""What ends a run, and what does not."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS

from runner import scripted
from runner.runs import DONE, is_gone
from runner.scripted import entry, forever, init, said, until
from sisyphus.runner.signals import Interrupts

if TYPE_CHECKING:
    from runner.runs import Scene

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT]


@pytest.mark.parametrize("number", ENDING)
def test_the_first_is_noted_the_second_ends(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Interrupts() as interrupted:
        signal.raise_signal(number)
        assert interrupted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)

    assert signal.getsignal(number) is before


def test_a_terminal_that_goes_away_is_no_reason_to_end() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        with Interrupts() as interrupted:
            for _ in range(3):
                signal.raise_signal(signal.SIGHUP)
            assert not interrupted()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_was_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def _words(scene: Scene, *entries: scripted.Entry) -> tuple[str, ...]:
    client = scene.play(*entries)
    return ("--prompt", "x", "--completion-promise", "DONE", "--client-command", client)


def test_a_run_goes_on_without_its_terminal(scene: Scene) -> None:
    """Its output leads nowhere, and it is told so."""
    process = scene.start(*_words(scene, said("a", until(scene.go)), said("b"), said(DONE)))
    scene.at_rest()
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    process.stderr.close()
    process.send_signal(signal.SIGHUP)
    scene.go.touch()
    process.wait(HANG_SECONDS)

    assert (scene.state["status"], scene.state["judged"]) == ("completed", 3)


def test_an_output_that_is_full_ends_no_run(scene: Scene) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = scene.start(*_words(scene, said("a"), said(DONE)), stdout=full)
        _, err = process.communicate(timeout=HANG_SECONDS)

    assert (scene.state["status"], scene.state["judged"]) == ("completed", 2)
    assert "cannot keep" not in err


def test_the_keyboards_other_signal_ends_it_in_order(scene: Scene) -> None:
    process = scene.start(*_words(scene, entry(init(), forever())))
    scene.at_rest()
    process.send_signal(signal.SIGQUIT)
    process.communicate(timeout=HANG_SECONDS)
    [given] = scripted.runs(scene.folder)

    assert (process.returncode, is_gone(given["pid"])) == (130, True)
    assert scene.state["status"] == "cancelled"


def test_what_a_run_starts_knows_the_signal_as_ever(scene: Scene) -> None:
    client = f"grep SigIgn /proc/self/status > ignored; echo '{DONE}'"
    words = ("--prompt", "x", "--completion-promise", "DONE", "--client-command", client)
    process = scene.start(*words, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    process.communicate(timeout=HANG_SECONDS)
    mask = int((scene.project / "ignored").read_text().split()[1], 16)

    assert not mask & 1 << (signal.SIGHUP - 1)
