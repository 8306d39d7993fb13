from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder.parser.lines import BLOCKED, CANCELLED, COMPLETED, IN_PROGRESS, OPEN
from sisyphus.boulder.parser.plan import Plan, parse

BOXES = {
    OPEN: ["[ ]"],
    COMPLETED: ["[x]", "[X]"],
    BLOCKED: ["[~]", "[!]"],
    IN_PROGRESS: ["[/]", "[>]"],
    CANCELLED: ["[-]"],
}


def texts(plan: Plan) -> list[str]:
    return [task.text for task in plan.tasks]


@pytest.mark.parametrize(
    ("box", "status"), [(box, status) for status, boxes in BOXES.items() for box in boxes]
)
def test_each_box_has_its_status(box: str, status: str) -> None:
    [task] = parse(f"- {box} do it\n").tasks
    assert (task.status, task.text, task.line) == (status, "do it", 1)


TASKS = [
    pytest.param("- [ ] a", id="dash"),
    pytest.param("* [ ] a", id="star"),
    pytest.param("+ [ ] a", id="plus"),
    pytest.param("1. [ ] a", id="number with dot"),
    pytest.param("12) [ ] a", id="number with bracket"),
    pytest.param("   - [ ] a", id="three spaces in"),
    pytest.param("-    [ ] a", id="four spaces after the bullet"),
    pytest.param("-\t[ ] a", id="tab after the bullet"),
    pytest.param("- [ ]\ta", id="tab after the box"),
    pytest.param("- [ ] a  \t", id="space at the end"),
    pytest.param("\ufeff- [ ] a", id="byte order mark"),
    pytest.param("text\n- [ ] a", id="directly below a paragraph"),
    pytest.param("text\n3. [ ] a", id="a number other than 1 below a paragraph"),
    pytest.param("> quoted\n- [ ] a", id="directly below a quote"),
    pytest.param("# h\n- [ ] a", id="directly below a heading"),
    pytest.param("    code\n- [ ] a", id="below indented code"),
    pytest.param("- plain\n  - [ ] a", id="nested in an item without a box"),
    pytest.param("- - [ ] a", id="two bullets in one line"),
    pytest.param("- plain\n\n  - [ ] a", id="nested after a blank line"),
    pytest.param("<details>\n- [ ] a\n</details>", id="in raw HTML"),
    pytest.param("| a |\n|---|\n\n- [ ] a", id="below a table"),
    pytest.param("***\n- [ ] a", id="below a rule"),
    pytest.param("```\ncode\n```\n- [ ] a", id="after a closed fence"),
    pytest.param("~~~\n```\n~~~\n- [ ] a", id="after a fence that holds another one's closer"),
    pytest.param("````\n```\n````\n- [ ] a", id="after a fence with a longer closer"),
    pytest.param("``` `x`\n- [ ] a", id="after a code span that looks like a fence"),
    pytest.param("    ```\n- [ ] a", id="after an indented line that looks like a fence"),
    pytest.param("<!-- note -->\n- [ ] a", id="after a comment"),
    pytest.param("<!--\n- [ ] no\n-->\n- [ ] a", id="after a comment of several lines"),
    pytest.param("`<!--`\n\n- [ ] a\n<!-- -->", id="after a comment's start in a code span"),
    pytest.param("``x ` <!--``\n\n- [ ] a\n-->", id="in one that holds a backtick"),
    pytest.param("text <!-- odd\n- [ ] a", id="after a comment in mid-line that never ends"),
    pytest.param("odd <!-- x\n- [ ] a\n<!-- y -->", id="after one that another comment ends"),
    pytest.param("- ```\n  - [ ] no\n  ```\n- [ ] a", id="after a fence in an item"),
    pytest.param("> ```\n- [ ] a", id="after a fence in a quote"),
    pytest.param("- # h\n- [ ] a", id="after a heading in an item"),
    pytest.param("---\n- [ ] a\n---\n", id="between two rulers"),
]


