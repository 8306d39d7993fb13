from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.hook.status_words import context, joined, loop, plan
from sisyphus.ralph.loop import PAUSED, Loop

if TYPE_CHECKING:
    from sisyphus._types import Checkpoint, Json


def a_record(name: str = "Shop", done: int = 5, total: int = 20) -> Json:
    return {"plan_name": name, "progress": {"completed": done, "total": total}}


def a_loop(**fields: Any) -> Loop:
    found = Loop("s1", "ab3de", "go")
    for name, value in {"iteration": 3, "max_iterations": 100, **fields}.items():
        setattr(found, name, value)
    return found


PLANS = [
    pytest.param(a_record(), (None, None), "Shop 5/20", id="a plan"),
    pytest.param(a_record(), (2, "S07"), "Shop 5/20 wave 2 S07", id="wave and story"),
    pytest.param(a_record(), ("2", 7), "Shop 5/20", id="of a wrong form"),
    pytest.param(a_record("", 0, 0), (None, None), "plan", id="nothing known"),
    pytest.param(a_record("a\x1b[2Jb"), (None, ""), "a [2Jb 5/20", id="control characters"),
]


@pytest.mark.parametrize(("record", "where", "expected"), PLANS)
def test_a_plan(record: Json, where: tuple[object, object], expected: str) -> None:
    assert joined(plan(record, *where), [], 120, coloured=False) == expected


LOOPS = [
    pytest.param({}, ("loop 3/100", ""), id="a loop"),
    pytest.param({"max_iterations": 0}, ("loop 3", ""), id="without a limit"),
    pytest.param({"status": PAUSED}, ("loop 3/100 paused", "33"), id="paused"),
    pytest.param({"options": {"plan": "/p/PLAN.md"}}, ("enforced 3/100", ""), id="a plan's"),
]


@pytest.mark.parametrize(("fields", "expected"), LOOPS)
def test_a_loop(fields: dict[str, Any], expected: tuple[str, str]) -> None:
    assert loop(a_loop(**fields)) == expected


CONTEXTS = [
    pytest.param(42.9, 0, None, ("ctx 42%", ""), id="normal"),
    pytest.param(72, 1, None, ("ctx 72% L1", "33"), id="L1"),
    pytest.param(87, 2, None, ("ctx 87% L2", "31"), id="L2"),
    pytest.param(96, 3, None, ("ctx 96% L3", "31"), id="L3"),
    pytest.param(87, 2, {"level": "L2"}, ("ctx 87% L2 handed over", "31"), id="handed over"),
    pytest.param(88, 3, {"level": "L2"}, ("ctx 88% L2 handed over", "31"), id="at L2, now at L3"),
    pytest.param(30, 0, {"level": ""}, ("ctx 30% handed over", ""), id="asked for"),
]


@pytest.mark.parametrize(("percent", "level", "handoff", "expected"), CONTEXTS)
def test_the_context(
    percent: float, level: int, handoff: Checkpoint | None, expected: tuple[str, str]
) -> None:
    assert context(percent, level, handoff) == expected


NAME = plan(a_record("A plan with a long name that goes on and on"), 2, "S07")
OTHERS = [("loop 3/100", ""), ("ctx 72% L1", "33")]

WIDTHS = [
    pytest.param(
        120,
        "A plan with a long name that goes on and on 5/20 wave 2 S07 | loop 3/100 | ctx 72% L1",
        id="room for all",
    ),
    pytest.param(60, "A plan with a l... 5/20 wave 2 S07 | loop 3/100 | ctx 72% L1", id="name cut"),
    pytest.param(40, "loop 3/100 | ctx 72% L1", id="no plan"),
    pytest.param(20, "ctx 72% L1", id="the context alone"),
    pytest.param(7, "ctx 72%", id="its beginning"),
]


@pytest.mark.parametrize(("width", "expected"), WIDTHS)
def test_the_line_keeps_to_its_width(width: int, expected: str) -> None:
    assert joined(NAME, OTHERS, width, coloured=False) == expected


def test_colours_take_no_room() -> None:
    shown = joined([], OTHERS, 23, coloured=True)
    assert shown == "loop 3/100 | \x1b[33mctx 72% L1\x1b[0m"


def test_nothing_is_an_empty_line() -> None:
    assert joined([], [], 120, coloured=True) == ""


@given(st.text(), st.integers(1, 200))
def test_no_name_breaks_the_line(name: str, width: int) -> None:
    shown = joined(plan(a_record(name)), OTHERS, width, coloured=False)
    assert len(shown) <= width
    assert shown.isprintable()
