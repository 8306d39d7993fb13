from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from sisyphus.errors import UnreadableError
from sisyphus.state import jsonl

if TYPE_CHECKING:
    from pathlib import Path

PASSED_OVER = [
    pytest.param(b"", id="empty"),
    pytest.param(b"{", id="torn"),
    pytest.param(b"[1]", id="a list"),
    pytest.param(b"7", id="a number"),
    pytest.param(b"\xff", id="no text"),
    pytest.param(b"[" * 100_000, id="nested too deeply"),
    pytest.param(b'{"a": ' + b"1" * 5_000 + b"}", id="a number of 5,000 digits"),
]


@pytest.mark.parametrize("line", PASSED_OVER)
def test_what_is_no_object_is_passed_over(tmp_path: Path, line: bytes) -> None:
    path = put(tmp_path / "log", b'{"a": 1}\n' + line + b'\n{"a": 2}')
    assert jsonl.parse(line) is None
    assert list(jsonl.read(str(path))) == [{"a": 1}, {"a": 2}]


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert jsonl.parse(b'{"a": "\\ud83d\\ude00 \\ud83d!"}') == {"a": "😀 ?!"}
    assert jsonl.parse(b'{"a": "\\uD83D\\uDE00 \\uDE00 \\u2014 \\uDbff"}') == {"a": "😀 ? — ?"}


def test_a_file_that_is_absent_or_a_folder_holds_nothing(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        assert list(jsonl.read(str(path))) == []
        assert jsonl.appended(str(path), 5) == ([], 5)
        with pytest.raises((UnreadableError, OSError)):
            list(jsonl.backwards(str(path), 0))


LIMITS = [(1, []), (8, []), (9, [2]), (17, [2]), (18, [1, 2]), (27, [0, 1, 2]), (99, [0, 1, 2])]


@pytest.mark.parametrize(("limit", "kept"), LIMITS)
def test_of_a_long_file_the_end_is_read(tmp_path: Path, limit: int, kept: list[int]) -> None:
    path = put(tmp_path / "log", b"".join(b'{"a": %d}\n' % n for n in range(3)))
    assert [value["a"] for value in jsonl.read(str(path), limit)] == kept


@given(
    st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b" ")), min_size=1), st.data()
)
def test_backwards_is_the_other_way_round(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    path = put(tmp_path_factory.getbasetemp() / "lines", b"\n".join(lines))
    assert list(jsonl.backwards(str(path), path.stat().st_size)) == lines[::-1]
    end = data.draw(st.integers(0, path.stat().st_size))
    assert list(jsonl.backwards(str(path), end)) == path.read_bytes()[:end].split(b"\n")[::-1]


def test_backwards_over_many_blocks(tmp_path: Path) -> None:
    lines = [b"%d" % n * (n % 50) for n in range(40_000)] + [b"x" * 500_000, b"end"]
    path = put(tmp_path / "log", b"\n".join(lines))
    assert list(jsonl.backwards(str(path), path.stat().st_size)) == lines[::-1]


def test_backwards_goes_no_further_than_its_limit(tmp_path: Path) -> None:
    path = put(tmp_path / "log", b"one\ntwo\nthree\n")
    assert list(jsonl.backwards(str(path), 14, limit=9)) == [b"", b"three"]


def test_no_more_is_read_backwards_than_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with open(path, "wb") as file:
        os.truncate(file.fileno(), 50_000_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b'\n{"a": 1}\n')
    lines = jsonl.backwards(str(path), path.stat().st_size)
    assert [next(lines), next(lines)] == [b"", b'{"a": 1}']


def test_what_is_appended_is_read_once_and_when_it_is_whole(tmp_path: Path) -> None:
    path = put(tmp_path / "log", b'{"a": 1}\n{"a"')
    found, offset = jsonl.appended(str(path), 0)
    assert found == [{"a": 1}]
    assert jsonl.appended(str(path), offset) == ([], offset)

    put(path, path.read_bytes() + b": 2}\nrubbish\n")
    found, offset = jsonl.appended(str(path), offset)
    assert (found, offset) == ([{"a": 2}], path.stat().st_size)
    assert jsonl.appended(str(path), offset) == ([], offset)


def test_a_shorter_file_is_another_one(tmp_path: Path) -> None:
    path = put(tmp_path / "log", json.dumps({"a": 1}) + "\n")
    assert jsonl.appended(str(path), 1_000) == ([{"a": 1}], path.stat().st_size)
