from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

import pytest
from making import HANG_SECONDS

from sisyphus.dashboard.kept import Kept, of_file, of_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Source:
    """Something that is read, and counts how often."""

    def __init__(self) -> None:
        self.state = 0
        self.readings = 0
        self.error: Exception | None = None
        self.kept = Kept(self._read, lambda: (self.state,))

    def _read(self) -> str:
        self.readings += 1
        if self.error:
            raise self.error
        return f"state {self.state}"


def test_what_has_not_changed_is_read_once() -> None:
    source = Source()
    assert [source.kept() for _ in range(3)] == ["state 0"] * 3
    assert source.readings == 1


def test_what_has_changed_is_read_again() -> None:
    source = Source()
    source.kept()
    source.state = 1
    assert source.kept() == "state 1"


def test_what_is_forgotten_is_read_again() -> None:
    source = Source()
    source.kept()
    source.kept.forget()
    source.kept()
    assert source.readings == 2


def test_a_reading_that_failed_is_no_value() -> None:
    source = Source()
    source.error = OSError("gone")
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            source.kept()
    source.error = None
    assert source.kept() == "state 0"


def test_a_reading_that_failed_does_not_bring_back_the_one_before() -> None:
    source = Source()
    source.kept()
    source.state, source.error = 1, OSError("gone")
    with pytest.raises(OSError, match="gone"):
        source.kept()
    source.error = None
    assert source.kept() == "state 1"


def test_what_changes_while_it_is_read_is_read_again() -> None:
    state = [0]

    readings: list[int] = []

    def read() -> int:
        readings.append(1)
        state[0] += 1 if state[0] == 0 else 0
        return state[0]

    kept = Kept(read, lambda: (state[0],))
    kept()
    kept()
    kept()
    assert len(readings) == 2


def test_requests_at_the_same_time_wait_for_one_reading() -> None:
    begun, may_end = Event(), Event()
    readings: list[int] = []

    def read() -> str:
        readings.append(1)
        begun.set()
        may_end.wait(HANG_SECONDS)
        return "value"

    kept = Kept(read, lambda: (0,))
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(kept)
        begun.wait(HANG_SECONDS)
        others = [pool.submit(kept) for _ in range(2)]
        may_end.set()
        assert {found.result(HANG_SECONDS) for found in (first, *others)} == {"value"}
    assert len(readings) == 1


def _grow(path: Path) -> None:
    path.write_text("more")


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_text(path.read_text())
    times = path.stat()
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_grow, id="grown"),
        pytest.param(_replace, id="replaced by one of the same size and time"),
        pytest.param(lambda path: os.utime(path, (1, 1)), id="of another time"),
        pytest.param(lambda path: path.unlink(), id="gone"),
    ],
)
def test_a_file_that_changed_is_another_one(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    before, folder = of_file(str(path)), of_folder(str(tmp_path))
    assert (of_file(str(path)), of_folder(str(tmp_path))) == (before, folder)
    change(path)
    assert of_file(str(path)) != before
    assert of_folder(str(tmp_path)) != folder


def test_what_is_not_there_is_the_same_every_time(tmp_path: Path) -> None:
    assert of_file(str(tmp_path / "no")) == of_folder(str(tmp_path / "no")) == ()
