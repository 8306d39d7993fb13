from __future__ import annotations

from typing import Any

import pytest

from sisyphus.checkpoint.outlook.advice import recommendation
from sisyphus.checkpoint.outlook.complexity import estimate
from sisyphus.checkpoint.outlook.table import ContextFacts, as_json, view
from sisyphus.style import Style

POINTS = [(n, 94_000 + 2_000 * n) for n in range(21)]


def some_facts(**fields: Any) -> ContextFacts:
    """A window of 200,000 tokens that is 67 % full, and a medium item."""
    facts = ContextFacts("s1")
    facts.percent = 67.0
    facts.tokens, facts.window, facts.l2_tokens = 134_000, 200_000, 170_000
    facts.item = "Implement OAuth callback"
    facts.estimate = estimate(facts.item)
    for name, value in fields.items():
        setattr(facts, name, value)
    return facts


def test_the_table() -> None:
    assert view(some_facts()) == (
        "Current Context      67%   █████████████░░░░░░░\n"
        "Level                L0 (Normal)\n"
        "Estimated Remaining  ~66k tokens\n"
        'Current Item         "Implement OAuth callback"\n'
        "Item Complexity      Medium (est. 25% context)\n"
        "\n"
        "Recommendation: Safe to continue; the item may have to be handed over before it\n"
        "is done. Checkpoint will trigger automatically at 85%."
    )


def test_the_table_with_a_forecast() -> None:
    history = [{"iteration": n, "peak_percent": 60 + n, "checkpoint": n == 2} for n in range(4)]
    shown = view(some_facts(points=POINTS, history=history), forecast=True)
    assert (
        "Item Complexity      Medium (est. 25% context)\n"
        "Until L2             about 18 tool calls (18 to 18)\n"
        "Growth               ~2.0k tokens a call\n"
        'Item                 fits: est. 25% of 33% left ("implement")\n'
        "Usual Peak           62%, 25% of 4 iterations ended by a checkpoint\n"
    ) in shown


def test_a_forecast_says_what_it_does_not_know() -> None:
    shown = view(some_facts(item="", estimate=None), forecast=True, width=100)
    assert "Current Item         not known\n" in shown
    assert "Until L2             not known: 0 answers so far; 3 are needed\n" in shown
    assert "Usual Peak           not known: 0 iterations so far\n" in shown
    assert "\nItem " not in shown


def test_a_forecast_of_what_came() -> None:
    facts = some_facts(points=[(n, 200_000 + n) for n in range(5)], percent=90, level="L2")
    shown = view(facts, forecast=True)
    assert "Until L2             it is reached\n" in shown
    assert "Item                 does not fit: est. 25% of 10% left" in shown


def test_nothing_known_is_said_with_its_reason() -> None:
    facts = ContextFacts("s1")
    assert view(facts, width=200) == (
        "Nothing is known of the context: the model has not answered yet."
    )
    facts.why_nothing = "the client has written no transcript"
    assert view(facts, width=40) == (
        "Nothing is known of the context: the\nclient has written no transcript."
    )


def test_a_narrow_terminal_wraps() -> None:
    shown = view(some_facts(item="word " * 30), width=40, forecast=True)
    assert max(map(len, shown.splitlines())) <= 40
    assert shown.count("\n                     word") == 2


def test_texts_of_strangers_stay_on_their_line() -> None:
    shown = view(some_facts(item="a\x1b[2J\nb"))
    assert 'Current Item         "a [2J b"\n' in shown


def test_a_terminal_gets_colours() -> None:
    marks = Style(dim=lambda t: f"<{t}>", green=lambda t: f"+{t}+", yellow=lambda t: f"-{t}-")
    assert "+█" in view(some_facts(), style=marks)
    assert "-█" in view(some_facts(level="L1", percent=72), style=marks)
    assert "<Level                >L0" in view(some_facts(), style=marks)


def test_json() -> None:
    assert as_json(some_facts()) == {
        "percent": 67,
        "level": "L0",
        "tokens": 134_000,
        "window": 200_000,
        "tokens_left": 66_000,
        "item": "Implement OAuth callback",
        "complexity": "Medium",
        "recommendation": recommendation(some_facts()),
    }


def test_json_with_a_forecast() -> None:
    history = [{"iteration": n, "peak_percent": 60 + n, "checkpoint": n == 2} for n in range(4)]
    found = as_json(some_facts(points=POINTS, history=history, percent=67.9), forecast=True)
    assert found["percent"] == 67
    assert found["forecast"] == {
        "calls_left": 18,
        "calls_low": 18,
        "calls_high": 18,
        "tokens_per_call": 2_000,
        "why": None,
        "usual_peak_percent": 62,
        "checkpoint_share": 0.25,
        "iterations": 4,
        "item_percent": 25,
        "item_fits": True,
    }


def test_json_of_nothing_is_null() -> None:
    found = as_json(ContextFacts(""), forecast=True)
    assert found.pop("recommendation").startswith("Nothing is known of the context: ")
    forecast = found.pop("forecast")
    assert forecast.pop("why") == "how much the context holds is not known"
    assert forecast.pop("iterations") == 0
    assert set(found.values()) == {None}
    assert set(forecast.values()) == {None}


SIZES = [
    pytest.param(900, "~900 tokens", id="few"),
    pytest.param(9_400, "~9.4k tokens", id="thousands"),
    pytest.param(66_400, "~66k tokens", id="many"),
]


@pytest.mark.parametrize(("left", "told"), SIZES)
def test_numbers_are_short(left: int, told: str) -> None:
    assert told in view(some_facts(tokens=200_000 - left))


def test_more_than_the_window_leaves_nothing() -> None:
    assert as_json(some_facts(tokens=210_000, percent=105))["tokens_left"] == 0
