"""Plans in the places of other tools: offered while they have open tasks, never taken by
themselves."""

from __future__ import annotations

import os
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from world import World

CASES = tomllib.loads((Path(__file__).parent / "cases" / "other_tools.toml").read_text())["case"]

PLACES = [
    "specs/001-login/tasks.md", ".kiro/specs/login/tasks.md", "openspec/changes/login/tasks.md",
    "docs/superpowers/plans/login.md", "docs/plans/login.md", ".sisyphus/plans/login.md",
    ".omo/plans/login.md", "task_plan.md", "TODO.md", "TASKS.md",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_public_plan_is_offered_and_can_be_followed(world: World, case: dict[str, Any]) -> None:
    file = world.write(case["path"], case["text"].lstrip("\n"))

    reply = world.start()
    assert reply.message == (
        f"Plans of other tools: {case['path']}. `sisyphus boulder start NAME` follows one."
    )
    assert not reply.text
    assert world.plan()["state"] == "none"
    assert case["path"] in world.cli("boulder", "status").out

    world.prompt(text=f"/sisyphus:start-work {case['start']}")
    plan = world.plan()
    assert plan["active_plan"] == str(file)
    assert (plan["progress"]["total"], plan["progress"]["completed"]) == (
        case["total"], case["completed"],
    )  # fmt: skip
    assert plan["next_task"] == case["next_task"]
    assert plan["unclear"] == []
    assert case["next_task"] in world.start("s2").text


@pytest.mark.parametrize("place", PLACES)
def test_each_place_is_offered_while_it_has_open_tasks(world: World, place: str) -> None:
    world.write(place, "# Login\n\n- [x] a\n- [ ] b\n")
    assert place in world.start().message
    assert world.start("s2").is_silent, "once"
    assert world.cli("boulder", "start").code == 1, "not taken by itself"

    world.write(place, "# Login\n\n- [x] a\n- [x] b\n")
    assert world.start("s3").is_silent
    assert place not in world.cli("boulder", "status").out


@pytest.mark.parametrize("place", PLACES)
def test_a_followed_one_is_a_plan_like_any_other(world: World, place: str) -> None:
    world.write(place, "# Login\n\n- [x] a\n- [ ] b\n- [ ] c\n")
    world.start()
    world.prompt(text=f"/sisyphus:start-work {place}")
    world.cli("boulder", "hold", "on")

    world.edit(place, "- [ ] b", "- [x] b")
    assert "2 of 3 tasks" in world.stop().reason
    assert place not in world.start("s2").message, "it is followed, not offered"
    assert "is complete" in world.edit(place, "- [ ] c", "- [x] c").message
    assert not world.stop().reason


def put_large(world: World, place: str) -> None:
    world.write(place, "- [ ] a\n" + "x" * 5_000_000)


def put_binary(world: World, place: str) -> None:
    world.write(place, b"- [ ] a\0\n")


def put_broken(world: World, place: str) -> None:
    world.write(place, b"- [ ] a\xff\n")


def put_fifo(world: World, place: str) -> None:
    (world.project / place).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(world.project / place)


def put_link(world: World, place: str) -> None:
    outside = world.write(world.home / "elsewhere.md", "- [ ] a\n")
    (world.project / place).parent.mkdir(parents=True, exist_ok=True)
    (world.project / place).symlink_to(outside)


def put_folder(world: World, place: str) -> None:
    (world.project / place).mkdir(parents=True)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("put", [put_large, put_binary, put_broken, put_fifo, put_link, put_folder])
def test_what_cannot_be_followed_is_not_offered(world: World, place: str, put: Any) -> None:
    put(world, place)

    assert world.start().is_silent
    assert "Plans of other tools" not in world.cli("boulder", "status").out
    assert world.cli("boulder", "start", place).code == 1


@pytest.mark.parametrize(
    ("put", "why"),
    [
        (put_large, "it is too large (over 5,000,000 bytes)"),
        (put_binary, "it is binary"),
        (put_broken, "it is not UTF-8"),
        (put_link, "it is outside"),
    ],
)
def test_it_is_named_with_its_reason_if_the_user_names_it(world: World, put: Any, why: str) -> None:
    put(world, "docs/plans/login.md")

    error = world.cli("boulder", "start", "docs/plans/login.md").err

    assert "docs/plans/login.md cannot be followed: " in error
    assert why in error


def test_a_folder_that_leads_out_of_the_project_is_not_offered(world: World) -> None:
    world.write(world.home / "elsewhere" / "a.md", "- [ ] a\n")
    (world.project / "docs").mkdir()
    (world.project / "docs" / "plans").symlink_to(world.home / "elsewhere")

    assert world.start().is_silent


@pytest.mark.parametrize(
    "place",
    ["docs/plans/completed/a.md", ".omo/plans/_template.md", "docs/TODO.md", "plans/a.md",
     "docs/plans/a.txt", "docs/superpowers/specs/a.md"],
)  # fmt: skip
def test_other_files_are_no_plans(world: World, place: str) -> None:
    world.write(place, "- [ ] a\n")

    assert world.start().is_silent


def test_beside_an_own_open_plan_none_is_offered(world: World) -> None:
    world.write("TODO.md", "- [ ] a\n")
    world.write("PLAN.md", "# Shop\n\n- [ ] a\n")

    assert "TODO.md" not in world.start().message
    assert "TODO.md" not in world.cli("boulder", "status").out

    world.edit("PLAN.md", "[ ]", "[x]")
    assert "TODO.md" in world.start("s2").message
    assert "TODO.md" in world.cli("boulder", "status").out


def test_one_that_only_explains_its_boxes_is_not_offered(world: World) -> None:
    quote = "> Steps use checkbox (`- [ ]`) syntax.\n\n"
    world.write(
        "docs/superpowers/plans/a.md", f"# A\n\n{quote}- [x] a\n\n```py\nx: list = []\n```\n"
    )
    world.write("docs/superpowers/plans/b.md", f"# B\n\n{quote}- [x] a\n\n```md\n- [ ] no\n```\n")

    assert world.start().is_silent


@pytest.mark.parametrize(
    "task", ["- [ ] b", "- [!] b", "- [~] b", "- [?] b", "1. [] b", "  - [ ] b", "-[ ] b",
             "### [ ] b", "- ☐ b", "- [ x] b", "| b | [ ] |", "[] b", "- **[ ] b**"],
)  # fmt: skip
def test_one_with_any_kind_of_open_task_is_offered(world: World, task: str) -> None:
    world.write("docs/superpowers/plans/a.md", f"# A\n\n- [x] a\n\nText.\n\n{task}\n")

    assert "docs/superpowers/plans/a.md" in world.start().message


def write_many(world: World, number: int, marks: str) -> None:
    """marks: of the boxes of the files in turn; the later ones are newer."""
    for each in range(number):
        mark = marks[each % len(marks)]
        file = world.write(f"docs/superpowers/plans/{each:03}.md", f"- [{mark}] a\n")
        os.utime(file, (1_000 + each, 1_000 + each))


def test_of_many_the_newest_are_read(world: World) -> None:
    write_many(world, 130, "x")
    world.write("TODO.md", "- [ ] old\n")
    os.utime(world.project / "TODO.md", (1, 1))
    assert world.start().is_silent

    world.write("docs/superpowers/plans/005.md", "- [ ] a\n")
    assert "tools: docs/superpowers/plans/005.md. `" in world.start("s2").message
    assert world.cli("boulder", "start", "TODO.md").code == 0, "any can be named"


def test_the_ten_newest_open_ones_are_offered(world: World) -> None:
    write_many(world, 60, "x ")

    message = world.start().message

    offered = [f"docs/superpowers/plans/{each:03}.md" for each in range(41, 60, 2)]
    assert message.startswith(f"Plans of other tools: {', '.join(offered)}. `")


@pytest.mark.parametrize(
    ("number", "marks", "unread"),
    [(30, "x", ""), (31, "x", "1 more file in the places of other tools is not read"),
     (40, "x ", "21 more files in the places of other tools are not read")],
)  # fmt: skip
def test_status_says_how_many_are_not_read(
    world: World, number: int, marks: str, unread: str
) -> None:
    write_many(world, number, marks)

    for text in (world.cli("boulder", "status").out, world.cli("boulder", "start").err):
        told = " ".join(text.split())
        assert "not read" not in told or unread
        assert unread in told
        assert "`sisyphus boulder start PATH` follows one" in told or not unread


def test_a_start_with_500_of_them_is_quick(world: World) -> None:
    write_many(world, 500, "xxxx ")
    world.start("warm")
    before = time.process_time()

    world.start("s2")
    assert time.process_time() - before < 0.5
