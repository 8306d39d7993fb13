from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.ralph.fingerprint import fingerprint, first_line

ALIKE = [
    pytest.param("took 12 ms", "took 9.5s", id="durations"),
    pytest.param("a.py:12:3: bad", "a.py:7: bad", id="places in a file"),
    pytest.param("at 2026-11-20T15:00:00Z", "at 2025-01-02T03:04:05Z", id="times"),
    pytest.param("<A object at 0x7f3a>", "<A object at 0xDEADBEEF>", id="addresses"),
    pytest.param("commit 1a2b3c4", "commit 99ffee0aa11bb22", id="hashes"),
    pytest.param(
        "id 3f0c7d1e-aaaa-4000-8000-00000000000a",
        "id ffffffff-bbbb-cccc-dddd-eeeeeeeeeeee",
        id="UUIDs",
    ),
    pytest.param("in /tmp/x1y/a.py", "in /tmp/qq-zz/a.py", id="temporary folders"),
    pytest.param("/private/tmp/a/b", "/var/folders/x_/y1/T/c/b", id="temporary folders of a Mac"),
    pytest.param(r"C:\Users\me\Temp\a\b", r"C:\Users\me\TEMP\c\b", id="and of Windows"),
    pytest.param("cannot open tmpab3x_9q", "cannot open tmpzzzz", id="temporary files"),
    pytest.param("bad\n\tthing ", " bad thing", id="white space"),
    pytest.param("\x1b[1;31mbad\x1b[0m", "bad", id="colours"),
    pytest.param("a" * 250 + "x" * 99 + "b" * 250, "a" * 250 + "b" * 250, id="the middle"),
]
DIFFERENT = [
    pytest.param("KeyError: 'a'", "KeyError: 'b'", id="words"),
    pytest.param("a.py:1: bad", "b.py:1: bad", id="files"),
    pytest.param("x" * 5_000 + " first", "x" * 5_000 + " second", id="ends of long texts"),
    pytest.param("first " + "x" * 5_000, "second " + "x" * 5_000, id="their beginnings"),
    pytest.param("deface", "facade", id="words of the letters a to f"),
    pytest.param("bad", "Bad", id="capitals"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_one_error_is_known_again(one: str, other: str) -> None:
    assert fingerprint(one) == fingerprint(other) != ""


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_two_errors_are_told_apart(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


@given(st.text(), st.integers(1, 2_000))
def test_a_fingerprint_is_one_short_line(text: str, times: int) -> None:
    found = fingerprint(text * times)
    assert len(found) <= 405
    assert found.isprintable()


FIRST = [
    pytest.param("boom\nmore", "boom", id="the first line"),
    pytest.param("\n \x1b[0m\n\x1b[31mE 12\0\n  more", "E 12", id="that says something"),
    pytest.param("x" * 999, "x" * 197 + "...", id="cut"),
    pytest.param(" \n\t", "", id="nothing"),
]


@pytest.mark.parametrize(("text", "line"), FIRST)
def test_an_error_is_shown_by_its_first_line(text: str, line: str) -> None:
    assert first_line(text) == line


@pytest.mark.parametrize("text", ["Exit code 1", "Exit code 127\n", " Exit code 2 \n\n"])
def test_an_exit_code_alone_is_no_error_that_could_be_the_same(text: str) -> None:
    assert fingerprint(text) == ""


def test_of_a_command_that_failed_the_first_line_says_more_than_its_code() -> None:
    assert first_line("Exit code 2\nls: no such file\nmore") == "Exit code 2: ls: no such file"
    assert first_line("Exit code 2") == "Exit code 2"
