from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from boulder.scene import DAY, DONE, PLAN, Scene, is_silent, model, user
from sisyphus.boulder import actions
from sisyphus.boulder.meant import NotFollowedError
from sisyphus.boulder.store import own_record_path
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sisyphus._types import Json

NOTHING: Json = {
    "state": "none",
    "active_plan": None,
    "project_root": None,
    "plan_name": None,
    "started_at": None,
    "session_ids": [],
    "progress": {
        "total": 0,
        "completed": 0,
        "blocked": 0,
        "in_progress": 0,
        "cancelled": 0,
        "steps_total": 0,
        "steps_completed": 0,
    },
    "next_task": None,
    "next_task_line": None,
    "current_wave": None,
    "current_story": None,
    "waves": [],
    "stories": [],
    "checkpoint": None,
    "todos": [],
    "record_path": None,
    "record_problem": None,
    "in_repo": False,
    "enforced": None,
    "open_plans": [],
}
KORD = """\
# Docs

## Wave 1 — Base

### S01: README
- [x] one
  - [x] step
- [~] two

## Wave 2

- [/] three
- [-] four
"""


def test_the_status_of_nothing(scene: Scene) -> None:
    assert actions.status(scene.space()) == NOTHING
    assert not scene.home.exists()


def test_the_status_of_a_plan_is_that_of_its_file_now(scene: Scene) -> None:
    scene.edit(PLAN)
    plan = scene.write(KORD)

    found: object = actions.status(scene.space())
    assert found == {
        "state": "active",
        "active_plan": str(plan),
        "project_root": str(scene.project),
        "plan_name": "Docs",
        "started_at": "2001-09-09T01:46:41Z",
        "session_ids": ["s1"],
        "progress": {
            "total": 3,
            "completed": 1,
            "blocked": 1,
            "in_progress": 1,
            "cancelled": 1,
            "steps_total": 1,
            "steps_completed": 1,
        },
        "next_task": "three",
        "next_task_line": 12,
        "current_wave": 2,
        "current_story": "W2.1",
        "waves": [
            {
                "number": 1,
                "name": "Base",
                "line": 3,
                "total": 2,
                "completed": 1,
                "blocked": 1,
            },
            {"number": 2, "name": "", "line": 10, "total": 1, "completed": 0, "blocked": 0},
        ],
        "stories": [
            {
                "id": "S01",
                "title": "README",
                "line": 5,
                "wave": 1,
                "status": "blocked",
                "total": 2,
                "completed": 1,
            }
        ],
        "checkpoint": None,
        "todos": [],
        "record_path": own_record_path(str(scene.home), str(scene.project)),
        "record_problem": None,
        "in_repo": False,
        "enforced": None,
        "open_plans": [],
    }
    assert scene.in_use
    assert scene.in_use["progress"] == {"total": 3, "completed": 1}


def _age(scene: Scene) -> None:
    scene.end()
    scene.now += 15 * DAY


STATES: dict[str, Callable[[Scene], object]] = {
    "active": lambda _: None,
    "complete": lambda scene: scene.write(DONE),
    "no_tasks": lambda scene: scene.write("# Nothing\n"),
    "missing": lambda scene: (scene.project / ".claude/PLAN.md").unlink(),
    "stale": _age,
}


@pytest.mark.parametrize("state", STATES)
def test_a_plan_is_in_one_of_these_states(scene: Scene, state: str) -> None:
    scene.edit(PLAN)
    STATES[state](scene)
    assert actions.status(scene.space())["state"] == state


def test_of_a_plan_that_is_gone_the_record_tells(scene: Scene) -> None:
    scene.edit(PLAN)
    (scene.project / ".claude/PLAN.md").unlink()
    found = actions.status(scene.space())
    assert (found["plan_name"], found["progress"]["completed"]) == ("Ship it", 1)


