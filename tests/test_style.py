from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.style import PLAIN, Style

if TYPE_CHECKING:
    from sisyphus.style import Row

ASCII = Style(is_ascii=True)

BARS = [
    pytest.param(PLAIN, 5, 20, "██░░░░░░", id="a quarter"),
    pytest.param(PLAIN, 19, 20, "███████░", id="full only at the end"),
    pytest.param(PLAIN, 20, 20, "████████", id="the end"),
    pytest.param(PLAIN, 0, 0, "░░░░░░░░", id="nothing to do"),
    pytest.param(ASCII, 10, 20, "[###---]", id="ascii"),
]


@pytest.mark.parametrize(("style", "done", "total", "bar"), BARS)
def test_a_bar_shows_what_is_done(style: Style, done: int, total: int, bar: str) -> None:
    assert style.bar(done, total, 8) == bar


CUTS = [
    pytest.param(PLAIN, "one two", 7, "one two", "one two", id="room for all"),
    pytest.param(PLAIN, "one two", 5, "one…", "… two", id="no room"),
    pytest.param(ASCII, "one two", 6, "one...", "...two", id="ascii"),
    pytest.param(PLAIN, "one two", 0, "…", "…", id="no room at all"),
]


@pytest.mark.parametrize(("style", "text", "width", "end", "start"), CUTS)
def test_a_text_is_cut_at_its_end_or_its_start(
    style: Style, text: str, width: int, end: str, start: str
) -> None:
    assert style.cut(text, width) == end
    assert style.cut_start(text, width) == start


def test_colours_take_no_room_and_empty_parts_none_of_them() -> None:
    row: Row = [("abc", lambda text: f"<{text}>"), ("", lambda _: "never"), ("defg", str)]
    assert PLAIN.fit(row, 7) == "<abc>defg"
    assert PLAIN.fit(row, 5) == "<abc>d…"
    assert PLAIN.fit(row, 3) == "<ab>…"


@given(st.lists(st.text(max_size=9)), st.integers(3, 30), st.booleans())
def test_a_row_never_takes_more_than_its_room(texts: list[str], width: int, is_ascii: bool) -> None:
    fitted = Style(is_ascii=is_ascii).fit([(text, str) for text in texts], width)
    assert len(fitted) <= width
    assert fitted == "".join(texts) or len(fitted) == width
