"""The plan of work in OpenCode: told to each session, followed, and never a word to a subagent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from e2e.opencode.script import bash, edit, read, task, todos, write
from e2e.script import say, use
from e2e.texts import ENABLED, continuation

if TYPE_CHECKING:
    from e2e.opencode.lab import Lab

PLAN = """\
# Checkout page

- [x] Sketch it
- [x] Build it
- [ ] Test it in **two** browsers
- [ ] Ship it
"""
TOLD = continuation("Checkout page", "2/4")
BOULDER = ".claude/.boulder.json"


def test_a_session_is_told_of_the_plan_once(lab: Lab) -> None:
    lab.write(".claude/PLAN.md", PLAN)

    first = lab.run("hello", turns=[use(bash("true")), say("hi")])
    resumed = lab.run("more", "--session", first.session, turns=[say("yes")])
    second = lab.run("go on", turns=[say("gladly")])

    requests = [*first.requests, *resumed.requests, *second.requests]
    assert [request.count(TOLD) for request in requests] == [1, 1, 1, 1]
    assert second.requests[0].count("Next task: Test it in **two** browsers") == 1
    assert lab.state(BOULDER)["session_ids"] == [first.session, second.session]


def test_a_plan_that_the_model_writes_is_followed(lab: Lab) -> None:
    plan = lab.project / ".claude/PLAN.md"
    done = edit(plan, "- [ ] Test it", "- [x] Test it")

    run = lab.run(
        "plan it", turns=[use(write(plan, PLAN)), use(read(plan)), use(done), say("tested")]
    )
    following = lab.run("go on", turns=[say("gladly")])

    assert ENABLED in run.told + run.requests[-1].text
    assert lab.state(BOULDER)["progress"] == {"total": 4, "completed": 3}
    assert following.requests[0].count(continuation("Checkout page", "3/4")) == 1


def test_an_edit_by_other_means_is_noticed(lab: Lab) -> None:
    plan = lab.write(".claude/PLAN.md", PLAN)
    done = bash(f"sed -i 's/- \\[ \\] Test/- [x] Test/' {plan}")

    lab.run("work", turns=[use(done), say("tested")])

    assert lab.state(BOULDER)["progress"] == {"total": 4, "completed": 3}


def test_a_subagent_moves_the_progress_and_is_told_nothing(lab: Lab) -> None:
    plan = lab.write(".claude/PLAN.md", PLAN)
    done = edit(plan, "- [ ] Test it", "- [x] Test it")

    run = lab.run(
        "delegate",
        turns=[use(task("test it")), say("tested")],
        agent_turns=[use(read(plan)), use(done), say("done")],
    )

    assert lab.state(BOULDER)["progress"] == {"total": 4, "completed": 3}
    assert not any("[BOULDER" in request.text for request in run.agents)
    assert lab.state(BOULDER)["session_ids"] == [run.session]


def test_todos_are_kept_with_the_plan(lab: Lab) -> None:
    lab.write(".claude/PLAN.md", PLAN)
    listed = todos(**{"open the first browser": "in_progress", "look at it": "pending"})

    lab.run("work", turns=[use(listed), say("noted")])

    status = json.loads(lab.sisyphus("boulder", "status", "--json"))
    assert [(todo["content"], todo["status"]) for todo in status["todos"]] == [
        ("open the first browser", "in_progress"),
        ("look at it", "pending"),
    ]


def test_a_completed_plan_is_told_once_and_its_record_is_cleared(lab: Lab) -> None:
    plan = lab.write(".claude/PLAN.md", PLAN.replace("- [ ] Test", "- [x] Test"))
    done = edit(plan, "- [ ] Ship it", "- [x] Ship it")

    run = lab.run("ship it", turns=[use(read(plan)), use(done), say("shipped")])
    following = lab.run("what now?", turns=[say("nothing left")])

    assert lab.state(BOULDER) is None
    assert (run.told + run.requests[-1].text).count("4/4") == 1
    assert "[BOULDER" not in following.requests[0].text


def test_after_a_compaction_the_plan_is_told_again(lab: Lab) -> None:
    lab.write(".claude/PLAN.md", PLAN)

    with lab.serve(turns=[say("hi"), say("yes"), say("and so on")]) as server:
        session = server.new_session()
        server.prompt(session, "hello")
        server.until_idle(session)
        server.summarize(session)
        for prompt in ("more", "still more"):
            server.prompt(session, prompt)
            server.until_idle(session)

        requests = server.requests
    told = [request.count("Active plan: Checkout page") for request in requests]
    assert told == [1, 1, 1]


def test_boulder_status_needs_no_model(lab: Lab) -> None:
    lab.write(".claude/PLAN.md", PLAN)

    run = lab.run("", "--command", "boulder-status", turns=[])
    with lab.tui(turns=[]) as tui:
        tui.enter("/boulder-status now")
        tui.until_shown("Checkout page")

        assert "2/4" in tui.screen
    assert "Checkout page" in run.output
    assert "2/4" in run.output
