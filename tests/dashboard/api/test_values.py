from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from dashboard.api.odd import DEEP, HALF, HUGE, VALUES
from sisyphus.dashboard.api import values


class All(BaseModel):
    text: values.Text
    maybe: values.Maybe
    count: values.Count
    number: values.Number
    yes: values.Yes
    mapping: values.Object


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=20,
)


def _told(value: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        All.model_validate(dict.fromkeys(All.model_fields, value)).model_dump_json()
    )
    return found


@given(JSON)
def test_no_value_makes_an_answer_fail(value: object) -> None:
    assert _told(value).keys() == All.model_fields.keys()


@pytest.mark.parametrize("value", VALUES)
def test_nor_does_an_odd_one(value: object) -> None:
    assert _told(value).keys() == All.model_fields.keys()


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        pytest.param("text", "ä", "ä", id="a text"),
        pytest.param("text", HALF, "?", id="half a character"),
        pytest.param("text", 5, "", id="a number as a text"),
        pytest.param("maybe", None, None, id="no text"),
        pytest.param("count", 5, 5, id="a count"),
        pytest.param("count", -5, None, id="less than nothing"),
        pytest.param("count", True, None, id="a switch as a count"),
        pytest.param("count", 5.0, None, id="a fraction as a count"),
        pytest.param("number", 5, 5, id="a whole number"),
        pytest.param("number", HUGE, None, id="a number beyond floats"),
        pytest.param("number", float("nan"), None, id="no number"),
        pytest.param("number", float("inf"), None, id="no end"),
        pytest.param("number", -1e300, -1e300, id="the least"),
        pytest.param("yes", 1, False, id="a number as a switch"),
        pytest.param("mapping", {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}, id="an object"),
        pytest.param("mapping", [1], {}, id="a list as an object"),
        pytest.param("mapping", {HALF: HALF}, {"?": "?"}, id="halves in an object"),
    ],
)
def test_a_value_of_a_wrong_kind_is_none(field: str, value: object, told: object) -> None:
    found = _told(value)[field]
    assert (found, type(found) is bool) == (told, type(told) is bool)


def test_what_is_nested_without_end_is_cut() -> None:
    assert json.dumps(values.clean(DEEP)).count("[") < 40
