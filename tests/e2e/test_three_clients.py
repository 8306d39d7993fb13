"""One piece of work in all three clients: a plan, a handoff, a loop."""

from __future__ import annotations

import json
import re

import pytest

from e2e.desk import CLAUDE_CODE, CODEX, OPENCODE, Desk, Run
from e2e.script import Turn, edit, fill, read, say, use
from e2e.test_boulder import continuation

PLAN = "# Kiln\n\n- [ ] wash\n- [ ] fire\n- [ ] glaze\n"
TASKS = ("wash", "fire", "glaze")
ORDER = (CLAUDE_CODE, CODEX, OPENCODE)
LOOP = '/sisyphus:ralph-loop "fire the kiln" --completion-promise "DONE"'
BLOCK = "[RALPH LOOP ENFORCEMENT]"
COMPLETE = "[RALPH LOOP COMPLETE]"
RESUME = "CONTEXT CHECKPOINT RESUME"
NOT_YET = say("Not yet.")
PROMISE = say("<promise>DONE</promise>")


@pytest.fixture
def desks(desk: Desk) -> dict[str, Desk]:
    """One home and project, with each client."""
    return {name: desk.with_client(name) for name in (CLAUDE_CODE, CODEX, OPENCODE)}


def tick(task: str, plan: str) -> list[Turn]:
    change = edit(plan, f"- [ ] {task}", f"- [x] {task}")
    return [use(read(plan)), use(change), say(f"{task} is done")]


@pytest.mark.parametrize(
    "plan", ["PLAN.md", "docs/superpowers/plans/kiln.md"], ids=["its own", "of another tool"]
)
def test_a_plan_is_worked_in_each(desks: dict[str, Desk], plan: str) -> None:
    desk = desks[CLAUDE_CODE]
    desk.write(plan, PLAN)
    if plan != "PLAN.md":
        desk.sisyphus("boulder", "start", "kiln")
    runs, shown = [], []
    for name, task in zip(ORDER, TASKS, strict=True):
        runs.append(desks[name].run("go on", turns=tick(task, plan)))
        shown.append(desk.sisyphus("boulder", "status"))

    for number, (run, task) in enumerate(zip(runs, TASKS, strict=True)):
        told = continuation("Kiln", f"{number}/3", plan)
        assert run.requests[0].text.count(f"{told}\n\nNext task: {task}") == 1
    assert [f"{number}/3" in text for number, text in enumerate(shown, 1)] == [True] * 3
    messages = "".join(run.messages for run in runs)
    assert messages.count("Kiln is complete: all 3 tasks are done.") == 1
    assert desk.boulder_file() is None
    _check_history(desk, runs)


def _check_history(desk: Desk, runs: list[Run]) -> None:
    """One list has the sessions of all clients, and `why` knows each."""
    ids = [run.session for run in runs]
    rows = json.loads(desk.sisyphus("sessions", "--json"))["sessions"]
    told = [(row["session_id"], row["client"], row["sent"]) for row in rows]
    assert {row["state"] for row in rows} == {"ended"}
    expected = [(id, name, {"boulder": 1}) for id, name in zip(ids, ORDER, strict=True)]
    assert told == expected[::-1]  # the latest first
    for number, id in enumerate(ids):
        notes = desk.sisyphus("why", "--session-id", id)
        assert f"plan Kiln: {number} of 3 tasks" in notes
        assert f"d, {number + 1} of 3 tasks" in notes


def test_a_handoff_of_claude_code_is_taken_up_in_codex(desks: dict[str, Desk]) -> None:
    desk = desks[CLAUDE_CODE]
    desk.write("PLAN.md", PLAN)
    desk.write("one.py", "1\n")
    reads = [fill(870_000)] * 2

    desk.run("fire the kiln", turns=[*reads, say("yes")])
    run = desks[CODEX].run("on", turns=[say("yes")])
    after = [desks[name].run("on", turns=[say("yes")]) for name in (CODEX, CLAUDE_CODE)]

    assert run.requests[0].text.count(RESUME) == 1
    assert "fire the kiln" in run.requests[0].text
    assert [RESUME in each.requests[0].text for each in after] == [False, False]


def test_a_loop_of_claude_code_goes_on_in_codex(desks: dict[str, Desk]) -> None:
    """By one command of the user: it moves the loop to a session that is there."""
    desk, codex = desks[CLAUDE_CODE], desks[CODEX]
    there = codex.run("hello", turns=[say("hi")])
    first = desk.run(LOOP, turns=[NOT_YET, say("<blocked>a key</blocked>")])
    (loop,) = {*re.findall(r"Ralph loop (\w+)", "".join(r.text for r in first.requests))}

    desk.sisyphus("ralph", "resume", loop, "--session-id", there.session)
    second = codex.resume(there, "here is the key", turns=[NOT_YET, PROMISE])
    third = desk.resume(first, "and now?", turns=[NOT_YET])

    assert [BLOCK in request.last for request in second.requests] == [False, True]
    assert "fire the kiln" in second.requests[1].last
    assert COMPLETE in second.messages
    assert [BLOCK in request.last for request in third.requests] == [False]
    assert "complete, 3 iterations" in desk.sisyphus("ralph", "log")
