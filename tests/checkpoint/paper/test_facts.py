from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ralph.lines import prompt, said

from checkpoint.telling import ROOT, a_plan, a_situation, edited, hunk, ran, todos
from sisyphus.checkpoint.paper import facts

LOOP = {"loop_id": "ab1cd", "description": "Convert the tests", "prompt": "Convert the tests\nall"}
LONG = {**LOOP, "description": "Convert the...", "prompt": "Convert the tests to the new runner"}
PLAN = a_plan()
DOING = todos(("a", "completed"), ("b", "in_progress"), ("c", "pending"))
WAITING = todos(("a", "completed"), ("c", "pending"))

TASKS: list[Any] = [
    pytest.param([[prompt("p")]], {"loop": LOOP, "plan": PLAN}, "Convert the tests", id="the loop"),
    pytest.param([], {"loop": LONG}, "Convert the tests to the new runner", id="its whole prompt"),
    pytest.param(
        [], {"loop": {**LOOP, "prompt": "", "description": "a..."}}, "a...", id="if known"
    ),
    pytest.param([[prompt("p\nq")]], {"plan": PLAN}, "p q", id="the user"),
    pytest.param([], {"plan": PLAN}, "Tokens", id="the plan"),
    pytest.param([], {}, "", id="nothing"),
    pytest.param([], {"loop": {"prompt": 7}}, "", id="nothing in the loop"),
]


@pytest.mark.parametrize(("lines", "fields", "words"), TASKS)
def test_the_task(lines: list[list[Any]], fields: dict[str, Any], words: str) -> None:
    assert facts.task(a_situation(*lines, **fields)) == words


ITEMS: list[Any] = [
    pytest.param([DOING], {"item": "i", "plan": PLAN}, "i", id="of a run"),
    pytest.param([DOING], {"plan": PLAN}, "b", id="the todo in progress"),
    pytest.param([WAITING], {"plan": PLAN, "loop": LOOP}, "Refresh a token", id="of the plan"),
    pytest.param([[prompt("p")]], {"loop": LOOP}, "Convert the tests", id="the loop"),
    pytest.param([[prompt("p"), prompt("q")]], {}, "q", id="the last prompt"),
    pytest.param([], {}, "", id="none"),
]


@pytest.mark.parametrize(("lines", "fields", "words"), ITEMS)
def test_the_current_item(lines: list[list[Any]], fields: dict[str, Any], words: str) -> None:
    assert facts.current_item(a_situation(*lines, **fields)) == words


def test_where_no_later_prompt_was_read_it_is_the_task() -> None:
    s = a_situation()
    s.work.task = "p"
    assert facts.current_item(s) == "p"


STEPS = a_plan()
STEPS["progress"] = {**STEPS["progress"], "steps_total": 4, "steps_completed": 3}
SHARES: list[Any] = [
    pytest.param([DOING], {"plan": STEPS}, "33% (1 of 3 todos)", id="todos"),
    pytest.param([todos(("a", "completed"))], {}, "100% (1 of 1 todos)", id="all of them"),
    pytest.param([], {"plan": STEPS}, "75% (3 of 4 steps of the plan)", id="steps"),
    pytest.param([], {"plan": STEPS, "item": "i", "items_left": 2, "items_total": 5},
        "2 of 5 items are left", id="items"),
    pytest.param([], {"plan": PLAN},
        "3 of 5 tasks of the plan are left", id="tasks"),
    pytest.param([], {}, "not counted: there are no todos, and no steps of a plan", id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "fields", "words"), SHARES)
def test_the_progress_on_it(lines: list[list[Any]], fields: dict[str, Any], words: str) -> None:
    assert facts.progress_on_item(a_situation(*lines, **fields)) == words


SUMMARIES: list[Any] = [
    pytest.param([DOING, edited(f"{ROOT}/src/a.ts", hunk(1, "+x"))], {},
        "Working on: b. Done before: a. Last action: Edit src/a.ts.", id="all of it"),
    pytest.param([[prompt("Fix it!")]], {}, "Working on: Fix it!", id="the item alone"),
    pytest.param([], {"plan": PLAN},
        "Working on: Refresh a token. Done before: 2 of 5 tasks of the plan.", id="the plan"),
    pytest.param([ran("pytest", "1 passed")], {},
        "Done before: pytest passed. Last action: Bash pytest.", id="a check"),
    pytest.param([], {}, "", id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "fields", "words"), SUMMARIES)
def test_the_summary(lines: list[list[Any]], fields: dict[str, Any], words: str) -> None:
    assert facts.summary(a_situation(*lines, **fields)) == words


def test_the_last_done_are_named() -> None:
    many = todos(*((f"t{number}", "completed") for number in range(9)))
    assert facts.done_before(a_situation(many)) == "t6; t7; t8"


def test_cancelled_todos_are_in_no_share() -> None:
    listed = [{"content": "a", "status": "cancelled"}, {"content": "b", "status": "completed"}]
    plan = a_plan(todos=listed)
    assert facts.progress_on_item(a_situation(plan=plan)) == "100% (1 of 1 todos)"


@given(st.text(), st.text())
def test_every_fact_is_one_line(words: str, item: str) -> None:
    lines = [prompt(words), said(words)], todos((words, "in_progress"))
    s = a_situation(*lines, item=item, loop={"description": words, "prompt": item})
    for fact in (facts.task, facts.summary, facts.current_item):
        assert "\n" not in fact(s)
        assert len(fact(s)) <= 600
