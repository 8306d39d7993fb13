"""Holds: the sessions at a plan go on until it is complete."""

from __future__ import annotations

import io
import json
import os
import time
from pathlib import Path

import pytest
from patience import wait_for
from world import Reply, World, agent, use, user

from sisyphus.door import statusline

PLAN = "# Shop\n\n- [ ] one\n- [ ] two\n"
DONE = PLAN.replace("[ ]", "[x]")
BLOCKED_PLAN = PLAN.replace("[ ] one", "[x] one").replace("[ ] two", "[!] two")
BLOCKED = "<blocked>the key of the API</blocked>"

WHOLE = """\
[BOULDER HOLD]

The plan Shop is not complete: 0 of 2 tasks. Continue with it.

Next task: one

Tick its box in the plan when it is done.
If you need something from the user, say <blocked>what you need</blocked>"""

SHORT = """\
[BOULDER HOLD]
Shop: 0 of 2 tasks. Next: one
If you need something from the user, say <blocked>what you need</blocked>"""


def hold(world: World, *options: str | Path, plan: str = PLAN, session: str = "s1") -> Reply:
    """A session at a plan, and a hold that its user starts in another terminal."""
    world.write("PLAN.md", plan)
    world.start(session)
    answer = world.cli("boulder", "hold", "on", *options)
    assert answer.code == 0, answer
    return answer


def state(world: World) -> str:
    """The status of the hold; "off" = there is none."""
    return str(world.cli("boulder", "hold", "--json").json["status"])


def iteration(world: World) -> int:
    return int(world.cli("boulder", "hold", "--json").json["iteration"])


def ending(world: World) -> tuple[str, str]:
    """How the last hold ended, and why."""
    last = world.ended()[0]
    assert last["kind"] == "hold"
    return last["outcome"], last["error_reason"] or ""


# ---------------------------------------------------------------- held


def test_a_session_is_held_until_the_plan_is_complete(world: World) -> None:
    hold(world)

    first, second = world.stop(), world.stop()
    world.edit("PLAN.md", "[ ] one", "[x] one")
    third = world.stop()
    world.edit("PLAN.md", "[ ] two", "[x] two")
    last = world.stop()

    assert first.reason == WHOLE
    assert second.reason == SHORT
    assert "1 of 2 tasks. Next: two" in third.reason
    ended = "The hold of the plan Shop has ended. Its ticks: 2 unchanged (one; two)."
    assert last.message == f"[BOULDER HOLD COMPLETE]\n\n{ended}"
    assert last.json.keys() == {"systemMessage"}
    assert world.stop().is_silent
    assert (state(world), *ending(world)) == ("off", "success", "")


def test_the_user_gets_one_line_for_each_held_stop(world: World) -> None:
    hold(world)

    assert [world.stop().message for _ in range(2)] == [
        "Hold of the plan: 0 of 2 tasks, iteration 2 of 100",
        "Hold of the plan: 0 of 2 tasks, iteration 3 of 100",
    ]


def test_a_repeated_reason_is_short(world: World) -> None:
    task = "word " * 100
    hold(world, plan=f"# {'Shop ' * 100}\n\n- [ ] {task}\n")
    world.stop()

    reason = world.stop().reason

    shown = reason.partition("Next: ")[2].partition("\n")[0]
    assert len(reason.splitlines()) <= 4
    assert len(reason.replace(shown, "")) <= 200


def test_after_a_compaction_the_reason_is_whole_again(world: World) -> None:
    hold(world)
    world.stop()

    assert world.start(source="compact").message == ""
    assert world.stop().reason == WHOLE


def test_the_last_tick_by_another_hand_counts_at_the_same_stop(world: World) -> None:
    hold(world)
    world.stop()
    world.write("PLAN.md", DONE)

    reply = world.stop()

    assert reply.reason == ""
    assert "[BOULDER HOLD COMPLETE]" in reply.message
    assert ending(world) == ("success", "")


def test_a_task_that_is_added_after_the_last_tick_holds_on(world: World) -> None:
    hold(world)
    world.create("PLAN.md", DONE)
    world.create("PLAN.md", f"{DONE}- [ ] three\n")

    assert "Next task: three" in world.stop().reason


@pytest.mark.parametrize(
    ("options", "stops", "outcome", "why"),
    [
        (["--max-iterations", "3"], 2, "max_iterations", "iteration 3 was the last"),
        (["--max-iterations", "1"], 0, "max_iterations", "iteration 1 was the last"),
    ],
)
def test_iterations_end_it(
    world: World, options: list[str], stops: int, outcome: str, why: str
) -> None:
    hold(world, *options)
    for _ in range(stops):
        assert world.stop().reason

    reply = world.stop()

    assert reply.reason == ""
    assert reply.message.startswith("[BOULDER HOLD ENDED]")
    assert reply.message.endswith("The plan is not complete.")
    assert ending(world) == (outcome, why)


