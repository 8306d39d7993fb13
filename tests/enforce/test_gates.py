from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from enforce.pure import MOMENT, SECOND, an_entry, limits_of
from sisyphus.enforce import gates
from sisyphus.enforce.gates import CLAIM, IDLE

if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.enforce.record import Entry

NAMES = ["main agent", "idle", "cooldown", "failures", "user", "limit"]


def _gates(entry: Entry, seconds: float, layer: int = IDLE, **settings: object) -> Json:
    found = gates.every(entry, MOMENT + round(seconds * SECOND), limits_of(**settings), layer)
    return {gate.name: gate.passed for gate in found}


def _closed(entry: Entry, seconds: float, layer: int = IDLE, **settings: object) -> str:
    found = gates.every(entry, MOMENT + round(seconds * SECOND), limits_of(**settings), layer)
    gate = gates.closed(found)
    return f"{gate.name}: {gate.why}" if gate else ""


def test_the_gates_have_one_order() -> None:
    assert list(_gates(an_entry(), 0)) == NAMES
    assert list(_gates(an_entry(), 0, CLAIM)) == [name for name in NAMES if name != "idle"]


ENFORCED = {"lastEnforcement": MOMENT, "iteration": 1}

GATES = [
    pytest.param({}, 29.9, "idle: idle for 30 s of 30 s", id="not yet idle"),
    pytest.param({}, 30, "", id="idle for long enough"),
    pytest.param(
        {**ENFORCED, "lastActivity": 0}, 29, "cooldown: 1 s of 30 s are left", id="too early"
    ),
    pytest.param({**ENFORCED, "lastActivity": 0}, 30, "", id="the cooldown is over"),
    pytest.param(
        {**ENFORCED, "failureCount": 1}, 59, "cooldown: 1 s of 1 min are left", id="one failure"
    ),
    pytest.param({**ENFORCED, "failureCount": 4}, 480, "", id="four failures, eight minutes later"),
    pytest.param(
        {**ENFORCED, "failureCount": 4}, 479, "cooldown: 1 s of 8 min are left", id="a second less"
    ),
    pytest.param(
        {**ENFORCED, "failureCount": 5}, 290, "cooldown: 11 min 10 s of 16 min are left",
        id="five failures",
    ),
    pytest.param(
        {"failureCount": 5, "lastEnforcement": MOMENT - 700 * SECOND}, 299, "", id="recovered"
    ),
    pytest.param(
        {"stopRequested": True}, 99, "user: stopped by the user until the next prompt", id="stopped"
    ),
    pytest.param({"iteration": 50}, 99, "limit: 50 of 50", id="the last one is used up"),
    pytest.param({"iteration": 49}, 99, "", id="one is left"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "seconds", "why"), GATES)
def test_the_first_closed_gate_decides(keys: Json, seconds: float, why: str) -> None:
    assert _closed(an_entry(**keys), seconds) == why


NONE = [
    pytest.param({"failureCount": 99}, {"max_failures": 0}, id="no limit of failures"),
    pytest.param({"iteration": 99}, {"max_iterations": 0}, id="endless"),
]


@pytest.mark.parametrize(("keys", "settings"), NONE)
def test_without_a_limit_it_goes_on(keys: Json, settings: Json) -> None:
    assert _closed(an_entry(**keys), 60, **settings) == ""


def test_a_tool_call_is_activity() -> None:
    assert _closed(an_entry(), 30) == ""
    found = gates.every(an_entry(), MOMENT + 30 * SECOND, limits_of(), IDLE, MOMENT + SECOND)
    assert [gate.name for gate in found if not gate.passed] == ["idle"]
