from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import put

from sisyphus.transcript import TAIL_BYTES, backwards, lines, tail

if TYPE_CHECKING:
    from pathlib import Path


def _read(path: Path, offset: int = 0, limit: int = TAIL_BYTES) -> tuple[list[bytes], int]:
    """The lines without their ends, and the offset behind them."""
    found = list(lines(str(path), offset, limit))
    end = found[-1][0] + len(found[-1][1]) if found else offset
    return [line.removesuffix(b"\n") for _, line in found], end


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return put(tmp_path / "t.jsonl", "one\ntwo\nthree\n")


READS = [
    pytest.param(0, [b"one", b"two", b"three"], id="from the start"),
    pytest.param(4, [b"two", b"three"], id="from the last offset"),
    pytest.param(14, [], id="nothing new"),
    pytest.param(99, [b"one", b"two", b"three"], id="a shorter file is another one"),
    pytest.param(-1, [b"one", b"two", b"three"], id="an offset that cannot be"),
]


@pytest.mark.parametrize(("offset", "read"), READS)
def test_lines_are_read_from_an_offset(transcript: Path, offset: int, read: list[bytes]) -> None:
    assert _read(transcript, offset) == (read, 14)


LIMITS = [
    pytest.param(14, [b"one", b"two", b"three"], id="the whole file"),
    pytest.param(11, [b"two", b"three"], id="no half line at the beginning"),
    pytest.param(10, [b"three"], id="what begins at the cut may be a half line"),
    pytest.param(3, [], id="less than a line"),
]


@pytest.mark.parametrize(("limit", "read"), LIMITS)
def test_of_a_long_file_the_end_is_read(transcript: Path, limit: int, read: list[bytes]) -> None:
    assert _read(transcript, 0, limit)[0] == read


def test_a_line_without_its_end_waits(transcript: Path) -> None:
    transcript.write_text("one\ntw")
    assert _read(transcript) == ([b"one"], 4)
    transcript.write_text("one\ntwo\n")
    assert _read(transcript, 4) == ([b"two"], 8)


def test_a_file_that_cannot_be_read_has_no_lines(tmp_path: Path) -> None:
    assert list(lines(str(tmp_path / "none"), 7)) == []
    assert list(lines(str(tmp_path), 7)) == []
    assert list(lines("", 0)) == []


lines_of_bytes = st.lists(st.binary(max_size=8).map(lambda b: b.translate(None, b"\r\n")))


@given(lines_of_bytes, st.lists(st.integers(0, 40)))
def test_a_growing_file_gives_each_line_once(
    tmp_path_factory: pytest.TempPathFactory, written: list[bytes], sizes: list[int]
) -> None:
    whole = b"".join(line + b"\n" for line in written)
    path = tmp_path_factory.getbasetemp() / "growing"
    seen: list[bytes] = []
    offset = 0
    for size in [*sorted(sizes), len(whole)]:
        path.write_bytes(whole[:size])
        found, offset = _read(path, min(offset, size))
        seen += found
    assert seen == written


@given(lines_of_bytes, st.integers(1, 60))
def test_a_limit_leaves_out_beginnings_only(
    tmp_path_factory: pytest.TempPathFactory, written: list[bytes], limit: int
) -> None:
    path = put(tmp_path_factory.getbasetemp() / "long", b"".join(line + b"\n" for line in written))
    found, _ = _read(path, 0, limit)
    assert found == written[len(written) - len(found) :]


@given(lines_of_bytes)
def test_backwards_the_last_line_comes_first(
    tmp_path_factory: pytest.TempPathFactory, written: list[bytes]
) -> None:
    path = put(tmp_path_factory.getbasetemp() / "back", b"".join(b + b"\n" for b in written))
    assert [line for line in backwards(str(path)) if line] == [b for b in written[::-1] if b]


def test_backwards_a_long_file_is_read_whole(tmp_path: Path) -> None:
    written = [b"%d " % number + b"x" * 999 for number in range(300)]
    path = put(tmp_path / "t", b"\n".join(written))
    assert list(backwards(str(path))) == written[::-1]


def test_what_cannot_be_read_has_no_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s1.jsonl")
    assert tail(str(tmp_path / "s1.jsonl"), 9) == tail(str(tmp_path / "s2.jsonl"), 9) == b""
    assert tail(str(put(tmp_path / "s3.jsonl", "one\ntwo")), 3) == b"two"