def test_without_limits_none_ends_it(world: World) -> None:
    out = hold(world, "--max-iterations", "0", "--max-minutes", "0").out

    assert "ends when the plan is complete, counted" in out
    assert "iteration 2" in world.stop().message
    assert "of 0" not in world.stop().message


def test_its_minutes_end_it_at_a_stop_and_at_a_start(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time
    hold(world, "--max-minutes", "5")
    monkeypatch.setattr(time, "time", lambda: now() + 300)
    assert "Its 5 minutes are up" in world.stop().message
    assert ending(world)[0] == "limit"

    world.cli("boulder", "hold", "on", "--max-minutes", "5")
    monkeypatch.setattr(time, "time", lambda: now() + 600)
    reply = world.start("s2")
    assert "has ended: its 5 minutes are up. (Complete the plan Shop)" in reply.message
    assert "must go on" not in reply.message
    assert world.stop(session="s2").is_silent


# ---------------------------------------------------------------- not held for now


def test_blocked_waits_for_the_users_next_prompt(world: World) -> None:
    hold(world)
    world.stop()

    reply = world.stop(BLOCKED)

    assert reply.reason == ""
    assert reply.message == (
        "The agent needs you: the key of the API. Your next prompt makes it go on with the plan."
    )
    assert world.stop().reason == ""
    world.prompt(text="<task-notification>x</task-notification>")
    assert world.stop().reason == ""
    world.prompt(text="/boulder-hold status")
    assert world.stop().reason == ""
    world.prompt(text="here it is")
    assert world.stop().reason == SHORT
    assert (state(world), iteration(world)) == ("active", 3)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (BLOCKED_PLAN, "All that is left of the plan Shop is blocked"),
        ("# Shop\n\nnothing\n", "The plan Shop has no tasks"),
        (None, "The file of the plan Shop is gone"),
    ],
)
def test_when_nobody_can_go_on_the_user_is_told_once(
    world: World, plan: str | None, message: str
) -> None:
    hold(world)
    world.stop()
    change(world, plan)

    reply = world.stop()
    told = f"{message}, so its hold lets sessions stop. To end it, type /boulder-hold off, or run "
    assert reply.reason == ""
    assert reply.message.count(told) == 1
    assert [world.prompt().message, world.stop().is_silent] == ["", True]
    assert state(world) == "active"
    assert message in world.cli("boulder", "hold").out

    world.write("PLAN.md", PLAN)  # what comes back holds again, without a prompt
    assert world.stop().reason == SHORT


def change(world: World, plan: str | None) -> None:
    if plan is None:
        (world.project / "PLAN.md").unlink()
    else:
        world.write("PLAN.md", plan)


def test_a_renamed_plan_is_gone_and_never_complete(world: World) -> None:
    hold(world)
    (world.project / "PLAN.md").rename(world.project / "OLD.md")

    assert "is gone, so its hold lets sessions stop" in world.stop().message
    assert state(world) == "active"
    assert "COMPLETE" not in world.stop().message


@pytest.mark.parametrize(
    ("last", "options", "is_held"),
    [
        ("Shall I delete it?", ["--wait-for-user"], False),
        ("Shall I delete it?", [], True),
        ("I did one.", ["--wait-for-user"], True),
    ],
)
def test_a_question_waits_for_the_user_if_they_say_so(
    world: World, last: str, options: list[str], is_held: bool
) -> None:
    hold(world, *options)

    assert bool(world.stop(last).reason) == is_held
    assert iteration(world) == 1 + is_held


def test_plan_mode_and_a_subagent_may_stop(world: World) -> None:
    hold(world)

    assert "plan mode" in world.stop(permission_mode="plan").message
    assert world.stop(permission_mode="plan").is_silent
    assert world.stop(agent_id="a1").is_silent
    assert iteration(world) == 1


def test_background_work_may_be_waited_for(world: World) -> None:
    hold(world)

    running = [{"id": "b1", "status": "running"}]
    assert not world.stop(background_tasks=running).reason
    assert world.stop(background_tasks=running).is_silent
    assert iteration(world) == 1
    assert world.stop().reason


