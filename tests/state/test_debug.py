from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING

import pytest
from making import debug_log, ours, put

from sisyphus.state import debug

if TYPE_CHECKING:
    from pathlib import Path


def test_a_failure_is_one_dated_line(home: Path) -> None:
    debug.log("stop: OSError:\n  no space\tleft")
    pattern = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \d+ stop: OSError: no space left\n"
    assert re.fullmatch(pattern, debug_log(home))


def test_lines_follow_each_other(home: Path) -> None:
    debug.log("one")
    debug.log("two")
    assert [line.split()[-1] for line in debug_log(home).splitlines()] == ["one", "two"]


def test_a_long_line_is_cut(home: Path) -> None:
    debug.log("x" * 100_000)
    assert 2_000 < len(debug_log(home)) < 2_100


def test_a_line_may_hold_any_character(home: Path) -> None:
    debug.log("é \ud800 \udcff \0")
    assert debug_log(home).endswith(" é ? ? \0\n")


def test_the_log_and_its_folders_are_their_users_alone(home: Path) -> None:
    debug.log("one")
    paths = [ours(home, ""), ours(home, "logs"), ours(home, "logs/debug.log")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o700, 0o700, 0o600]


def test_a_log_of_over_a_megabyte_begins_anew(home: Path) -> None:
    put(ours(home, "logs/debug.log"), "old\n" * 250_001)
    debug.log("new")
    assert debug_log(home).count("\n") == 1
    assert ours(home, "logs/debug.log.1").read_text().startswith("old\n")


def test_a_log_of_a_megabyte_goes_on(home: Path) -> None:
    put(ours(home, "logs/debug.log"), "old\n" * 250_000)
    debug.log("new")
    assert debug_log(home).count("\n") == 250_001


@pytest.mark.parametrize("place", ["", "logs"])
def test_without_a_place_to_write_nothing_happens(home: Path, place: str) -> None:
    path = ours(home, place)
    put(path, "a file in the place of a folder")
    debug.log("lost")
    assert path.read_text() == "a file in the place of a folder"


def test_a_folder_in_the_place_of_the_log_stays(home: Path) -> None:
    ours(home, "logs/debug.log").mkdir(parents=True)
    debug.log("lost")
    assert ours(home, "logs/debug.log").is_dir()
