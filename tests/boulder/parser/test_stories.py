from __future__ import annotations

import pytest
from hypothesis import given

from boulder.parser.test_plan import ANYTHING, BOXES, KORD
from sisyphus.boulder.parser.plan import parse
from sisyphus.boulder.parser.stories import (
    RecordStory,
    current_parts,
    done_parts,
    next_task,
    record_progress,
    record_stories,
)

LOOSE = """\
# Audit

- [ ] before all waves

## Wave 1 — Foundation

- [x] origin
- [x] image

## Wave 2: Rest

- [~] access
- [-] dropped
- [ ] S07: form
  - [ ] step
- [ ] 12. rest of it

## Wave 3

### S03: Docs
- [ ] one

- [ ] two
"""


def stories(text: str) -> list[RecordStory]:
    return record_stories(parse(text))


def statuses(text: str, current: str = "") -> dict[str, str]:
    found = record_progress(parse(text), current)["stories"]
    return {name: story["status"] for name, story in found.items()}


def test_headings_and_loose_tasks_are_the_stories_of_a_plan() -> None:
    assert [(s.id, s.title, s.wave, s.line, s.completed, s.total) for s in stories(LOOSE)] == [
        ("W1.1", "origin", 1, 7, 1, 1),
        ("W1.2", "image", 1, 8, 1, 1),
        ("W2.1", "access", 2, 12, 0, 1),
        ("S07", "form", 2, 14, 0, 1),
        ("12", "rest of it", 2, 16, 0, 1),
        ("S03", "Docs", 3, 20, 0, 2),
    ]


NAMES = [
    pytest.param("- [ ] do it", ("W4.1", "do it"), id="no number"),
    pytest.param("- [ ] S07: do it", ("S07", "do it"), id="a story's name"),
    pytest.param("- [ ] S07:", ("S07", ""), id="a story's name alone"),
    pytest.param("- [ ] S07 - do it", ("S07", "do it"), id="a story's name with a dash"),
    pytest.param("- [ ] S07 do it", ("W4.1", "S07 do it"), id="a name without colon or dash"),
    pytest.param("- [ ] 7. do it", ("7", "do it"), id="a number with dot"),
    pytest.param("- [ ] 7) do it", ("7", "do it"), id="a number with bracket"),
    pytest.param("- [ ] 7.", ("7", ""), id="a number alone"),
    pytest.param("7. [ ] do it", ("7", "do it"), id="the item's number"),
    pytest.param("7. [ ] S08: do it", ("S08", "do it"), id="a name before the item's number"),
    pytest.param("7. [ ] 8. do it", ("8", "do it"), id="the words before the item's number"),
    pytest.param("- [ ] 7.5 mm", ("W4.1", "7.5 mm"), id="a fraction"),
    pytest.param("- [ ] 7 things", ("W4.1", "7 things"), id="a number of things"),
    pytest.param("- [ ] see S07: it", ("W4.1", "see S07: it"), id="a name in mid-line"),
    pytest.param("- [ ]", ("W4.1", ""), id="no words"),
]


@pytest.mark.parametrize(("task", "expected"), NAMES)
def test_a_task_is_called_by_its_number_else_by_its_place(
    task: str, expected: tuple[str, str]
) -> None:
    assert [(s.id, s.title) for s in stories(f"## Wave 4\n{task}\n")] == [expected]


TAKEN = [
    pytest.param("## Wave 1\n1. [ ] a\n1. [ ] b", ["1", "W1.2"], id="in the same wave"),
    pytest.param("## Wave 1\n1. [ ] a\n## Wave 2\n1. [ ] b", ["1", "W2.1"], id="in another"),
    pytest.param("## Wave 1\n1. [-] a\n## Wave 2\n1. [ ] b", ["W2.1"], id="by a cancelled task"),
    pytest.param(
        "## Wave 1\n- [ ] S1: a\n## Wave 2\n### S1: b\n- [ ] c", ["W1.1", "S1"], id="by a heading"
    ),
    pytest.param(
        "## Wave 1\n- [ ] a\n# x\n## Wave 1\n- [ ] b", ["W1.1", "W1.2"], id="a wave that goes on"
    ),
    pytest.param(
        "## Wave 1\n### S1: a\n- [ ] b\n# x\n## Wave 1\n- [ ] c", ["S1", "W1.2"],
        id="a wave that goes on without stories",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "ids"), TAKEN)
def test_a_task_whose_number_is_taken_is_called_by_its_place(text: str, ids: list[str]) -> None:
    assert [story.id for story in stories(text)] == ids


def test_two_headings_with_one_id_are_one_story() -> None:
    text = "## Wave 1\n### S1: a\n- [x] x\n## Wave 2\n### S2: b\n### S1: c\n- [ ] y\n- [x] z\n"
    [first, second] = stories(text)
    assert (first.id, first.title, first.wave, first.line) == ("S1", "a", 1, 2)
    assert (first.completed, first.total, first.status) == (2, 3, "in_progress")
    assert second.id == "S2"


