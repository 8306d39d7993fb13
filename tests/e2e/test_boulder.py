from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from e2e.desk import WITH_SHELL, Desk, make_project
from e2e.script import Tool, agent, edit, read, say, use, write
from e2e.texts import ENABLED, continuation

if TYPE_CHECKING:
    from pathlib import Path

PLAN = """\
# Checkout page

- [x] Sketch it
- [x] Build it
- [ ] Test it in **two** browsers
- [ ] Ship it
"""
TWO_MODELS = pytest.mark.parametrize(
    "model",
    [
        pytest.param("opus", id="text of hooks as system messages"),
        pytest.param("claude-sonnet-4-5", id="text of hooks as reminders"),
    ],
)


@TWO_MODELS
def test_the_next_session_continues_the_plan_with_its_exact_progress(
    desk: Desk, model: str
) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    desk.run("hello", turns=[say("hi")])

    run = desk.run("go on", turns=[say("gladly")], flags=["--model", model])

    [request] = run.requests
    assert request.count(continuation("Checkout page", "2/4")) == 1
    assert request.count("Next task: Test it in **two** browsers") == 1


def test_a_plan_that_the_model_writes_is_tracked_from_then_on(desk: Desk) -> None:
    plan = desk.project / "PLAN.md"

    run = desk.run("plan it", turns=[use(write(plan, PLAN)), say("planned")])
    following = desk.run("go on", turns=[say("gladly")])

    assert ENABLED in run.told + run.requests[-1].text
    assert desk.state(".boulder.json")["active_plan"] == str(plan)
    assert desk.state(".boulder.json")["session_ids"] == [run.session, following.session]
    assert following.requests[0].count(continuation("Checkout page", "2/4", "PLAN.md")) == 1


def test_an_edit_through_the_client_moves_the_progress(desk: Desk) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN)
    done = edit(plan, "- [ ] Test it", "- [x] Test it")

    desk.run("work", turns=[use(read(plan)), use(done), say("tested")])
    progress = desk.state(".boulder.json")["progress"]
    run = desk.run("go on", turns=[say("gladly")])

    assert (progress["completed"], progress["total"]) == (3, 4)
    assert run.requests[0].count(continuation("Checkout page", "3/4")) == 1
    assert run.requests[0].count("Next task: Ship it") == 1


def test_an_edit_by_a_subagent_moves_the_progress_without_a_word_to_it(desk: Desk) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN)
    done = edit(plan, "- [ ] Test it", "- [x] Test it")

    run = desk.run(
        "delegate",
        turns=[use(agent("test it")), say("tested")],
        agent_turns=[use(read(plan)), use(done), say("done")],
    )

    assert desk.state(".boulder.json")["progress"] == {"total": 4, "completed": 3}
    assert not any("[BOULDER" in request.text for request in run.agents)


def test_an_edit_by_other_means_is_noticed(desk: Desk) -> None:
    plan = desk.write("PLAN.md", PLAN)
    done = Tool("Bash", {"command": f"sed -i 's/- \\[ \\] Test/- [x] Test/' {plan}"})

    desk.run("work", turns=[use(done), say("tested")], flags=WITH_SHELL)

    assert desk.state(".boulder.json")["progress"] == {"total": 4, "completed": 3}


def test_the_continuation_is_told_once_a_context(desk: Desk) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    start = desk.run("hello", turns=[say("hi")])
    resumed = desk.resume(start, "more", turns=[say("yes")])
    compacted = desk.resume(resumed, "/compact", "more", "more", turns=[say("yes")] * 2)

    requests = [*start.requests, *resumed.requests, *compacted.requests]
    told = [request.count(continuation("Checkout page", "2/4")) for request in requests]
    brief = [request.count("Active plan: Checkout page (2/4 tasks") for request in requests]
    assert told == [1, 1, 0, 0]
    assert brief == [0, 0, 1, 1]


def test_sessions_side_by_side_are_all_told_and_all_recorded(desk: Desk) -> None:
    desk.write(".claude/PLAN.md", PLAN)

    with ThreadPoolExecutor() as pool:
        started = [pool.submit(desk.run, "hello", turns=[say("hi")]) for _ in range(3)]
    runs = [future.result() for future in started]

    assert {run.session for run in runs} == set(desk.state(".boulder.json")["session_ids"])
    assert [run.requests[0].count("[BOULDER STATE DETECTED]") for run in runs] == [1, 1, 1]


def test_the_boulder_moves_to_the_project_in_which_a_session_starts(
    desk: Desk, tmp_path: Path
) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    desk.run("hello", turns=[say("hi")])
    other = Desk(desk.home, make_project(tmp_path / "other"))
    other.write("PLAN.md", "# Other work\n\n- [ ] Begin\n")

    there = other.run("hello", turns=[say("hi")])
    back = desk.run("hello", turns=[say("hi")])

    assert there.requests[0].count(continuation("Other work", "0/1", "PLAN.md")) == 1
    assert back.requests[0].count(continuation("Checkout page", "2/4")) == 1
    assert str(desk.project) in there.told


def test_start_work_goes_on_to_the_model_with_the_plan_it_names(desk: Desk) -> None:
    desk.write("docs/kord/plans/login.md", "# Login\n\n- [ ] Form\n")
    desk.write("docs/kord/plans/logout.md", "# Logout\n\n- [ ] Button\n")

    run = desk.run("/sisyphus:start-work login", turns=[say("I begin.")])

    told = continuation("Login", "0/1", "docs/kord/plans/login.md")
    assert run.requests[0].count(told) == 1
    assert desk.state(".boulder.json")["plan_name"] == "Login"


def test_a_completed_plan_is_told_once_and_its_record_is_cleared(desk: Desk) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN.replace("- [ ] Test", "- [x] Test"))
    done = edit(plan, "- [ ] Ship it", "- [x] Ship it")

    run = desk.run("ship it", turns=[use(read(plan)), use(done), say("shipped")])
    following = desk.run("what now?", turns=[say("nothing left")])

    told = [hook for hook in [*run.hooks, *following.hooks] if "4/4" in hook["stdout"]]
    assert len(told) == 1
    assert desk.state(".boulder.json") is None
    assert "[BOULDER" not in following.requests[0].text


def test_a_plan_that_is_gone_is_a_warning_and_not_a_continuation(desk: Desk) -> None:
    plan = desk.write(".claude/PLAN.md", PLAN)
    desk.run("hello", turns=[say("hi")])
    plan.unlink()

    run = desk.run("go on", turns=[say("with what?")])

    assert "Continuing from where you left off." not in run.requests[0].text
    assert "sisyphus boulder clear" in run.told + run.requests[0].text


def test_boulder_status_is_answered_without_the_model(desk: Desk) -> None:
    desk.write(".claude/PLAN.md", PLAN)

    run = desk.run("/sisyphus:boulder-status", turns=[])

    assert run.requests == []
    assert "2/4" in run.result
    assert "Checkout page" in run.result


def test_boulder_clear_is_answered_without_the_model_and_ends_the_continuation(desk: Desk) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    desk.run("hello", turns=[say("hi")])

    cleared = desk.run("/sisyphus:boulder-clear", turns=[])
    run = desk.run("hello again", turns=[say("hi")])

    assert cleared.requests == []
    assert "[BOULDER" not in run.requests[0].text
