from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.clients.claude_code_setup import LARGE, SMALL, is_large, is_new
from sisyphus.clients.claude_code_setup import window as size

MODELS = [
    pytest.param("claude-opus-5-5", LARGE, id="version 5"),
    pytest.param("claude-haiku-5-5", LARGE, id="of any family"),
    pytest.param("claude-sonnet-5", LARGE, id="without a second number"),
    pytest.param("claude-opus-10-1", LARGE, id="version 10"),
    pytest.param("claude-opus-5-5[1m]", LARGE, id="version 5 with the mark"),
    pytest.param("us.anthropic.claude-opus-5-5-v1:0", LARGE, id="of another provider"),
    pytest.param("claude-sonnet-4-5", SMALL, id="version 4"),
    pytest.param("claude-sonnet-4-5-20250929", SMALL, id="a date is no version"),
    pytest.param("claude-3-7-sonnet-20250219", SMALL, id="a number before the family"),
    pytest.param("claude-sonnet-4-5[1m]", LARGE, id="version 4 with the mark"),
    pytest.param("Claude-Sonnet-4-5[1M]", LARGE, id="in capitals"),
    pytest.param("claude-sonnet-20990101", SMALL, id="a date alone"),
    pytest.param("sonnet", SMALL, id="no number"),
    pytest.param("claude-opus-²", SMALL, id="a digit that is no number"),
    pytest.param("", SMALL, id="no name"),
]


@pytest.mark.parametrize(("model", "tokens"), MODELS)
def test_a_model_has_the_window_of_its_name(model: str, tokens: int) -> None:
    assert size(model, 0) == tokens
    assert is_large(model) == (tokens == LARGE)


SOURCES = [
    pytest.param({"tokens": SMALL}, SMALL, id="as much as the small one holds"),
    pytest.param({"tokens": SMALL + 1}, LARGE, id="more than the small one holds"),
    pytest.param({"tokens": SMALL + 1, "setting": 300_000}, 300_000, id="the setting above that"),
    pytest.param({"tokens": 1, "setting": 300_000}, 300_000, id="the setting above the name"),
    pytest.param({"tokens": 1, "setting": -1}, SMALL, id="a setting that is none"),
    pytest.param({"tokens": 1, "setting": 9_999}, SMALL, id="one that is too small"),
    pytest.param({"tokens": 1, "setting": 10_000}, 10_000, id="the smallest one"),
    pytest.param(
        {"tokens": 1, "setting": 300_000, "reported": 500_000}, 500_000, id="the report above all"
    ),
    pytest.param({"tokens": 1, "reported": -1}, SMALL, id="a report that is none"),
    pytest.param({"tokens": 0, "reported": 0}, SMALL, id="no report"),
    pytest.param({"tokens": 0, "reported": 500_000}, 500_000, id="a report, and nothing in it"),
    pytest.param({"tokens": 500_000, "reported": 500_000}, 500_000, id="a window that is full"),
    pytest.param(
        {"tokens": 500_001, "reported": 500_000}, LARGE, id="a report of another model's window"
    ),
]


@pytest.mark.parametrize(("facts", "tokens"), SOURCES)
def test_what_is_known_better_counts(facts: dict[str, int], tokens: int) -> None:
    assert size("claude-sonnet-4-5", **facts) == tokens


NEW = [
    pytest.param("claude-opus-5-5", True, id="version 5"),
    pytest.param("claude-opus-5-5[1m]", True, id="with the mark"),
    pytest.param("claude-sonnet-4-5[1m]", False, id="the mark alone"),
    pytest.param("claude-sonnet-4-5", False, id="version 4"),
    pytest.param("", False, id="no name"),
]


@pytest.mark.parametrize(("model", "expected"), NEW)
def test_the_client_minds_the_window_of_new_models(model: str, *, expected: bool) -> None:
    assert is_new(model) is expected


@given(st.text(max_size=40), st.integers(), st.integers(), st.integers())
def test_any_name_has_a_window(model: str, tokens: int, setting: int, reported: int) -> None:
    assert size(model, tokens, setting, reported) > 0
