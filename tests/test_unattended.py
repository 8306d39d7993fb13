"""Loops, holds and enforcement beside each other, and what must not free a session from them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from world import SISYPHUS, World, agent, result, typed, use

from sisyphus.ground import markdown

PLAN = "# Shop\n\n- [ ] one\n- [ ] two\n"
CLAIM = "All done. The work is complete."
PROMISE = "<promise>DONE</promise>"


def hold(world: World) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    assert world.cli("boulder", "hold", "on").code == 0


def enforce(world: World) -> None:
    world.start()
    assert world.cli("enforce", "on").code == 0


BOTH = pytest.mark.parametrize(
    ("begin", "heading"), [(hold, "[BOULDER HOLD]"), (enforce, "[CONTINUOUS ENFORCEMENT]")]
)
Begin = Callable[[World], None]


def work(world: World, number: int = 0) -> None:
    """The agent uses a tool, which changes nothing."""
    world.write_down(agent(use("Bash", f"t{number}", command="ls")), result("ok", f"t{number}"))


# ---------------------------------------------------------------- what the model starts


@BOTH
def test_a_paused_loop_of_the_model_frees_nobody(world: World, begin: Begin, heading: str) -> None:
    begin(world)
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    assert world.cli("ralph", "start", "--", "A part.").code == 0
    assert world.cli("ralph", "pause").code == 0

    assert world.stop(CLAIM).reason.startswith(heading)


@BOTH
def test_nor_does_one_that_is_stuck(world: World, begin: Begin, heading: str) -> None:
    begin(world)
    world.skill("sisyphus:ralph-loop", "A part. --completion-promise PART")
    for number in range(4):
        work(world, number)
        assert "[RALPH LOOP ENFORCEMENT]" in world.stop().reason
    work(world, 4)

    reply = world.stop(CLAIM)

    assert "5 iterations without any change" in reply.message
    assert reply.reason.startswith(heading)
    assert world.loops()[0]["paused_by"] == "stuck"


def test_without_these_it_lets_its_session_stop(world: World) -> None:
    world.start()
    world.skill("sisyphus:ralph-loop", "A part. --completion-promise PART")
    world.cli("ralph", "pause")

    assert world.stop(CLAIM).is_silent
    assert "the loop is paused: you paused it" in str(world.why()[-1])


@BOTH
def test_a_paused_loop_of_the_user_does(world: World, begin: Begin, heading: str) -> None:
    begin(world)
    world.loop()
    world.cli("ralph", "pause")

    assert not world.stop(CLAIM).reason, heading


def test_a_paused_hold_says_nothing_of_a_plan_that_is_gone(world: World) -> None:
    hold(world)
    world.cli("ralph", "pause")
    (world.project / "PLAN.md").unlink()

    assert "so its hold lets sessions stop" not in world.stop().message


@pytest.mark.parametrize("layer", ["file", "variable"])
def test_a_project_cannot_switch_plans_off(world: World, layer: str) -> None:
    """Its agent would be free from the hold."""
    hold(world)
    if layer == "file":
        world.write(".claude/sisyphus.toml", "[boulder]\nenabled = false\n")
    else:
        world.setenv("SISYPHUS_BOULDER_ENABLED", "false")

    assert world.stop().reason


@pytest.mark.parametrize("how", ["cancel", "pause", "start late"])
def test_a_loop_of_the_model_hides_no_tokens(world: World, how: str) -> None:
    """They count in the limit of the loop that waits for it."""
    world.loop("--max-tokens", "1000")
    world.write_down(agent("I begin.", tokens=100))
    assert world.stop().reason
    if how == "start late":
        world.write_down(agent("I work.", tokens=800))
    world.skill("sisyphus:ralph-loop", "A part. --completion-promise PART")
    if how != "start late":
        world.write_down(agent("I work.", tokens=800))
        assert world.stop().reason
        world.cli("ralph", how, world.loops()[0]["loop_id"])
    world.write_down(agent("I go on.", tokens=100))

    reply = world.stop("<promise>PART</promise>")

    assert "its 1,000 tokens are used up" in reply.message
    assert not reply.reason


def test_tokens_of_nested_loops_count_once_in_each(world: World) -> None:
    world.loop()
    world.write_down(agent("I begin.", tokens=100))
    world.stop()
    world.write_down(agent("I work.", tokens=800))
    world.skill("sisyphus:ralph-loop", "A part. --completion-promise PART")
    world.write_down(agent("I go on.", tokens=100))
    world.stop()
    world.write_down(agent("And on.", tokens=100))
    world.stop()

    assert [loop["tokens"] for loop in world.loops()] == [200, 1100]


def test_a_loop_that_waits_ends_at_its_own_limit_with_all_that_is_nested_in_it(
    world: World,
) -> None:
    outer = world.loop("--max-tokens", "1000")
    world.skill("sisyphus:ralph-loop", "A part. --completion-promise PART")
    world.write_down(agent("a", tokens=900))
    assert "PART" in world.stop().reason
    world.skill("sisyphus:ralph-loop", "A part of it. --completion-promise SMALL")
    world.write_down(agent("b", tokens=200))

    reply = world.stop()

    assert reply.reason == ""
    assert "its 1,000 tokens are used up" in reply.message
    ended = {loop["loop_id"]: loop for loop in world.ended()}
    assert ended[outer]["outcome"] == "limit"
    others = [loop for id, loop in ended.items() if id != outer]
    assert [loop["outcome"] for loop in others] == ["cancelled", "cancelled"]
    assert all(outer in loop["error_reason"] for loop in others)


def test_a_held_session_may_start_a_loop_that_no_hook_heard(world: World) -> None:
    hold(world)
    world.write_down(typed("Fix it. --completion-promise DONE"))

    assert "[RALPH LOOP ENFORCEMENT]" in world.stop().reason


def test_a_promise_said_in_the_next_loop_ends_no_loop_that_waits(world: World) -> None:
    world.loop()
    world.skill("sisyphus:ralph-loop", "A part. --completion-promise PART")
    world.write_down(agent(PROMISE))

    assert "COMPLETE" not in world.stop("Hm.").message
    assert len(world.loops()) == 2


# ---------------------------------------------------------------- one count of blocks


@BOTH
def test_the_clients_limit_counts_over_all_of_them(
    world: World, begin: Begin, heading: str
) -> None:
    world.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "3")
    begin(world)
    world.loop()
    assert [bool(world.stop().reason) for _ in range(2)] == [True, True]

    reply = world.stop(f"{CLAIM}\n{PROMISE}")

    assert "[RALPH LOOP COMPLETE]" in reply.message
    assert not reply.reason, heading


def test_it_counts_over_a_loop_that_was_done_before_the_next_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2")
    world.loop()
    assert world.stop().reason
    world.write_down(agent(PROMISE))
    world.skill("sisyphus:ralph-loop", "More. --completion-promise MORE")
    later = time.time() + 1
    monkeypatch.setattr(time, "time", lambda: later)

    reply = world.stop("Hm.")

    assert "[RALPH LOOP COMPLETE]" in reply.message
    assert "only 2 blocked Stops in a row" in reply.message


def test_after_a_loop_the_hold_starts_with_a_closed_breaker(world: World) -> None:
    hold(world)
    world.loop("--max-iterations", "4")
    for number in range(3):
        work(world, number)
        assert "[RALPH LOOP ENFORCEMENT]" in world.stop().reason

    for number in range(3, 7):
        work(world, number)
        assert "[BOULDER HOLD]" in world.stop().reason


# ---------------------------------------------------------------- between look and act


def test_enforcement_that_is_switched_off_during_a_check_holds_nobody(world: World) -> None:
    enforce(world)
    world.loop("--verify", f"{SISYPHUS} enforce off --project {world.project}")

    reply = world.stop(f"{CLAIM}\n{PROMISE}")

    assert "[RALPH LOOP COMPLETE]" in reply.message
    assert not reply.reason


def test_enforcement_that_is_switched_on_during_a_check_counts_at_once(world: World) -> None:
    world.loop("--verify", f"{SISYPHUS} enforce on --project {world.project}")

    assert "[RALPH LOOP COMPLETE]" in world.stop(f"{CLAIM}\n{PROMISE}").message
    assert world.stop(CLAIM).reason


def test_a_hold_that_ends_during_a_check_holds_nobody(world: World) -> None:
    hold(world)
    world.loop("--verify", f"{SISYPHUS} boulder hold off --project {world.project}")

    reply = world.stop(PROMISE)

    assert "[RALPH LOOP COMPLETE]" in reply.message
    assert not reply.reason


def test_an_idle_session_that_uses_a_tool_is_idle_no_more(world: World) -> None:
    """Not every turn starts with a prompt that a hook hears."""
    enforce(world)
    world.stop("I work.")
    assert world.cli("enforce", "status", "--json").json["next_at"]

    world.tool("Bash", {"command": "ls"})

    assert world.cli("enforce", "status", "--json").json["next_at"] is None


def test_what_was_said_before_enforcement_does_not_count(world: World) -> None:
    world.start()
    world.write_down(agent("<blocked>a key</blocked>"), agent("I have it."))
    enforce(world)

    assert world.stop(CLAIM).reason


def test_a_loop_that_only_its_limits_end_says_so(world: World) -> None:
    world.start()
    world.cli("ralph", "start", "--session-id", "s1", "--", "Look around.")

    reason = world.stop().reason

    assert "plan" not in reason
    assert "only its limits end the loop" in str(world.why()[-1])


def test_a_plan_that_is_gone_is_not_complete(world: World) -> None:
    world.write("PLAN.md", PLAN)
    world.loop("--verify-plan")
    (world.project / "PLAN.md").unlink()

    assert "it does not exist" in world.stop(PROMISE).reason
    assert "the promise was said, but the plan is not complete" in str(world.why()[-1])


def test_a_loop_without_a_promise_may_wait_for_its_plan(world: World) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    world.cli("ralph", "start", "--session-id", "s1", "--verify-plan", "--", "Go.")

    assert world.stop().reason
    assert "block, the plan is not complete" in str(world.why()[-1])


# ---------------------------------------------------------------- clocks, hostile texts


def test_background_work_does_not_excuse_for_longer_if_the_clock_is_set_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time
    hold(world)
    assert not world.stop(background_tasks=[{"id": "b1"}]).reason

    monkeypatch.setattr(time, "time", lambda: now() - 86400)

    assert world.stop(background_tasks=[{"id": "b1"}]).reason


@pytest.mark.parametrize("text", ["- " * 50_000 + "?", "1. " * 50_000 + "- ?", "* " * 50_000 + "x"])
def test_a_line_of_many_list_markers_is_read_in_no_time(text: str) -> None:
    begin = time.process_time()

    (line,) = markdown.lines(text)

    assert time.process_time() - begin < 1
    assert line.depth == 1_000


@pytest.mark.parametrize(
    "last",
    [
        "\ud800 \udfff", "<blocked>\ud800\x00\x1b[2J\n--x</blocked>", "Shall I\ud800\x1b[2J?",
        "All done\ud800. The work is complete.", "x" * 300_000, "--help", "(" * 10_000 + "?",
        f"<blocked>{'y' * 100_000}</blocked>", "?" * 20_000, "- " * 20_000 + "?",
    ],
)  # fmt: skip
@pytest.mark.parametrize("begin", [hold, enforce, lambda world: world.loop("--wait-for-user")])
def test_hostile_last_words_break_nothing(world: World, begin: Begin, last: str) -> None:
    begin(world)
    begun = time.process_time()

    world.stop(last)

    assert time.process_time() - begun < 2
    assert "failed" not in str(world.why())
    for words in ("status", "ralph list", "ralph log", "boulder hold", "enforce status", "why"):
        shown = world.cli(*words.split())
        assert shown.code == 0
        assert not {"\x1b", "\x00"} & set(shown.out)
        assert shown.out.encode()
    assert "Traceback" not in world.log()


@pytest.mark.parametrize("name", ["--x \x1b[2J", "n" * 100_000, "[x](y) ` $(id) <b>"])
def test_a_hostile_plan_holds_like_any_other(world: World, name: str) -> None:
    world.write("PLAN.md", f"# {name}\n\n- [ ] on\x1b[2Je -- --force\n- [ ] two\n")
    world.start()

    started, reply = world.cli("boulder", "hold", "on"), world.stop()

    assert started.code == 0
    assert reply.reason.startswith("[BOULDER HOLD]")
    assert len(reply.reason) < 500
    assert "\x1b" not in f"{started.out}{reply.reason}{reply.message}"


def test_a_turn_of_very_many_calls_is_written_down_in_no_time(world: World) -> None:
    world.loop()
    calls = [use("Bash", f"t{n}", command="x" * 300) for n in range(100)]
    world.write_down(*(agent(*calls) for _ in range(100)))
    begin = time.process_time()

    assert world.stop().reason

    assert time.process_time() - begin < 3