def test_at_the_clients_limit_the_session_rests_until_its_users_prompt(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "3")
    hold(world)
    assert [bool(world.stop().reason) for _ in range(2)] == [True, True]

    reply = world.stop()

    assert reply.reason == ""
    assert "only 3 blocked Stops in a row" in reply.message
    assert world.stop().reason == ""
    world.prompt()
    assert world.stop().reason


def test_five_stops_without_a_change_let_the_session_rest(world: World) -> None:
    hold(world)
    for number in range(4):
        world.write_down(agent(use("Bash", f"t{number}", command="ls")))
        assert world.stop().reason

    reply = world.stop()

    assert reply.message == (
        "The hold of the plan lets this session stop: 5 iterations without any change. "
        "Your next prompt makes it go on with the plan."
    )
    assert state(world) == "active"
    world.prompt()
    assert world.stop().reason


@pytest.mark.parametrize("layer", ["config", "variable"])
def test_it_can_be_switched_off(world: World, layer: str) -> None:
    hold(world)
    told = (
        "sisyphus does not hold this session, which should go on: SISYPHUS_DISABLE is set. "
        "`sisyphus doctor` says what to do."
    )
    if layer == "config":
        world.write(world.ours / "config.toml", "[boulder]\nenabled = false\n")
    else:
        world.setenv("SISYPHUS_DISABLE", "1")

    assert world.stop().message == (told if layer == "variable" else "")
    assert world.stop().is_silent
    assert world.start(source="resume").message == ""
    assert " off" in world.cli("boulder", "hold", "on").out


# ---------------------------------------------------------------- a loop and a hold


def test_the_loop_goes_first_then_the_hold(world: World) -> None:
    hold(world)
    world.loop("--force")

    assert "[RALPH LOOP ENFORCEMENT]" in world.stop().reason
    reply = world.stop("<promise>DONE</promise>")
    assert reply.reason == WHOLE
    assert "[RALPH LOOP COMPLETE]" in reply.message
    assert "Hold of the plan" in reply.message
    assert world.stop().reason == SHORT


def test_a_paused_loop_lets_its_held_session_stop(world: World) -> None:
    hold(world)
    world.loop()
    assert "needs you" in world.stop(BLOCKED).message

    assert world.stop().reason == ""
    world.prompt()
    assert "[RALPH LOOP ENFORCEMENT]" in world.stop().reason


def test_loop_and_hold_end_at_one_stop(world: World) -> None:
    hold(world)
    world.loop()
    world.create("PLAN.md", DONE)

    message = world.stop("<promise>DONE</promise>").message

    assert "[RALPH LOOP COMPLETE]" in message
    assert "[BOULDER HOLD COMPLETE]" in message


def test_after_the_hold_enforcement_decides(world: World) -> None:
    hold(world)
    world.cli("enforce", "on")
    world.create("PLAN.md", DONE)

    reply = world.stop("Everything is implemented. The work is complete.")

    assert "[BOULDER HOLD COMPLETE]" in reply.message
    assert reply.reason
    assert "[BOULDER HOLD]" not in reply.reason


def test_cancel_ends_loops_and_hold_of_the_session(world: World) -> None:
    hold(world)
    world.loop()

    answer = world.prompt(text="/sisyphus:cancel-ralph").reason

    assert "Ralph loop" in answer
    assert "was cancelled at iteration 1: Complete the plan Shop" in answer
    assert (state(world), *ending(world)) == ("off", "cancelled", "you cancelled it")
    assert world.stop().is_silent


def test_ralph_commands_mean_the_hold_where_there_is_no_loop(world: World) -> None:
    hold(world)
    id = world.cli("boulder", "hold", "--json").json["id"]

    assert world.cli("ralph", "pause").out.startswith(f"Hold {id} is paused: you paused it.")
    assert state(world) == "paused"
    assert world.stop().reason == ""
    assert world.cli("ralph", "resume").out == (
        f"Hold {id} is running again.\n"
        "A session at the plan that is idle begins with your next prompt there.\n"
    )
    assert world.stop().reason
    assert "belongs to a plan" in world.cli("ralph", "resume", id, "--session-id", "s1").err
    assert world.cli("ralph", "cancel").out == (
        f"Hold {id} was cancelled at iteration 2: Complete the plan Shop\n"
    )
    assert world.cli("ralph", "delete", id).out == f"Deleted loop {id}.\n"
    assert world.ended() == []


def test_ralph_commands_take_a_hold_by_its_id(world: World) -> None:
    hold(world)
    world.loop()
    id = world.cli("boulder", "hold", "--json").json["id"]

    for command, status in (("pause", "paused"), ("resume", "active"), ("cancel", "off")):
        assert world.cli("ralph", command, id).code == 0
        assert state(world) == status
    assert [loop["kind"] for loop in world.loops()] == ["loop"]
    assert "cancelled, 1 iteration: Complete the plan Shop" in world.cli("ralph", "log").out


