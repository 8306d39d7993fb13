from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus import transcript_ends
from sisyphus.transcript_ends import NEWEST, TAIL_BYTES

if TYPE_CHECKING:
    from pathlib import Path

GOAL = '{"message": {"content": "<command-name>/goal</command-name>"}}\n'


def test_the_few_that_were_written_last_are_found(tmp_path: Path) -> None:
    for number in range(NEWEST + 2):
        path = put(tmp_path / f"projects/p{number % 2}/s{number}.jsonl", "")
        os.utime(path, (number, number))
    put(tmp_path / "projects/p0/notes.md", "")
    put(tmp_path / "projects/p0/s9.jsonl/x", "")
    put(tmp_path / "projects/s8.jsonl", "")

    names = [os.path.basename(path) for path in transcript_ends.newest(str(tmp_path))]

    assert names == ["s6.jsonl", "s5.jsonl", "s4.jsonl", "s3.jsonl", "s2.jsonl"]


def test_one_that_cannot_be_asked_hides_no_other(tmp_path: Path) -> None:
    path = put(tmp_path / "projects/p/s1.jsonl", "")
    path.with_name("s2.jsonl").symlink_to("s2.jsonl")

    assert transcript_ends.newest(str(tmp_path)) == [str(path)]
    assert transcript_ends.newest(str(tmp_path / "nowhere")) == []


GOALS = [
    pytest.param(GOAL, True, id="typed"),
    pytest.param('{"message": {"content": "/goal"}}\n', False, id="spoken of"),
    pytest.param(GOAL + " " * TAIL_BYTES, False, id="long ago"),
    pytest.param(" " * TAIL_BYTES + GOAL, True, id="at the end of much"),
]


@pytest.mark.parametrize(("text", "has_goal"), GOALS)
def test_a_goal_of_late_is_found(tmp_path: Path, text: str, has_goal: bool) -> None:
    path = put(tmp_path / "projects/p/s1.jsonl", text)

    assert transcript_ends.has_goal(str(path)) is has_goal
    assert list(transcript_ends.with_goal(str(tmp_path))) == ["s1"] * has_goal


def test_what_cannot_be_read_has_no_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s1.jsonl")

    assert transcript_ends.tail(str(tmp_path / "s1.jsonl")) == b""
    assert transcript_ends.tail(str(tmp_path / "s2.jsonl")) == b""
