"""Which plan a new session gets where several are open, and what it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import put

from boulder.scene import (
    CONTINUATION,
    DAY,
    DONE,
    ENABLED,
    PLAN,
    Scene,
    is_silent,
    model,
    user,
)
from sisyphus.boulder import actions

if TYPE_CHECKING:
    from pathlib import Path

AUDIT = "# Audit\n\n- [ ] a\n- [ ] b\n"
AUDIT_FILE = "docs/kord/plans/audit.md"
ASKED = """\
[BOULDER PLANS OPEN]

2 plans are open in this project, and this session continues none of them yet:

- Audit: 0/2 tasks complete (docs/kord/plans/audit.md)
- Ship it: 1/3 tasks complete (.claude/PLAN.md)

If the user's message does not say which one to work on, or asks for something else, do not pick \
one: ask. To continue one: `sisyphus boulder start NAME`."""


@pytest.fixture
def two(scene: Scene) -> tuple[Path, Path]:
    """Two open plans; the audit is the newer one."""
    return scene.write(PLAN), scene.write(AUDIT, AUDIT_FILE)


def test_with_two_open_plans_a_new_session_is_asked(scene: Scene, two: tuple[Path, Path]) -> None:
    outcome = scene.start()

    assert model(outcome) == ASKED
    assert user(outcome) == (
        "Boulder: 2 plans are open here: Audit (0/2), Ship it (1/3). "
        "To continue one: /sisyphus:start-work NAME"
    )
    assert outcome.notes[-1] == "boulder: 2 plans are open, none resumed"
    assert (scene.book()["current"], scene.book()["undecided"]) == (None, True)
    assert [scene.record(plan)["session_ids"] for plan in two] == [[], []]  # type: ignore[index]
    assert scene.in_use is None


@pytest.mark.parametrize("event", ["prompt", "stop", "compact", "end"])
@pytest.mark.usefixtures("two")
def test_while_nobody_has_said_which_nothing_more_is_said(scene: Scene, event: str) -> None:
    scene.start()
    assert is_silent(getattr(scene, event)())
    assert (scene.book()["current"], scene.events()) == (None, [])


@pytest.mark.usefixtures("two")
def test_each_session_is_asked_until_somebody_says_which(scene: Scene) -> None:
    scene.start()
    assert model(scene.start("s2")) == ASKED
    assert model(scene.start("s2", "resume")) == ASKED


@pytest.mark.usefixtures("two")
def test_after_a_compaction_only_the_model_is_asked_again(scene: Scene) -> None:
    scene.start()
    outcome = scene.start(source="compact")
    assert (model(outcome), user(outcome)) == (ASKED, "")


@pytest.mark.usefixtures("two")
def test_a_fork_is_not_asked(scene: Scene) -> None:
    scene.start()
    assert is_silent(scene.start("s2", "fork"))


def test_a_session_that_edits_one_of_them_is_at_it(scene: Scene, two: tuple[Path, Path]) -> None:
    plan, audit = two
    scene.start()
    scene.edit(AUDIT.replace("[ ] a", "[x] a"), AUDIT_FILE)

    assert "Active plan: Audit\nProgress: 1/2" in model(scene.start("s1", "resume"))

    assert scene.book()["sessions"] == {"s1": str(audit)}
    assert (scene.book()["current"], scene.plan_in_use) == (str(audit), str(audit))
    assert scene.record(plan)["session_ids"] == []  # type: ignore[index]


def test_a_new_session_is_asked_while_another_one_is_at_a_plan(
    scene: Scene, two: tuple[Path, Path]
) -> None:
    scene.start()
    scene.tool(two[1])
    assert model(scene.start("s2")).startswith("[BOULDER PLANS OPEN]\n\n2 plans are open")
    assert scene.book()["sessions"] == {"s1": str(two[1])}


@pytest.mark.usefixtures("two")
def test_what_a_session_starts_holds_for_it_alone(scene: Scene) -> None:
    scene.start()
    actions.start(scene.space(), "Ship it", "s1")
    assert "Active plan: Ship it" in model(scene.start("s1", "compact"))
    assert "[BOULDER PLANS OPEN]" in model(scene.start("s2"))


@pytest.mark.usefixtures("two")
def test_what_a_person_starts_goes_on_in_new_sessions_which_are_told_of_the_others(
    scene: Scene,
) -> None:
    actions.start(scene.space(), "Ship it")

    outcome = scene.start()

    assert model(outcome) == (
        f"{CONTINUATION}\n\nNext task: two\n\nAlso open in this project: Audit (0/2)."
    )
    assert user(outcome) == "Boulder: Ship it, 1/3 tasks complete (.claude/PLAN.md)"


