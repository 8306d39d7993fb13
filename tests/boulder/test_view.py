from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder.parser.plan import parse
from sisyphus.boulder.report import no_plan
from sisyphus.boulder.view import started, status_text
from sisyphus.style import Style
from sisyphus.times import clock

if TYPE_CHECKING:
    from sisyphus._types import PlanStatus

NOW = 1_771_000_000.0
STARTED = "2026-01-09T10:00:00Z"
MADE = "2026-02-13T15:30:00Z"
PLAN = """\
# Docs

### S00: Before
- [x] a
## Wave 1 — Base
### S01: README
- [x] a
## Wave 2 — Checkout
### S02: Form
- [x] a
- [/] Check the `form`
  - [x] step
### S03: Mail
- [~] c
### S04: Last
- [ ] d
- [-] e
"""


def a_status(text: str = PLAN, **fields: object) -> PlanStatus:
    """What `boulder status` knows of a plan with this text."""
    plan = parse(text)
    status: dict[str, Any] = {
        **no_plan(),
        "state": "active",
        "active_plan": "/p/.claude/PLAN.md",
        "project_root": "/p",
        "plan_name": plan.title,
        "progress": plan.progress(),
        "next_task": plan.next_task,
        "next_task_line": plan.next.line if plan.next else None,
        "current_wave": plan.current_wave.number if plan.current_wave else None,
        "current_story": plan.current_story.id if plan.current_story else None,
        "waves": [
            {
                "number": wave.number,
                "name": wave.name,
                "line": wave.line,
                "total": wave.counts.total,
                "completed": wave.counts.completed,
                "blocked": wave.counts.blocked,
            }
            for wave in plan.waves
        ],
        "stories": [
            {
                "id": story.id,
                "title": story.title,
                "line": story.line,
                "wave": story.wave,
                "status": story.status(plan.current_story),
                "total": story.counts.total,
                "completed": story.counts.completed,
            }
            for story in plan.stories
        ],
    }
    return cast("PlanStatus", {**status, **fields})


def shown(status: PlanStatus, **options: Any) -> str:
    return status_text(status, now=NOW, **options)


def the_outline(text: str, **options: Any) -> list[str]:
    return shown(a_status(text), **options).split("\n\n")[1].splitlines()


def details(status: PlanStatus, **options: Any) -> str:
    return shown(status, **options).split("\n\n")[-1]


REMEMBERED: dict[str, Any] = {
    "started_at": STARTED,
    "session_ids": ["a", "b"],
    "checkpoint": {"timestamp": MADE, "message": "Wave 2 S02: 1/2 tasks done"},
    "todos": [
        {"id": "w2-s02", "content": "Check mails", "status": "in_progress"},
        {"id": "t1", "content": "done", "status": "completed"},
        {"id": "t2", "content": "Ask Ann", "status": "pending"},
    ],
    "record_path": "/p/docs/kord/boulder.json",
    "in_repo": True,
    "enforced": {"since": MADE, "max_iterations": 100},
}


def test_a_status_shows_the_plan_its_parts_and_what_is_remembered() -> None:
    assert shown(a_status(**REMEMBERED)) == (
        "Docs  (active)\n"
        "██████████░░░░░░░░░░ 3/6 tasks complete  50 %\n"
        "1 in progress, 1 blocked, 1 cancelled\n"
        "\n"
        "  ✓ S00 Before  1/1\n"
        "  Wave 1 — Base      ██████████  1/1\n"
        "    ✓ S01 README  1/1\n"
        "▸ Wave 2 — Checkout  ██░░░░░░░░  1/4  1 blocked\n"
        "    ▸ S02 Form  1/2\n"
        "    ✗ S03 Mail  0/1\n"
        "    ○ S04 Last  0/1\n"
        "\n"
        "Next        Check the `form`\n"
        "File        /p/.claude/PLAN.md:11\n"
        "Checkpoint  56 min 40 s ago\n"
        "            Wave 2 S02: 1/2 tasks done\n"
        "Todos       ◐ Check mails\n"
        "            ○ Ask Ann\n"
        "Steps       1/1\n"
        f"Started     {clock(STARTED)}, 2 sessions\n"
        "Record      /p/docs/kord/boulder.json\n"
        f"Enforced    since {clock(MADE)}, at most 100 iterations"
    )


def test_a_terminal_without_unicode_gets_signs_of_ascii() -> None:
    text = shown(a_status(**REMEMBERED), style=Style(is_ascii=True))
    assert text.isascii()
    assert "[#########---------] 3/6 tasks complete  50 %" in text
    assert "> Wave 2 - Checkout  [##------]  1/4  1 blocked\n    > S02 Form  1/2\n" in text
    assert "    ! S03 Mail  0/1\n    . S04 Last  0/1\n" in text


