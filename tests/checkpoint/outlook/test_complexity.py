from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.checkpoint.outlook.complexity import (
    COMPLEX,
    MEDIUM,
    NAMES,
    SIMPLE,
    TRIVIAL,
    VERY_COMPLEX,
    Estimate,
    estimate,
    fits,
    must_split,
    refine,
)

MARKED = [
    pytest.param("Do it (trivial)", TRIVIAL, "(trivial)", id="a word in brackets"),
    pytest.param("Rename it [Complex]", COMPLEX, "[Complex]", id="against the words"),
    pytest.param("Fix it (very complex)", VERY_COMPLEX, "(very complex)", id="two words"),
    pytest.param("Fix it (very-complex)", VERY_COMPLEX, "(very-complex)", id="a hyphen"),
    pytest.param("Rewrite it, size: medium", MEDIUM, "size: medium", id="size"),
    pytest.param("Rewrite it, complexity: Simple", SIMPLE, "complexity: Simple", id="complexity"),
    pytest.param("[XS] Rewrite it", TRIVIAL, "[XS]", id="extra small"),
    pytest.param("[S] Rewrite it", SIMPLE, "[S]", id="small"),
    pytest.param("Rewrite it (M)", MEDIUM, "(M)", id="medium"),
    pytest.param("[L] Fix it", COMPLEX, "[L]", id="large"),
    pytest.param("Fix it, size: XL", VERY_COMPLEX, "size: XL", id="extra large"),
    pytest.param("[XXL] Fix it", VERY_COMPLEX, "[XXL]", id="larger still"),
    pytest.param("Rewrite it, ~49 LOC", TRIVIAL, "~49 LOC", id="below 50 lines"),
    pytest.param("Rewrite it, 50 lines", SIMPLE, "50 lines", id="50 lines"),
    pytest.param("Fix 150 lines of code", SIMPLE, "150 lines of code", id="150 lines"),
    pytest.param("Fix 151 lines", MEDIUM, "151 lines", id="more than 150 lines"),
    pytest.param("Fix ~200 LOC", MEDIUM, "~200 LOC", id="200 lines"),
    pytest.param("Fix 200-350 loc", COMPLEX, "200-350 loc", id="the upper end counts"),
    pytest.param("Fix 10 to 40 lines", TRIVIAL, "10 to 40 lines", id="from to"),
    pytest.param("Fix 601 lines", VERY_COMPLEX, "601 lines", id="as much as two large ones"),
]


@pytest.mark.parametrize(("item", "name", "why"), MARKED)
def test_what_an_item_says_of_its_size_counts(item: str, name: str, why: str) -> None:
    found = estimate(item)
    assert (found.name, found.why) == (name, why)


WORDED = [
    pytest.param("Fix typo in the migration guide", TRIVIAL, '"typo"', id="a typo"),
    pytest.param("Renaming of the module", TRIVIAL, '"renaming"', id="an ending"),
    pytest.param("Add --json to the command", SIMPLE, '"add"', id="an addition"),
    pytest.param("Implement OAuth callback", MEDIUM, '"implement"', id="a feature"),
    pytest.param("Migrate Jest to Vitest", COMPLEX, '"migrate"', id="a migration"),
    pytest.param("Refactor and fix it", COMPLEX, '"refactor"', id="the largest wins"),
    pytest.param("Rewrite the parser", VERY_COMPLEX, '"rewrite"', id="a rewrite"),
    pytest.param("Look at the entire codebase", VERY_COMPLEX, '"entire codebase"', id="all of it"),
    pytest.param("Why is it slow?", MEDIUM, "nothing in it tells more", id="nothing"),
    pytest.param("", MEDIUM, "nothing in it tells more", id="no words"),
    pytest.param("An address book", MEDIUM, "nothing in it tells more", id="no part of a word"),
    pytest.param("The middle size", MEDIUM, "nothing in it tells more", id="no size"),
    pytest.param("Fix a.py, src/b.py and a.py", SIMPLE, '"fix"', id="two files"),
    pytest.param(
        "Fix a.py, b.ts, c.go and d.sql", MEDIUM, '"fix", 4 files or parts', id="four files"
    ),
    pytest.param(
        "Fix it for users, orders, invoices and payments",
        MEDIUM,
        '"fix", 4 files or parts',
        id="a list",
    ),
    pytest.param("Fix users, orders, and invoices", SIMPLE, '"fix"', id="a comma before and"),
    pytest.param(
        "First this, that, those: fix a and b", SIMPLE, '"fix"', id="a list of something else"
    ),
    pytest.param(
        "Fix all 30 slow endpoints", COMPLEX, '"fix", 30 files or parts', id="a number of parts"
    ),
    pytest.param(
        "Rewrite 30 pages", VERY_COMPLEX, '"rewrite", 30 files or parts', id="not above the largest"
    ),
]