@pytest.mark.usefixtures("two")
def test_the_choice_ends_with_a_plan_that_is_written_later(scene: Scene) -> None:
    actions.start(scene.space(), "Ship it")
    scene.start()
    scene.edit("# Third\n- [ ] x\n", ".claude/plans/third.md")
    assert "3 plans are open" in model(scene.start("s2"))


def test_a_stale_plan_does_not_count(scene: Scene) -> None:
    scene.write(AUDIT, AUDIT_FILE)
    scene.start()
    scene.end()
    scene.now += 20 * DAY
    scene.write(PLAN)

    outcome = scene.start("s2")

    assert model(outcome).startswith(CONTINUATION)
    assert "Also open" not in model(outcome)


def test_a_choice_that_is_stale_does_not_count(scene: Scene) -> None:
    scene.write(AUDIT, AUDIT_FILE)
    scene.start()
    actions.start(scene.space(), "Audit")
    scene.end()
    scene.now += 20 * DAY
    scene.write(PLAN)
    assert model(scene.start("s2")).startswith(CONTINUATION)


def test_where_all_are_stale_the_session_is_asked_and_told_so(scene: Scene) -> None:
    scene.write(PLAN)
    scene.write(AUDIT, AUDIT_FILE)
    scene.now += 20 * DAY
    assert model(scene.start()).count(", stale") == 2


def test_when_one_of_two_is_complete_the_other_is_current_and_nobodys(
    scene: Scene, two: tuple[Path, Path]
) -> None:
    plan, _ = two
    scene.start()
    scene.edit(AUDIT.replace("[ ]", "[x]"), AUDIT_FILE)

    told = user(scene.stop())

    assert told == "Boulder: Ship it, 1/3 tasks complete (.claude/PLAN.md)"
    assert (scene.book()["current"], scene.book()["sessions"]) == (str(plan), {})
    assert scene.record(plan)["session_ids"] == []  # type: ignore[index]
    assert model(scene.start("s2")).startswith(CONTINUATION)


@pytest.mark.usefixtures("two")
def test_when_one_of_three_is_complete_nobody_decides_for_the_user(scene: Scene) -> None:
    scene.write("# Third\n- [ ] x\n", "PLAN.md")
    scene.start()
    scene.edit("# Third\n- [x] x\n", "PLAN.md")
    assert is_silent(scene.stop())
    assert (scene.book()["current"], scene.book()["undecided"]) == (None, True)
    assert "2 plans are open" in model(scene.start("s2"))


def test_after_clear_the_plan_of_the_session_before_goes_on(
    scene: Scene, two: tuple[Path, Path]
) -> None:
    scene.start()
    scene.tool(two[0])
    scene.tool(two[1], "other")

    assert model(scene.after_clear("s2", "s1")).startswith(CONTINUATION)

    assert scene.book()["sessions"]["s2"] == str(two[0])


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_a_session_that_comes_back_keeps_its_own_plan(
    scene: Scene, two: tuple[Path, Path], source: str
) -> None:
    scene.tool(two[0], "s1")
    scene.tool(two[1], "s2")
    actions.start(scene.space(), "Audit")
    assert "Active plan: Ship it" in model(scene.start("s1", source))
    assert "Active plan: Audit" in model(scene.start("s2", source))


def test_two_sessions_on_two_plans_do_not_touch_each_others_record(
    scene: Scene, two: tuple[Path, Path]
) -> None:
    plan, audit = two
    scene.tool(plan, "s1")
    scene.tool(audit, "s2")
    before = scene.record(plan)
    notes = scene.book()["notes"][str(plan)]

    scene.edit(AUDIT.replace("[ ] a", "[x] a"), AUDIT_FILE, session="s2")
    scene.todo("theirs", session="s2")
    scene.compact("s2")
    scene.end("s2")

    assert scene.record(plan) == before
    assert scene.book()["notes"][str(plan)] == notes
    assert scene.record(audit)["session_ids"] == ["s2"]  # type: ignore[index]


RENAMED = [
    pytest.param(".claude/OLD.md", ".claude/PLAN-2.md", id="same folder"),
    pytest.param("docs/kord/plans/a.md", "docs/kord/plans/b.md", id="a plan's name again"),
    pytest.param("PLAN.md", "notes/deep/later.md", id="another folder"),
]


