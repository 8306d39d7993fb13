from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import put

from sisyphus.runner.keep.state import Run
from sisyphus.runner.task import fix_plan

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
---
name: x
---
# Plan

- [x] done
- [ ] open
  - [ ] a step of it
- [/] begun
- [!] blocked
- [-] cancelled
1. [ ] numbered

```
- [ ] shown
```
"""


def test_boxes_are_items() -> None:
    plan = fix_plan.parse(TEXT, "fix_plan.md")

    assert plan.todo == ["begun", "open", "numbered"]
    assert (plan.done, plan.blocked, plan.total) == (["done"], ["blocked"], 5)


DONE = [
    pytest.param("- [x] a\n", True, id="all"),
    pytest.param("- [x] a\n- [ ] b\n", False, id="one is open"),
    pytest.param("- [x] a\n- [!] b\n", False, id="one is blocked"),
    pytest.param("- [-] a\n", False, id="all cancelled"),
    pytest.param("text\n", False, id="no box"),
]


@pytest.mark.parametrize(("text", "is_done"), DONE)
def test_a_plan_is_done_when_every_item_is(text: str, *, is_done: bool) -> None:
    assert fix_plan.parse(text).is_done is is_done


STEPS = [
    pytest.param("- [x] a\n  - [ ] s\n", (["a"], [], []), id="an open step"),
    pytest.param("- [x] a\n  - [/] s\n", (["a"], [], []), id="a step that is begun"),
    pytest.param("- [x] a\n  - [!] s\n", ([], [], ["a"]), id="a blocked step"),
    pytest.param("- [x] a\n  - [!] s\n  - [ ] t\n", (["a"], [], []), id="one of each"),
    pytest.param("- [x] a\n  - [x] s\n", ([], ["a"], []), id="all done"),
    pytest.param("- [x] a\n  - [x] s\n    - [ ] t\n", (["a"], [], []), id="a step of a step"),
    pytest.param("- [-] a\n  - [ ] s\n", ([], [], []), id="of what was cancelled"),
    pytest.param("- [!] a\n  - [ ] s\n", ([], [], ["a"]), id="of what is blocked"),
    pytest.param("- [x] a\n- [x] b\n  - [ ] s\n", (["b"], ["a"], []), id="of the second"),
    pytest.param("- a\n  - [ ] s\n", (["s"], [], []), id="below a line without a box"),
]


@pytest.mark.parametrize(("text", "wanted"), STEPS)
def test_an_item_is_done_with_its_last_step(
    text: str, wanted: tuple[list[str], list[str], list[str]]
) -> None:
    plan = fix_plan.parse(text)
    assert (plan.todo, plan.done, plan.blocked) == wanted


def test_steps_stand_with_their_item() -> None:
    plan = fix_plan.parse("- [ ] a\n  - [x] s\n  - [ ] t\n  - [!] u\n- [ ] b\n- [ ] a\n  - [ ] v\n")
    assert plan.steps == {"a": ["t", "v"]}
    assert plan.blocked_steps == {"a": ["u"]}
    assert (plan.is_in_steps("a"), plan.is_in_steps("b")) == (True, False)


BLOCKED = [
    pytest.param("- [!] a\n- [x] b\n", "every open item of p is blocked", id="what is left"),
    pytest.param("- [!] a\n- [ ] b\n", "", id="one is open"),
    pytest.param("- [x] a\n", "", id="all done"),
]


@pytest.mark.parametrize(("text", "why"), BLOCKED)
def test_nobody_can_work_on_what_is_blocked(text: str, why: str) -> None:
    assert fix_plan.parse(text, "p").why_blocked == why


def test_the_run_knows_what_is_blocked() -> None:
    run = Run()
    fix_plan.parse("- [!] a\n- [x] b\n", "p").note_in(run)
    assert fix_plan.blocked_in(Run(run.as_json())) == 1
    assert fix_plan.blocked_in(Run({"blocked_items": 7})) == 0


def test_line_ends_of_other_systems_are_fine() -> None:
    assert fix_plan.parse("\ufeff- [ ] a\r\n- [x] b\r\n").todo == ["a"]


def test_a_strangers_item_is_one_short_line() -> None:
    [item] = fix_plan.parse(f"- [ ] \x1b[31m{'x' * 999}\n").todo
    [nameless] = fix_plan.parse("\n- [ ] \x07\n").todo

    assert len(item) == fix_plan.ITEM_CHARACTERS
    assert item.isprintable()
    assert nameless == "the item in line 2"


def test_no_more_items_than_can_be_kept() -> None:
    assert fix_plan.parse("- [ ] a\n" * 5_000).total == fix_plan.MOST_ITEMS


def test_an_open_item_behind_many_others_is_not_overlooked() -> None:
    plan = fix_plan.parse("- [x] a\n" * 5_000 + "- [ ] b\n")
    assert (plan.todo, plan.is_done) == (["b"], False)


def test_the_file_of_the_agents_folder_comes_first(project: Path) -> None:
    put(project / "fix_plan.md", "- [ ] b\n")
    assert (fix_plan.read(str(project)).path, fix_plan.read(str(project)).todo) == (
        "fix_plan.md",
        ["b"],
    )

    put(project / ".claude" / "fix_plan.md", "- [ ] a\n")
    assert fix_plan.read(str(project)).todo == ["a"]
    assert fix_plan.read(str(project)).path == ".claude/fix_plan.md"


def test_there_may_be_none(project: Path) -> None:
    plan = fix_plan.read(str(project))

    assert (plan.path, plan.problem, plan.total, plan.is_done) == ("", "", 0, False)


def test_a_file_that_cannot_be_read_is_a_problem(project: Path, tmp_path: Path) -> None:
    put(tmp_path / "elsewhere.md", "- [ ] a\n")
    (project / "fix_plan.md").symlink_to(tmp_path / "elsewhere.md")
    plan = fix_plan.read(str(project))

    assert plan.todo == []
    assert "leaves" in plan.problem
