from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.enforce.words import quoted
from sisyphus.markdown import HIDDEN

CASES = [
    pytest.param("plain", "plain", id="nothing to hide"),
    pytest.param('a "b c" d', "a ..... d", id="straight quotes"),
    pytest.param('a "b', 'a "b', id="a lone mark"),
    pytest.param('"a" "b', '... "b', id="a lone mark behind a quotation"),
    pytest.param("\u201ca\u201d b", "... b", id="curly quotes"),
    pytest.param("\u201ea\u201c \u201eb\u201d", "... ...", id="German quotes, both ends"),
    pytest.param("\u00aba\u00bb \u300cb\u300d", "... ...", id="other scripts"),
    pytest.param("it's a dog's", "it's a dog's", id="apostrophes"),
    pytest.param("a 'b c' d", "a ..... d", id="single quotes"),
    pytest.param("a 'I'm b' d", "a ....... d", id="an apostrophe in single quotes"),
    pytest.param("a 'b c", "a 'b c", id="a lone single mark"),
    pytest.param("the users' page's", "the users' page's", id="possessives"),
    pytest.param("a ' b ' c", "a ' b ' c", id="marks with spaces around them"),
    pytest.param("'a'b'c'd'e'f'g'h'i'j' k", "'a'b'c'd'e'f'g'h'i'j' k", id="too many apostrophes"),
    pytest.param("\u2018a\u2019 b", "... b", id="curly single quotes"),
    pytest.param('"' + "a" * 500 + '"', '"' + "a" * 500 + '"', id="too long a quotation"),
    pytest.param("a [b c](d) e", "a ........ e", id="a link"),
    pytest.param("![b](d) e", "....... e", id="an image"),
    pytest.param("a [b] (c)", "a [b] (c)", id="brackets"),
    pytest.param("<b>a</b>", "   a    ", id="tags"),
    pytest.param("a < b > c", "a < b > c", id="no tags"),
    pytest.param("| a | b |\n|---|---|\nc", ".........\n.........\nc", id="rows of a table"),
    pytest.param("a\n| b |\nc | d", "a\n.....\nc | d", id="rows behind a paragraph"),
]


@pytest.mark.parametrize(("text", "shown"), CASES)
def test_what_is_only_shown_is_hidden(text: str, shown: str) -> None:
    assert quoted.hide(text).replace(HIDDEN, ".") == shown


@given(st.text(alphabet="ab \n\"'\u2018\u2019\u201c\u201d\u201e<>/[]()|!"))
def test_a_text_keeps_its_length(text: str) -> None:
    hidden = quoted.hide(text)

    assert len(hidden) == len(text)
    assert all(new in (old, HIDDEN, " ") for old, new in zip(text, hidden, strict=True))
