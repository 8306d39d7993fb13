"""Plans of GSD and BMAD, of which not each box, and not only boxes, are tasks."""

from __future__ import annotations

import time

import pytest
from world import World

PLAN, SUMMARY = (
    ".planning/phases/01-beds/01-01-PLAN.md",
    ".planning/phases/01-beds/01-01-SUMMARY.md",
)
TASKS = '<task type="auto">\n<name>a</name>\n</task>\n<task>\n<name>b</name>\n</task>\n'
ROADMAP = ".planning/ROADMAP.md"
STORIES = ["docs/stories/a.md", "_bmad-output/a.md", "_bmad-output/implementation/epic-1/a.md"]


def follow(world: World, place: str, text: str) -> str:
    world.write(place, text)
    world.start()
    return world.prompt(text=f"/sisyphus:start-work {place}").text


# ---------------------------------------------------------------- GSD


def test_a_plan_is_done_when_its_summary_is_there(world: World) -> None:
    started = follow(world, PLAN, TASKS)
    world.cli("boulder", "hold", "on")
    held = world.stop().reason

    assert "SUMMARY.md is written beside it" in started
    assert "0 of 2 tasks" in held
    assert "SUMMARY.md is written beside it" in held
    assert "box" not in started + held
    world.create(SUMMARY, "# Done\n")
    assert not world.stop().reason
    assert world.plan()["state"] == "complete"
    assert world.plan()["progress"]["completed"] == 2


def test_a_plan_is_open_again_when_its_summary_goes(world: World) -> None:
    world.write(SUMMARY, "# Done\n")
    world.write(PLAN, TASKS)
    assert world.start().is_silent

    (world.project / SUMMARY).unlink()
    assert PLAN in world.start("s2").message


def test_a_run_of_a_plan_without_boxes_is_refused(world: World) -> None:
    world.write(PLAN, TASKS)
    world.cli("boulder", "start", PLAN)

    assert "has no boxes" in world.cli("ralph", "run", "--permission-mode", "acceptEdits").err


@pytest.mark.parametrize(
    "place",
    [".planning/01-PLAN.md", ".planning/quick/001-a/001-PLAN.md", ".planning/a/b/c/d/01-PLAN.md"],
)
def test_plans_lie_at_any_depth(world: World, place: str) -> None:
    world.write(place, TASKS)

    assert place in world.start().message


@pytest.mark.parametrize(
    "place",
    ["docs/plans/a-PLAN.md", ".planning/PROJECT.md", ".planning/_x-PLAN.md", "x/01-PLAN.md"],
)
def test_elsewhere_elements_are_no_tasks(world: World, place: str) -> None:
    world.write(place, TASKS)

    assert world.start().is_silent


def test_the_phases_of_a_roadmap_are_its_tasks(world: World) -> None:
    text = "# Map\n\n- [ ] **Phase 1: A** - a\n- [ ] Phase 2: B\n\nPlans:\n- [ ] 01-01-PLAN.md\n"
    follow(world, ROADMAP, text)
    world.cli("boulder", "hold", "on")

    world.edit(ROADMAP, "[ ] **P", "[x] **P")
    assert "1 of 2 tasks" in world.stop().reason
    assert "is complete" in world.edit(ROADMAP, "[ ] Phase 2", "[x] Phase 2").message


def test_a_roadmap_without_phases_is_not_offered(world: World) -> None:
    world.write(ROADMAP, "# Map\n\n- [ ] 01-01-PLAN.md\n- [ ] TBD\n")

    assert world.start().is_silent


@pytest.mark.parametrize(
    "text",
    [
        "<task>" * 50_000,
        "<task><name>" * 50_000,
        "<task " * 100_000,
        "<task><name>" + "<" * 200_000,
    ],
)
def test_a_hostile_plan_is_quick(world: World, text: str) -> None:
    world.write(PLAN, text)
    world.start("warm")
    before = time.process_time()

    world.cli("boulder", "status", "--plan", world.project / PLAN)
    assert time.process_time() - before < 2


# ---------------------------------------------------------------- BMAD


@pytest.mark.parametrize("place", STORIES)
def test_a_story_is_followed_and_completed(world: World, place: str) -> None:
    text = "# S\n\n- [ ] no\n\n## Tasks / Subtasks\n\n- [x] a\n- [ ] b\n\n## Notes\n\n- [ ] no\n"
    follow(world, place, text)
    world.cli("boulder", "hold", "on")

    assert "1 of 2 tasks" in world.stop().reason
    assert "is complete" in world.edit(place, "[ ] b", "[x] b").message
    assert not world.stop().reason
    assert world.start("s2").is_silent


@pytest.mark.parametrize("place", STORIES)
def test_without_a_heading_of_tasks_it_is_no_plan(world: World, place: str) -> None:
    world.write(place, "# PRD\n\n- [ ] a goal\n\n## Open Questions\n\n- [ ] why\n")

    assert world.start().is_silent
    assert "it has no open tasks" in world.cli("boulder", "start", place).err


def test_a_folder_that_is_a_link_is_not_walked(world: World) -> None:
    world.write(world.home / "elsewhere" / "a.md", "## Tasks\n\n- [ ] a\n")
    (world.project / "_bmad-output").symlink_to(world.home / "elsewhere")

    assert world.start().is_silent


def test_a_start_with_500_of_them_is_quick(world: World) -> None:
    for each in range(500):
        world.write(f".planning/phases/{each:03}/01-PLAN.md", TASKS)
        world.write(f".planning/phases/{each:03}/01-SUMMARY.md", "# Done\n")
    world.start("warm")
    before = time.process_time()

    world.start("s2")
    assert time.process_time() - before < 0.5
