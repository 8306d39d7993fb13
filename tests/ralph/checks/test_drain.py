from __future__ import annotations

import os

import pytest

from sisyphus.ralph.checks.drain import KEPT_BYTES, Drain

COUNT = 300_000
"""Lines of ten bytes."""


def _write(drain: Drain, *parts: bytes) -> None:
    with os.fdopen(drain.entrance, "wb") as entrance:
        entrance.writelines(parts)


def test_what_is_written_comes_out() -> None:
    drain = Drain()
    _write(drain, b"one\n", b"two\n")

    assert drain.end() == b"one\ntwo\n"


def test_nothing_is_an_answer() -> None:
    drain = Drain()
    _write(drain)

    assert drain.end() == b""


def test_of_a_flood_the_end_is_kept_from_the_start_of_a_line() -> None:
    drain = Drain()
    _write(drain, *(b"%09d\n" % number for number in range(COUNT)))

    kept = drain.end().splitlines()

    assert [int(line) for line in kept] == list(range(COUNT - len(kept), COUNT))
    assert KEPT_BYTES - 20 <= 10 * len(kept) <= KEPT_BYTES


@pytest.mark.parametrize("size", [KEPT_BYTES, KEPT_BYTES + 1, 3 * KEPT_BYTES])
def test_a_flood_without_lines_is_cut_anywhere(size: int) -> None:
    drain = Drain()
    _write(drain, b"x" * size)

    assert drain.end() == b"x" * KEPT_BYTES


def test_whoever_holds_the_pipe_is_not_waited_for() -> None:
    drain = Drain()
    os.write(drain.entrance, b"so far")

    assert drain.end() == b"so far"
    os.close(drain.entrance)
