from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder import report
from sisyphus.boulder.look import Look
from sisyphus.boulder.parser.plan import parse
from sisyphus.dashboard.views import plan_tree

if TYPE_CHECKING:
    from sisyphus._types import Json

WAVES = """\
# Ship it

- [x] before

## Wave 1 — Ground

- [x] a
- [ ] b
  - [x] b1
  - [ ] b2

## Wave 2

- [!] loose

### S01: Read

- [/] c

### S02: Write

- [-] d

## Notes

- [ ] behind
"""


def _tree(text: str) -> list[Json]:
    look = Look("", "/")
    look.plan = parse(text)
    return plan_tree.tree(look.plan, report.of_look(look))


def _names(text: str) -> list[Json]:
    """Wave -> story -> tasks, as short as can be."""
    return [
        {
            "wave": section["wave"] and section["wave"]["number"],
            "parts": [
                ((part["story"] or {}).get("id"), [task["text"] for task in part["tasks"]])
                for part in section["parts"]
            ],
        }
        for section in _tree(text)
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("# a\ntext\n", [], id="no task"),
        pytest.param(
            "- [ ] a\n- [x] b\n", [{"wave": None, "parts": [(None, ["a", "b"])]}], id="tasks alone"
        ),
        pytest.param("## Wave 1\n", [{"wave": 1, "parts": []}], id="a wave without tasks"),
        pytest.param(
            "## S01: a\n- [ ] a\n### S02: b\n- [ ] b\n",
            [{"wave": None, "parts": [(None, ["a"]), ("S02", ["b"])]}],
            id="stories outside of waves",
        ),
        pytest.param(
            "## Wave 1\n### S01: x\n- [ ] a\n### Text\n- [ ] b\n",
            [{"wave": 1, "parts": [("S01", ["a"]), (None, ["b"])]}],
            id="a heading ends a story",
        ),
        pytest.param(
            "## Wave 1\n- [ ] a\n## Wave 1\n- [ ] b\n",
            [{"wave": 1, "parts": [(None, ["a"])]}, {"wave": 1, "parts": [(None, ["b"])]}],
            id="a number twice",
        ),
        pytest.param("- [ ]\n", [{"wave": None, "parts": [(None, ["a task without words"])]}],
                     id="a task without words"),
        pytest.param(
            WAVES,
            [
                {"wave": None, "parts": [(None, ["before"])]},
                {"wave": 1, "parts": [(None, ["a", "b"])]},
                {"wave": 2, "parts": [(None, ["loose"]), ("S01", ["c"]), ("S02", ["d"])]},
                {"wave": None, "parts": [(None, ["behind"])]},
            ],
            id="all of it",
        ),
    ],
)  # fmt: skip
def test_tasks_are_where_the_plan_has_them(text: str, found: list[Json]) -> None:
    assert _names(text) == found


def test_the_next_task_marks_its_wave_and_story() -> None:
    sections = _tree(WAVES)
    assert [section["is_current"] for section in sections] == [False, False, True, False]
    assert [part["is_current"] for part in sections[2]["parts"]] == [False, True, False]
    [task] = sections[2]["parts"][1]["tasks"]
    assert task == {
        "text": "c", "status": "in_progress", "line": 18, "is_next": True, "steps": [],
    }  # fmt: skip


def test_steps_are_below_their_task() -> None:
    task = _tree(WAVES)[1]["parts"][0]["tasks"][1]
    assert [(step["text"], step["status"]) for step in task["steps"]] == [
        ("b1", "completed"), ("b2", "open"),
    ]  # fmt: skip


def test_cancelled_tasks_leave_the_total() -> None:
    counts = [(section["completed"], section["total"]) for section in _tree(WAVES)]
    assert counts == [(1, 1), (1, 2), (0, 2), (0, 1)]


def _many(open_at: int, count: int) -> str:
    marks = ("x" if number < open_at else " " for number in range(count))
    return "".join(f"- [{mark}] task {number}\n" for number, mark in enumerate(marks))


@pytest.mark.parametrize(
    ("open_at", "shown"),
    [
        pytest.param(10, plan_tree.MOST_BOXES, id="the next task is at the start"),
        pytest.param(
            5_000, plan_tree.MOST_BOXES + plan_tree.LINES_AFTER_NEXT, id="it is far behind"
        ),
        pytest.param(6_000, plan_tree.MOST_BOXES, id="there is none"),
    ],
)
def test_of_a_long_plan_its_beginning_and_the_next_task_are_shown(open_at: int, shown: int) -> None:
    [section] = _tree(_many(open_at, 6_000))
    [part] = section["parts"]
    assert (len(part["tasks"]), part["left_out"]) == (shown, 6_000 - shown)
    assert (section["completed"], section["total"]) == (open_at, 6_000)
    nexts = [task["text"] for task in part["tasks"] if task["is_next"]]
    assert nexts == ([f"task {open_at}"] if open_at < 6_000 else [])


def test_a_long_text_is_cut() -> None:
    heading, task = "h" * 9_000, "t" * 9_000
    text = f"## Wave 1: {heading}\n### S01: {heading}\n- [ ] {task}\n"
    [section] = _tree(text)
    [part] = section["parts"]
    texts = (section["wave"]["name"], part["story"]["title"], part["tasks"][0]["text"])
    assert all(len(found) <= 300 for found in texts)


_LINES = st.sampled_from([
    "# T", "## Wave 1", "### Wave 2", "## Wave 2: x", "### S01: a", "#### S02: b", "## S03: c",
    "## x", "- [ ] a", "- [x] b", "- [-] c", "  - [ ] step", "- [/] d", "", "text", "#### y",
])  # fmt: skip


@given(st.lists(_LINES, max_size=40).map("\n".join))
def test_every_box_is_somewhere_and_waves_count_as_the_parser_does(text: str) -> None:
    plan, sections = parse(text), _tree(text)
    tasks = [task for s in sections for part in s["parts"] for task in part["tasks"]]
    steps = [step for task in tasks for step in task["steps"]]
    assert [task["line"] for task in tasks] == [box.line for box in plan.tasks]
    assert [step["line"] for step in steps] == [box.line for box in plan.steps]
    counted = [(s["completed"], s["total"]) for s in sections if s["wave"]]
    assert counted == [(s["wave"]["completed"], s["wave"]["total"]) for s in sections if s["wave"]]
    assert len(counted) == len(plan.waves)
    assert sum(section["is_current"] for section in sections) == (plan.next is not None)


@given(st.lists(_LINES, max_size=40).map("\n".join))
def test_every_story_holds_the_tasks_that_the_parser_counts(text: str) -> None:
    parts = [part for section in _tree(text) for part in section["parts"] if part["story"]]
    assert len(parts) == len(parse(text).stories)
    statuses = [[task["status"] for task in part["tasks"]] for part in parts]
    totals = [len(found) - found.count("cancelled") for found in statuses]
    assert totals == [part["story"]["total"] for part in parts]
