from __future__ import annotations

import pytest

from sisyphus.arbiter import steps
from sisyphus.arbiter.situation import ALLOW, BLOCK, END, PAUSE, Situation
from sisyphus.arbiter.steps import decide
from sisyphus.ralph.loop import BY_HOST_CAP, PLAN, Loop


def _loop(iteration: int = 1, limit: int = 100, promise: str | None = "DONE") -> Loop:
    loop = Loop("s1", "aaaaa", "do it")
    loop.completion_promise = promise
    loop.iteration, loop.max_iterations = iteration, limit
    return loop


def _situation(**facts: object) -> Situation:
    """A loop in its first iteration that nothing keeps from going on, `facts` replaced."""
    situation = Situation()
    situation.loop = _loop()
    situation.cap = 8
    situation.reason = "no tag"
    for name, value in facts.items():
        setattr(situation, name, value)
    return situation


def _hold(iteration: int = 1) -> Loop:
    """A loop that holds the session to a plan."""
    loop = _loop(iteration, promise=None)
    loop.options = {PLAN: "/p/PLAN.md", "wait_for_user": True}
    return loop


def _nested(*, by_model: bool) -> dict[str, object]:
    """The facts of a loop in a plan whose minutes and tokens are spent."""
    loop, hold = _loop(), _hold()
    loop.by_model = by_model
    hold.options |= {"max_minutes": 5, "max_tokens": 5}
    hold.tokens, hold.started_at = 5, "2026-01-01T00:00:00.000Z"
    return {"loop": loop, "around": [hold], "now": 1_800_000_000.0}


def _paused(by: str = "") -> Loop:
    loop = _loop()
    loop.pause(by, 0.0)
    return loop


DECISIONS = [
    pytest.param({"loop": None, "claim": "it says so"}, BLOCK, "it says so", id="a claim"),
    pytest.param(
        {"loop": None, "claim": "it says so", "is_enabled": False},
        BLOCK,
        "it says so",
        id="a claim where ralph is switched off",
    ),
    pytest.param(
        {"loop": None, "claim": "x", "plans_only": True},
        ALLOW,
        "plan mode",
        id="a claim in plan mode",
    ),
    pytest.param({"claim": "x"}, BLOCK, "not found", id="a loop comes before a claim"),
    pytest.param({"loop": None}, ALLOW, "no loop is active", id="no loop"),
    pytest.param({"is_subagent": True}, ALLOW, "a subagent stops freely", id="a subagent"),
    pytest.param({"is_enabled": False}, ALLOW, "ralph is switched off", id="switched off"),
    pytest.param({"plans_only": True}, ALLOW, "plan mode waits for the user", id="plan mode"),
    pytest.param({"plans_only": False}, BLOCK, "not found", id="another mode"),
    pytest.param({"loop": _paused()}, ALLOW, "the loop is paused (user)", id="paused"),
    pytest.param({"loop": _paused(BY_HOST_CAP)}, ALLOW, "paused (host cap)", id="by the cap"),
    pytest.param({"loop": None, "kept": [_loop()]}, END, "promise `DONE` kept", id="kept"),
    pytest.param({"kept": [_loop()]}, BLOCK, "not found", id="kept, and the outer one goes on"),
    pytest.param(
        {"loop": _paused(), "kept": [_loop()]}, END, "kept", id="kept, the outer one is paused"
    ),
    pytest.param({"is_in_run": True}, ALLOW, "a fresh-context run decides", id="in a run"),
    pytest.param({"full": "it is full"}, ALLOW, "it is full", id="a full context"),
    pytest.param({"full": "it is full", "loop": None}, ALLOW, "no loop", id="full, and no loop"),
    pytest.param(
        {"full": "it is full", "loop": _paused()}, ALLOW, "is paused", id="full, and it is paused"
    ),
    pytest.param(
        {"full": "it is full", "loop": _loop(100)}, ALLOW, "it is full", id="full at the limit"
    ),
    pytest.param(
        {"full": "it is full", "loop": None, "kept": [_loop()]}, END, "kept", id="full, and kept"
    ),
    pytest.param({"excuses": ["b1", "b2"]}, ALLOW, "is pending: b1, b2", id="background work"),
    pytest.param({"loop": _loop(100)}, END, "the limit of 100 iterations", id="the last iteration"),
    pytest.param({"loop": _loop(99)}, BLOCK, "not found", id="the last but one"),
    pytest.param({"loop": _loop(10_000, 0)}, BLOCK, "not found", id="no limit"),
    pytest.param({"blocks": 7}, PAUSE, "8 Stops in a row", id="the cap is near"),
    pytest.param({"blocks": 6}, BLOCK, "not found", id="the cap is not near"),
    pytest.param({"blocks": 99, "cap": 0}, BLOCK, "not found", id="no cap"),
    pytest.param({"blocks": 2, "cap": 3}, PAUSE, "3 Stops in a row", id="a cap of 3"),
    pytest.param({"blocks": 0, "cap": 1}, BLOCK, "not found", id="a cap of 1 leaves one block"),
    pytest.param({"blocks": 1, "cap": 1}, PAUSE, "2 Stops in a row", id="but not two"),
    pytest.param({}, BLOCK, "promise `DONE` not found (no tag)", id="nothing speaks against it"),
    pytest.param({"loop": _loop(promise=None)}, BLOCK, "has no promise", id="no promise"),
    pytest.param(
        {"loop": _loop(promise=None), "asks": "1/3 done"}, BLOCK, "1/3 done", id="a plan asks"
    ),
    pytest.param({"loop": _hold(), "rests": "it is gone"}, ALLOW, "it is gone", id="a plan rests"),
    pytest.param({"loop": None, "over": "all done"}, END, "all done", id="a plan is done"),
    pytest.param({"over": "all done"}, BLOCK, "not found", id="a plan is done, a loop goes on"),
    pytest.param(_nested(by_model=True), END, "5 minutes is reached", id="a plan's time"),
    pytest.param(_nested(by_model=False), BLOCK, "not found", id="and a loop of the user's"),
    pytest.param(
        {**_nested(by_model=True), "now": 0.0}, END, "5 tokens is reached", id="a plan's tokens"
    ),
    pytest.param(
        {"loop": _hold(), "asks": "x", "is_asking": True}, ALLOW, "asked the user", id="it asks"
    ),
]


