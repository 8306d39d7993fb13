"""Plans whose files are odd: by their names, as their tool writes them, or no longer readable."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from world import World

PLAN = "# Shop\n\n- [ ] a\n- [ ] b\n"


def test_a_file_whose_name_begins_with_an_at_sign(world: World) -> None:
    world.write("@fix_plan.md", "# Odd\n\n- [ ] a\n")

    for name in ("@fix_plan.md", "@@fix_plan.md", '"@fix_plan.md"'):
        assert world.cli("boulder", "start", name).code == 0, name
        assert world.plan()["plan_name"] == "Odd"
    assert world.cli("boulder", "clear", "@fix_plan.md").code == 0


def test_an_at_sign_before_a_file_without_one(world: World) -> None:
    world.write("fix_plan.md", "# Even\n\n- [ ] a\n")

    assert world.cli("boulder", "start", "@fix_plan.md").code == 0
    assert world.plan()["plan_name"] == "Even"


# ------------------------------------------------------------ sub-tasks of OpenSpec


def test_a_task_below_a_ticked_one_is_open(world: World) -> None:
    name = "openspec/changes/pay/tasks.md"
    world.write(name, "## 1. Pay\n\n- [x] 1.1 a\n  - [ ] 1.1.1 b\n")

    assert world.cli("boulder", "start", name).code == 0
    plan = world.plan()
    assert (plan["progress"]["total"], plan["progress"]["completed"]) == (2, 1)
    assert plan["next_task"] == "1.1.1 b"

    world.write(name, "## 1. Pay\n\n- [x] 1.1 a\n  - [x] 1.1.1 b\n")
    assert world.plan()["state"] == "complete"


def test_elsewhere_a_box_below_a_task_is_a_step(world: World) -> None:
    world.write("PLAN.md", "# P\n\n- [x] 1.1 a\n  - [ ] 1.1.1 b\n- [ ] c\n")
    world.start()

    assert world.plan()["progress"]["total"] == 2


# ------------------------------------------------------------ a held plan that cannot be read


def become_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


SPOILED: dict[str, Callable[[Path], object]] = {
    "it is not UTF-8": lambda file: file.write_bytes(b"# P\n\n- [x] a\n- [x] don\x92t stop\n"),
    "it is binary": lambda file: file.write_text("# P\n\n- [ ] a\0\n"),
    "it is too large": lambda file: file.write_text(PLAN + "x" * 5_000_000),
    "it is not a regular file": become_folder,
}


def hold(world: World) -> Path:
    file = world.write("PLAN.md", PLAN)
    world.start()
    assert world.cli("boulder", "hold", "on").code == 0
    assert world.stop().reason
    return file


@pytest.mark.parametrize("why", SPOILED)
def test_a_held_plan_that_cannot_be_read_is_told_once(world: World, why: str) -> None:
    file = hold(world)
    SPOILED[why](file)

    reply = world.stop()
    assert reply.reason == ""
    assert f"The plan Shop cannot be read: {why}" in reply.message
    assert "so its hold lets sessions stop" in reply.message
    assert [world.prompt().message, world.stop().is_silent] == ["", True]
    held = world.cli("boulder", "hold", "--json").json
    assert held["status"] == "active"
    assert f"cannot be read: {why}" in held["why"]

    shutil.rmtree(file, ignore_errors=True)
    world.write("PLAN.md", PLAN)  # what can be read again holds again
    assert world.stop().reason
    assert world.cli("boulder", "hold", "--json").json["why"] is None


def test_a_plan_that_is_as_it_was_holds_again(world: World) -> None:
    file = hold(world)
    file.rename(world.root / "aside")
    file.mkdir()
    assert "cannot be read" in world.stop().message

    file.rmdir()
    (world.root / "aside").rename(file)
    assert world.stop().reason


def test_a_plan_that_cannot_be_read_and_then_is_gone(world: World) -> None:
    file = hold(world)
    file.write_bytes(b"\xff")
    world.stop()

    file.unlink()
    assert "The file of the plan Shop is gone, so its hold" in world.stop().message
    world.write("PLAN.md", "# Shop\n\n- [x] a\n- [x] b\n")
    assert "is complete" in world.stop().message


# ------------------------------------------------------------ called like a plan


@pytest.mark.parametrize(
    "name", ["docs/PLAN.md", "plan.md", "Plan.md", "packages/shop/PLAN.md", "a/b/c/plan.md"]
)
def test_a_file_called_like_a_plan_is_named(world: World, name: str) -> None:
    world.write(name, PLAN)

    shown = world.cli("boulder", "status").out
    started = world.cli("boulder", "start", name)

    assert f"Shop ({name}, 0/2). `sisyphus boulder start {name}` follows it." in shown
    assert "Write a PLAN.md" not in shown
    assert started.code == 0
    assert world.plan()["plan_name"] == "Shop"


def test_it_is_started_by_its_name(world: World) -> None:
    world.write("docs/PLAN.md", PLAN)
    world.write("packages/boat/PLAN.md", "# Boat\n\n- [ ] hull\n")

    shown = world.cli("boulder", "status").out

    assert (
        "Called like plans: Shop (docs/PLAN.md, 0/2), Boat (packages/boat/PLAN.md, 0/1)." in shown
    )
    assert world.cli("boulder", "start", "boat").code == 0
    assert world.plan()["plan_name"] == "Boat"


def test_who_needs_a_plan_is_told_of_it(world: World) -> None:
    world.write("docs/PLAN.md", PLAN)
    way = "`sisyphus boulder start docs/PLAN.md` follows it."

    for words in (["boulder", "start"], ["boulder", "hold", "on"], ["ralph", "run"]):
        assert way in world.cli(*words).err, words


def test_a_hold_needs_more_than_a_complete_plan(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] a\n")
    world.start()
    world.edit("PLAN.md", "[ ]", "[x]")

    answer = world.cli("boulder", "hold", "on")

    assert "PLAN.md is complete: add a task to it to go on." in answer.err


@pytest.mark.parametrize(
    "name",
    [
        "node_modules/x/PLAN.md", ".git/PLAN.md", ".cache/plan.md", "a/b/c/d/PLAN.md",
        "docs/planning.md", "other/plan.md",
    ],
)  # fmt: skip
def test_others_are_not(world: World, name: str) -> None:
    """The last one is of another project."""
    world.write("other/.git/config", "")
    world.write(name, PLAN)

    assert "Called like a plan" not in world.cli("boulder", "status").out


def test_one_without_open_tasks_or_that_is_followed_is_not(world: World) -> None:
    world.write("docs/PLAN.md", "# Done\n\n- [x] a\n")
    world.write("PLAN.md", PLAN)

    assert "Called like a plan" not in world.cli("boulder", "status").out
    (world.project / "PLAN.md").unlink()
    assert "Called like a plan" not in world.cli("boulder", "status").out


def test_a_plan_without_boxes(world: World) -> None:
    world.write("PLAN.md", "# Shop\n\nFirst the cart, then the total.\n")
    why = "PLAN.md cannot be followed: it has no boxes, write its tasks as `- [ ] …`."

    shown = world.cli("boulder", "status").out

    assert why in shown
    assert "Write a PLAN.md" not in shown
    assert why in world.cli("boulder", "start").err
    assert why in world.cli("status").out
    assert world.cli("boulder", "status", "--json").json["problem"] == why


def test_notes_beside_plans_are_no_plan_without_boxes(world: World) -> None:
    world.write("docs/kord/plans/notes.md", "# Notes\n")

    assert "no boxes" not in world.cli("boulder", "status").out
