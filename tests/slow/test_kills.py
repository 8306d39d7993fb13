"""Kill -9 at every statement, print and file: at most one reply twice, nothing lost or torn."""

from __future__ import annotations

import pytest
from doors import exports_are_current, is_whole, kill_at_every_step
from world import Json, World

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("is_new", [True, False], ids=["a new store", "an existing store"])
def test_rules_arrive_once_or_twice_if_the_hook_was_killed_after_the_print(
    world: World, *, is_new: bool
) -> None:
    for name in ("one", "two"):
        world.rule(f"{name}.md", f"MARK-{name}\n" + "word \n" * 1_200, applies_to="*.txt")
    world.start("other")

    def payload(step: int) -> Json:
        for file in world.ours.glob("sisyphus.db*") if is_new else ():
            file.unlink()
        return world.payload("PostToolUse.Read", f"k{step}")

    for step, printed in kill_at_every_step("post-tool-use", payload):
        session = f"k{step}"
        replies = [world.read("a.txt", session).text, *world.drain(session)]
        for mark in ("MARK-one", "MARK-two"):
            again = "".join(replies).count(mark)
            assert again <= 1 <= again + printed.count(mark), (step, mark)
        assert is_whole(world)
        assert exports_are_current(world, session), step


def test_a_long_readme_arrives_whole(world: World) -> None:
    marks = [f"MARK-{n}-." for n in range(6)]
    block = "word " * 18 + "\n"
    world.write("README.md", "\n".join(f"## {mark}\n\n{block * 45}" for mark in marks))

    def payload(step: int) -> Json:
        return world.payload("SessionStart.startup", f"k{step}")

    for step, printed in kill_at_every_step("session-start", payload):
        session = f"k{step}"
        later = "".join([world.start(session, "resume").text, *world.drain(session)])
        for mark in marks:
            assert later.count(mark) <= 1, (step, mark)
            assert mark in printed + later, (step, mark)


def test_the_event_after_a_killed_edit_sees_the_plan_as_it_is(world: World) -> None:
    plan = world.write("PLAN.md", "# Kiln\n\n" + "".join(f"- [ ] task {n}\n" for n in range(60)))
    world.start()

    def payload(_: int) -> Json:
        plan.write_text(plan.read_text().replace("[ ]", "[x]", 1))
        return world.payload(
            "PostToolUse.Read", tool_name="Edit", tool_input={"file_path": str(plan)}
        )

    for step, _ in kill_at_every_step("post-tool-use", payload):
        world.prompt()
        assert world.plan()["progress"]["completed"] == step
        assert is_whole(world)

    assert world.boulder_file()["progress"] == {"total": 60, "completed": step}


def test_a_blocked_stop_counts_once_or_not_at_all(world: World) -> None:
    world.loop("--max-iterations", "400")
    world.write(world.ours / "config.toml", "[ralph]\nbreaker_stops = 0\n")
    world.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0")
    iteration = 1

    def payload(_: int) -> Json:
        return world.stop_payload("So far.", stop_hook_active=True)

    for _, printed in kill_at_every_step("stop", payload):
        (loop,) = world.loops()
        assert loop["iteration"] in ({iteration, iteration + 1} if printed else {iteration})
        iteration = loop["iteration"]
        assert is_whole(world)

    assert world.loops()[0]["status"] == "active"
    assert "<promise>DONE</promise>" in world.stop().reason