@pytest.mark.parametrize(("item", "name", "why"), WORDED)
def test_else_its_words_decide(item: str, name: str, why: str) -> None:
    found = estimate(item)
    assert (found.name, found.why) == (name, why)


TABLE = [
    pytest.param("(trivial)", 5, 10, 10, 7, id="trivial"),
    pytest.param("(simple)", 10, 20, 5, 15, id="simple"),
    pytest.param("(medium)", 20, 40, 3, 25, id="medium"),
    pytest.param("(complex)", 40, 60, 1, 50, id="complex"),
    pytest.param("(very complex)", 60, 100, 0, 80, id="very complex"),
]


@pytest.mark.parametrize(("item", "low", "high", "most", "percent"), TABLE)
def test_what_each_size_takes(item: str, low: int, high: int, most: int, percent: int) -> None:
    found = estimate(item)
    assert (found.low, found.high, found.most_items, found.percent) == (low, high, most, percent)


REFINED = [
    pytest.param([(MEDIUM, 30.0)] * 2, (20, 40, 3), id="two are too few"),
    pytest.param([(SIMPLE, 30.0)] * 9, (20, 40, 3), id="others are no help"),
    pytest.param([(MEDIUM, 0.0)] * 9, (20, 40, 3), id="nothing was measured"),
    pytest.param([(MEDIUM, 12.0), (MEDIUM, 10.0), (MEDIUM, 14.0)], (8, 16, 6), id="smaller"),
    pytest.param([(MEDIUM, 50.0)] * 4, (45, 55, 1), id="all alike"),
    pytest.param([(MEDIUM, 10.0)] * 3 + [(MEDIUM, 90.0)], (9, 11, 7), id="one that got lost"),
    pytest.param([(MEDIUM, 70.0)] * 3, (63, 77, 0), id="too large"),
    pytest.param([(MEDIUM, 0.5)] * 3, (1, 1, 10), id="next to nothing"),
]


@pytest.mark.parametrize(("costs", "expected"), REFINED)
def test_what_items_took_stands_in_the_place_of_the_table(
    costs: list[tuple[str, float]], expected: tuple[int, int, int]
) -> None:
    found = refine(estimate("(medium)"), costs)
    assert (found.low, found.high, found.most_items) == expected
    assert found.name == MEDIUM


def test_the_estimate_says_what_it_was_refined_by() -> None:
    costs = [(MEDIUM, 10.0), (MEDIUM, 12.0), (MEDIUM, 14.0), (SIMPLE, 2.0)]
    found = refine(estimate("(medium)"), costs)
    assert found.why == "3 earlier items of that size"
    assert found.percent == 12


def test_an_item_fits_where_there_is_as_much_room_as_it_takes() -> None:
    medium = estimate("(medium)")
    assert fits(medium, 25)
    assert not fits(medium, 24.9)


def test_one_that_must_be_split_fits_nowhere() -> None:
    large = estimate("(very complex)")
    assert must_split(large)
    assert not fits(large, 100)
    assert not must_split(estimate("(complex)"))


@given(st.text(), st.lists(st.tuples(st.sampled_from(NAMES), st.floats(0, 200))))
def test_every_text_has_an_estimate(item: str, costs: list[tuple[str, float]]) -> None:
    found: Estimate = refine(estimate(item), costs)
    assert found.name in NAMES
    assert 1 <= found.low <= found.high
    assert 0 <= found.most_items <= 10
