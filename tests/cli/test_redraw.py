from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import IO, TYPE_CHECKING

import pytest
from making import COMMAND, HANG_SECONDS, put

from cli.screen import on_a_terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PLAN = "# Shop\n\n- [x] one\n- [ ] two\n- [ ] three\n"
CLEAR = "\x1b[2J\x1b[H"
CTRL_C = "\x03"
WATCH = [COMMAND, "boulder", "status", "--watch"]


@pytest.fixture
def plan(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan that is followed in the current folder."""
    monkeypatch.chdir(project)
    path = put(project / "PLAN.md", PLAN)
    subprocess.run([COMMAND, "boulder", "start"], check=True, capture_output=True)
    return path


def test_ctrl_c_is_how_a_watch_ends(plan: Path) -> None:
    shown = on_a_terminal(WATCH, keys=[("complete", CTRL_C)])

    assert plan.exists()
    assert shown.code == 0
    assert shown.text.startswith(f"{CLEAR}\x1b[1mShop")
    assert "Traceback" not in shown.text


def _dropped(path: Path) -> None:
    path.unlink()


def _garbled(path: Path) -> None:
    path.write_bytes(b"\xff")


def _becomes(path: Path, text: str) -> None:
    """At once: a watch never sees it half written."""
    os.replace(put(path.with_suffix(".new"), text), path)


def _moved_on(path: Path) -> None:
    _becomes(path, PLAN.replace("[ ] two", "[x] two"))


CHANGES = [
    pytest.param(_moved_on, "2/3 tasks complete", id="a task is done"),
    pytest.param(_dropped, "(missing)", id="the file is gone"),
    pytest.param(_garbled, "error: ", id="the file cannot be read"),
]


class Watch:
    """A watch whose output is no terminal, read text by text."""

    def __init__(self, *words: str, env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [*WATCH, *words], stdout=subprocess.PIPE, env={**os.environ, **(env or {})}
        )
        assert self.process.stdout
        self.output: IO[bytes] = self.process.stdout
        self.read = ""

    def until(self, words: str) -> str:
        """What comes up to and with these words."""
        start = len(self.read)
        while words not in self.read[start:]:
            data = os.read(self.output.fileno(), 65_536)
            assert data, f"ended without {words!r}: {self.read}"
            self.read += data.decode()
        return self.read[start:]

    def end(self) -> tuple[int, str]:
        """By Ctrl-C; its exit code, and what it wrote in the meantime."""
        self.process.send_signal(signal.SIGINT)
        rest = self.output.read().decode()
        self.output.close()
        return self.process.wait(HANG_SECONDS), rest


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_a_change_is_shown_and_the_watch_goes_on(
    plan: Path, change: Callable[[Path], None], words: str
) -> None:
    watch = Watch()
    watch.until("boulder.json\n")
    change(plan)
    watch.until(words)
    _becomes(plan, PLAN + "- [ ] four\n")

    assert "1/4 tasks complete" in watch.until("boulder.json\n")
    assert watch.end()[0] == 0
    assert "\x1b" not in watch.read


def test_ages_are_no_change(plan: Path) -> None:
    """Each look is some tenths of a second after the one before."""
    subprocess.run([COMMAND, "boulder", "checkpoint", "x"], check=True, capture_output=True)
    watch = Watch()
    watch.until("boulder.json\n")
    first = watch.read
    with pytest.raises(subprocess.TimeoutExpired):
        watch.process.wait(2)
    _moved_on(plan)
    watch.until("2/3 tasks complete")

    assert first.count("1/3 tasks complete") == watch.read.count("1/3 tasks complete") == 1
    watch.end()


def test_objects_follow_each_other(plan: Path) -> None:
    watch = Watch("--json")
    first = json.loads(watch.until("\n}\n"))
    _moved_on(plan)
    second = json.loads(watch.until("\n}\n"))

    assert [s["progress"]["completed"] for s in (first, second)] == [1, 2]
    assert watch.end() == (0, "")


def test_a_terminal_that_cannot_be_cleared_is_not(plan: Path) -> None:
    shown = on_a_terminal(WATCH, env={"TERM": "dumb"}, keys=[("complete", CTRL_C)])

    assert plan.exists()
    assert "\x1b" not in shown.text


@pytest.mark.usefixtures("plan")
def test_a_watch_that_cannot_begin_says_so() -> None:
    shown = on_a_terminal([*WATCH, "--project", "/no/such/folder"])

    assert shown.code == 1
    assert "error: no such folder" in shown.text


@pytest.mark.usefixtures("plan")
def test_a_reader_that_goes_away_is_no_failure(plan: Path) -> None:
    watch = Watch()
    watch.until("1/3")
    watch.output.close()
    _moved_on(plan)

    assert watch.process.wait(HANG_SECONDS) == 0
