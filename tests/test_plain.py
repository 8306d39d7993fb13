from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.plain import one_line, sound

LINES = [
    pytest.param("a b", 0, "a b", id="a line"),
    pytest.param(" a\r\n\tb  c ", 0, "a b c", id="white space"),
    pytest.param("\x1b[31mred\x1b[0m\x07", 0, "[31mred [0m", id="what a terminal would do"),
    pytest.param("a\u202eb\ud800c\u2028d", 0, "a b c d", id="directions, half pairs, separators"),
    pytest.param("", 5, "", id="nothing"),
    pytest.param("abcde", 5, "abcde", id="just fits"),
    pytest.param("abcdef", 5, "ab...", id="cut"),
    pytest.param("a bcdef", 5, "a...", id="no space before the dots"),
    pytest.param("ab" + " " * 100 + "c", 5, "ab...", id="more far behind"),
]


@pytest.mark.parametrize(("text", "characters", "line"), LINES)
def test_a_text_on_one_line(text: str, characters: int, line: str) -> None:
    assert one_line(text, characters) == line


@given(st.text(st.characters()), st.integers(3, 20))
def test_a_line_can_always_be_printed(text: str, characters: int) -> None:
    line = one_line(text, characters)
    assert len(line) <= characters
    assert line.isprintable()
    assert one_line(text).encode().decode().isprintable()


@given(st.text(st.characters()))
def test_a_sound_text_is_utf8_and_else_the_same(text: str) -> None:
    assert sound(text).encode().decode() == sound(text)
    assert len(sound(text)) == len(text)