def test_a_terminal_with_colours_gets_them_around_the_words() -> None:
    style = Style(
        bold=lambda text: f"<b>{text}</b>",
        dim=lambda text: f"<d>{text}</d>",
        green=lambda text: f"<g>{text}</g>",
        yellow=lambda text: f"<y>{text}</y>",
    )
    text = shown(a_status(), style=style)
    assert text.startswith("<b>Docs</b><g>  (active)</g>\n<g>")
    assert "<b>▸ Wave 2 — Checkout</b><g>" in text
    assert "  1/4<y>  1 blocked</y>\n<b>    ▸ </b><b>S02 Form</b><d>  1/2</d>\n" in text
    assert "<y>    ✗ </y>S03 Mail" in text


def test_a_plan_of_another_project_says_so_first() -> None:
    assert shown(a_status(), here="/here").startswith("In use elsewhere: /p\nDocs  (active)\n")
    assert shown(a_status(), here="/p").startswith("Docs  (active)\n")


def test_no_plan_says_how_to_begin() -> None:
    assert "`sisyphus boulder start`" in shown(no_plan())


STATES = [
    pytest.param("missing", "sisyphus boulder clear", id="missing"),
    pytest.param("stale", "sisyphus boulder start", id="stale"),
    pytest.param("no_tasks", "There is no task in it.", id="no tasks"),
]


@pytest.mark.parametrize(("state", "hint"), STATES)
def test_a_plan_that_cannot_go_on_says_what_to_do(state: str, hint: str) -> None:
    head = shown(a_status("# Docs\n", state=state)).split("\n\n")[0].splitlines()
    assert head[0] == f"Docs  ({state.replace('_', ' ')})"
    assert head[1] == "░" * 20 + " 0/0 tasks complete"
    assert hint in head[2]


def test_counts_that_make_no_sense_make_no_trouble() -> None:
    progress = {**no_plan()["progress"], "total": 3, "completed": -7}
    assert "░" * 20 + " -7/3 tasks" in shown(a_status(progress=progress))
    progress = {**no_plan()["progress"], "total": 3, "completed": 7}
    assert "█" * 20 + " 7/3 tasks" in shown(a_status(progress=progress))


def test_the_answer_to_a_start_shows_the_plan() -> None:
    text = started(a_status(), now=NOW)
    assert text == f"Boulder state tracking enabled for this plan.\n\n{shown(a_status())}"


NEXT = [
    pytest.param(
        "- [ ]\n",
        "Next        a task without words\nFile        /p/.claude/PLAN.md:1",
        id="no words",
    ),
    pytest.param("- [x] a\n", "File        /p/.claude/PLAN.md", id="complete"),
]


@pytest.mark.parametrize(("text", "rows"), NEXT)
def test_what_comes_next_can_be_opened(text: str, rows: str) -> None:
    assert details(a_status(text)) == rows


def test_a_long_path_is_shown_from_the_projects_root_else_its_end() -> None:
    root = "/" + "deep/" * 20 + "project"
    status = a_status(active_plan=f"{root}/docs/kord/plans/audit.md", project_root=root)
    assert "File        docs/kord/plans/audit.md:11\n" in shown(status)
    assert "File        …s/audit.md:11\n" in shown(status, width=26)


def test_a_long_text_is_wrapped_and_cut() -> None:
    status = a_status(f"- [ ] {'word ' * 100}\n")
    rows = details(status, width=30).splitlines()
    assert rows[:3] == [
        "Next        word word word",
        " " * 12 + "word word word",
        " " * 12 + "word word word…",
    ]
    assert rows[3] == "File        .claude/PLAN.md:1"


def test_ten_todos_are_shown_and_the_others_counted() -> None:
    todos = [{"id": str(n), "content": f"todo {n}", "status": "pending"} for n in range(12)]
    rows = details(a_status("- [ ] a\n", todos=todos)).splitlines()
    assert rows[2] == "Todos       ○ todo 0"
    assert rows[-2:] == ["            ○ todo 9", "            … 2 more"]


CHECKPOINTS = [
    pytest.param({"message": "half way"}, ["Checkpoint  half way"], id="without a time"),
    pytest.param(
        {"message": "half\x1b[2J way", "timestamp": "soon"},
        ["Checkpoint  half [2J way"],
        id="with a time that is none",
    ),
    pytest.param({"message": " "}, [], id="without words"),
    pytest.param({"message": 3}, ["Checkpoint  3"], id="a number"),
]


@pytest.mark.parametrize(("checkpoint", "rows"), CHECKPOINTS)
def test_a_checkpoint_of_anybody_is_shown(checkpoint: object, rows: list[str]) -> None:
    status = a_status("- [ ] a\n", checkpoint=checkpoint)
    assert details(status).splitlines()[2:] == rows


BEGINNINGS = [
    pytest.param("", ["a"], "Started     1 session", id="at an unknown time"),
    pytest.param(STARTED, [], f"Started     {clock(STARTED)}", id="without a session"),
]


@pytest.mark.parametrize(("at", "sessions", "row"), BEGINNINGS)
def test_the_beginning_is_shown_as_far_as_it_is_known(
    at: str, sessions: list[str], row: str
) -> None:
    status = a_status("- [ ] a\n", started_at=at, session_ids=sessions)
    assert details(status).splitlines()[2:] == [row]


