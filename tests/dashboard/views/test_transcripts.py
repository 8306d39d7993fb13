from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.dashboard.views import transcripts
from sisyphus.paths import our_home
from sisyphus.ralph import iterations

if TYPE_CHECKING:
    from sisyphus._types import Json

AT = "2026-11-20T15:00:00.000Z"


def _noted(number: int, text: str, **more: object) -> None:
    row: Json = {"iteration": number, "started_at": AT, "ended_at": AT, "decision": "blocked"}
    iterations.note(our_home(), "aaaaa", {**row, **more}, text)


def test_an_iteration_is_one_however_often_it_stopped() -> None:
    _noted(1, "first")
    _noted(1, "again", decision="ended")
    _noted(2, "")
    [one, two] = transcripts.iterations(our_home(), "aaaaa")
    assert (one["iteration"], one["decision"], one["size"]) == (1, "ended", len("first\n\nagain\n"))
    assert (two["iteration"], two["size"]) == (2, 0)


def test_texts_are_of_one_iteration_or_of_all() -> None:
    _noted(1, "one")
    _noted(2, "two")
    ours = our_home()
    assert transcripts.text(ours, "aaaaa", 2) == "two\n"
    assert transcripts.full(ours, "aaaaa").count("=== iteration") == 2
    assert transcripts.texts(ours, "aaaaa") == {1: "one\n", 2: "two\n"}


def test_what_does_something_on_a_screen_is_not_told() -> None:
    _noted(1, "a\tb\x1b[31mred\u202eder\r\nline")
    assert transcripts.text(our_home(), "aaaaa", 1) == "a    b [31mred der\nline\n"


@pytest.mark.parametrize("loop_id", ["../../etc/passwd", "", "a/b", "zzzzz"])
def test_of_no_loop_nothing_was_said(loop_id: str) -> None:
    ours = our_home()
    assert transcripts.iterations(ours, loop_id) == []
    assert transcripts.full(ours, loop_id) == transcripts.text(ours, loop_id, 1) == ""


def test_texts_that_are_too_many_are_left_out() -> None:
    for number in (1, 2, 3):
        _noted(number, "12345")
    assert list(transcripts.texts(our_home(), "aaaaa", most=12)) == [1, 2]


@given(st.text(alphabet="ab\n", max_size=80), st.integers(1, 9))
def test_the_pages_joined_are_the_text(text: str, size: int) -> None:
    pages = transcripts.page(text, 1, "ab", size).pages
    shown = [transcripts.page(text, number, "ab", size) for number in range(1, pages + 1)]
    assert "".join(piece.text for page in shown for piece in page.pieces) == text


def test_a_page_ends_behind_a_line_and_knows_its_hits() -> None:
    text = "hit 1\nhit 2\nhit 3\n"
    first, second = (transcripts.page(text, number, "hit", 13) for number in (1, 2))
    assert (first.line, first.first, second.line, second.first) == (1, 1, 3, 3)
    assert second.pages_of == {1: 1, 2: 1, 3: 2}


@pytest.mark.parametrize("number", [0, 2, -1])
def test_a_page_that_is_not_there_is_the_nearest_one(number: int) -> None:
    assert transcripts.page("text", number).number == 1
