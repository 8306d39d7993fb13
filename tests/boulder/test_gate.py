from __future__ import annotations

import os

import pytest

from boulder.scene import DONE, PLAN, Scene
from sisyphus.boulder import actions
from sisyphus.boulder.gate import Gate, done_tasks, plan_gate

MORE = "# More\n\n- [x] a\n- [x] b\n- [ ] c\n"


def _gate(scene: Scene, noted: object = "", session: str = "s1") -> Gate:
    return plan_gate(scene.space(), session, str(noted))


PLANS = [
    pytest.param(DONE, True, "3 of 3 tasks of .claude/PLAN.md are done", id="all done"),
    pytest.param(
        PLAN, False, "1 of 3 tasks of .claude/PLAN.md are done; next: two (line 4)", id="open"
    ),
    pytest.param("- [x] a\n- [-] b\n", True, "1 of 1 tasks", id="cancelled ones do not count"),
    pytest.param("- [x] a\n- [!] b\n", False, "1 of 2 tasks of .claude/PLAN.md are done; 1 blocked",
                 id="blocked ones are not done"),
    pytest.param("- [x] a\n- [/] b\n", False, "next: b (line 2)", id="in progress"),
    pytest.param("- [ ]\n", False, "next: a task without words (line 1)", id="no words"),
    pytest.param("# Words\n", False, ".claude/PLAN.md has no tasks", id="no tasks"),
    pytest.param("- [-] a\n", False, "has no tasks", id="cancelled ones only"),
    pytest.param("\0", False, "cannot be read: ", id="unreadable"),
]  # fmt: skip


@pytest.mark.parametrize("is_followed", [True, False], ids=["followed", "found"])
@pytest.mark.parametrize(("text", "is_ok", "why"), PLANS)
def test_the_plan_is_complete_or_says_why_not(
    scene: Scene, text: str, is_ok: bool, why: str, is_followed: bool
) -> None:
    scene.write(PLAN)
    if is_followed:
        scene.start()
    plan = scene.write(text)

    gate = _gate(scene)

    assert (gate.ok, gate.path) == (is_ok, str(plan))
    assert why in gate.why


def test_without_a_plan_nothing_is_complete(scene: Scene) -> None:
    gate = _gate(scene)

    assert (gate.ok, gate.path) == (False, "")
    assert "no plan; write one to .claude/PLAN.md" in gate.why


def test_a_hostile_plan_fills_no_reply(scene: Scene) -> None:
    scene.write(f"- [ ] \x1b{'x' * 5_000}\n")

    assert len(_gate(scene).why) < 500
    assert _gate(scene).why.isprintable()


def test_a_plan_that_is_gone_is_not_complete(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    plan.unlink()

    gate = _gate(scene)

    assert (gate.ok, gate.why) == (False, "the plan .claude/PLAN.md is gone")


def test_a_plan_that_was_noted_and_is_gone_is_not_complete(scene: Scene) -> None:
    scene.write(DONE, "PLAN.md")

    assert not _gate(scene, scene.project / ".claude/PLAN.md").ok


def test_a_completed_plan_counts_though_its_record_is_cleared(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    plan = scene.write(DONE)
    scene.stop()

    assert scene.record(plan) is None
    assert _gate(scene, plan).ok


def test_a_completed_plan_counts_though_the_boulder_went_on_to_another(scene: Scene) -> None:
    scene.write(MORE, "PLAN.md")
    scene.start()
    plan = scene.write(PLAN)
    actions.start(scene.space(), ".claude/PLAN.md", "s1")
    scene.write(DONE)
    scene.stop()

    assert scene.plan_in_use.endswith("project/PLAN.md")
    assert _gate(scene, plan).ok
    assert _gate(scene).why == "2 of 3 tasks of PLAN.md are done; next: c (line 5)"


def test_the_plan_of_now_counts_where_the_one_before_was_left_open(scene: Scene) -> None:
    before = scene.write(PLAN)
    scene.start()
    now = scene.write(MORE, ".claude/plans/more.md")
    scene.tool(now)

    assert _gate(scene, before).path == str(now)


def test_another_session_has_a_plan_of_its_own(scene: Scene) -> None:
    mine = scene.write(PLAN)
    scene.start("s1")
    theirs = scene.write(MORE, ".claude/plans/more.md")
    scene.tool(theirs, "s2")

    assert _gate(scene, session="s1").path == str(mine)
    assert _gate(scene, session="s2").path == str(theirs)


def test_of_plans_that_nobody_follows_the_newest_with_tasks_counts(scene: Scene) -> None:
    scene.write(MORE, "docs/kord/plans/old.md")
    plan = scene.write(DONE)
    scene.write("# Notes\n", ".claude/plans/notes.md")

    assert (_gate(scene).ok, _gate(scene).path) == (True, str(plan))


def test_a_plan_that_was_dismissed_is_none(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    actions.clear(scene.space())

    assert _gate(scene).path == ""


@pytest.mark.parametrize("noted", ["relative.md", "a\0b", "\ud800", "/dev/null"], ids=ascii)
def test_a_strange_note_completes_nothing(scene: Scene, noted: str) -> None:
    assert not _gate(scene, noted).ok


def test_a_look_changes_nothing(scene: Scene) -> None:
    scene.write(DONE)
    _gate(scene)
    done_tasks(scene.space(), "s1", "")

    assert not scene.home.exists()


def _done(scene: Scene, noted: object = "") -> tuple[str, int] | None:
    return done_tasks(scene.space(), "s1", str(noted))


def test_the_done_tasks_are_those_of_the_record(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    before = plan.stat()
    plan.write_text(PLAN.replace("two", "2wo").replace("[ ]", "[x]"))
    os.utime(plan, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert _done(scene) == (str(plan), 1), "the file was read"


def test_the_done_tasks_are_counted_where_the_record_is_out_of_date(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    plan = scene.write(PLAN.replace("[ ] two", "[x] two"))

    assert _done(scene) == (str(plan), 2)


def test_the_done_tasks_of_a_completed_plan_are_known_by_its_note(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    plan = scene.write(DONE)
    scene.stop()

    assert _done(scene, plan) == (str(plan), 3)


def test_a_plan_that_is_gone_has_no_done_tasks(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    plan.unlink()

    assert _done(scene) is None


def test_a_plan_that_cannot_be_read_has_no_done_tasks(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    scene.write("\0")

    assert _done(scene) is None


def test_without_a_plan_there_are_no_done_tasks(scene: Scene) -> None:
    scene.write(DONE)

    assert _done(scene) is None
