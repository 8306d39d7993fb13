from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.dashboard.views import searching

_LETTERS = st.text(alphabet="aAbBß\u0130\u0131\u017f\u03a3\u03c2\u03c3é\n <&", max_size=60)


@given(_LETTERS, _LETTERS)
def test_the_pieces_joined_are_the_text(text: str, query: str) -> None:
    assert "".join(piece.text for piece in searching.marked(text, query)) == text


@given(_LETTERS, _LETTERS.filter(str.strip))
def test_every_hit_stands_where_it_says(text: str, query: str) -> None:
    for hit in searching.search(text, query).hits:
        assert text[hit.at :].startswith(hit.hit)
        assert hit.before + hit.hit + hit.after in text
        assert hit.line == text.count("\n", 0, hit.at) + 1
        assert len(hit.hit) == len(query.strip())


@given(_LETTERS, _LETTERS)
def test_marks_and_hits_are_the_same_ones(text: str, query: str) -> None:
    marks = [piece.text for piece in searching.marked(text, query) if piece.is_hit]
    assert marks == [hit.hit for hit in searching.search(text, query).hits]


@pytest.mark.parametrize(
    ("text", "query", "told"),
    [
        pytest.param("one\nTwo two", "TWO", [(2, "", "Two", " two"), (2, "Two ", "two", "")],
                     id="small and capital letters are the same"),
        pytest.param("a.c abc", "a.c", [(1, "", "a.c", " abc")], id="a pattern is no pattern"),
        pytest.param("İ istanbul", "istanbul", [(1, "İ ", "istanbul", "")],
                     id="a letter that grows moves nothing"),
        pytest.param("İstanbul", "istanbul", [(1, "", "İstanbul", "")], id="and is a letter"),
        pytest.param("ΟΔΟΣΩ", "ΟΔΟΣ", [(1, "", "ΟΔΟΣ", "Ω")], id="a word that goes on"),
        pytest.param("οδος οδοσ", "ΟΔΟΣ", [(1, "", "οδος", " οδοσ"), (1, "οδος ", "οδοσ", "")],
                     id="a letter that is another at the end of a word"),
        pytest.param("aaaa", "aa", [(1, "", "aa", "aa"), (1, "aa", "aa", "")],
                     id="hits do not overlap"),
        pytest.param("text", "  ", [], id="nothing is asked for"),
        pytest.param("", "x", [], id="nothing was said"),
    ],
)  # fmt: skip
def test_hits_are_told_with_their_lines(
    text: str, query: str, told: list[tuple[int, str, str, str]]
) -> None:
    found = searching.search(text, query)
    assert [(h.line, h.before, h.hit, h.after) for h in found.hits] == told


def test_no_letter_changes_the_length_of_a_text() -> None:
    """Else a hit would be shown beside where it is."""
    letters = "".join(map(chr, range(0x110000)))
    [hit] = searching.search(f"{letters}<needle>", "<NEEDLE>").hits
    assert hit.at == len(letters)


@given(_LETTERS, _LETTERS.filter(str.strip), st.integers(0, 60))
def test_hits_are_counted_by_where_they_begin(text: str, query: str, end: int) -> None:
    hits = searching.search(text, query).hits
    assert searching.count(text, query, end) == sum(hit.at < end for hit in hits)


def test_of_many_hits_the_first_are_told_and_how_many_more() -> None:
    found = searching.search("x " * 250, "x")
    assert (len(found.hits), found.more) == (200, 50)
    assert found.hits[-1].number == 200


def test_of_a_long_line_little_is_shown_around_a_hit() -> None:
    [hit] = searching.search("a" * 9_000 + "!" + "b" * 9_000, "!").hits
    assert (len(hit.before), len(hit.after)) == (searching.AROUND, searching.AROUND)