def test_a_hold_in_one_project_and_a_loop_in_another(world: World) -> None:
    hold(world)
    other = world.new_project("other")
    world.start("s2", cwd=str(other))
    world.loop("--project", str(other), session="s2")

    assert world.cli("ralph", "pause").out.startswith("Hold")
    assert [loop["status"] for loop in world.loops()] == ["active", "paused"]


def test_lists_show_holds_beside_loops(world: World) -> None:
    hold(world, "--max-iterations", "7")
    world.loop()
    world.stop()
    plan = str(world.project / "PLAN.md")

    rows = {row["kind"]: row for row in world.loops()}

    assert rows["hold"] | {"loop_id": "", "started_at": ""} == {
        "version": 1, "session_id": None, "loop_id": "", "project": str(world.project),
        "description": "Complete the plan Shop", "iteration": 1, "max_iterations": 7,
        "completion_promise": None, "started_at": "", "status": "active", "paused_by": None,
        "max_minutes": 1440, "max_tokens": 0, "tokens": 0, "verify": None, "why": None,
        "abandoned_at": None, "kind": "hold", "prompt": "Complete the plan Shop",
        "state_file_path": None, "plan": plan,
    }  # fmt: skip
    id = rows["hold"]["loop_id"]
    out = world.cli("ralph", "list").out
    assert f"{id}  active, iteration 1 of 7\n    Complete the plan Shop\n" in out
    assert json.loads(world.cli("ralph", "list", id, "--json").out)["plan"] == plan
    assert world.cli("ralph", "list", "--session-id", "s1").out.count("active") == 1


def test_the_log_of_a_hold_shows_its_stops(world: World) -> None:
    hold(world)
    id = world.cli("boulder", "hold", "--json").json["id"]
    world.stop()
    world.stop(BLOCKED)

    stops = json.loads(world.cli("ralph", "log", id, "--json").out)

    assert [(stop["iteration"], stop["decision"]) for stop in stops] == [(1, "block"), (2, "pause")]
    assert stops[0]["why"] == "the plan is not complete: 0 of 2 tasks"
    assert world.why()[-1]["notes"] == [f"hold {id}: blocked, the key of the API"]
    (at,) = world.cli("boulder", "hold", "--json").json["sessions"]
    assert at == {"session_id": "s1", "waits_for_user": "the key of the API"}


# ---------------------------------------------------------------- several sessions


def test_every_session_at_the_plan_is_held_and_one_count_is_kept(world: World) -> None:
    hold(world, "--max-iterations", "4")
    world.start("s2")

    assert world.stop(session="s1").reason == WHOLE
    assert world.stop(session="s2").reason == WHOLE
    assert world.stop(BLOCKED, session="s1").reason == ""
    assert world.stop(session="s2").reason == SHORT
    assert "iteration 4 was the last" in world.stop(session="s2").message.lower()
    assert world.stop(session="s1").is_silent


def test_a_session_at_another_plan_or_none_is_not_held(world: World) -> None:
    hold(world)
    world.write("docs/kord/plans/login.md", "# Login\n\n- [ ] form\n")
    world.start("s2")
    world.prompt("s2", "/sisyphus:start-work login")
    other = world.new_project("other")
    world.start("s3", cwd=str(other))

    assert world.stop(session="s2").is_silent
    assert world.stop(session="s3", cwd=str(other)).is_silent
    assert world.stop(session="s1").reason


def test_after_clear_the_new_session_is_held(world: World) -> None:
    world.setenv("CLAUDE_PID", str(os.getpid()))
    world.write("PLAN.md", PLAN)
    world.start()
    world.write("docs/kord/plans/login.md", "# Login\n\n- [ ] form\n")
    world.prompt(text="/sisyphus:boulder-hold on")
    world.stop(BLOCKED)
    world.hook("session-end", world.payload("SessionEnd.other", reason="clear"))

    assert "must go on" in world.start("s2", source="clear").message
    assert world.stop(session="s2").reason == WHOLE


def test_a_fork_is_held_if_it_follows_the_plan(world: World) -> None:
    hold(world)
    assert "must go on" in world.start("s2", source="fork").message
    assert world.stop(session="s2").reason

    world.write("docs/kord/plans/login.md", "# Login\n\n- [ ] form\n")
    world.start("s4", source="fork")
    world.prompt("s4", "/sisyphus:start-work login")
    assert world.stop(session="s4").is_silent


