from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.text import REPLY_UNITS, cut_chars, cut_units, end_units, fingerprint, units

SIZES = [
    pytest.param("", 0, id="nothing"),
    pytest.param("abc\n", 4, id="ASCII"),
    pytest.param("é€漢", 3, id="one unit each up to U+FFFF"),
    pytest.param("😀", 2, id="two units for an emoji"),
    pytest.param("e\u0301", 2, id="a combining accent counts"),
    pytest.param("\ud800", 1, id="half of a surrogate pair"),
]


@pytest.mark.parametrize(("text", "size"), SIZES)
def test_text_is_measured_in_utf_16_units(text: str, size: int) -> None:
    assert units(text) == size


def test_five_thousand_emoji_fill_a_reply() -> None:
    assert units("😀" * 5_000) == REPLY_UNITS


CUTS = [
    pytest.param("abc", 3, "abc", id="what fits stays whole"),
    pytest.param("one\ntwo", 7, "one\ntwo", id="what fits exactly stays whole"),
    pytest.param("one\ntwo", 6, "one\n", id="back to the last line end"),
    pytest.param("one\ntwo\n", 4, "one\n", id="a line end at the limit"),
    pytest.param("\nabc", 2, "\na", id="a line end at the very start saves nothing"),
    pytest.param("abcdef", 4, "abcd", id="without a line end at the limit"),
    pytest.param("abc", 0, "", id="no room"),
    pytest.param("abc", -5, "", id="less than no room"),
    pytest.param("", -5, "", id="nothing in less than no room"),
]


@pytest.mark.parametrize(("text", "limit", "kept"), CUTS)
def test_cuts_fall_on_line_ends_where_there_are_any(text: str, limit: int, kept: str) -> None:
    assert cut_units(text, limit) == kept
    assert cut_chars(text, limit) == kept


ENDS = [
    pytest.param("one\ntwo", 7, "one\ntwo", id="what fits stays whole"),
    pytest.param("one\ntwo", 6, "two", id="the last whole line"),
    pytest.param("one\ntwo", 3, "two", id="a line that fits exactly"),
    pytest.param("one\ntwo", 2, "", id="no line fits"),
    pytest.param("\n\none\ntwo\n\n", 7, "one\ntwo", id="without empty lines around it"),
    pytest.param("one\n\ntwo", 5, "two", id="nor where it begins anew"),
    pytest.param("one\n\ntwo", 8, "one\n\ntwo", id="but within"),
    pytest.param("one\r\ntwo\r\n", 9, "one\r\ntwo\r", id="carriage returns count"),
    pytest.param("😀\n😀😀", 4, "😀😀", id="in units"),
    pytest.param("one", 0, "", id="no room"),
    pytest.param("one", -5, "", id="less than no room"),
    pytest.param("", 5, "", id="nothing"),
    pytest.param("\n\n", 5, "", id="empty lines"),
]


@pytest.mark.parametrize(("text", "limit", "kept"), ENDS)
def test_an_end_begins_with_a_whole_line(text: str, limit: int, kept: str) -> None:
    assert end_units(text, limit) == kept


@given(st.text("a😀\n", max_size=30), st.integers(-3, 30))
def test_an_end_is_an_end_of_the_text_within_the_limit(text: str, limit: int) -> None:
    kept = end_units(text, limit)

    assert text.rstrip("\n").endswith(kept)
    assert units(kept) <= max(limit, 0)
    assert not kept or ("\n" + text.strip("\n")).endswith("\n" + kept)


@given(st.text("a😀\n", max_size=30), st.integers(0, 30))
def test_an_end_is_as_long_as_it_can_be(text: str, limit: int) -> None:
    kept = end_units(text, limit)
    whole = text.strip("\n")
    before = whole[: len(whole) - len(kept)].rstrip("\n")

    assert not before or units(whole[before.rfind("\n") + 1 :]) > limit


def test_an_emoji_that_does_not_fit_whole_is_left_out() -> None:
    assert cut_units("a😀b", 2) == "a"
    assert cut_units("a😀b", 3) == "a😀"


any_text = st.text(st.characters())  # halves of surrogate pairs included


@given(any_text, st.integers(-3, 40))
def test_a_cut_is_a_start_of_the_text_within_the_limit(text: str, limit: int) -> None:
    kept = cut_units(text, limit)
    assert text.startswith(kept)
    assert units(kept) <= max(limit, 0)


@given(any_text, st.integers(0, 40))
def test_a_cut_is_as_long_as_it_can_be_or_ends_a_line(text: str, limit: int) -> None:
    kept = cut_units(text, limit)
    one_more = text[: len(kept) + 1]
    assert kept == text or kept.endswith("\n") or units(one_more) > limit


@given(any_text, st.integers(-3, 40))
def test_a_cut_by_characters_counts_code_points(text: str, limit: int) -> None:
    kept = cut_chars(text, limit)
    assert text.startswith(kept)
    assert len(kept) <= max(limit, 0)


def test_a_fingerprint_is_short_and_tells_texts_apart() -> None:
    texts = ["", " ", "a", "é", "😀", "\ud800", "a" * 1_000_000]
    prints = [fingerprint(text) for text in texts]
    assert len(set(prints)) == len(texts)
    assert {len(text) for text in prints} == {16}
    assert fingerprint("é") == prints[3]


def test_a_fingerprint_is_always_the_same() -> None:
    assert fingerprint("text") == fingerprint("text") == "d7f35fa228381a1c"


def test_a_fingerprint_is_the_same_where_the_quick_module_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "_blake2", None)

    assert fingerprint("text") == "d7f35fa228381a1c"


@given(any_text, any_text)
def test_a_fingerprint_tells_texts_apart(one: str, other: str) -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", fingerprint(one))
    assert (fingerprint(one) == fingerprint(other)) is (one == other)