def test_a_plan_without_waves_and_stories_has_none() -> None:
    assert record_progress(parse("- [x] a\n- [ ] b\n"), "") == {
        "totalStories": 0,
        "completedStories": 0,
        "stories": {},
    }


def test_a_record_holds_so_many_stories_and_no_more() -> None:
    task = "- [ ] a\n"
    text = f"## Wave 1\n{task * 700}## Wave 2\n" + f"### S1: a\n{task}" * 700
    text += "".join(f"### S{number}: a\n{task}" for number in range(2, 700))
    found = stories(text)
    assert (len(found), found[700].id) == (1_000, "S1")


TASK_STATUS = {
    "[ ]": ("pending", "in_progress"),
    "[x]": ("completed", "completed"),
    "[~]": ("blocked", "blocked"),
    "[/]": ("in_progress", "in_progress"),
}


@pytest.mark.parametrize("box", TASK_STATUS)
def test_the_status_of_a_task_that_is_a_story(box: str) -> None:
    text = f"## Wave 1\n- [/] now\n- {box} a\n"
    elsewhere, here = TASK_STATUS[box]
    assert statuses(text)["W1.2"] == elsewhere
    assert statuses(text, "W1.2")["W1.2"] == here


CURRENT = [
    pytest.param("", {"S1": "in_progress", "S2": "pending"}, id="the next task's"),
    pytest.param("S2", {"S1": "pending", "S2": "in_progress"}, id="the one named"),
    pytest.param("S0", {"S1": "in_progress", "S2": "pending"}, id="not one that is complete"),
    pytest.param("S9", {"S1": "in_progress", "S2": "pending"}, id="not one that is gone"),
]


@pytest.mark.parametrize(("current", "expected"), CURRENT)
def test_the_current_story_is_in_progress(current: str, expected: dict[str, str]) -> None:
    text = "### S0: z\n- [x] a\n### S1: a\n- [ ] b\n### S2: b\n- [ ] c\n"
    assert statuses(text, current) == {"S0": "completed", **expected}


def test_the_progress_of_the_record() -> None:
    text = f"{LOOSE}\n## Appendix\n### S9: outside\n- [x] a\n"
    assert record_progress(parse(text), "S07") == {
        "totalStories": 7,
        "completedStories": 3,
        "stories": {
            "W1.1": {"status": "completed", "wave": 1},
            "W1.2": {"status": "completed", "wave": 1},
            "W2.1": {"status": "blocked", "wave": 2},
            "S07": {"status": "in_progress", "wave": 2},
            "12": {"status": "pending", "wave": 2},
            "S03": {"status": "pending", "wave": 3},
            "S9": {"status": "completed", "wave": None},
        },
    }