def test_without_a_plan_here_the_status_is_that_of_the_plan_in_use(
    scene: Scene, other: Path
) -> None:
    scene.edit(PLAN)
    assert actions.status(scene.space(str(other)))["plan_name"] == "Ship it"
    assert actions.status(scene.space(str(other)), elsewhere=False)["state"] == "none"


def test_the_status_of_a_plan_that_cannot_be_read_says_why(scene: Scene) -> None:
    scene.edit(PLAN)
    (scene.project / ".claude/PLAN.md").write_bytes(b"\xff")
    with pytest.raises(SisyphusError, match="not UTF-8"):
        actions.status(scene.space())


FILES = [
    pytest.param(PLAN, "active", id="open"),
    pytest.param(DONE, "complete", id="complete"),
    pytest.param("text", "no_tasks", id="no tasks"),
    pytest.param(None, "missing", id="missing"),
]


@pytest.mark.parametrize(("text", "state"), FILES)
def test_any_plan_file_has_a_status_and_nothing_is_written(
    scene: Scene, text: str | None, state: str
) -> None:
    path = scene.project / "docs/todo.md"
    if text is not None:
        scene.write(text, "docs/todo.md")
    found = actions.status_of_file(str(path))
    assert (found["state"], found["active_plan"], found["project_root"], found["started_at"]) == (
        state,
        str(path),
        str(scene.project),
        None,
    )
    assert not scene.home.exists()