@pytest.mark.parametrize(("facts", "action", "why"), DECISIONS)
def test_what_is_decided(facts: dict[str, object], action: str, why: str) -> None:
    verdict = decide(_situation(**facts))

    assert verdict.action == action
    assert why in verdict.why


FIRST = [
    pytest.param({"is_subagent": True}, {"kept": [_loop()]}, ALLOW, id="a subagent, the promise"),
    pytest.param({"plans_only": True}, {"loop": _loop(100)}, ALLOW, id="plan mode, the limit"),
    pytest.param({"loop": _paused()}, {"excuses": ["b"]}, ALLOW, id="paused, background work"),
    pytest.param(
        {"loop": None, "kept": [_loop()]},
        {"excuses": ["b"]},
        END,
        id="the promise, background work",
    ),
    pytest.param({"loop": None, "kept": [_loop()]}, {"blocks": 7}, END, id="the promise, the cap"),
    pytest.param(
        {"is_in_run": True}, {"loop": None, "kept": [_loop()]}, ALLOW, id="a run, the promise"
    ),
    pytest.param({"full": "full"}, {"loop": _loop(100)}, ALLOW, id="a full context, the limit"),
    pytest.param({"full": "full"}, {"stuck": "stuck"}, ALLOW, id="a full context, the breaker"),
    pytest.param({"full": "full"}, {"blocks": 7}, ALLOW, id="a full context, the cap"),
    pytest.param({"excuses": ["b"]}, {"loop": _loop(100)}, ALLOW, id="background work, the limit"),
    pytest.param({"excuses": ["b"]}, {"blocks": 7}, ALLOW, id="background work, the cap"),
    pytest.param({"loop": _loop(100)}, {"blocks": 7}, END, id="the limit, the cap"),
    pytest.param({"rests": "gone"}, {"loop": _hold(100)}, ALLOW, id="a plan rests, its limit"),
    pytest.param({"rests": "gone"}, {"blocks": 7}, ALLOW, id="a plan rests, the cap"),
    pytest.param({"excuses": ["b"]}, {"rests": "gone"}, ALLOW, id="background work, a plan rests"),
    pytest.param(
        {"loop": None, "kept": [_loop()]}, {"over": "done"}, END, id="the promise, a plan is done"
    ),
]


@pytest.mark.parametrize(("first", "second", "action"), FIRST)
def test_the_first_opinion_wins(
    first: dict[str, object], second: dict[str, object], action: str
) -> None:
    alone = decide(_situation(**first))
    both = decide(_situation(**second, **first))

    assert both.action == action
    assert both.why == alone.why


def test_every_step_may_have_no_opinion() -> None:
    situation = _situation(loop=None)

    assert [step(situation) for step in steps.STEPS] == [None] * len(steps.STEPS)