@pytest.mark.parametrize("text", TASKS)
def test_this_is_one_task(text: str) -> None:
    assert texts(parse(text)) == ["a"]


NO_TASKS = [
    pytest.param("", id="nothing"),
    pytest.param("[ ] a", id="no bullet"),
    pytest.param("-[ ] a", id="no space after the bullet"),
    pytest.param("- [] a", id="empty brackets"),
    pytest.param("- [  ] a", id="two spaces in the box"),
    pytest.param("- [y] a", id="another letter"),
    pytest.param("- [ ]a", id="no space after the box"),
    pytest.param("- [2026-01-29] a", id="a date"),
    pytest.param("- [x](https://example.org)", id="a link"),
    pytest.param("- [x][ref] a", id="a reference"),
    pytest.param("- [x]: https://example.org", id="a link's definition"),
    pytest.param("- \\[ ] a", id="an escaped box"),
    pytest.param("- `[ ]` a", id="a box in a code span"),
    pytest.param("- a [ ] b", id="a box in mid-line"),
    pytest.param("1234567890. [ ] a", id="a number of ten digits"),
    pytest.param("a. [ ] a", id="a letter"),
    pytest.param("    - [ ] a", id="indented code"),
    pytest.param("\t- [ ] a", id="indented code by a tab"),
    pytest.param("-     [ ] a", id="indented code in an item"),
    pytest.param("text\n    - [ ] a", id="the text of a paragraph that goes on"),
    pytest.param("- x\n        - [ ] a", id="the text of an item that goes on"),
    pytest.param("text\n*\n    - [ ] a", id="a paragraph with a line of one star"),
    pytest.param("> - [ ] a", id="a quote"),
    pytest.param("- > - [ ] a", id="a quote in an item"),
    pytest.param("```\n- [ ] a\n```", id="a fence"),
    pytest.param("```\n- [ ] a", id="a fence that nobody closes"),
    pytest.param("~~~~\n- [ ] a\n~~~\n- [ ] b", id="a fence whose closer is too short"),
    pytest.param("```\n- [ ] a\n    ```\n- [ ] b", id="a fence whose closer is indented"),
    pytest.param("```\n- [ ] a\n``` x\n- [ ] b", id="a fence whose closer says more"),
    pytest.param("``` sh\n- [ ] a", id="a fence with a language"),
    pytest.param("- x\n  ```\n- [ ] a", id="a fence in an item that nobody closes"),
    pytest.param("<!-- - [ ] a -->", id="a comment"),
    pytest.param("<!--\n- [ ] a\n\n- [ ] b\n-->", id="a comment of several lines"),
    pytest.param("<!--\n- [ ] a", id="a comment that never ends"),
    pytest.param("<!-- x --> - [ ] a", id="behind a comment"),
    pytest.param("text <!-- x\n- [ ] a\n-->", id="a comment that begins in mid-line"),
    pytest.param("- x <!-- y\n- [ ] a\n-->", id="a comment that begins in an item"),
    pytest.param("# h <!-- y\n- [ ] a\n-->", id="a comment that begins in a heading"),
    pytest.param("``a <!-- y\n- [ ] a\n-->", id="a comment behind an unpaired backtick"),
    pytest.param("---\na: 1\n- [ ] a\n---", id="frontmatter"),
    pytest.param("- " * 9 + "[ ] a", id="more bullets than a line has"),
]


@pytest.mark.parametrize("text", NO_TASKS)
def test_this_is_no_task(text: str) -> None:
    plan = parse(text)
    assert (texts(plan), plan.has_tasks, plan.is_complete) == ([], False, False)


