"""A context that fills up, through the real client: levels, handoffs, and who goes on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from e2e.desk import WITH_SHELL
from e2e.script import Tool, Turn, edit, read, say, slowly, use

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.desk import Desk, Run

LARGE, SMALL = 1_000_000, 200_000
PLAN = "# Migrate the tests\n\n- [x] Read them\n- [ ] Move the first\n- [ ] Move the rest\n"
RESUME = "CONTEXT CHECKPOINT RESUME"
LOOP = '/sisyphus:ralph-loop "Migrate the tests" --completion-promise "DONE"'


def bash(command: str) -> Tool:
    return Tool("Bash", {"command": command})


def filled(percent: float, *tools: Tool, window: int = LARGE, text: str = "") -> Turn:
    """An answer that finds the context filled to `percent`."""
    return slowly(Turn(text, tools, tokens=int(window * percent / 100)))


def twice(percent: int, tool: Tool) -> list[Turn]:
    """Enough for the level of `percent` to be told, with the second answer at the latest."""
    return [filled(percent, tool), filled(percent + 0.5, tool)]


def handoffs(desk: Desk) -> list[Path]:
    """The oldest first: a second one of a minute is called `…-2.md`."""
    found = (desk.project / ".claude/handoffs").glob("*.md")
    return sorted(found, key=lambda path: (len(path.name), path.name))


def told(run: Run) -> list[str]:
    """The levels that the model was told of in this run, in order, each by its line."""
    return re.findall(r"^.*(CCS_[A-Z_]+\|.*)$", run.main[-1].text, re.MULTILINE)


@pytest.mark.parametrize(
    ("model", "window"),
    [
        pytest.param("claude-opus-5-5", LARGE, id="the large window"),
        pytest.param("claude-sonnet-4-5", SMALL, id="the small window"),
        pytest.param("claude-sonnet-4-5[1m]", LARGE, id="the small one made large"),
    ],
)
def test_each_level_is_told_once_and_the_loop_lets_the_session_stop(
    desk: Desk, model: str, window: int
) -> None:
    file = desk.write("a.txt", "a\n")

    run = desk.run(
        LOOP,
        turns=[filled(p, read(file), window=window) for p in (60, 61, 72, 72.5, 87, 87.5, 96, 96.5)]
        + [filled(96.6, window=window, text="I stop here.")],
        flags=["--model", model],
    )

    warned, handed, urgent = told(run)
    first, second = (path.name for path in handoffs(desk))
    assert warned == "CCS_WARNING|L1|72|Context at 72%"
    assert handed == f"CCS_CHECKPOINT_TRIGGERED|L2|87|.claude/handoffs/{first}"
    assert urgent == f"CCS_CHECKPOINT_TRIGGERED|L3|96|.claude/handoffs/{second}"
    assert any("CCS_WARNING|L1|72" in request.last for request in run.main[3:5])
    assert run.result == "I stop here."
    assert "[CHECKPOINTED]" in run.told


def test_a_session_that_nothing_holds_is_informed_and_goes_on(desk: Desk) -> None:
    file = desk.write("a.txt", "a\n")

    run = desk.run("look", turns=[*twice(87, read(file)), say("seen")])

    assert told(run) == ["CCS_WARNING|L2|87|Context at 87%"]
    assert handoffs(desk) == []


def test_a_handoff_says_what_happened_and_the_next_session_gets_it_once(desk: Desk) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    code = desk.write("src/auth.py", "def login():\n    return 1\n\n\ndef token():\n    return 2\n")
    failing = "echo checking && exit 3"

    work = desk.run(
        "Make the token work",
        turns=[
            use(read(code)),
            use(bash(failing)),
            filled(60, bash("ruff --version || echo ruff check . passed")),
            filled(87, edit(code, "return 2", "return 3")),
            filled(87.5, read(code)),
            say("The token half works. Next I mend its test."),
        ],
        flags=WITH_SHELL,
    )
    fresh = desk.run("go on", turns=[say("gladly")])
    third = desk.run("go on", turns=[say("gladly")])

    [path] = handoffs(desk)
    text = path.read_text(encoding="utf-8")
    assert path.name.endswith(f"-{work.session[:8]}.md")
    for fact in (
        "Migrate the tests", "1 of 3", "Move the first", "L2", "87%", "src/auth.py", failing,
        "checking", "def token",
    ):  # fmt: skip
        assert fact in text, fact
    assert "unknown" not in text.lower()
    assert fresh.main[0].count(RESUME) == 1
    assert path.name in fresh.main[0].text
    assert "src/auth.py" in fresh.main[0].text
    assert third.main[0].count(RESUME) == 0


def test_clear_and_resume_give_it_to_whoever_goes_on_with_the_work(desk: Desk) -> None:
    file = desk.write("a.txt", "a\n")

    run = desk.run(
        LOOP,
        "/clear",
        "go on",
        turns=[*twice(87, read(file)), say("stopped"), say("<promise>DONE</promise>")],
    )

    after = run.main[-1]
    assert after.count(RESUME) == 1
    assert "[RALPH LOOP COMPLETE]" in run.told

    other = desk.run(LOOP, turns=[*twice(88, read(file)), say("stopped")])
    back = desk.resume(other, "go on", turns=[say("<promise>DONE</promise>")])

    assert back.main[-1].count(RESUME) == 1
    assert "[RALPH LOOP COMPLETE]" in back.told


def test_a_compaction_hands_over_and_begins_the_levels_anew(desk: Desk) -> None:
    file = desk.write("a.txt", "a\n")

    run = desk.run(
        "work on it",
        turns=[
            filled(72, read(file)),
            filled(97.5, read(file)),
            filled(10, read(file)),
            filled(60, read(file)),
            *twice(73, read(file)),
            say("done"),
        ],
    )

    [summary] = run.compactions
    assert "keep in the summary" in summary.text
    assert ".claude/handoffs/" in summary.text
    last = run.main[-1]
    assert last.count(RESUME) == 1
    assert told(run)[-1] == "CCS_WARNING|L1|73|Context at 73%"


def test_the_commands_about_the_context_cost_no_request(desk: Desk) -> None:
    file = desk.write("a.txt", "a\n")
    start = desk.run("look", turns=[filled(72, read(file)), say("seen")])

    shown = desk.resume(start, "/sisyphus:ralph-context", turns=[])
    made = desk.resume(start, "/sisyphus:ralph-checkpoint", turns=[])

    assert shown.requests == made.requests == []
    assert "L0 (Normal)" in shown.result  # the last answer found little
    [path] = handoffs(desk)
    assert f".claude/handoffs/{path.name}" in made.result
