"""A context that fills up in OpenCode: levels, handoffs, and compactions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from e2e.opencode.client import USABLE
from e2e.opencode.script import bash, edit, read
from e2e.script import Tool, Turn, say, use

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.opencode.lab import Lab
    from e2e.opencode.wire import Request

PLAN = "# Migrate the tests\n\n- [x] Read them\n- [ ] Move the first\n- [ ] Move the rest\n"
RESUME = "CONTEXT CHECKPOINT RESUME"
LOOP = ("do it --completion-promise DONE", "--command", "ralph-loop")


def filled(percent: float, *tools: Tool, text: str = "") -> Turn:
    """An answer that finds the context filled to `percent` of what the client can use."""
    return Turn(text, tools, tokens=int(USABLE * percent / 100))


def told(request: Request) -> list[str]:
    """The levels that the model was told of, in order, each by its line."""
    return re.findall(r"^.*(CCS_[A-Z_]+\|.*)$", request.text, re.MULTILINE)


def handoffs(lab: Lab) -> list[Path]:
    return sorted((lab.project / ".claude/handoffs").glob("*.md"))


def test_each_level_is_told_once_and_the_loop_goes_on(lab: Lab) -> None:
    look = bash("true")

    run = lab.run(
        *LOOP,
        turns=[
            *(filled(percent, look) for percent in (60, 72, 73, 87, 88)),
            say("I stop here."),
            say("<promise>DONE</promise>"),
        ],
    )

    [path] = handoffs(lab)
    assert told(run.requests[-1]) == [
        "CCS_WARNING|L1|72|Context at 72%",
        f"CCS_CHECKPOINT_TRIGGERED|L2|87|.claude/handoffs/{path.name}",
    ]
    assert "[CHECKPOINTED]" not in run.told
    assert "[RALPH LOOP COMPLETE]" in run.told


def test_a_full_context_lets_the_loops_session_stop(lab: Lab) -> None:
    look = bash("true")

    run = lab.run(*LOOP, turns=[filled(96, look), filled(97, look), say("I stop here.")])

    assert [line[:29] for line in told(run.requests[-1])] == ["CCS_CHECKPOINT_TRIGGERED|L3|9"]
    assert "[CHECKPOINTED]" in run.told
    assert "/compact, then any prompt" in run.told


def test_a_handoff_is_given_to_the_next_session_once(lab: Lab) -> None:
    lab.write(".claude/PLAN.md", PLAN)
    code = lab.write("auth.py", "def token():\n    return 2\n")
    change = edit(code, "return 2", "return 3")

    lab.run(
        "Make the token work",
        turns=[
            use(read(code)),
            use(bash("echo checking && exit 3")),
            filled(60, change),
            filled(87, bash("true")),
            use(bash("true")),
            say("It half works."),
        ],
    )
    fresh = lab.run("go on", turns=[say("gladly")])
    third = lab.run("go on", turns=[say("gladly")])

    [path] = handoffs(lab)
    text = path.read_text(encoding="utf-8")
    for fact in ("Migrate the tests", "1 of 3", "auth.py", "echo checking", "def token"):
        assert fact in text, fact
    assert fresh.requests[0].count(RESUME) == 1
    assert path.name in fresh.requests[0].text
    assert third.requests[0].count(RESUME) == 0


def test_a_compaction_keeps_what_matters_and_hands_over(lab: Lab) -> None:
    lab.write(".claude/PLAN.md", PLAN)

    run = lab.run(
        "work on it",
        turns=[use(bash("true")), filled(101, bash("true")), filled(10, bash("true")), say("done")],
    )

    [summary] = run.compactions
    assert "the plan Migrate the tests" in summary.text
    assert f".claude/handoffs/{handoffs(lab)[0].name}" in summary.text
    after = run.requests[2]
    assert after.count(RESUME) == 1
    assert after.count("Active plan: Migrate the tests") == 1


def test_the_commands_about_the_context_need_no_model(lab: Lab) -> None:
    start = lab.run("look", turns=[filled(72, bash("true")), say("seen")])

    shown = lab.run("", "--command", "ralph-context", "--session", start.session, turns=[])
    made = lab.run("", "--command", "ralph-checkpoint", "--session", start.session, turns=[])

    assert "L0" in shown.output
    assert f".claude/handoffs/{handoffs(lab)[0].name}" in made.output
