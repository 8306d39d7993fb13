from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.text import line, one_line, sound

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


@pytest.mark.parametrize(("text", "characters", "shown"), LINES)
def test_a_text_on_one_line(text: str, characters: int, shown: str) -> None:
    assert one_line(text, characters) == shown


@given(st.text(st.characters()), st.integers(3, 20))
def test_a_line_can_always_be_printed(text: str, characters: int) -> None:
    shown = one_line(text, characters)
    assert len(shown) <= characters
    assert shown.isprintable()
    assert one_line(text).encode().decode().isprintable()


PRINTABLE = [
    pytest.param("a  **b** `c`", "a  **b** `c`", id="markup and spaces stay"),
    pytest.param("a\nb\tc\x1b[31m\u2028d", "a b c [31m d", id="controls become spaces"),
    pytest.param("a\u202eb\u2066c", "a b c", id="so do directions"),
    pytest.param("a\u200bb\ufeffc\U000e0041d", "a b c d", id="what cannot be seen"),
    pytest.param("a\ud800b", "a b", id="half a surrogate pair"),
    pytest.param("👩\u200d💻 ❤\ufe0f", "👩 💻 ❤\ufe0f", id="joined emoji come apart"),
    pytest.param("x" * 300, "x" * 300, id="as long as may be"),
    pytest.param("x" * 301, "x" * 299 + "…", id="longer"),
]


@pytest.mark.parametrize(("text", "shown"), PRINTABLE)
def test_a_text_becomes_one_printable_line(text: str, shown: str) -> None:
    assert line(text) == shown


@given(st.text(st.characters()))
def test_any_text_becomes_a_line_that_can_be_printed(text: str) -> None:
    shown = line(text)
    assert len(shown) == min(len(text), 300)
    assert shown.isprintable()


@given(st.text(st.characters()))
def test_a_sound_text_is_utf8_and_else_the_same(text: str) -> None:
    assert sound(text).encode().decode() == sound(text)
    assert len(sound(text)) == len(text)
