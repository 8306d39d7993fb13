from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from making import a_space, a_start, begin, ours, put
from session.processes import nobody_above, sleeping

from sisyphus.ralph.stale import health, is_stale, was_stale
from sisyphus.session import client_process

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

NOW = 1_000_000.0  # the clock of `a_space`
HOUR = 3600.0


class Scene:
    """The session "s1" with a loop. Moments are hours before `NOW`."""

    def __init__(self, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = str(ours(home, ""))
        self.loop = put(ours(home, "ralph/loops/ralph-loop.s1.local.md"), "the loop")
        self.space = a_space(project)
        self._monkeypatch = monkeypatch

    def run(self, process: subprocess.Popen[bytes], hours: float, *, ends: bool = False) -> None:
        """The process plays the client from now on, and runs the session."""
        self.play(process)
        client_process.bind(self.folder, "s1", NOW - hours * HOUR)
        if ends:
            process.kill()
            process.wait()

    def play(self, process: subprocess.Popen[bytes]) -> None:
        self._monkeypatch.setenv("CLAUDE_PID", str(process.pid))

    def touch(self, hours: float) -> None:
        os.utime(self.loop, (NOW - hours * HOUR, NOW - hours * HOUR))

    def health(self) -> str:
        return health(self.folder, "s1", str(self.loop), NOW, 4)

    def take_up(self) -> bool:
        """Whether the loop was stale when another process resumed the session just now."""
        with sleeping() as another:
            self.play(another)
            begin(a_start("resume"), self.space)
            return self.was_stale()

    def was_stale(self, later: float = 0) -> bool:
        self.space.now = NOW + later * HOUR
        return was_stale(self.space, "s1", str(self.loop))


@pytest.fixture
def scene(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    nobody_above(monkeypatch)
    return Scene(home, project, monkeypatch)


@pytest.fixture
def former() -> Iterator[subprocess.Popen[bytes]]:
    """A process that plays the client first."""
    with sleeping() as process:
        yield process


QUIET = [
    pytest.param(True, 100 * HOUR, False, id="its client lives"),
    pytest.param(False, 3.9 * HOUR, False, id="gone for a short time"),
    pytest.param(False, 4 * HOUR, True, id="gone and silent"),
    pytest.param(None, 3.9 * HOUR, False, id="unknown for a short time"),
    pytest.param(None, 4 * HOUR, True, id="unknown and silent"),
    pytest.param(False, -5.0, False, id="a clock that was set back"),
]


@pytest.mark.parametrize(("alive", "quiet", "expected"), QUIET)
def test_silence_tells_unless_the_client_lives(
    *, alive: bool | None, quiet: float, expected: bool
) -> None:
    assert is_stale(alive, quiet, 4) is expected


HEALTH = [
    pytest.param(False, 5, "alive", id="held, silent for long"),
    pytest.param(True, 3, "gone", id="left, not for long"),
    pytest.param(True, 5, "stale", id="left, for long"),
]


@pytest.mark.parametrize(("ends", "hours", "expected"), HEALTH)
def test_a_list_says_how_a_loop_fares(
    scene: Scene, former: subprocess.Popen[bytes], hours: float, expected: str, *, ends: bool
) -> None:
    scene.run(former, 10, ends=ends)
    scene.touch(hours)

    assert scene.health() == expected


@pytest.mark.parametrize(("hours", "expected"), [(3, "alive"), (5, "stale")])
def test_where_no_process_is_known_only_time_tells(
    scene: Scene, hours: float, expected: str
) -> None:
    scene.touch(hours)

    assert scene.health() == expected


def test_a_loop_that_vanished_meanwhile_is_not_stale(scene: Scene) -> None:
    scene.loop.unlink()

    assert scene.health() == "alive"
    assert not scene.take_up()


TAKEN_UP = [
    pytest.param(True, 5, True, id="the former is gone, for long"),
    pytest.param(True, 3.9, False, id="the former is gone, not for long"),
    pytest.param(False, 5, False, id="the former lives"),
]


@pytest.mark.parametrize(("ends", "hours", "expected"), TAKEN_UP)
def test_a_session_that_is_taken_up_has_a_stale_loop_or_not(
    scene: Scene, former: subprocess.Popen[bytes], hours: float, *, ends: bool, expected: bool
) -> None:
    scene.run(former, 10, ends=ends)
    scene.touch(hours)

    assert scene.take_up() is expected


def test_whoever_changes_the_loop_makes_it_fresh(
    scene: Scene, former: subprocess.Popen[bytes]
) -> None:
    scene.run(former, 10, ends=True)
    scene.touch(5)
    assert scene.take_up()
    scene.touch(-0.1)

    assert not scene.was_stale()
    assert not scene.was_stale(later=50)


def test_a_turn_of_many_hours_is_no_staleness(
    scene: Scene, former: subprocess.Popen[bytes]
) -> None:
    scene.run(former, 10)
    scene.touch(9)
    scene.run(former, 0)

    assert not scene.was_stale()


def test_a_stop_may_be_the_first_that_is_seen_of_the_new_process(
    scene: Scene, former: subprocess.Popen[bytes]
) -> None:
    scene.run(former, 10, ends=True)
    scene.touch(5)
    with sleeping() as another:
        scene.run(another, 0)

        assert scene.was_stale()


def test_a_session_whose_former_process_nobody_noted_is_judged_by_time(scene: Scene) -> None:
    scene.touch(5)

    assert scene.take_up()


@pytest.mark.parametrize("moment", [None, "soon", True, [], 5], ids=repr)
def test_a_strange_moment_makes_no_loop_stale(scene: Scene, home: Path, moment: object) -> None:
    put(ours(home, "sessions/s1.json"), json.dumps({"bound_at": moment}))
    scene.touch(50)

    assert not scene.was_stale()


def test_the_hours_are_a_setting(scene: Scene, home: Path) -> None:
    put(ours(home, "config.toml"), "[ralph]\nstale_hours = 8\n")
    scene.touch(5)

    assert not scene.take_up()