ENFORCED = [
    pytest.param({}, "yes", id="nothing known"),
    pytest.param(
        {"max_iterations": 1_000, "max_minutes": 60, "max_tokens": 0, "since": 7},
        "yes, at most 1,000 iterations, at most 60 minutes",
        id="limits",
    ),
    pytest.param({"max_iterations": "many", "max_minutes": True}, "yes", id="odd limits"),
    pytest.param({"released": ["s1"]}, "yes, 1 session at another plan", id="one let go"),
    pytest.param({"released": ["s1", "s2"]}, "yes, 2 sessions at another plan", id="two let go"),
    pytest.param({"released": 7}, "yes", id="odd sessions"),
]


@pytest.mark.parametrize(("enforced", "said"), ENFORCED)
def test_enforcement_is_shown_with_its_limits(enforced: object, said: str) -> None:
    assert details(a_status(enforced=enforced)).splitlines()[-1] == f"Enforced    {said}"


def a_long_plan(done: int) -> str:
    """30 waves of 20 stories of a task, the first `done` stories finished."""
    marks = ["x"] * done + [" "] * (600 - done)
    return "".join(
        (f"## Wave {number // 20 + 1}\n" if number % 20 == 0 else "")
        + f"### S{number:03}: story\n- [{mark}] t\n"
        for number, mark in enumerate(marks)
    )


def test_of_a_long_plan_the_current_wave_is_shown_and_what_is_near() -> None:
    outline = the_outline(a_long_plan(153))
    assert outline[:5] == [
        "  … 7 finished waves",
        "▸ Wave 8   ██████░░░░  13/20",
        "    … 13 finished stories",
        "    ▸ S153 story  0/1",
        "    ○ S154 story  0/1",
    ]
    assert outline[8:12] == [
        "    ○ S158 story  0/1",
        "    ○ S159 story  0/1",
        "  Wave 9   ░░░░░░░░░░   0/20",
        "  Wave 10  ░░░░░░░░░░   0/20",
    ]
    assert outline[-1] == "  … 15 more waves"
    assert len(outline) < 24


def test_a_long_list_of_stories_without_waves_is_folded_around_the_current_one() -> None:
    text = "".join(f"### S{n:02}: story\n- [{' ' if n % 2 else 'x'}] t\n" for n in range(60))
    outline = the_outline(text.replace("S31: story\n- [ ]", "S31: story\n- [/]"))
    assert outline[0] == "  … 27 more stories, 14 of them finished"
    assert outline[1:6] == [
        "  ○ S27 story  0/1",
        "  ✓ S28 story  1/1",
        "  ○ S29 story  0/1",
        "  ✓ S30 story  1/1",
        "  ▸ S31 story  0/1",
    ]
    assert outline[-1] == "  … 14 more stories, 7 of them finished"


def test_a_long_plan_that_is_blocked_shows_its_waves() -> None:
    text = a_long_plan(0).replace("[ ]", "[~]")
    assert the_outline(text)[0] == "  Wave 1   ░░░░░░░░░░  0/20  20 blocked"
    assert the_outline(text)[-1] == "  … 22 more waves"


def test_of_waves_and_stories_with_one_name_those_above_the_next_task_are_current() -> None:
    part = "## Wave 1\n### S01: a\n- [x] t\n"
    outline = the_outline(part + part + part.replace("x", " ") + part.replace("x", " "))
    assert [row[:7] for row in outline] == [
        "  Wave ", "    ✓ S", "  Wave ", "    ✓ S", "▸ Wave ", "    ▸ S", "  Wave ", "    ○ S",
    ]  # fmt: skip


def test_a_story_behind_the_waves_stands_on_its_own() -> None:
    outline = the_outline("## Wave 1\n- [ ] a\n## More\n### S09: Late\n- [ ] b\n")
    assert outline == ["▸ Wave 1  ░░░░░░░░░░  0/1", "  ○ S09 Late  0/1"]


WORDS = st.text(max_size=40)
VALUES = st.none() | WORDS | st.integers()
TODOS = st.fixed_dictionaries({"id": VALUES, "content": VALUES, "status": VALUES})


@given(
    WORDS, WORDS, WORDS, st.integers(0, 120), st.booleans(),
    st.fixed_dictionaries({"message": VALUES, "timestamp": VALUES}),
    st.lists(TODOS, max_size=3),
)  # fmt: skip
def test_whatever_a_plan_says_each_line_can_be_printed_and_fits(
    name: str,
    wave: str,
    task: str,
    width: int,
    is_ascii: bool,
    checkpoint: object,
    todos: object,
) -> None:
    status = a_status(
        f"# {name}\n## Wave 2 — {wave}\n### S01: {name}\n- [ ] {task}\n",
        checkpoint=checkpoint,
        todos=todos,
        enforced=checkpoint,
        record_path=f"/p/{name}",
    )
    text = status_text(status, now=NOW, width=width, style=Style(is_ascii=is_ascii), here=name)
    assert all(len(line) <= max(width, 24) for line in text.encode().decode().splitlines())
    assert text.split("\n") == text.splitlines()