STEPS = [
    pytest.param("- [ ] a\n  - [x] s", id="two spaces"),
    pytest.param("- [ ] a\n    - [x] s", id="four spaces"),
    pytest.param("- [ ] a\n\t- [x] s", id="tab"),
    pytest.param("1. [ ] a\n   1. [x] s", id="numbers"),
    pytest.param("- [ ] a\n  - plain\n    - [x] s", id="under an item without a box"),
    pytest.param("- [ ] a\n  text\n\n  - [x] s", id="below a paragraph of the task"),
    pytest.param("- [ ] a\nlazy\n  - [x] s", id="below a line that goes on at the margin"),
    pytest.param("- [ ] a\n  > quote\nlazy\n  - [x] s", id="below a quote that goes on there"),
    pytest.param("- plain\n  - [ ] a\n    - [x] s", id="two levels down"),
    pytest.param("- [ ] a\n  -\n    - [x] s", id="under an empty item"),
]


@pytest.mark.parametrize("text", STEPS)
def test_a_box_below_a_task_is_a_step(text: str) -> None:
    plan = parse(text)
    assert [(step.text, step.status) for step in plan.steps] == [("s", COMPLETED)]
    assert texts(plan) == ["a"]


SIBLINGS = [
    pytest.param("- [ ] a\n - [ ] b", id="one space in"),
    pytest.param("1. [ ] a\n  - [ ] b", id="less than the number's width in"),
    pytest.param("- [ ] a\n\nparagraph\n\n  - [ ] b", id="after a paragraph at the margin"),
    pytest.param("- [ ] a\n# h\n  - [ ] b", id="after a heading"),
    pytest.param("- [ ] a\n***\n  - [ ] b", id="after a rule"),
    pytest.param("- [ ] a\n*\n  - [ ] b", id="nested in an empty item beside it"),
    pytest.param("- plain\n  - [ ] a\n  - [ ] b", id="both nested in an item without a box"),
]


@pytest.mark.parametrize("text", SIBLINGS)
def test_a_box_beside_a_task_is_a_task(text: str) -> None:
    plan = parse(text)
    assert (texts(plan), plan.steps) == (["a", "b"], [])


def test_cancelled_tasks_and_steps_leave_the_totals() -> None:
    plan = parse("- [x] a\n- [-] b\n  - [x] s\n  - [-] t\n- [ ] c\n- [~] d\n- [/] e\n")
    assert plan.progress() == {
        "total": 4,
        "completed": 1,
        "blocked": 1,
        "in_progress": 1,
        "cancelled": 1,
        "steps_total": 1,
        "steps_completed": 1,
    }


COMPLETE = [
    pytest.param("- [x] a\n- [X] b", True, id="all done"),
    pytest.param("- [x] a\n- [-] b", True, id="the rest is cancelled"),
    pytest.param("- [x] a\n  - [ ] s", True, id="an open step does not count"),
    pytest.param("- [x] a\n- [~] b", False, id="the rest is blocked"),
    pytest.param("- [x] a\n- [/] b", False, id="the rest is in progress"),
    pytest.param("- [ ] a\n  - [x] s", False, id="done steps do not complete a task"),
    pytest.param("- [-] a", False, id="all cancelled"),
    pytest.param("text", False, id="no tasks"),
]


@pytest.mark.parametrize(("text", "complete"), COMPLETE)
def test_a_plan_is_complete_when_all_of_its_tasks_are_done(text: str, complete: bool) -> None:
    assert parse(text).is_complete is complete


NEXT = [
    pytest.param("- [x] a\n- [ ] b\n- [ ] c", ("b", 2), id="the first open one"),
    pytest.param("- [ ] a\n- [/] b\n- [>] c", ("b", 2), id="the first in progress"),
    pytest.param("- [ ] a\n  - [/] s", ("a", 1), id="a step is never next"),
    pytest.param("- [~] a\n- [x] b", (None, None), id="none where the rest is blocked"),
    pytest.param("- [~] a\n- [ ] b", ("b", 2), id="blocked ones are passed over"),
    pytest.param("- [ ] **a** `b` [c](d) ☺", ("**a** `b` [c](d) ☺", 1), id="markup is kept"),
    pytest.param("- [ ]\n", ("", 1), id="a task without words"),
    pytest.param("---\nname: x\n---\n\n- [ ] a", ("a", 5), id="lines are those of the file"),
    pytest.param("x\r\n\r\n- [ ] a\r\n", ("a", 3), id="also with CRLF"),
    pytest.param("- [ ] a\tb", ("a\tb", 1), id="tabs in the text are kept"),
    pytest.param("-\t[ ] a\tb", ("a\tb", 1), id="also where the bullet has one"),
]