@pytest.mark.parametrize("event", ["prompt", "stop", "start"])
@pytest.mark.parametrize(("old", "new"), RENAMED)
def test_a_plan_that_was_renamed_goes_on_with_all_that_is_known_of_it(
    scene: Scene, old: str, new: str, event: str
) -> None:
    plan = scene.write(PLAN, old)
    actions.start(scene.space(), str(plan), "s1")
    scene.todo("write")
    started = scene.record(plan)
    (scene.project / new).parent.mkdir(parents=True, exist_ok=True)
    plan.rename(scene.project / new)

    outcome = scene.start("s2") if event == "start" else getattr(scene, event)()

    assert f"Boulder: the plan {old} is {new} now; it is followed there." in user(outcome)
    assert "MISSING" not in model(outcome) + user(outcome)
    record = scene.record(scene.project / new)
    assert record
    assert (record["started_at"], scene.record(plan)) == (started["started_at"], None)  # type: ignore[index]
    assert scene.plan_in_use == scene.book()["current"] == str(scene.project / new)
    assert "- write" in model(scene.start("s3"))
    assert "moved" in scene.events()


def test_a_plan_that_is_renamed_beside_others_is_not_taken_for_a_new_one(
    scene: Scene, two: tuple[Path, Path]
) -> None:
    scene.tool(two[0], "s1")
    scene.todo("write")
    scene.write("# Third\n- [ ] x\n", "PLAN.md")
    two[1].rename(two[1].with_name("renamed.md"))
    scene.start("s2")
    two[0].rename(scene.project / ".claude/plans.md")
    (scene.project / ".claude/plans").mkdir()
    (scene.project / ".claude/plans.md").rename(scene.project / ".claude/plans/ship.md")

    outcome = scene.start("s3")

    assert "MISSING" not in user(outcome)
    moved = scene.record(scene.project / ".claude/plans/ship.md")
    assert moved
    assert moved["session_ids"] == ["s1"]
    assert len(scene.book()["plans"]) == 3


def test_a_plan_that_was_renamed_and_changed_is_missing(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    plan.unlink()
    scene.write(PLAN + "- [ ] more\n", "docs/elsewhere.md")
    assert "[BOULDER PLAN MISSING]" in user(scene.stop())


def test_each_time_that_a_plan_goes_is_told(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    away = scene.project.parent / "away.md"
    for _ in range(2):
        plan.rename(away)
        assert "[BOULDER PLAN MISSING]" in user(scene.stop())
        assert is_silent(scene.stop())
        away.rename(plan)
        assert is_silent(scene.stop())


def test_many_plans_that_were_renamed_at_once_go_on(scene: Scene) -> None:
    names = [scene.write(f"# Plan {n}\n- [ ] a\n", f".claude/plans/{n}.md").name for n in range(5)]
    scene.start()
    (scene.project / ".claude/plans").rename(scene.project / "later")
    told = user(scene.stop())
    assert told.count("it is followed there") == 5
    assert sorted(scene.book()["plans"]) == [str(scene.project / "later" / n) for n in names]


def test_an_edit_of_a_plan_that_was_moved_since_is_no_failure(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    (scene.project / "later").mkdir()
    plan.rename(scene.project / "later/ship.md")
    assert "is later/ship.md now" in user(scene.tool(plan))
    assert scene.book()["sessions"] == {"s1": str(scene.project / "later/ship.md")}


@pytest.mark.usefixtures("two")
def test_a_person_chooses_a_plan_in_an_unusual_place(scene: Scene) -> None:
    put(scene.project / "ideas/big.md", "# Big\n- [ ] x\n")
    actions.start(scene.space(), "ideas/big.md")
    assert "Active plan: Big" in model(scene.start())


def test_a_new_plan_is_announced_once(scene: Scene) -> None:
    scene.by_hand(scene.theirs, activePlan=".claude/PLAN.md")
    scene.write(PLAN)
    assert user(scene.start()) == f"{ENABLED}: Ship it, 1/3 tasks complete (.claude/PLAN.md)"


def test_a_plan_that_is_done_by_the_time_of_the_start_is_told_and_the_other_goes_on(
    scene: Scene, two: tuple[Path, Path]
) -> None:
    scene.tool(two[0], "s1")
    scene.start("s2")
    scene.write(DONE)
    outcome = scene.start("s3")
    assert "[BOULDER COMPLETE]" in user(outcome)
    assert "Active plan: Audit" in model(outcome)
