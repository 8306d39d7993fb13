from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from sisyphus.runner.decide import (
    BREAKER,
    CHECKPOINT,
    COMPLETE,
    FATAL,
    GO_ON,
    LIMIT,
    MOST_TRIES,
    NOT_DONE,
    WAIT,
    Facts,
    decide,
    limit,
)

IN_ORDER = [
    ("completed", COMPLETE), ("checkpoint", CHECKPOINT), ("fatal", FATAL), ("passing", WAIT),
    ("limit", LIMIT), ("breaker", BREAKER), ("trouble", GO_ON),
]  # fmt: skip
PAIRS = [
    pytest.param(first, second, kind, id=f"{first} before {second}")
    for (first, kind), (second, _) in combinations(IN_ORDER, 2)
]


def facts(**known: Any) -> Facts:
    return Facts(**known)


@pytest.mark.parametrize(("name", "kind"), IN_ORDER)
def test_each_reason_decides_alone(name: str, kind: str) -> None:
    decision = decide(facts(**{name: "why"}))

    assert (decision.kind, decision.why) == (kind, "why")


@pytest.mark.parametrize(("first", "second", "kind"), PAIRS)
def test_of_two_reasons_the_earlier_one_decides(first: str, second: str, kind: str) -> None:
    decision = decide(facts(**{first: "this", second: "that"}))

    assert (decision.kind, decision.why) == (kind, "this")


def test_without_a_reason_the_loop_goes_on() -> None:
    decision = decide(Facts())

    assert (decision.kind, decision.why, decision.goes_on) == (GO_ON, NOT_DONE, True)


@pytest.mark.parametrize(("name", "kind"), IN_ORDER)
def test_what_goes_on_says_so(name: str, kind: str) -> None:
    assert decide(facts(**{name: "x"})).goes_on is (kind in {CHECKPOINT, WAIT, GO_ON})


TRIES = [
    pytest.param(MOST_TRIES - 1, WAIT, id="the last but one"),
    pytest.param(MOST_TRIES, FATAL, id="one too many"),
]


@pytest.mark.parametrize(("tries", "kind"), TRIES)
def test_waiting_is_given_up_at_last(tries: int, kind: str) -> None:
    decision = decide(Facts(passing="the server cannot be reached", tries=tries))

    assert decision.kind == kind
    assert decision.why.startswith("the server cannot be reached")


NONE: dict[str, Any] = {
    "done": 0, "max_iterations": 0, "seconds": 0.0, "max_minutes": 0, "tokens": 0, "max_tokens": 0,
}  # fmt: skip
LIMITS = [
    pytest.param({}, "", id="no limits"),
    pytest.param({"done": 4, "max_iterations": 5}, "", id="an iteration is left"),
    pytest.param(
        {"done": 5, "max_iterations": 5}, "the limit of 5 iterations is reached", id="iterations"
    ),
    pytest.param(
        {"done": 1, "max_iterations": 1}, "the limit of 1 iteration is reached", id="a single one"
    ),
    pytest.param({"done": 9, "seconds": 1e9, "tokens": 10**9}, "", id="0 is no limit"),
    pytest.param({"seconds": 119.0, "max_minutes": 2}, "", id="a second is left"),
    pytest.param(
        {"seconds": 120.0, "max_minutes": 2}, "the limit of 2 minutes is reached", id="minutes"
    ),
    pytest.param(
        {"tokens": 1_500, "max_tokens": 1_000},
        "the limit of 1,000 tokens is reached (1,500 spent)",
        id="tokens",
    ),
]


@pytest.mark.parametrize(("given", "why"), LIMITS)
def test_limits(given: dict[str, Any], why: str) -> None:
    assert limit(**{**NONE, **given}) == why
