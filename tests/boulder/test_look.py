from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from making import put

from boulder.scene import DONE, PLAN, Scene, is_silent, model, user
from sisyphus.boulder import actions
from sisyphus.boulder.discover import find_plans
from sisyphus.boulder.look import PLAN_LINES, Look, affordable, settled
from sisyphus.reading import PLAN_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STATES = [
    pytest.param(PLAN, "open", id="open tasks"),
    pytest.param(DONE, "complete", id="all done"),
    pytest.param("# No tasks\n", "no_tasks", id="no tasks"),
    pytest.param(None, "missing", id="no file"),
    pytest.param("\0", "unreadable", id="binary"),
    pytest.param("\n" * (PLAN_LINES + 1), "unreadable", id="too many lines"),
]


@pytest.mark.parametrize(("text", "state"), STATES)
def test_one_look_says_how_a_plan_stands(project: Path, text: str | None, state: str) -> None:
    path = project / "PLAN.md"
    if text is not None:
        put(path, text)
    assert Look(str(path), str(project)).state == state


@pytest.mark.parametrize("folder", ["project-plans", "other"])
def test_a_plan_beside_the_project_may_be_named(scene: Scene, folder: str) -> None:
    put(scene.project.parent / folder / "plan.md", PLAN)
    assert actions.start(scene.space(), f"../{folder}/plan.md")["plan_name"] == "Ship it"


LARGE = "- [x] a\n" + "x" * (PLAN_BYTES // 2)
LONG = "- [x] a\n" + "\n" * (PLAN_LINES - 10)


@pytest.mark.parametrize("text", [LARGE, LONG], ids=["large", "long"])
def test_one_hook_reads_a_bounded_part_of_the_plans_the_newest_first(
    scene: Scene, text: str
) -> None:
    for name in "abc":
        scene.write(text, f".claude/plans/{name}.md")
    looks = list(affordable(find_plans(scene.space()), str(scene.project)))
    assert [look.name for look in looks] == ["c"]


def test_the_next_hook_reads_on_where_the_last_one_stopped(scene: Scene) -> None:
    scene.write(PLAN)
    for name in "ab":
        scene.write(LARGE, f".claude/plans/{name}.md")

    first, second = scene.start(), scene.stop()

    assert (is_silent(first), first.notes) == (True, ["boulder: plan files not read yet: 2"])
    assert "Ship it, 1/3" in user(second)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "too large": (lambda plan: plan.write_bytes(b"x" * 5_000_001), "too large"),
    "too many lines": (lambda plan: plan.write_bytes(b"\n" * 1_000_001), "too large"),
    "binary": (lambda plan: plan.write_bytes(b"- [ ] a\0"), "binary"),
    "not UTF-8": (lambda plan: plan.write_bytes(b"- [ ] \xff"), "not UTF-8"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_plan_that_cannot_be_read_is_reported_once(scene: Scene, kind: str) -> None:
    spoil, reason = HOSTILE[kind]
    plan = scene.write(PLAN)
    spoil(plan)
    os.utime(plan, (scene.now, scene.now))

    first, second = scene.tool(plan), scene.stop()

    assert reason in user(first)
    assert is_silent(second)
    assert scene.in_use is None


def test_a_followed_plan_that_cannot_be_read_any_more_is_reported_and_stays(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.start()
    plan.write_bytes(b"\xff")
    os.utime(plan, (1, 1))

    first, second = scene.stop(), scene.stop()

    assert "not UTF-8. The plan is not followed until that changes." in user(first)
    assert is_silent(second)
    assert scene.record(plan)


def test_a_link_out_of_the_project_is_no_plan(scene: Scene, tmp_path: Path) -> None:
    secret = put(tmp_path / "secret.md", PLAN)
    os.utime(secret, (1, 1))
    (scene.project / "PLAN.md").symlink_to(secret)
    outcome = scene.start()
    assert model(outcome) == ""
    assert "leaves" in user(outcome)
    assert scene.in_use is None


def test_a_link_within_the_project_is_followed(scene: Scene) -> None:
    scene.write(PLAN, "docs/real.md")
    (scene.project / "PLAN.md").symlink_to(scene.project / "docs/real.md")
    assert "Plan location: PLAN.md" in model(scene.start())


def test_a_file_that_was_written_long_ago_needs_no_second_look(scene: Scene) -> None:
    look = Look(str(scene.write(DONE)), str(scene.project))
    assert settled(look) is look


@pytest.mark.parametrize("after", [DONE, PLAN, "# No tasks\n"], ids=["done", "open", "no tasks"])
def test_a_file_that_was_written_just_now_is_looked_at_again(scene: Scene, after: str) -> None:
    path = put(scene.project / "PLAN.md", DONE)
    before = Look(str(path), str(scene.project))
    put(path, after)
    assert settled(before).crc == Look(str(path), str(scene.project)).crc


def test_a_plan_that_is_completed_just_now_is_told_as_such(scene: Scene) -> None:
    scene.write(PLAN)
    scene.start()
    put(scene.project / ".claude/PLAN.md", DONE)
    assert "[BOULDER COMPLETE]" in user(scene.stop())
