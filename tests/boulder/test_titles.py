from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder.titles import NO_FIT, fit, order

FITS = [
    pytest.param("docs AUDIT", 0, id="its name, in any case"),
    pytest.param("Epic-13", 1, id="its file"),
    pytest.param("epic-13.md", 1, id="its file with the ending"),
    pytest.param("docs/kord/plans/epic-13.md", 2, id="its place"),
    pytest.param("/p/docs/kord/plans/epic-13.md", 2, id="its path"),
    pytest.param("docs", 3, id="a part of its name, though of its place too"),
    pytest.param("13", 3, id="a part of its file"),
    pytest.param("kord/plans", 4, id="a part of its place"),
    pytest.param("blog", NO_FIT, id="nothing of it"),
]


@pytest.mark.parametrize(("wanted", "rank"), FITS)
def test_a_name_fits_a_plan_as(wanted: str, rank: int) -> None:
    path = os.path.join(os.sep, "p", "docs", "kord", "plans", "epic-13.md")
    assert fit(wanted, "Docs audit", path, os.path.join(os.sep, "p")) == rank


ORDERS = [
    pytest.param((0, True), (1, True), id="a name before a file"),
    pytest.param((1, True), (0, False), id="an open plan in full before one that is not open"),
    pytest.param((2, False), (3, True), id="in full before in part, open or not"),
    pytest.param((3, True), (3, False), id="an open plan before one that is not open, in part"),
    pytest.param((3, False), (4, True), id="a part of a name before one of a place"),
]


@pytest.mark.parametrize(("first", "second"), ORDERS)
def test_plans_are_meant_in_this_order(first: tuple[int, bool], second: tuple[int, bool]) -> None:
    assert order(first[0], is_open=first[1]) < order(second[0], is_open=second[1])


@given(st.text(), st.text())
def test_every_plan_is_called_by_its_name(name: str, file: str) -> None:
    assert fit(name, name, f"/p/{file}.md", "/p") == 0
