from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sisyphus.ralph.checks.last_lines import last_lines, plain

PLAIN = [
    pytest.param(b"one\ntwo\n", "one\ntwo\n", id="text"),
    pytest.param(b"", "", id="nothing"),
    pytest.param(b"one\r\ntwo\r\r\n", "one\ntwo\n", id="line ends of Windows"),
    pytest.param(b" 10%\r 50%\r100%\ndone", "100%\ndone", id="progress bar"),
    pytest.param(b"100%\r", "100%", id="progress bar at its end"),
    pytest.param(b"\x1b[1;31mFAILED\x1b[0m tests", "FAILED tests", id="colours"),
    pytest.param(b"\x1b[2K\x1b[1Gagain", "again", id="cursor"),
    pytest.param(b"\x1b]0;title\x07text", "text", id="title"),
    pytest.param(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link", id="link"),
    pytest.param(b"\x1bPq#0\x1b\\text", "text", id="device control"),
    pytest.param(b"\x1b(Btext\x1b=", "text", id="short sequences"),
    pytest.param(b"\x1b]0;never closed\nnext", "\nnext", id="title that is never closed"),
    pytest.param(b"a\0b\x07c\x7fd\te\x0cf", "abcd\tef", id="control characters"),
    pytest.param(
        "\u202eevil\u2028x\x9b31m".encode(), "evilx", id="control characters beyond ASCII"
    ),
    pytest.param(b"caf\xe9 \xff\xfe", "caf\ufffd \ufffd\ufffd", id="not UTF-8"),
    pytest.param("naïve 🎉".encode(), "naïve 🎉", id="UTF-8"),
]


@pytest.mark.parametrize(("output", "expected"), PLAIN)
def test_output_becomes_plain_text(output: bytes, expected: str) -> None:
    assert plain(output) == expected


ENDS = [
    pytest.param("one\ntwo\nthree", 9, "two\nthree", id="ends where a line begins"),
    pytest.param("one\ntwo\nthree", 8, "three", id="no part of a line"),
    pytest.param("one\ntwo\nthree", 99, "one\ntwo\nthree", id="all of it"),
    pytest.param("one\ntwo\n\n \n", 3, "two", id="empty lines at the end"),
    pytest.param("\n\none\ntwo", 99, "one\ntwo", id="empty lines at the start"),
    pytest.param("one\n\n\ntwo", 5, "two", id="empty lines at the cut"),
    pytest.param("one\n  two", 5, "  two", id="indentation stays"),
    pytest.param("abcdef", 3, "def", id="one long line"),
    pytest.param("one\nabcdef", 3, "def", id="a last line that is too long"),
    pytest.param("one", 0, "", id="no room"),
    pytest.param("one", -1, "", id="less than no room"),
    pytest.param(" \n ", 5, "", id="nothing to see"),
]


@pytest.mark.parametrize(("text", "characters", "expected"), ENDS)
def test_the_last_lines_are_whole(text: str, characters: int, expected: str) -> None:
    assert last_lines(text, characters) == expected


@given(st.text(alphabet=st.sampled_from("ab\n ")), st.integers(-1, 60))
@example("\n", 1)
def test_the_last_lines_are_the_end_of_the_text(text: str, characters: int) -> None:
    end = last_lines(text, characters)

    before = text.rstrip().removesuffix(end)
    assert before + end == text.rstrip()
    assert len(end) <= max(characters, 0)
    is_whole = not before or before.endswith("\n")
    assert is_whole or "\n" not in end
    assert is_whole or len(end) == max(characters, 0) or not end


@given(st.binary())
@example(b"\x1b[\x1b]")
def test_whatever_is_printed_nothing_that_does_something_is_left(output: bytes) -> None:
    assert all(c.isprintable() or c in "\n\t" or ord(c) > 0x9F for c in plain(output))


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert plain(text.encode()) == text
