from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ralph.lines import prompt, said

from checkpoint.telling import a_plan, a_situation, broke, ran, todos
from sisyphus.checkpoint.paper.next_step import next_step

LOOP = {"loop_id": "ab1cd", "description": "Convert the tests", "prompt": "Convert the tests\nall"}
PLAN = a_plan()
DOING = todos(("a", "completed"), ("b", "in_progress"), ("c", "pending"))
WAITING = todos(("a", "completed"), ("c", "pending"))

NEXT: list[Any] = [
    pytest.param([DOING, broke("pytest", "x\nE   ValueError: a\n1 failed")], {},
        "Mend what fails: `pytest` (E ValueError: a)", id="a check that fails"),
    pytest.param([broke("./run", "")], {}, "Mend what fails: `./run` (Exit code 1)",
        id="a command"),
    pytest.param([DOING, broke("./run"), ran("./other")], {}, "Go on with: b", id="left behind"),
    pytest.param([DOING], {"item": "i"}, "Go on with: b", id="the todo in progress"),
    pytest.param([WAITING], {"item": "i"}, "Go on with: i", id="the item"),
    pytest.param([WAITING], {"plan": PLAN}, "Begin: c", id="the next todo"),
    pytest.param([], {"plan": PLAN}, "Go on with the plan: Refresh a token", id="the plan"),
    pytest.param([[said("Did a. Next, I do b. Good.")]], {"loop": LOOP}, "Next, I do b.",
        id="said"),
    pytest.param([[said("- I'll do b")]], {}, "I'll do b", id="in a list"),
    pytest.param([[prompt("p"), said("Done.")]], {"loop": LOOP}, "Go on with: Convert the tests",
        id="the loop"),
    pytest.param([[prompt("p"), said("Done.")]], {}, "Go on with: p", id="the prompt"),
    pytest.param([], {}, "", id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "fields", "words"), NEXT)
def test_the_next_step(lines: list[list[Any]], fields: dict[str, Any], words: str) -> None:
    assert next_step(a_situation(*lines, **fields)) == words


@given(st.text(), st.text())
def test_it_is_one_line(words: str, command: str) -> None:
    lines = [prompt(words), said(words)], broke(command, words)
    for s in (a_situation(*lines), a_situation(lines[0], item=words), a_situation(lines[0])):
        assert "\n" not in next_step(s)
        assert len(next_step(s)) <= 400
