"""The fresh-context run through the real client."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from e2e.fresh import runner, state, wait_for
from e2e.script import Tool, Turn, edit, read, say, slowly, usage_limit, use, write

if TYPE_CHECKING:
    from e2e.desk import Desk

LARGE = 1_000_000
ITEMS = [f"Write part {number}" for number in range(1, 6)]
RESUME = "CONTEXT CHECKPOINT RESUME"
TASK = ("--prompt", "Write the parts.", "--completion-promise", "ALL WRITTEN")
KEPT = "<promise>ALL WRITTEN</promise>"


def plan(desk: Desk) -> None:
    desk.write("fix_plan.md", "# Parts\n\n" + "".join(f"- [ ] {item}\n" for item in ITEMS))


def part(desk: Desk, number: int) -> Tool:
    return write(desk.project / f"part{number}.txt", f"part {number}\n")


def tick(desk: Desk, number: int) -> Tool:
    item = ITEMS[number - 1]
    return edit(desk.project / "fix_plan.md", f"- [ ] {item}", f"- [x] {item}")


def look(desk: Desk) -> Tool:
    return read(desk.project / "fix_plan.md")


def filled(percent: float, *tools: Tool) -> Turn:
    return slowly(Turn(tools=tools, tokens=int(LARGE * percent / 100)))


def filling(desk: Desk, *tools: Tool) -> list[Turn]:
    """The tools are called where the context reaches L2, which the look behind them tells of."""
    return [filled(60, look(desk)), filled(87, *tools), filled(87.5, look(desk))]


def done(desk: Desk, number: int, word: str = "Written.") -> list[Turn]:
    """An iteration that does its item."""
    return [use(look(desk)), use(part(desk, number), tick(desk, number)), say(word)]


def test_six_iterations_two_checkpoints_and_a_runner_killed_in_the_middle(desk: Desk) -> None:
    plan(desk)
    paused = Turn(tools=(Tool("Bash", {"command": "touch started; sleep 2"}),))
    half = [*filling(desk, part(desk, 2)), say("I stop here.")]
    rest = [use(look(desk)), use(tick(desk, 2)), say("Part 2 is done.")]
    killed = [use(look(desk)), paused, use(part(desk, 3), tick(desk, 3)), say("Part 3 is done.")]
    full = [*filling(desk, part(desk, 4), tick(desk, 4)), say("Full again.")]
    turns = [*done(desk, 1), *half, *rest, *killed, *full, *done(desk, 5, KEPT)]

    with runner(desk, turns) as terminal:
        with terminal.start(*TASK) as process:
            wait_for((desk.project / "started").exists)
            process.kill()
        assert state(desk)["iteration"] == 4
        ended = terminal.run("--resume")

    found = state(desk)
    assert (ended.code, found["status"]) == (0, "completed"), ended.text
    rows = found["context_history"]
    assert [row["iteration"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["checkpoint"] for row in rows] == [False, True, False, False, True, False]
    assert [row["peak_percent"] for row in rows][1:5:3] == [87, 87]
    assert found["completed_items"] == ITEMS
    assert not found["context_checkpoint"].get("active")
    written = [path.read_text() for path in sorted(desk.project.glob("part*.txt"))]
    assert written == [f"part {number}\n" for number in range(1, 6)]
    assert [RESUME in prompt for prompt in ended.prompts] == [False, True]


def test_the_prompt_of_an_iteration_behind_a_checkpoint_resumes_it(desk: Desk) -> None:
    plan(desk)
    half = [*filling(desk, part(desk, 1)), say("I stop here.")]

    with runner(desk, [*half, use(look(desk)), say(KEPT)]) as terminal:
        ended = terminal.run(*TASK)

    first, second = ended.prompts
    assert ended.code == 0
    assert RESUME not in first
    assert second.count(RESUME) == 1
    assert "part1.txt" in second
    [handoff] = (desk.project / ".claude/handoffs").glob("*.md")
    assert f".claude/handoffs/{handoff.name}" in second
    assert "Write part 1" in handoff.read_text(encoding="utf-8")


def test_a_child_that_was_killed_with_its_runner_is_begun_again_from_its_transcript(
    desk: Desk,
) -> None:
    plan(desk)
    stuck = Turn(tools=(Tool("Bash", {"command": "touch started; sleep 60"}),))
    cut = [use(look(desk)), use(part(desk, 1)), stuck]

    with runner(desk, [*cut, use(tick(desk, 1)), say(KEPT)]) as terminal:
        with terminal.start(*TASK) as process:
            wait_for((desk.project / "started").exists)
            time.sleep(0.3)  # the client writes its transcript late
            child = state(desk)["in_flight"]["child"]["pid"]
            process.kill()
        os.killpg(child, signal.SIGKILL)
        ended = terminal.run("--resume")

    assert ended.code == 0, ended.text
    [prompt] = ended.prompts
    assert RESUME in prompt
    assert "part1.txt" in prompt
    assert [row["iteration"] for row in state(desk)["context_history"]] == [1]


def test_a_usage_limit_is_waited_for(desk: Desk) -> None:
    limit = usage_limit(time.time() + 4)
    login = {"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-of-no-account", "ANTHROPIC_API_KEY": ""}

    with runner(desk, [limit, say(KEPT)]) as terminal:
        ended = terminal.run(*TASK, env=login)

    assert ended.code == 0, ended.text
    assert state(desk)["iteration"] == 1
    assert "limit" in ended.text


@pytest.mark.parametrize(
    ("refused", "told"),
    [
        pytest.param(Turn("bad key", status=403), "authenticat", id="authentication"),
        pytest.param(Turn("no model", status=404), "model", id="no such model"),
    ],
)
def test_a_fatal_error_ends_it_with_words(desk: Desk, refused: Turn, told: str) -> None:
    with runner(desk, [refused] * (2 if refused.status == 404 else 1)) as terminal:
        ended = terminal.run(*TASK, env={"CLAUDE_CODE_MAX_RETRIES": "0"})

    assert ended.code == 1
    assert told in ended.text.lower()
    assert state(desk)["status"] == "fatal_error"


def test_the_breaker_opens_where_nothing_moves(desk: Desk) -> None:
    with runner(desk, [say("Thinking.")] * 5) as terminal:
        ended = terminal.run(*TASK)

    found = state(desk)
    assert ended.code == 3
    assert (found["status"], found["no_change_count"]) == ("circuit_breaker", 5)
    assert list((desk.project / ".claude/handoffs").glob("*.md"))


def test_a_promise_must_pass_the_command_that_checks_it(desk: Desk) -> None:
    turns = [say(KEPT), use(part(desk, 1)), say(KEPT)]

    with runner(desk, turns) as terminal:
        ended = terminal.run(*TASK, "--verify", "cat part1.txt")

    assert ended.code == 0
    assert "part1.txt" in ended.prompts[1]
    assert state(desk)["iteration"] == 2
