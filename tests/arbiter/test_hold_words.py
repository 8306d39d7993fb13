from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.arbiter import hold_words as words
from sisyphus.boulder.enforcement import Standing
from sisyphus.ralph.loop import Loop
from sisyphus.ralph.texts import REASON_UNITS
from sisyphus.text import units

if TYPE_CHECKING:
    from sisyphus.boulder.look import State


def _plan(state: State = "open", **facts: object) -> Standing:
    """A plan with an open task, `facts` replaced."""
    plan = object.__new__(Standing)
    usual = {"name": "Ship it", "place": "PLAN.md", "task": "Validate the form", "line": 34}
    counts = {"done": 5, "total": 20, "blocked": 0}
    for name, value in {"state": state, **usual, **counts, **facts}.items():
        setattr(plan, name, value)
    return plan


def _loop(iteration: int = 4, tokens: int = 0) -> Loop:
    loop = Loop("s1", "abcde", "boulder: Ship it")
    loop.iteration, loop.max_iterations, loop.tokens = iteration, 100, tokens
    loop.options = {"max_tokens": tokens, "max_minutes": 1_000}
    return loop


def test_the_reason_of_a_block() -> None:
    assert words.go_on(_loop(), _plan()) == (
        "Boulder: 5/20 tasks of Ship it are done. Next task: Validate the form (PLAN.md, line 34). "
        "Do it, check its box, and go on with the next one. A task that cannot be done is marked "
        "`[!]`; where you need the user, ask.\n\nIteration 4 of 100; 1,000 minutes."
    )


def test_what_a_plan_asks_for_and_how_it_is_named() -> None:
    assert (
        words.asks(_plan()) == "5/20 tasks of Ship it are done; next: Validate the form (line 34)"
    )
    assert words.prompt(_plan()) == "boulder: Ship it (PLAN.md)"


RESTS = [
    pytest.param(_plan(), "", id="an open task"),
    pytest.param(
        _plan(task="", blocked=15),
        "5/20 tasks of Ship it are done, and only blocked ones are left",
        id="only blocked ones",
    ),
    pytest.param(_plan("missing"), "the plan PLAN.md is gone", id="missing"),
    pytest.param(_plan("unreadable"), "the plan PLAN.md cannot be read", id="unreadable"),
    pytest.param(_plan("no_tasks"), "the plan PLAN.md has no tasks", id="no tasks"),
    pytest.param(_plan("complete"), "all tasks of Ship it are done", id="complete"),
]


@pytest.mark.parametrize(("plan", "why"), RESTS)
def test_why_a_plan_asks_for_nothing(plan: Standing, why: str) -> None:
    assert words.rests(plan) == why


TEXTS = st.text(min_size=1, max_size=400)
NUMBERS = st.integers(0, 999_999_999)


@given(
    st.builds(
        _plan,
        st.sampled_from(["open", "complete", "no_tasks", "missing", "unreadable"]),
        name=TEXTS, place=TEXTS, task=TEXTS, line=NUMBERS, done=NUMBERS, total=NUMBERS,
    ),
    st.builds(_loop, NUMBERS, NUMBERS),
)  # fmt: skip
def test_whatever_a_plan_says_it_is_told_in_short(plan: Standing, loop: Loop) -> None:
    reason = words.go_on(loop, plan)

    assert units(reason) <= REASON_UNITS
    assert all(part.isprintable() for part in reason.split("\n", 2))
    for text in (words.rests(plan), words.asks(plan), words.prompt(plan)):
        assert text.isprintable()
        assert units(text) <= REASON_UNITS
