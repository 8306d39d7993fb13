"""One working day of an agent, step by step: what happens, what is asked, what must come back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sisyphus.clients.claude_code import heard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sisyphus._types import Json
    from sisyphus.demo.stage import Stage

PLAN = """\
# shop-checkout

- [x] Model the cart
- [ ] Add the discount rule
- [ ] Make the tests pass
"""
README = """\
# Shop

A small shop. Run the tests with `make test`.
"""
RULE = """\
---
applies_to: ["**/*.py"]
priority: 10
---

- Money is an integer number of cents.
- Every public function is annotated.
"""
LOOP = '"Make the tests pass" --completion-promise "TESTS PASS"'


@dataclass
class Step:
    """`expected`: what the reply must hold (nothing: there must be none); `refused`: must not."""

    title: str
    happens: str
    event: str
    payload: Json
    expected: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    prepare: Callable[[Stage], None] | None = None


@dataclass
class Result:
    """A step that was played. `ok`: it answered as it should."""

    step: Step
    model: str
    user: str
    ok: bool


def play(stage: Stage) -> Iterator[Result]:
    """Plays the story on an empty stage, a result a step."""
    stage.write("README.md", README)
    stage.write(".claude/PLAN.md", PLAN)
    stage.write(".claude/rules/python.md", RULE)
    stage.write("cart.py", "total = 0\n")
    for step in _steps(stage):
        if step.prepare:
            step.prepare(stage)
        reply = stage.hook(step.event, step.payload)
        model, user = heard(reply)
        said = f"{model}\n{user}"
        right = all(text in said for text in step.expected)
        wrong = any(text in said for text in step.refused)
        silent = bool(step.expected) or not said.strip()
        yield Result(step, model, user, ok=right and not wrong and silent)


def _steps(stage: Stage) -> list[Step]:
    plan, cart = (str(stage.project / name) for name in (".claude/PLAN.md", "cart.py"))
    reading = {"tool_name": "Read", "tool_input": {"file_path": cart}}
    return [
        Step(
            "The plan survives the session",
            "A new session starts in a project with a plan and a README.",
            "session-start",
            {"source": "startup"},
            ["[BOULDER STATE DETECTED]", "Progress: 1/3 tasks complete", "# README.md"],
        ),
        Step(
            "A rule arrives when it matters",
            "The agent reads cart.py.",
            "post-tool-use",
            reading,
            ["# Rule from .claude/rules/python.md", "integer number of cents"],
        ),
        Step(
            "A rule arrives only once", "The agent reads cart.py again.", "post-tool-use", reading
        ),
        Step(
            "A loop does not end before its promise is kept",
            f"The user typed /sisyphus:ralph-loop {LOOP}; the agent wants to stop.",
            "stop",
            {"last_assistant_message": "I think this looks good now."},
            ["[RALPH LOOP ENFORCEMENT]", "<promise>TESTS PASS</promise>"],
            prepare=_start_loop,
        ),
        Step(
            "A promise in a code block is none",
            "The agent only quotes the promise.",
            "stop",
            {"last_assistant_message": "I will print\n```\n<promise>TESTS PASS</promise>\n```"},
            ["[RALPH LOOP ENFORCEMENT]"],
        ),
        Step(
            "Work is handed over before the context runs out",
            "The agent works on; its context is 87% full.",
            "post-tool-use",
            {"tool_calls": []},
            ["CCS_CHECKPOINT_TRIGGERED|L2|87|.claude/handoffs/"],
            prepare=lambda stage: stage.fill(870_000),
        ),
        Step(
            "A session that has handed over may stop",
            "The agent wants to stop.",
            "stop",
            {"last_assistant_message": "I have added to the handoff and stop here."},
            ["[CHECKPOINTED]"],
            ["[RALPH LOOP ENFORCEMENT]"],
        ),
        Step(
            "Whoever goes on is given the handoff, once",
            "The session is resumed.",
            "session-start",
            {"source": "resume"},
            ["CONTEXT CHECKPOINT RESUME", "DO NOT restart the task from scratch"],
        ),
        Step(
            "A loop ends when its promise is kept",
            "The agent keeps its promise.",
            "stop",
            {"last_assistant_message": "All green.\n\n<promise>TESTS PASS</promise>"},
            ["[RALPH LOOP COMPLETE]", "Ralph loop has ended."],
            ["[RALPH LOOP ENFORCEMENT]"],
        ),
        Step(
            "The finished plan is put away",
            "The agent ticks the last boxes of the plan.",
            "post-tool-use",
            {"tool_name": "Edit", "tool_input": {"file_path": plan}},
            ["3/3"],
            prepare=lambda stage: stage.replace(".claude/PLAN.md", "[ ]", "[x]"),
        ),
    ]


def _start_loop(stage: Stage) -> None:
    stage.say(
        "user",
        "<command-message>sisyphus:ralph-loop</command-message>\n"
        "<command-name>/sisyphus:ralph-loop</command-name>\n"
        f"<command-args>{LOOP}</command-args>",
    )