# ---------------------------------------------------------------- started and ended


def test_on_says_what_it_does_and_how_it_ends(world: World) -> None:
    out = hold(world, "--max-iterations", "20", "--max-minutes", "90").out

    for part in (
        "started: Complete the plan Shop (0 of 2 tasks)",
        "Each session that follows the plan must go on until the plan is complete",
        "or after 20 iterations or 90 minutes",
        "run `sisyphus boulder hold off` in a terminal",
        "Sessions at the plan now: s1.",
    ):
        assert part in out


def test_on_again_replaces_it(world: World) -> None:
    hold(world)
    world.stop()
    world.stop(BLOCKED)

    out = world.cli("boulder", "hold", "on", "--max-iterations", "3").out

    assert "was replaced at iteration 2." in out
    assert not (world.ours / "logs" / "sessions.jsonl").exists(), "it is for loops"
    assert "Sessions at the plan now: s1 (needs you: the key of the API)." in out
    assert [loop["max_iterations"] for loop in world.loops()] == [3]
    assert iteration(world) == 1


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (None, "A hold needs a plan with open tasks"),
        (DONE, "A hold needs a plan with open tasks"),
        (BLOCKED_PLAN, "No hold was started: all that is left of the plan Shop is blocked."),
    ],
)
def test_on_needs_work(world: World, plan: str | None, problem: str) -> None:
    if plan:
        world.write("PLAN.md", plan)
    world.start()

    answer = world.cli("boulder", "hold", "on")

    assert (answer.code, answer.err.startswith(f"error: {problem}")) == (1, True)
    assert world.loops() == []


@pytest.mark.parametrize("words", [["maybe"], ["on", "--max-iterations", "-1"], ["on", "off"]])
def test_wrong_usage(world: World, words: list[str]) -> None:
    world.write("PLAN.md", PLAN)

    assert world.cli("boulder", "hold", *words).code == 2
    assert world.loops() == []


def test_a_plan_that_no_session_follows_yet(world: World) -> None:
    world.write("PLAN.md", PLAN)

    out = world.cli("boulder", "hold", "on").out

    assert "No session follows the plan now." in out
    assert "must go on until the plan is complete (iteration 1 of 100)" in world.start().message
    assert world.stop().reason == WHOLE


def test_off_and_off_again(world: World) -> None:
    hold(world)

    out = world.cli("boulder", "hold", "off").out

    assert out.startswith("Hold ")
    assert "was cancelled at iteration 1: Complete the plan Shop" in out
    assert world.stop().is_silent
    assert world.cli("boulder", "hold", "off") == Reply(0, "No hold is on here.\n", "")


def test_off_means_the_hold_of_a_plan_that_is_gone(world: World) -> None:
    hold(world)
    (world.project / "PLAN.md").unlink()
    world.write("docs/kord/plans/login.md", "# Login\n\n- [ ] form\n")

    assert "was cancelled" in world.cli("boulder", "hold", "off").out


