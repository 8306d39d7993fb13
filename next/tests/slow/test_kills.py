"""Kill -9 at every statement, print and file: at most one reply twice, nothing lost or torn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from doors import exports_are_current, is_whole, killed
from world import Json, World

pytestmark = pytest.mark.slow

MANY_STEPS = 500


def every_step(world: World, event: str, payload: Json, check: Callable[[str], None]) -> None:
    """Kills a hook before each of its steps in turn; after each, `check` gets what it printed."""
    for step in range(1, MANY_STEPS):
        printed, was_killed = killed(step, event, payload)
        if not was_killed:
            return
        check(printed)
    raise AssertionError(f"{event} has over {MANY_STEPS} steps")


@pytest.mark.parametrize("is_new", [True, False], ids=["a new store", "a store that is there"])
def test_a_read_with_two_rules(world: World, *, is_new: bool) -> None:
    """Of each text the model gets one copy, or two if its hook was killed after the print."""
    for name in ("one", "two"):
        world.rule(f"{name}.md", f"MARK-{name}\n" + "word \n" * 1_200, applies_to="*.txt")
    if not is_new:
        world.start("other")
    sessions = iter(range(MANY_STEPS))

    for step in range(1, MANY_STEPS):
        if is_new:
            for file in world.ours.glob("sisyphus.db*") if world.ours.exists() else ():
                file.unlink()
        session = f"k{next(sessions)}"
        payload = world.payload("PostToolUse.Read", session)
        printed, was_killed = killed(step, "post-tool-use", payload)
        later = "".join([world.hook("post-tool-use", payload).text, *world.drain(session)])
        for mark in ("MARK-one", "MARK-two"):
            assert 1 <= later.count(mark) + printed.count(mark) <= 1 + printed.count(mark), step
        assert is_whole(world)
        assert exports_are_current(world, session), step
        if not was_killed:
            return
    raise AssertionError("too many steps")


def test_a_start_with_a_long_readme(world: World) -> None:
    marks = [f"MARK-{n}-." for n in range(6)]
    block = "word " * 18 + "\n"
    world.write("README.md", "\n".join(f"## {mark}\n\n{block * 45}" for mark in marks))

    for step in range(1, MANY_STEPS):
        session = f"k{step}"
        payload = world.payload("SessionStart.startup", session)
        printed, was_killed = killed(step, "session-start", payload)
        later = "".join([world.start(session, "resume").text, *world.drain(session)])
        for mark in marks:
            assert later.count(mark) <= 1, (step, mark)
            assert mark in printed + later, (step, mark)
        if not was_killed:
            return
    raise AssertionError("too many steps")


def test_an_edit_of_the_plan(world: World) -> None:
    """Whatever was killed, the next event knows the plan as it is."""
    world.write("PLAN.md", "# Kiln\n\n" + "".join(f"- [ ] task {n}\n" for n in range(60)))
    world.start()
    payload = world.payload(
        "PostToolUse.Read", tool_name="Edit",
        tool_input={"file_path": str(world.project / "PLAN.md")},
    )  # fmt: skip
    done = 0

    def tick() -> None:
        nonlocal done
        plan = world.project / "PLAN.md"
        plan.write_text(plan.read_text().replace("[ ]", "[x]", 1))
        done += 1

    def check(_: str) -> None:
        world.prompt()
        assert world.plan()["progress"]["completed"] == done
        assert is_whole(world)
        tick()

    tick()
    every_step(world, "post-tool-use", payload, check)

    assert world.boulder_file()["progress"] == {"total": 60, "completed": done}


def test_a_blocked_stop_counts_or_does_not(world: World) -> None:
    world.loop("--max-iterations", "400")
    iteration = 1

    def check(printed: str) -> None:
        nonlocal iteration
        (loop,) = world.loops()
        assert loop["iteration"] in ({iteration, iteration + 1} if printed else {iteration})
        iteration = loop["iteration"]
        assert is_whole(world)

    world.setenv("SISYPHUS_RALPH_BREAKER_STOPS", "0")
    config = world.ours / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[ralph]\nbreaker_stops = 0\n")
    payload = world.stop_payload("So far.", stop_hook_active=True)
    world.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0")
    every_step(world, "stop", payload, check)

    assert world.loops()[0]["status"] == "active"
    assert "<promise>DONE</promise>" in world.stop().reason