@pytest.mark.parametrize(("text", "expected"), NEXT)
def test_the_next_task_is_the_one_in_progress_else_the_first_open(
    text: str, expected: tuple[str | None, int | None]
) -> None:
    plan = parse(text)
    assert (plan.next_task, plan.next.line if plan.next else None) == expected


NUMBERS = [
    pytest.param("- [ ] a", "", id="a bullet"),
    pytest.param("3. [ ] a", "3", id="a number with dot"),
    pytest.param("12) [ ] a", "12", id="a number with bracket"),
    pytest.param("  7. [x] a", "7", id="indented"),
    pytest.param("007. [ ] a", "007", id="as it is written"),
    pytest.param("- 4. [ ] a", "4", id="of the item that has the box"),
    pytest.param("4. - [ ] a", "", id="not of an item around it"),
    pytest.param("- [ ] 7. a", "", id="not of the words"),
]


@pytest.mark.parametrize(("text", "number"), NUMBERS)
def test_a_box_has_the_number_of_its_item(text: str, number: str) -> None:
    assert [box.number for box in parse(text).tasks] == [number]


TITLES = [
    pytest.param("# Ship it\n# Other", "Ship it", id="the first heading"),
    pytest.param("## Not this\n# Ship it #", "Ship it", id="of level 1, its closing sign aside"),
    pytest.param("# C#", "C#", id="a sign that is part of the title stays"),
    pytest.param("Ship it\n===", "Ship it", id="an underlined heading"),
    pytest.param("Ship it\n---", "", id="which has level 2 with dashes"),
    pytest.param("> Ship it\n===", "", id="a quote has no underline"),
    pytest.param("- Ship it\n  ===", "", id="a heading in an item is none of the plan"),
    pytest.param("#Ship it", "", id="no heading without a space"),
    pytest.param("#\n# Ship it", "Ship it", id="an empty heading is passed over"),
    pytest.param("```\n# no\n```\n# Ship it", "Ship it", id="a comment in code is none"),
    pytest.param("---\nname: a\n---\n# b", "a", id="frontmatter goes first"),
]


@pytest.mark.parametrize(("text", "title"), TITLES)
def test_the_title_is_the_frontmatters_name_else_the_first_heading(text: str, title: str) -> None:
    assert parse(text).title == title


WAVES = [
    pytest.param("## Wave 1 — Base", (1, "Base"), id="em dash"),
    pytest.param("## Wave 1 \u2013 Base", (1, "Base"), id="en dash"),
    pytest.param("### Wave 2 - Base", (2, "Base"), id="hyphen, level 3"),
    pytest.param("## Wave 3: Base", (3, "Base"), id="colon"),
    pytest.param("## Wave 10 Base", (10, "Base"), id="a space alone"),
    pytest.param("## Wave 1", (1, ""), id="no name"),
    pytest.param("## Wave 1 —", (1, ""), id="a dash and no name"),
    pytest.param("## wave 1: Base ##", (1, "Base"), id="small letters, closing signs"),
    pytest.param("Wave 1: Base\n---", (1, "Base"), id="underlined"),
]


@pytest.mark.parametrize(("heading", "expected"), WAVES)
def test_this_begins_a_wave(heading: str, expected: tuple[int, str]) -> None:
    [wave] = parse(f"{heading}\n\n- [x] a\n- [ ] b\n").waves
    assert (wave.number, wave.name) == expected
    assert (wave.counts.completed, wave.counts.total) == (1, 2)