WHERE = [
    pytest.param(KORD, None, "", (2, "S03", "Docs"), id="the next task's"),
    pytest.param(KORD, None, "S05", (2, "S05", "Later"), id="the chosen story"),
    pytest.param(KORD, 1, "S05", (2, "S05", "Later"), id="which goes before the chosen wave"),
    pytest.param(KORD, None, "S04", (2, "S03", "Docs"), id="not a chosen one without tasks"),
    pytest.param(KORD, None, "S02", (2, "S03", "Docs"), id="not a chosen one that is blocked"),
    pytest.param(KORD, None, "S06", (None, "S06", "Outside"), id="the chosen one, outside"),
    pytest.param(KORD, None, "S01", (2, "S03", "Docs"), id="not a chosen one that is complete"),
    pytest.param(KORD, None, "S99", (2, "S03", "Docs"), id="not a chosen one that is gone"),
    pytest.param(KORD, 1, "", (1, "", ""), id="in a chosen wave, but in no blocked story"),
    pytest.param(
        "## Wave 1\n- [!] a\n## Wave 2\n- [ ] b", 1, "", (2, "W2.1", "b"),
        id="not in a chosen wave that is blocked",
    ),
    pytest.param(LOOSE, 2, "S03", (3, "S03", "Docs"), id="the chosen one before the chosen wave"),
    pytest.param(LOOSE, 2, "W1.1", (2, "S07", "form"), id="after the chosen one is complete"),
    pytest.param(KORD, 9, "", (2, "S03", "Docs"), id="not in a chosen wave that is gone"),
    pytest.param(LOOSE, 1, "", (None, "", ""), id="nor in one that is complete"),
    pytest.param(LOOSE, 2, "", (2, "S07", "form"), id="no blocked one while another is left"),
    pytest.param(LOOSE, 3, "", (3, "S03", "Docs"), id="the chosen wave's only one"),
    pytest.param(LOOSE, None, "12", (2, "12", "rest of it"), id="a chosen task"),
    pytest.param(LOOSE, None, "", (None, "", ""), id="a next task outside of waves"),
    pytest.param("## Wave 1\n- [ ] a", None, "", (1, "W1.1", "a"), id="the next task itself"),
    pytest.param(
        "## Wave 1\n### S1: x\n- [x] a\n### Notes\n- [ ] b", 1, "", (1, "", ""),
        id="a chosen wave whose rest is in no story",
    ),
    pytest.param(
        "## Wave 1\n### S1: x\n- [x] a\n### Notes\n- [ ] b", None, "", (1, "", ""),
        id="a next task that is in a wave but in no story",
    ),
    pytest.param("## Wave 1\n- [x] a", None, "", (None, "", ""), id="a complete plan"),
    pytest.param("- [ ] a", 1, "S1", (None, "", ""), id="a plan without waves"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wave", "story", "expected"), WHERE)
def test_the_work_stands_where_somebody_said_else_at_the_next_task(
    text: str, wave: int | None, story: str, expected: tuple[int | None, str, str]
) -> None:
    assert current_parts(parse(text), wave, story) == expected


DONE = [
    pytest.param(KORD, ["S01"], id="a story"),
    pytest.param(LOOSE, ["wave 1", "W1.1", "W1.2"], id="a wave and its tasks"),
    pytest.param("### S1: x\n- [x] a\n- [-] b", ["S1"], id="the rest is cancelled"),
    pytest.param("### S1: x\n- [-] b\n## Wave 1", [], id="no tasks are never complete"),
    pytest.param("## Wave 1\n- [x] a\n- [~] b", ["W1.1"], id="nor are blocked ones"),
    pytest.param("## Wave 1\n- [x] a\n## Wave 1\n- [ ] b", ["W1.1"], id="nor a wave that goes on"),
    pytest.param("### S1: x\n- [x] a\n### S1: x\n- [ ] b", [], id="nor a story that does"),
    pytest.param("- [x] a", [], id="a plan has no name here"),
]


@pytest.mark.parametrize(("text", "names"), DONE)
def test_what_is_complete_is_named_in_file_order(text: str, names: list[str]) -> None:
    assert done_parts(parse(text)) == names


@given(ANYTHING)
def test_the_stories_of_any_text_agree_with_its_counts(text: str) -> None:
    plan = parse(text)
    found = record_stories(plan)
    assert len({story.id for story in found}) == len(found)
    assert [story.line for story in found] == sorted(story.line for story in found)
    assert sum(story.total for story in found) <= plan.counts.total
    for story in found:
        is_complete = 0 < story.total == story.completed
        assert (story.status == "completed") == is_complete == (story.id in done_parts(plan))


@given(ANYTHING)
def test_the_progress_of_any_text_tells_of_each_story_once(text: str) -> None:
    plan = parse(text)
    progress = record_progress(plan, "")
    done = [part for part in progress["stories"].values() if part["status"] == "completed"]
    assert progress["totalStories"] == len(progress["stories"]) == len(record_stories(plan))
    assert progress["completedStories"] == len(done)


@given(ANYTHING)
def test_where_the_work_stands_is_a_part_of_the_plan(text: str) -> None:
    plan = parse(text)
    waves = {None, *(wave.number for wave in plan.waves)}
    parts = {"": "", **{story.id: story.title for story in record_stories(plan)}}
    for chosen in (None, 1, 2):
        for story in ("", "S01", "W1.1"):
            wave, name, title = current_parts(plan, chosen, story)
            assert wave in waves
            assert parts[name] == title


@given(ANYTHING)
def test_the_id_of_a_story_does_not_depend_on_what_is_done(text: str) -> None:
    done = text
    for box in (box for boxes in BOXES.values() for box in boxes if box != "[-]"):
        done = done.replace(box, "[x]")
    before, after = stories(text), stories(done)
    assert [(s.id, s.line) for s in after] == [(s.id, s.line) for s in before]


FOCUS = """\
## Wave 1
### S01: One
- [ ] a
### S02: Two
- [ ] b
- [/] c
## Wave 2
- [x] d
- [ ] e
- [!] f
"""
NEXT = [
    pytest.param(None, "", "c", id="nobody said where: what is in progress"),
    pytest.param(None, "S01", "a", id="in the chosen story"),
    pytest.param(None, "S02", "c", id="in progress before open"),
    pytest.param(2, "", "e", id="in the chosen wave"),
    pytest.param(None, "W2.2", "e", id="a chosen task"),
    pytest.param(None, "W2.1", "c", id="not in a task that is done"),
    pytest.param(2, "S01", "a", id="the story before the wave"),
    pytest.param(None, "S99", "c", id="not in a story that is gone"),
]


@pytest.mark.parametrize(("wave", "story", "expected"), NEXT)
def test_the_next_task_is_one_where_the_work_goes_on(
    wave: int | None, story: str, expected: str
) -> None:
    found = next_task(parse(FOCUS), wave, story)
    assert found
    assert found.text == expected


def test_where_nothing_can_be_done_no_task_is_next() -> None:
    assert next_task(parse("## Wave 1\n- [!] a\n- [x] b\n"), 1, "W1.1") is None