def test_an_ended_hold_is_forgotten_after_a_while(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time
    hold(world)
    world.cli("boulder", "hold", "off")
    assert ending(world)[0] == "cancelled"

    monkeypatch.setattr(time, "time", lambda: now() + 31 * 86400)
    world.start("s2")

    assert world.ended() == []


def test_two_plans_are_held_each_for_itself(world: World) -> None:
    hold(world)
    world.write("docs/kord/plans/login.md", "# Login\n\n- [ ] form\n")
    world.start("s2")
    world.prompt("s2", "/sisyphus:start-work login")
    world.prompt("s2", "/sisyphus:boulder-hold on")

    assert "The plan Shop" in world.stop(session="s1").reason
    assert "The plan Login" in world.stop(session="s2").reason
    world.prompt("s2", "/sisyphus:boulder-hold off")
    assert world.stop(session="s2").is_silent
    assert world.stop(session="s1").reason


def test_clear_ends_the_hold_for_good(world: World) -> None:
    hold(world)

    assert "Its hold has ended." in world.cli("boulder", "clear").out
    assert ending(world) == ("cancelled", "its plan was cleared")
    assert world.stop().is_silent
    world.cli("boulder", "start", "--session-id", "s1")
    assert world.stop().is_silent
    assert "Its hold" not in world.cli("boulder", "clear").out


@pytest.mark.parametrize("status", ["active", "paused"])
def test_a_plan_that_was_completed_without_a_session_ends_it(world: World, status: str) -> None:
    hold(world)
    if status == "paused":
        world.cli("ralph", "pause")
    world.hook("session-end", world.payload("SessionEnd.other"))
    world.write("PLAN.md", DONE)

    reply = world.start("s2")

    assert "has ended: the plan is complete. (Complete the plan Shop)" in reply.message
    world.create("PLAN.md", PLAN, session="s2")
    assert world.stop(session="s2").is_silent, "the next plan is not held"


def test_the_next_plan_in_the_turn_of_the_last_tick_does_not_hide_the_end(world: World) -> None:
    hold(world)
    world.create("PLAN.md", DONE)
    world.create("docs/kord/plans/next.md", "# Next\n\n- [ ] more\n")

    assert "[BOULDER HOLD COMPLETE]" in world.stop().message
    assert world.stop().is_silent


# ---------------------------------------------------------------- the user's, not the model's


@pytest.fixture
def shell(world: World) -> World:
    """The commands of this test come from the shell of session s1."""
    hold(world)
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")
    return world


@pytest.mark.parametrize(
    "words",
    [
        "boulder hold off", "boulder hold on --max-iterations 1", "boulder clear", "ralph cancel",
        "ralph pause", "boulder start login",
    ],
)  # fmt: skip
def test_the_model_cannot_free_its_session(shell: World, words: str) -> None:
    shell.write("docs/kord/plans/login.md", "# Login\n\n- [ ] form\n")

    answer = shell.cli(*words.split())

    assert answer.code == 1
    assert "A session of an agent cannot change this." in answer.err
    assert "The plan Shop" in shell.stop().reason


def test_the_model_cannot_switch_it_on(world: World) -> None:
    world.write("PLAN.md", PLAN)
    world.start()
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")

    assert "Type /boulder-hold on" in world.cli("boulder", "hold", "on").err
    assert world.cli("boulder", "hold").out == "No hold is on here.\n"


def test_a_new_plan_of_the_model_does_not_free_its_session(shell: World) -> None:
    shell.create("docs/kord/plans/login.md", "# Login\n\n- [ ] form\n")
    assert "The plan Shop" in shell.stop().reason

    shell.create("docs/kord/plans/logout.md", "# Logout\n\n- [ ] form\n", agent_id="a1")
    assert "[BOULDER HOLD]\nShop" in shell.stop().reason


def test_cancel_of_the_model_ends_its_own_loop_alone(shell: World) -> None:
    shell.skill("sisyphus:ralph-loop", "a part --completion-promise DONE")

    assert "Ralph loop" in shell.cli("ralph", "cancel").out
    assert shell.stop().reason == WHOLE


def test_the_user_may_move_the_session_to_another_plan(world: World) -> None:
    hold(world)
    world.write("docs/kord/plans/login.md", "# Login\n\n- [ ] form\n")
    world.prompt(text="/sisyphus:start-work login")

    assert world.stop().is_silent
    assert state(world) == "active"


# ---------------------------------------------------------------- typed


@pytest.mark.parametrize("prefix", ["/sisyphus:", "/"])
def test_it_is_typed_in_a_session(world: World, prefix: str) -> None:
    world.cli("install", "--yes")
    world.write("PLAN.md", PLAN)
    world.start()

    answer = world.prompt(text=f"{prefix}boulder-hold on --max-iterations 5").reason
    assert "or after 5 iterations or 24 hours" in answer
    assert "Sessions at the plan now: s1." in answer
    assert world.stop().reason == WHOLE
    assert "iteration 2 of 5" in world.prompt(text=f"{prefix}boulder-hold").reason
    assert "was cancelled" in world.prompt(text=f"{prefix}boulder-hold off").reason
    assert world.stop().is_silent


def test_typed_in_a_session_that_follows_no_plan_yet(world: World) -> None:
    world.start()
    world.write("PLAN.md", PLAN)

    assert "Sessions at the plan now: s1." in world.prompt(text="/sisyphus:boulder-hold on").reason
    assert world.stop().reason == WHOLE


# ---------------------------------------------------------------- shown


def test_a_start_tells_the_user_once_how_it_ends(world: World) -> None:
    hold(world)

    message = world.start("s2").message

    assert (
        message.count("To end that, type /boulder-hold off, or run `sisyphus boulder hold off`")
        == 1
    )
    assert message.startswith("Shop: 0 of 2 tasks")
    assert "boulder hold off" not in world.start("s2").text


def test_a_start_says_that_the_hold_is_paused(world: World) -> None:
    hold(world)
    world.cli("ralph", "pause")

    message = world.start("s2").message

    assert "is paused: you paused it. Run `sisyphus ralph resume" in message
    assert "must go on" not in message


def test_status_shows_it(world: World) -> None:
    assert world.cli("status", "--json").json["hold"] is None
    hold(world, "--max-iterations", "9")
    world.stop()

    shown = world.cli("status", "--json").json["hold"]

    assert f"Hold {shown['id']}: active, iteration 2 of 9, 0 min: Complete the plan Shop\n" in (
        world.cli("status").out
    )
    assert shown | {"id": "", "started_at": ""} == {
        "id": "", "status": "active", "why": None, "plan": str(world.project / "PLAN.md"),
        "plan_name": "Shop", "project": str(world.project), "iteration": 2, "max_iterations": 9,
        "max_minutes": 1440, "wait_for_user": False, "started_at": "",
        "sessions": [{"session_id": "s1", "waits_for_user": None}],
    }  # fmt: skip
    assert world.cli("boulder", "hold", "status", "--json").json == shown


def test_another_project_shows_no_hold(world: World) -> None:
    hold(world)
    other = world.new_project("other")

    assert world.cli("status", "--project", other, "--json").json["hold"] is None
    assert world.cli("boulder", "hold", "--project", other).out == "No hold is on here.\n"


def test_hold_without_a_word_shows_it(world: World) -> None:
    hold(world)
    world.stop(BLOCKED)

    out = world.cli("boulder", "hold").out

    assert "active, iteration 1 of 100: Complete the plan Shop" in out
    assert "0 of 2 tasks. It ends with the plan or after 100 iterations or 24 hours" in out
    assert "Sessions at the plan now: s1 (needs you: the key of the API)." in out


def line(world: World) -> str:
    payload = {"session_id": "s1", "cwd": str(world.project)}
    out = io.StringIO()
    statusline.run([], io.BytesIO(json.dumps(payload).encode()), out, io.StringIO())
    return out.getvalue()


def test_the_status_line_shows_it(world: World) -> None:
    hold(world)
    world.stop()
    assert line(world) == "Shop 0/2 0% | hold 2/100\n"

    world.stop(BLOCKED)
    assert line(world) == "Shop 0/2 0% | hold 2/100 blocked\n"

    world.cli("ralph", "pause")
    assert line(world) == "Shop 0/2 0% | hold 2/100 paused\n"
    world.cli("ralph", "resume")
    world.loop()
    assert "| loop 1/100 | hold 2/100" in line(world)


def test_a_stop_of_a_held_session_reads_what_the_agent_said(world: World) -> None:
    hold(world)
    world.write_down(user("go"), agent(BLOCKED))

    assert "needs you" in world.stop(None).message


# ---------------------------------------------------------------- out of work, seen from elsewhere


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (BLOCKED_PLAN, "all that is left of the plan Shop is blocked"),
        ("# Shop\n", "the plan Shop has no tasks"),
        (None, "the file of the plan Shop is gone"),
    ],
)
def test_a_hold_without_work_waits_for_its_user(world: World, plan: str | None, why: str) -> None:
    hold(world)
    world.stop()
    if plan:
        world.write("PLAN.md", plan)
    else:
        (world.project / "PLAN.md").unlink()
    assert not world.stop().reason

    (entry,) = world.cli("status", "--json").json["waiting"]
    status = world.cli("boulder", "hold", "--json").json
    assert (entry["kind"], entry["loop_id"]) == ("no_work", status["id"])
    assert entry["text"] == f"Hold {status['id']} has no work: {why}"
    assert (status["status"], status["why"]) == ("active", why)

    world.write("PLAN.md", PLAN)
    assert world.cli("status", "--json").json["waiting"] == []