NO_WAVES = [
    pytest.param("# Wave 1", id="level 1"),
    pytest.param("#### Wave 1", id="level 4"),
    pytest.param("## Wave", id="no number"),
    pytest.param("## Wave 1a", id="a letter behind the number"),
    pytest.param("## Waves 1", id="another word"),
    pytest.param("## The Wave 1", id="words before it"),
    pytest.param("## Wave 12345678901234567890", id="a number too long to be one"),
    pytest.param("- ## Wave 1", id="in an item"),
    pytest.param("Wave 1", id="no heading"),
]


@pytest.mark.parametrize("heading", NO_WAVES)
def test_this_begins_no_wave(heading: str) -> None:
    assert parse(f"{heading}\n\n- [ ] a\n").waves == []


PART_LINES = [
    pytest.param("## Wave 1\n### S1: x", [1, 2], id="at the beginning"),
    pytest.param("---\nname: x\n---\n\n## Wave 1\n\n### S1: x", [5, 7], id="after frontmatter"),
    pytest.param("text\nWave 1: a\n---", [], id="a paragraph begins with its first line"),
    pytest.param("text\n\nWave 1: a\n---\n### S1: x", [3, 5], id="underlined"),
    pytest.param("\nWave 1: a\nmore\nof it\n---", [2], id="underlined, of several lines"),
    pytest.param("---\na: b\n---\nWave 1\n---", [4], id="underlined after frontmatter"),
    pytest.param("<!--\n\n-->\n ## Wave 1 ##\n### S1: x #", [4, 5], id="after a comment"),
    pytest.param("- [ ] a\n  - [ ] b\n## Wave 1", [3], id="after tasks"),
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(("text", "lines"), PART_LINES)
def test_waves_and_stories_have_the_line_of_their_heading(
    text: str, lines: list[int], end: str
) -> None:
    plan = parse(text.replace("\n", end))
    found = [wave.line for wave in plan.waves] + [story.line for story in plan.stories]
    assert found == lines


def loose(plan: Plan) -> list[tuple[bool, list[str]]]:
    return [(wave.has_stories, [task.text for task in wave.tasks]) for wave in plan.waves]


LOOSE = [
    pytest.param("- [ ] a\n  - [ ] step\n- [-] b", (False, ["a", "b"]), id="tasks, no steps"),
    pytest.param("### Notes\n- [ ] a", (False, ["a"]), id="below a heading that is no story"),
    pytest.param("#### S1: x\n- [ ] a", (False, ["a"]), id="below one two levels down"),
    pytest.param("### S1: x\n- [ ] a", (True, []), id="none in a story"),
    pytest.param("- [ ] a\n### S1: x\n- [ ] b", (True, []), id="none before a story either"),
    pytest.param("### S1: x\n### Notes\n- [ ] a", (True, []), id="none after it"),
    pytest.param("# Appendix\n- [ ] a", (False, []), id="none after the wave"),
]


@pytest.mark.parametrize(("text", "expected"), LOOSE)
def test_a_wave_without_stories_keeps_its_tasks(
    text: str, expected: tuple[bool, list[str]]
) -> None:
    assert loose(parse(f"- [ ] before\n## Wave 1\n{text}\n")) == [expected]


def test_a_story_of_one_wave_says_nothing_about_another() -> None:
    plan = parse("## Wave 1\n- [ ] a\n## Wave 2\n### S1: x\n- [ ] b\n## Wave 3\n- [ ] c\n")
    assert loose(plan) == [(False, ["a"]), (True, []), (False, ["c"])]


def test_waves_keep_so_many_tasks_and_no_more() -> None:
    task = "- [ ] a\n"
    plan = parse(f"## Wave 1\n{task * 600}## Wave 2\n{task * 600}")
    assert [len(wave.tasks) for wave in plan.waves] == [600, 400]
    assert [wave.counts.total for wave in plan.waves] == [600, 600]


def test_tasks_that_a_wave_gave_up_leave_room_for_others() -> None:
    task = "- [ ] a\n"
    plan = parse(f"## Wave 1\n{task * 1_000}### S1: x\n## Wave 2\n{task * 600}")
    assert [len(wave.tasks) for wave in plan.waves] == [0, 600]


KORD = """\
# Audit

- [ ] before all waves

## Wave 1 — Foundation

### S01: README
- [x] origin
- [x] image

### S02: CONTRIBUTING
- [x] title
- [~] urls

### Notes
- [ ] loose

## Wave 2: Rest

### S03: Docs
- [/] one
- [ ] two

#### Detail
- [ ] three

### S04: Empty

### S05: Later
- [ ] four

## Appendix

#### S06: Outside
- [ ] five
"""


def test_tasks_count_for_the_wave_and_the_story_that_they_stand_in() -> None:
    plan = parse(KORD)
    assert [(w.number, w.counts.completed, w.counts.total) for w in plan.waves] == [
        (1, 3, 5),
        (2, 0, 4),
    ]
    assert [(s.id, s.title, s.wave, s.counts.total) for s in plan.stories] == [
        ("S01", "README", 1, 2),
        ("S02", "CONTRIBUTING", 1, 2),
        ("S03", "Docs", 2, 3),
        ("S04", "Empty", 2, 0),
        ("S05", "Later", 2, 1),
        ("S06", "Outside", None, 1),
    ]
    assert plan.counts.total == 11


def test_a_storys_status_follows_from_its_tasks() -> None:
    plan = parse(KORD)
    assert {s.id: s.status(plan.current_story) for s in plan.stories} == {
        "S01": "completed",
        "S02": "blocked",
        "S03": "in_progress",
        "S04": "pending",
        "S05": "pending",
        "S06": "pending",
    }


STORY_STATUS = [
    pytest.param("- [x] a\n- [ ] b", "in_progress", id="some done"),
    pytest.param("- [ ] a", "in_progress", id="the current one"),
    pytest.param("- [x] a\n- [-] b", "completed", id="the rest cancelled"),
    pytest.param("- [-] a", "pending", id="all cancelled"),
    pytest.param("- [~] a\n- [!] b", "blocked", id="all blocked"),
    pytest.param("- [~] a\n- [ ] b", "in_progress", id="some blocked, the current one"),
]


@pytest.mark.parametrize(("tasks", "status"), STORY_STATUS)
def test_the_status_of_the_only_story(tasks: str, status: str) -> None:
    plan = parse(f"### S1: only\n{tasks}\n")
    assert [story.status(plan.current_story) for story in plan.stories] == [status]


OTHER_STORY = [
    pytest.param("- [x] a\n- [ ] b", "in_progress", id="some done"),
    pytest.param("- [/] a\n- [ ] b", "in_progress", id="one in progress"),
    pytest.param("- [ ] a", "pending", id="nothing done"),
]


@pytest.mark.parametrize(("tasks", "status"), OTHER_STORY)
def test_the_status_of_a_story_that_is_not_the_current_one(tasks: str, status: str) -> None:
    plan = parse(f"### S1: current\n- [/] x\n### S2: other\n{tasks}\n")
    assert plan.stories[1].status(plan.current_story) == status


def test_the_current_wave_and_story_are_those_of_the_next_task() -> None:
    plan = parse(KORD)
    assert plan.next_task == "one"
    assert plan.current_wave
    assert plan.current_wave.number == 2
    assert plan.current_story
    assert plan.current_story.id == "S03"


def test_a_next_task_outside_of_waves_has_no_wave() -> None:
    plan = parse(KORD.replace("[/]", "[ ]"))
    assert (plan.next_task, plan.current_wave, plan.current_story) == (
        "before all waves",
        None,
        None,
    )


NO_STORIES = [
    pytest.param("## Wave 1\n## S01: x", id="on its wave's level"),
    pytest.param("## Wave 1\n#### S01: x", id="two levels below its wave"),
    pytest.param("## S01: x", id="level 2 outside of waves"),
    pytest.param("##### S01: x", id="level 5 outside of waves"),
    pytest.param("### S01 x", id="neither colon nor dash"),
    pytest.param("### S01-x", id="a dash without spaces"),
    pytest.param("### S01 -x", id="a dash with one space"),
    pytest.param("### S01 -- x", id="two dashes"),
    pytest.param("### S: x", id="no number"),
    pytest.param("### T01: x", id="another letter"),
]


@pytest.mark.parametrize("text", NO_STORIES)
def test_this_begins_no_story(text: str) -> None:
    assert parse(f"{text}\n- [ ] a\n").stories == []


STORIES = [
    pytest.param("### S09: baz", "baz", id="colon"),
    pytest.param("### S09:baz", "baz", id="colon without space"),
    pytest.param("### S09 \u2014 baz", "baz", id="em dash"),
    pytest.param("### S09 \u2013 baz", "baz", id="en dash"),
    pytest.param("### S09  -  baz - qux", "baz - qux", id="hyphen"),
    pytest.param("### S09 \u2014", "", id="no title"),
]


@pytest.mark.parametrize(("text", "title"), STORIES)
def test_this_begins_a_story(text: str, title: str) -> None:
    stories = parse(f"{text}\n- [ ] a\n").stories
    assert [(s.id, s.title, s.counts.total) for s in stories] == [("S09", title, 1)]


def test_a_wave_of_level_3_holds_stories_of_level_4() -> None:
    plan = parse("### Wave 1\n#### S01: x\n- [ ] a\n### Wave 2\n- [ ] b\n")
    assert [(s.id, s.wave, s.counts.total) for s in plan.stories] == [("S01", 1, 1)]
    assert [w.counts.total for w in plan.waves] == [1, 1]


def test_headings_beyond_a_number_open_no_waves_and_no_stories() -> None:
    story = "### S1: part\n- [ ] in it\n"
    plan = parse("## Wave 1\n" * 1_000 + story * 1_000 + "## Wave 2\n" + story)
    assert (len(plan.waves), len(plan.stories)) == (1_000, 1_000)
    assert plan.counts.total == 1_001
    assert plan.waves[-1].counts.total == plan.counts.total - 1


HEADINGS = [
    pytest.param("# a #", "a", id="closing hashes"),
    pytest.param("# C# #", "C#", id="a hash of its own"),
    pytest.param("#\ta", "a", id="tab"),
    pytest.param("   # a", "a", id="spaces before it"),
    pytest.param("- [ ] x\n# a", "a", id="after a task"),
    pytest.param("text\n# a", "a", id="after a paragraph"),
    pytest.param("#a", "", id="no space"),
    pytest.param("- x\n\n  # a", "", id="in an item"),
]


@pytest.mark.parametrize(("text", "title"), HEADINGS)
def test_a_heading_is_read_in_each_of_its_spellings(text: str, title: str) -> None:
    assert parse(text).title == title


def test_a_plan_lists_the_same_boxes_again_and_again() -> None:
    plan = parse(KORD)
    assert texts(plan) == texts(plan)
    assert len(plan.tasks) == plan.counts.total


LINES = st.sampled_from(
    [
        "- [ ] a", "- [x] b", "* [~] c", "1. [/] d", "+ [-] e", "- plain", "text", "# title",
        "## Wave 1 — one", "### S01: story", "Wave 2: two", "### Wave 3", "#### S02: other",
        "- [x] S03: done", "> quote", "> - [ ] q", "```", "~~~", "", "---",
        "===", "<!--", "-->", "text <!-- x", "- - [ ] z", "-     [ ] code", "-\t[ ] tab", "-",
        "name: x", "`<!--`", "10) [!] ten", "\ufeff- [ ] mark",
    ]
)  # fmt: skip
INDENTS = st.sampled_from(["", "", "", " ", "  ", "   ", "    ", "      ", "\t", "\t\t"])
PLANS = st.lists(st.tuples(INDENTS, LINES).map("".join), max_size=25).map("\n".join)
ANYTHING = st.one_of(PLANS, st.text(), st.text(alphabet="-*[ x]~`>#\n\t<!1.)"))


@given(ANYTHING)
def test_the_counts_of_any_text_add_up(text: str) -> None:
    plan = parse(text)
    progress = plan.progress()
    open_ones = sum(task.status == OPEN for task in plan.tasks)
    parts = (progress["completed"], progress["blocked"], progress["in_progress"], open_ones)
    assert progress["total"] == sum(parts)
    assert progress["total"] + progress["cancelled"] == len(plan.tasks)
    assert progress["steps_completed"] <= progress["steps_total"] <= len(plan.steps)
    assert sum(wave.counts.total for wave in plan.waves) <= progress["total"]
    assert sum(story.counts.total for story in plan.stories) <= progress["total"]


@given(ANYTHING)
def test_the_lines_of_any_text_are_those_of_its_boxes_and_headings(text: str) -> None:
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    plan = parse(text)
    for box in (*plan.tasks, *plan.steps):
        assert "[" in rows[box.line - 1]
    for wave in plan.waves:
        assert str(wave.number) in rows[wave.line - 1]
    for story in plan.stories:
        assert story.id in rows[story.line - 1]


@given(ANYTHING)
def test_a_wave_keeps_the_tasks_that_it_counts_or_none(text: str) -> None:
    for wave in parse(text).waves:
        counted = dict.fromkeys(wave.counts.by_status, 0)
        for task in wave.tasks:
            counted[task.status] += 1
        assert counted == wave.counts.by_status or (wave.has_stories and not wave.tasks)


@given(ANYTHING)
def test_the_next_task_agrees_with_the_counts(text: str) -> None:
    plan = parse(text)
    statuses = [task.status for task in plan.tasks]
    wanted = next((s for s in (IN_PROGRESS, OPEN) if s in statuses), None)
    if wanted is None:
        assert plan.next is None
    else:
        first = plan.tasks[statuses.index(wanted)]
        assert plan.next
        assert (plan.next.line, plan.next_task) == (first.line, first.text)
        assert plan.next.status in (IN_PROGRESS, OPEN)
    assert plan.is_complete == (plan.has_tasks and set(statuses) <= {COMPLETED, CANCELLED})


def outline(text: str) -> list[tuple[str, str, int]]:
    plan = parse(text)
    return [(box.status, box.text, box.line) for box in (*plan.tasks, *plan.steps)]


def everything(text: str) -> list[object]:
    plan = parse(text)
    waves = [(w.number, w.name, w.line, w.counts.by_status) for w in plan.waves]
    stories = [(s.id, s.title, s.line, s.wave, s.counts.by_status) for s in plan.stories]
    next_line = plan.next.line if plan.next else 0
    return [plan.title, outline(text), waves, stories, loose(plan), next_line, plan.progress()]


@given(PLANS)
def test_the_kind_of_line_end_changes_nothing(text: str) -> None:
    assert everything(text.replace("\n", "\r\n")) == everything(text)
    assert everything(text.replace("\n", "\r")) == everything(text)


@given(PLANS)
def test_a_line_end_at_the_end_and_a_byte_order_mark_change_nothing(text: str) -> None:
    assert everything("\ufeff" + text.removeprefix("\ufeff") + "\n") == everything(text)


@given(ANYTHING, st.sampled_from([" ", "  ", "     ", "\t"]))
def test_space_at_the_ends_of_lines_changes_nothing(text: str, space: str) -> None:
    spaced = "".join(f"{row}{space}\n" for row in text.replace("\r", "\n").split("\n"))
    assert everything(spaced) == everything(text.replace("\r", "\n"))


@given(PLANS)
def test_what_stands_in_a_fence_counts_for_nothing(text: str) -> None:
    assert outline(f"`````\n{text}\n`````\n\n- [ ] last")[0][1] == "last"


@given(PLANS)
def test_what_is_quoted_counts_for_nothing(text: str) -> None:
    assert outline("\n".join(f"> {line}" for line in text.split("\n"))) == []