def test_clear_forgets_the_plan_and_leaves_its_file(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()

    last = actions.clear(scene.space())

    assert (last["state"], last["plan_name"]) == ("active", "Ship it")
    assert (scene.in_use, scene.book()["plans"]) == (None, {})
    assert plan.read_text() == PLAN
    assert json.loads(scene.history()[0])["outcome"] == "cleared"


def test_a_cleared_plan_stays_dismissed(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    actions.clear(scene.space())
    scene.write(PLAN)  # touched, not changed
    turns = [scene.start("s2"), scene.prompt(), scene.tool(plan), scene.stop()]
    assert [is_silent(turn) for turn in turns] == [True] * 4


BACK: dict[str, Callable[[Scene], object]] = {
    "start": lambda scene: actions.start(scene.space()),
    "a change": lambda scene: scene.write(PLAN + "- [ ] four\n"),
}


@pytest.mark.parametrize("how", BACK)
def test_a_cleared_plan_comes_back_by(scene: Scene, how: str) -> None:
    scene.edit(PLAN)
    actions.clear(scene.space())
    BACK[how](scene)
    assert "Active plan: Ship it" in model(scene.start("s2"))


@pytest.mark.parametrize("state", [*STATES, "unreadable"])
def test_a_plan_in_any_state_can_be_cleared(scene: Scene, state: str) -> None:
    scene.edit(PLAN)
    if state == "unreadable":
        (scene.project / ".claude/PLAN.md").write_bytes(b"\xff")
    else:
        STATES[state](scene)
    assert actions.clear(scene.space())["active_plan"] == str(scene.project / ".claude/PLAN.md")
    assert (scene.in_use, scene.book()["plans"]) == (None, {})


def test_without_a_plan_here_the_one_in_use_is_cleared(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    assert actions.clear(scene.space(str(other)))["project_root"] == str(scene.project)
    assert (scene.in_use, scene.book()["plans"]) == (None, {})


def test_a_boulder_that_another_tool_wrote_can_be_cleared(scene: Scene, other: Path) -> None:
    scene.use({"active_plan": str(scene.project / "PLAN.md")})
    actions.clear(scene.space(str(other)))
    assert scene.in_use is None


def test_clear_here_leaves_the_boulder_of_another_project(scene: Scene, other: Path) -> None:
    scene.edit(PLAN)
    theirs = scene.write("- [ ] x\n", "PLAN.md", other)
    scene.start("s2", cwd=str(other))
    actions.clear(scene.space())
    assert scene.plan_in_use == str(theirs)


def test_there_is_nothing_to_clear(scene: Scene, other: Path) -> None:
    with pytest.raises(SisyphusError, match="nothing to clear"):
        actions.clear(scene.space())
    scene.edit(PLAN)
    with pytest.raises(SisyphusError, match="nothing to clear"):
        actions.clear(scene.space(str(other)), elsewhere=False)


@pytest.mark.parametrize("name", ["Ship it", "ship", "PLAN", ".claude/PLAN.md"])
def test_a_plan_that_is_named_is_cleared_even_if_it_is_gone(scene: Scene, name: str) -> None:
    scene.edit(PLAN)
    scene.edit("# Second\n- [ ] x\n", ".claude/plans/second.md", session="s2")
    (scene.project / ".claude/PLAN.md").unlink()

    assert actions.clear(scene.space(), name=name)["state"] == "missing"
    assert list(scene.book()["plans"]) == [str(scene.project / ".claude/plans/second.md")]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        pytest.param("third", "no plan that is followed here: Second ", id="unknown"),
        pytest.param("s", "several plans; name one: Second .*, Ship it ", id="of several"),
    ],
)
def test_a_name_that_means_no_plan_or_several_clears_nothing(
    scene: Scene, name: str, why: str
) -> None:
    scene.edit(PLAN)
    scene.edit("# Second\n- [ ] x\n", ".claude/plans/second.md", session="s2")

    with pytest.raises(SisyphusError, match=why):
        actions.clear(scene.space(), name=name)
    assert len(scene.book()["plans"]) == 2


def test_where_no_plan_is_followed_a_name_means_none(scene: Scene) -> None:
    with pytest.raises(SisyphusError, match=r"no plan is followed in .*`sisyphus boulder list`"):
        actions.clear(scene.space(), name="third", elsewhere=False)


def test_start_follows_the_only_open_plan(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.write(DONE, "docs/kord/plans/done.md")
    found = actions.start(scene.space(), session="s9")
    assert (found["state"], found["active_plan"], found["session_ids"]) == (
        "active",
        str(plan),
        ["s9"],
    )
    assert scene.plan_in_use == str(plan)


def test_start_takes_a_stale_plan_up_again(scene: Scene) -> None:
    scene.edit(PLAN)
    _age(scene)
    assert actions.start(scene.space())["state"] == "active"
    assert "Active plan: Ship it" in model(scene.start("s2"))


def test_switch_puts_the_plan_of_this_project_in_use(scene: Scene, other: Path) -> None:
    first = scene.write(PLAN)
    scene.start()
    theirs = scene.write("- [ ] x\n", "PLAN.md", other)
    scene.tool(theirs)
    actions.switch(scene.space(str(other)))
    assert scene.plan_in_use == str(theirs)
    actions.switch(scene.space())
    assert scene.plan_in_use == str(first)


def test_switch_to_a_plan_by_name_keeps_the_record_of_the_other(scene: Scene) -> None:
    first = scene.write(PLAN)
    scene.start()
    second = scene.edit("# Second\n- [ ] x\n", ".claude/plans/second.md")
    assert "Second" in user(second)
    found = actions.switch(scene.space(), "ship it")
    assert (found["active_plan"], found["session_ids"]) == (str(first), ["s1"])
    assert len(scene.book()["plans"]) == 2


SECOND = ".claude/plans/second.md"


def _two(scene: Scene) -> tuple[Path, Path]:
    """Two open plans that a session was asked about."""
    first, second = scene.write(PLAN), scene.write("# Second\n- [ ] x\n", SECOND)
    scene.start()
    return first, second


@pytest.mark.parametrize("is_known", [True, False], ids=["asked about", "never looked at"])
def test_of_several_plans_none_is_chosen_and_the_open_ones_are_named(
    scene: Scene, is_known: bool
) -> None:
    scene.write(DONE, "docs/kord/plans/done.md")
    scene.write(PLAN)
    scene.write("# Second\n- [ ] x\n", SECOND)
    if is_known:
        scene.start()
    found = actions.status(scene.space())
    assert found["state"] == "none"
    assert sorted(row["plan_name"] for row in found["open_plans"]) == ["Second", "Ship it"]


def test_a_plan_elsewhere_hides_no_open_plans_here(scene: Scene, other: Path) -> None:
    scene.write("- [ ] x\n", "PLAN.md", other)
    scene.start("s2", cwd=str(other))
    first, second = _two(scene)
    found = actions.status(scene.space())
    assert found["project_root"] == str(other)
    assert {row["active_plan"] for row in found["open_plans"]} == {str(first), str(second)}


def test_a_chosen_plan_leaves_no_question(scene: Scene) -> None:
    _two(scene)
    assert actions.start(scene.space(), "second")["open_plans"] == []


def test_a_dismissed_plan_is_no_open_one(scene: Scene) -> None:
    scene.edit(PLAN)
    actions.clear(scene.space())
    assert actions.status(scene.space())["open_plans"] == []


WITHOUT_A_CHOICE: dict[str, Callable[[Scene], object]] = {
    "checkpoint": lambda scene: actions.checkpoint(scene.space(), "here"),
    "enforce": lambda scene: actions.enforce(scene.space(), on=True),
    "todos": lambda scene: actions.todos(scene.space()),
    "clear": lambda scene: actions.clear(scene.space()),
    "to_clear": lambda scene: actions.to_clear(scene.space()),
}


@pytest.mark.parametrize("command", WITHOUT_A_CHOICE)
def test_where_none_of_several_plans_is_chosen_the_plans_are_named(
    scene: Scene, other: Path, command: str
) -> None:
    scene.write("- [ ] x\n", "PLAN.md", other)
    scene.start("s2", cwd=str(other))
    _two(scene)
    with pytest.raises(NotFollowedError) as caught:
        WITHOUT_A_CHOICE[command](scene)
    assert "Second (.claude/plans/second.md), Ship it (.claude/PLAN.md)" in str(caught.value)
    assert "`sisyphus boulder start NAME`" in str(caught.value)
    assert scene.plan_in_use.startswith(str(other)), "the plan of another project was meant"


@pytest.mark.parametrize("command", WITHOUT_A_CHOICE)
def test_without_any_plan_the_answer_says_how_to_begin(scene: Scene, command: str) -> None:
    with pytest.raises(SisyphusError, match=r"no plan is followed in .*`sisyphus boulder start`"):
        WITHOUT_A_CHOICE[command](scene)


def test_the_only_plan_can_be_cleared_though_nobody_chose_it(scene: Scene) -> None:
    first, _ = _two(scene)
    actions.start(scene.space(), "second")
    actions.clear(scene.space())
    assert actions.clear(scene.space())["active_plan"] == str(first)


def test_what_would_be_cleared_can_be_asked_of_a_plan_that_cannot_be_read(scene: Scene) -> None:
    scene.edit(PLAN)
    (scene.project / ".claude/PLAN.md").write_bytes(b"\xff")
    found = actions.to_clear(scene.space())
    assert (found["plan_name"], found["progress"]["total"]) == ("Ship it", 3)


def test_what_a_person_starts_is_the_choice_for_the_sessions_to_come(scene: Scene) -> None:
    _, second = _two(scene)
    actions.start(scene.space(), "second")
    assert scene.book()["chosen"] == str(second)
    assert "Active plan: Second" in model(scene.start("s2"))


def test_what_a_session_starts_holds_for_it_alone(scene: Scene) -> None:
    first, second = _two(scene)
    actions.start(scene.space(), "ship")
    actions.start(scene.space(), "second", "s2")
    assert scene.book()["chosen"] == str(first)
    assert actions.status(scene.space(), "s2")["active_plan"] == str(second)
    assert "Active plan: Ship it" in model(scene.start("s3"))


def test_the_record_can_lie_in_the_project(scene: Scene) -> None:
    plan = scene.write(PLAN)
    found = actions.start(scene.space(), in_repo=True)
    path = scene.project / "docs/kord/boulder.json"
    assert (found["in_repo"], found["record_path"]) == (True, str(path))
    assert json.loads(path.read_text())["activePlan"] == str(plan.relative_to(scene.project))


def test_a_checkpoint_is_kept_with_the_plan_and_in_the_history(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    found = actions.checkpoint(scene.space(), 'half of "two"', session="s1")
    assert found["checkpoint"] == {"timestamp": "2001-09-09T01:46:41Z", "message": 'half of "two"'}
    last = json.loads(scene.history()[-1])
    assert (last["outcome"], last["message"], last["by"], last["session"]) == (
        "checkpoint",
        'half of "two"',
        "user",
        "s1",
    )


@pytest.mark.parametrize("message", ["", " \n"], ids=["nothing", "white space"])
def test_a_checkpoint_without_words_says_where_the_work_stands(scene: Scene, message: str) -> None:
    scene.edit(PLAN)
    found = actions.checkpoint(scene.space(), message)
    assert found["checkpoint"]
    assert found["checkpoint"]["message"] == "1/3 tasks done; next: two (line 4)"


HOSTILE_WORDS = [
    pytest.param("x" * 100_000, 1_000, id="long"),
    pytest.param("a\x1b[31m\0b\nc", 10, id="controls"),
    pytest.param("a \ud800 b", 3, id="half a surrogate pair"),
]


@pytest.mark.parametrize(("message", "length"), HOSTILE_WORDS)
def test_a_checkpoint_is_one_short_line(scene: Scene, message: str, length: int) -> None:
    scene.edit(PLAN)
    found = actions.checkpoint(scene.space(), message)["checkpoint"]
    assert found
    assert len(found["message"]) == length
    assert found["message"].isprintable()
    assert "Last checkpoint: " in model(scene.start("s2"))


KORD_PARTS = [
    pytest.param(None, "s01", (1, "S01"), id="a story, in any case"),
    pytest.param(2, "", (2, "W2.1"), id="a wave"),
    pytest.param(1, "S01", (1, "S01"), id="both"),
]


@pytest.mark.parametrize(("wave", "story", "now"), KORD_PARTS)
def test_a_checkpoint_may_name_where_the_work_goes_on(
    scene: Scene, wave: int | None, story: str, now: tuple[int, str]
) -> None:
    scene.edit(KORD.replace("[~] two", "[ ] two"))
    found = actions.checkpoint(scene.space(), "x", wave=wave, story=story)
    assert (found["current_wave"], found["current_story"]) == now


UNKNOWN_PARTS = [
    pytest.param(None, "S99", "no story S99. Its stories: S01", id="no such story"),
    pytest.param(9, "", "no wave 9. Its waves: 1, 2.", id="no such wave"),
    pytest.param(-1, "", "no wave -1", id="a negative wave"),
    pytest.param(2, "S01", "story S01 is in wave 1, not in wave 2", id="not in that wave"),
]


@pytest.mark.parametrize(("wave", "story", "words"), UNKNOWN_PARTS)
def test_a_part_that_the_plan_has_not_changes_nothing(
    scene: Scene, wave: int | None, story: str, words: str
) -> None:
    scene.edit(KORD)
    before = scene.book()
    with pytest.raises(SisyphusError) as caught:
        actions.checkpoint(scene.space(), "x", wave=wave, story=story)
    assert words in str(caught.value)
    assert (scene.book(), scene.history()) == (before, [])


BROKEN = [
    pytest.param(None, r"\.claude/PLAN\.md is gone\. Restore the file, or", id="gone"),
    pytest.param(b"\xff", "not UTF-8", id="unreadable"),
]


@pytest.mark.parametrize(("content", "words"), BROKEN)
@pytest.mark.parametrize("command", ["checkpoint", "enforce"])
def test_a_plan_that_says_nothing_is_neither_noted_nor_enforced(
    scene: Scene, command: str, content: bytes | None, words: str
) -> None:
    scene.edit(PLAN)
    plan = scene.project / ".claude/PLAN.md"
    if content is None:
        plan.unlink()
    else:
        plan.write_bytes(content)
    before = scene.book()
    with pytest.raises(SisyphusError, match=words):
        WITHOUT_A_CHOICE[command](scene)
    assert scene.book() == before


def test_a_checkpoint_finds_a_plan_whose_file_was_moved(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    moved = scene.project / "docs/plan.md"
    moved.parent.mkdir()
    plan.rename(moved)
    found = actions.checkpoint(scene.space(), "x")
    assert (found["active_plan"], found["state"]) == (str(moved), "active")


def test_start_finds_again_what_is_known_of_a_plan_whose_file_was_moved(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    actions.checkpoint(scene.space(), "x")
    moved = scene.project / "docs/kord/plans/ship.md"
    moved.parent.mkdir(parents=True)
    plan.rename(moved)
    found = actions.start(scene.space(), "ship")
    assert (found["active_plan"], found["session_ids"]) == (str(moved), ["s1"])
    assert found["checkpoint"]
    assert list(scene.book()["plans"]) == [str(moved)]
    assert scene.plan_in_use == str(moved)


def test_start_leaves_another_plan_that_is_gone(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    scene.write("# Second\n- [ ] x\n", SECOND)
    plan.unlink()
    assert actions.start(scene.space(), "second")["session_ids"] == []
    assert str(plan) in scene.book()["plans"]
    assert "[BOULDER PLAN MISSING]" in user(scene.prompt())


def test_a_session_speaks_of_its_own_plan(scene: Scene) -> None:
    first, second = _two(scene)
    actions.start(scene.space(), "ship", "s1")
    actions.start(scene.space(), "second", "s2")
    assert actions.checkpoint(scene.space(), "x", session="s1")["active_plan"] == str(first)
    assert actions.checkpoint(scene.space(), "x", session="s2")["active_plan"] == str(second)


def test_a_plan_is_enforced_with_limits_until_it_is_not(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    found = actions.enforce(scene.space(), on=True, limits={"max_minutes": 5})
    assert found["enforced"] == {"since": "2001-09-09T01:46:41.000Z", "max_minutes": 5}
    assert scene.in_use
    assert scene.in_use["metadata"]["enforced"] == found["enforced"]
    assert actions.enforce(scene.space(), on=False)["enforced"] is None
    record = scene.record(plan)
    assert record
    assert "enforced" not in record["metadata"]


def test_a_plan_that_is_not_enforced_cannot_be_let_go(scene: Scene) -> None:
    scene.edit(PLAN)
    with pytest.raises(SisyphusError, match="Ship it is not enforced"):
        actions.enforce(scene.space(), on=False)


def test_a_plan_that_cannot_be_read_can_be_let_go(scene: Scene) -> None:
    scene.edit(PLAN)
    actions.enforce(scene.space(), on=True)
    (scene.project / ".claude/PLAN.md").write_bytes(b"\xff")
    assert actions.enforce(scene.space(), on=False)["enforced"] is None


def test_without_the_loop_nobody_would_be_held(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SISYPHUS_RALPH_ENABLED", "0")
    scene.edit(PLAN)
    with pytest.raises(SisyphusError, match=r"ralph\.enabled"):
        actions.enforce(scene.space(), on=True)


def test_the_todos_are_those_of_the_plan(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    todo = {"content": "Ask", "status": "completed", "activeForm": "Asking"}
    scene.tool(scene.project, tool_name="TodoWrite", tool_input={"todos": [todo]})
    found = actions.todos(scene.space())
    assert [(todo["content"], todo["status"]) for todo in found] == [("Ask", "completed")]