def test_the_users_command_is_told_each_time_that_the_work_runs_out(world: World) -> None:
    inbox = world.root / "inbox"
    command = f'echo "$SISYPHUS_KIND $SISYPHUS_TEXT" >> "{inbox}"'
    world.write(world.ours / "config.toml", f"[notify]\ncommand = '''{command}'''\n")
    hold(world, plan=BLOCKED_PLAN.replace("[!]", "[ ]"))
    for _ in range(2):
        world.edit("PLAN.md", "[ ] two", "[!] two")
        assert [bool(world.stop().message) for _ in range(2)] == [True, False]
        world.edit("PLAN.md", "[!] two", "[ ] two")
        assert world.stop().reason

    wait_for(lambda: inbox.exists() and len(inbox.read_text().splitlines()) >= 2)
    lines = inbox.read_text().splitlines()
    assert {line.split()[0] for line in lines} == {"no_work"}
    assert "all that is left of the plan Shop is blocked. Task: " in lines[0]


def test_it_shows_the_plan_as_its_file_is_now(world: World) -> None:
    hold(world)
    world.write("PLAN.md", PLAN.replace("[ ] one", "[x] one").replace("# Shop", "# Store"))

    assert "1 of 2 tasks. It ends" in world.cli("boulder", "hold").out
    assert world.cli("boulder", "hold", "--json").json["plan_name"] == "Store"


