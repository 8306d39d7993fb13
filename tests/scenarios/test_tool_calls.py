"""What follows a tool call: docs/rules.md, docs/context.md, docs/boulder.md, docs/ralph.md,
docs/checkpoints.md and docs/enforce.md. Most run twice: as one PostToolUse and as a batch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from world import EITHER, call

if TYPE_CHECKING:
    from world import World

PLAN = "# Ship it\n\n- [{}] one\n- [ ] two\n"
RULE = '---\nglobs: "**/*.py"\n---\n\nAnnotate.\n'
LOOP = '"do it" --completion-promise "DONE"'


# Rules


@EITHER
@pytest.mark.parametrize("tool", ["Read", "Edit", "Write", "MultiEdit"])
def test_a_rule_follows_a_tool_that_touches_a_file(world: World, tool: str) -> None:
    world.write(".claude/rules/py.md", RULE)

    assert world.use(tool, file_path="src/a.py").text == (
        "<system-reminder>\nThe following rules apply to this file:\n\n"
        "# Rule from .claude/rules/py.md\n\nAnnotate.\n</system-reminder>"
    )


@EITHER
def test_a_rule_follows_a_notebook(world: World) -> None:
    world.write(".claude/rules/nb.md", '---\nglobs: "*.ipynb"\n---\n\nClear outputs.\n')

    assert "Clear outputs." in world.use("NotebookEdit", notebook_path="a.ipynb").text


@EITHER
@pytest.mark.parametrize("tool", ["Bash", "Glob", "Grep", "WebFetch"])
def test_no_rule_follows_another_tool(world: World, tool: str) -> None:
    world.write(".claude/rules/py.md", RULE)

    assert world.use(tool, file_path="src/a.py").reply is None


@EITHER
def test_no_rule_follows_a_file_that_none_is_about(world: World) -> None:
    world.write(".claude/rules/py.md", RULE)

    assert world.use("Read", file_path="a.ts").reply is None


@EITHER
def test_rules_that_are_switched_off_are_not_sent(world: World) -> None:
    world.write(".claude/rules/py.md", RULE)
    world.write("~/.claude/.sisyphus/config.toml", "[rules]\nenabled = false\n")

    assert world.use("Read", file_path="a.py").reply is None


@EITHER
def test_a_rule_of_the_user_follows_too(world: World) -> None:
    world.write("~/.claude/rules/py.md", '---\napplies_to: "*.py"\n---\n\nBe brief.\n')

    assert "# Rule from ~/.claude/rules/py.md" in world.use("Read", file_path="a.py").text


# Documents of a folder


@EITHER
def test_a_folders_readme_follows_the_first_file_of_it(world: World) -> None:
    world.write("~/.claude/.sisyphus/config.toml", "[context]\ndirectory_readme = true\n")
    world.write("src/cart/README.md", "# The cart\n")
    world.write("src/cart/a.txt", "")

    told = ["# The cart" in world.use("Read", file_path="src/cart/a.txt").text for _ in "12"]

    assert told == [True, False]


@EITHER
def test_a_folders_readme_is_not_sent_unasked(world: World) -> None:
    world.write("src/cart/README.md", "# The cart\n")

    assert world.use("Read", file_path="src/cart/a.txt").reply is None


# The plan and the todos


@EITHER
@pytest.mark.parametrize("tool", ["Write", "Edit"])
def test_a_plan_that_the_agent_writes_is_followed_from_then_on(world: World, tool: str) -> None:
    world.write(".claude/PLAN.md", PLAN.format(" "))

    answer = world.use(tool, file_path=".claude/PLAN.md")

    assert "Boulder state tracking enabled for this plan" in answer.message
    assert world.use(tool, file_path=".claude/PLAN.md").message == ""


@EITHER
def test_the_progress_moves_with_an_edit_of_the_plan(world: World) -> None:
    world.write(".claude/PLAN.md", PLAN.format(" "))
    world.start()
    world.write(".claude/PLAN.md", PLAN.format("x"))

    world.use("Edit", file_path=".claude/PLAN.md")

    assert progress(world) == "1/2"


@EITHER
def test_the_progress_moves_at_the_next_prompt_at_the_latest(world: World) -> None:
    world.write(".claude/PLAN.md", PLAN.format(" "))
    world.start()
    world.write(".claude/PLAN.md", PLAN.format("x"))
    world.use("Bash", command="sed")

    world.hook("user-prompt-submit")

    assert progress(world) == "1/2"


@EITHER
def test_the_agents_todos_are_mirrored(world: World) -> None:
    world.write(".claude/PLAN.md", PLAN.format(" "))
    world.start()

    world.use("TodoWrite", todos=[{"content": "dig", "status": "pending", "activeForm": "digging"}])

    assert "dig" in world.sisyphus("boulder todos").stdout


@EITHER
def test_a_task_that_is_created_and_done_is_mirrored(world: World) -> None:
    world.write(".claude/PLAN.md", PLAN.format(" "))
    world.start()

    world.use("TaskCreate", subject="dig", description="d", activeForm="digging")
    world.use("TaskUpdate", taskId="1", status="in_progress")

    todos = world.sisyphus("boulder todos --json").json
    assert [(todo["content"], todo["status"]) for todo in todos] == [("dig", "in_progress")]


def test_todos_of_one_batch_are_all_mirrored(world: World) -> None:
    world.write(".claude/PLAN.md", PLAN.format(" "))
    world.start()

    world.batch([
        call("TaskCreate", "Task #1 created successfully: dig", subject="dig", description=""),
        call("TaskCreate", "Task #2 created successfully: fill", subject="fill", description=""),
        call("TaskUpdate", "Updated task #1 status", taskId="1", status="in_progress"),
    ])  # fmt: skip

    todos = world.sisyphus("boulder todos --json").json
    assert [todo["content"] for todo in todos] == ["dig", "fill"]
    assert todos[0]["status"] == "in_progress"


def progress(world: World) -> str:
    """What the file says that other programs read."""
    found = json.loads((world.home / ".claude/.boulder.json").read_text("utf-8"))
    return f"{found['progress']['completed']}/{found['progress']['total']}"


# A loop that the agent starts


@EITHER
def test_a_loop_that_the_agent_starts_holds_it(world: World) -> None:
    world.use("Skill", skill="ralph-wiggum:ralph-loop", args=LOOP)

    answer = world.hook("stop", said="I think that is all.")

    assert answer.blocked
    assert "<promise>DONE</promise>" in answer.reason


@EITHER
def test_another_skill_holds_nobody(world: World) -> None:
    world.use("Skill", skill="pdf", args=LOOP)

    assert world.hook("stop", said="I think that is all.").reply is None


# How full the context is


@EITHER
def test_a_level_of_the_context_is_told_once_after_a_tool_call(world: World) -> None:
    world.start()
    world.remember({"type": "user", "message": {"role": "user", "content": "go"}, "uuid": "u"})
    world.fill(720_000)

    told = [world.use("Bash", command="ls").text for _ in "12"]

    assert "72%" in told[0]
    assert told[1] == ""


@EITHER
def test_an_almost_empty_context_is_told_nobody(world: World) -> None:
    world.start()
    world.fill(20_000)

    assert world.use("Bash", command="ls").reply is None


# Calls that failed, and subagents


@pytest.mark.parametrize(
    ("tool", "response"),
    [
        ("Read", "File does not exist. Note: your current working directory is /p."),
        ("Edit", "<tool_use_error>String to replace not found in file.</tool_use_error>"),
        ("Bash", "Exit code 3\nhi"),
    ],
)
def test_a_failed_call_of_a_batch_disturbs_nobody(world: World, tool: str, response: str) -> None:
    world.write(".claude/PLAN.md", PLAN.format(" "))
    world.start()

    answer = world.batch([call(tool, response, file_path="missing.txt")])

    assert (answer.exit, answer.text, answer.stderr) == (0, "", "")


@EITHER
def test_a_subagents_edit_of_the_plan_counts_and_is_told_nobody(world: World) -> None:
    world.write(".claude/PLAN.md", PLAN.format(" "))
    world.start()
    world.write(".claude/PLAN.md", PLAN.format("x"))

    answer = world.subagent("a1").use("Edit", file_path=".claude/PLAN.md")

    assert answer.text == ""
    assert progress(world) == "1/2"


# OpenCode


def test_opencodes_read_brings_the_rule_once(world: World) -> None:
    world.write(".claude/rules/py.md", RULE)
    opencode = world.client("opencode")
    opencode.start()

    told = ["Annotate." in opencode.tool("read", filePath="a.py").text for _ in "12"]

    assert told == [True, False]