# ---------------------------------------------------------------- its command


@pytest.mark.parametrize("action", ["on", "off", "status"])
def test_it_takes_the_start_of_an_id_and_refuses_unknown_ones(world: World, action: str) -> None:
    hold(world, session="a4b2c3d4-1")
    before = world.cli("sessions", "--json").out

    for id, problem in (
        ("qq", "No session qq. `sisyphus sessions --all` lists them."),
        ("../x", "'../x' cannot be the id of a session."),
    ):
        answer = world.cli("boulder", "hold", action, "--session-id", id)
        assert (answer.code, answer.err) == (1, f"error: {problem}\n")
    assert world.cli("boulder", "hold", action, "--session-id", "a4").code == 0
    assert [each["session_id"] for each in json.loads(before)["sessions"]] == ["a4b2c3d4-1"]
    assert len(world.cli("sessions", "--json").json["sessions"]) == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["on", "--max-iterations", "x"], "--max-iterations must be a whole number"),
        (["on", "--max-minutes", "-1"], "--max-minutes must be a whole number"),
        (["off", "--max-iterations", "3"], "--max-iterations is for `sisyphus boulder hold on`."),
        (["status", "--wait-for-user"], "--wait-for-user is for `sisyphus boulder hold on`."),
    ],
)
def test_wrong_options_are_refused(world: World, words: list[str], problem: str) -> None:
    hold(world)

    answer = world.cli("boulder", "hold", *words)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {problem}")
    assert state(world) == "active"


@pytest.mark.parametrize(
    ("plan", "way"),
    [
        (None, "Write a PLAN.md with `- [ ] tasks`."),
        (DONE, "Write a PLAN.md with `- [ ] tasks`."),
        (PLAN, "`sisyphus boulder start` follows one."),
    ],
)
def test_without_a_plan_it_says_how_to_get_one(world: World, plan: str | None, way: str) -> None:
    if plan:
        world.write("PLAN.md", plan)
        world.start()
        world.cli("boulder", "clear")

    answer = world.cli("boulder", "hold", "on")

    assert answer.code == 1
    assert answer.err.endswith(f"and none is followed here. {way}\n")


@pytest.mark.parametrize(
    ("fields", "command"), [({}, "/boulder-hold"), (None, "/sisyphus:boulder-hold")]
)
def test_in_a_session_its_slash_command_is_named(
    world: World, fields: dict[str, str] | None, command: str
) -> None:
    world.cli("install", "--yes")
    if fields is None:
        world.setenv("CLAUDE_PLUGIN_ROOT", str(Path(__file__).parents[1]))
    world.write("PLAN.md", PLAN)
    world.start()
    way = f"type {command} off, or run `sisyphus boulder hold off` in a terminal"

    assert way in world.prompt(text=f"{command} on").reason
    assert way in world.prompt(text=f"{command} status").reason
    assert way in world.start("s2").message


def test_ids_are_short(world: World) -> None:
    id = "12345678-1234-1234-1234-123456789abc"

    assert "Sessions at the plan now: 12345678.\n" in hold(world, session=id).out


@pytest.mark.parametrize("words", [["hold", "on"], ["start"]])
def test_a_session_that_has_not_started_may_be_named_by_its_whole_id(
    world: World, words: list[str]
) -> None:
    world.write("PLAN.md", PLAN)
    id = "12345678-1234-1234-1234-123456789abc"

    answer = world.cli("boulder", *words, "--session-id", id)

    assert (answer.code, answer.err) == (0, f"warning: session {id} has not started yet.\n")
    assert not world.cli("boulder", *words, "--session-id", id).err
    assert world.plan("--session-id", id)["session_ids"] == [id]


def test_a_hold_that_is_not_paused_cannot_be_resumed(world: World) -> None:
    hold(world)

    said = world.cli("ralph", "resume").out

    assert "was not paused" in said
    assert "A session at the plan that is idle begins with your next prompt there." in said


def test_the_status_line_says_that_it_waits_for_its_plan(world: World) -> None:
    hold(world)
    assert "hold 1/100\n" in line(world)
    world.edit("PLAN.md", "[ ] one", "[x] one")
    world.edit("PLAN.md", "[ ] two", "[!] two")

    assert "hold 1/100 waiting\n" in line(world)
