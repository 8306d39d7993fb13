"""What follows tool calls reaches the model, each text once, whichever wiring calls us."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from e2e.desk import Desk
from e2e.script import Tool, agent, edit, read, say, skill, use, write
from e2e.texts import COMPLETE, ENABLED, GO_ON
from sisyphus import __version__
from sisyphus.install import marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from e2e.desk import Run

ADVICE = "Annotate every function."
TOOLS = "Read|Edit|Write|NotebookEdit|MultiEdit|Skill|TodoWrite|TaskCreate|TaskUpdate"
ALLOWED = ("--allowedTools", "Skill,Bash")
PLAN = "# Shop\n\n- [ ] cart\n- [ ] invoice\n"

OTHERS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "Stop": "stop",
    "SessionEnd": "session-end",
}
EARLIER = {"PostToolUse": "post-tool-use", "PostToolBatch": "post-tool-batch"}
BOTH = {"PostToolUse": "post-tool-use", "PostToolBatch": "post-tool-use"}

WIRINGS = ["batch", "earlier", "both in one file", "earlier beside the plugin"]


def _settings(calls: dict[str, str]) -> str:
    def group(event: str, name: str) -> dict[str, Any]:
        matcher = {"matcher": TOOLS} if event == "PostToolUse" else {}
        command = {"type": "command", "command": f"sisyphus hook {name}", "timeout": 10}
        return {**matcher, "hooks": [command]}

    hooks = {event: [group(event, name)] for event, name in {**OTHERS, **calls}.items()}
    return json.dumps({"hooks": hooks})


@pytest.fixture(params=WIRINGS)
def wired(request: pytest.FixtureRequest, desk: Desk) -> Desk:
    """A user's desk, with sisyphus wired in one of the ways that there are."""
    if request.param == "batch":
        return desk
    calls = BOTH if request.param == "both in one file" else EARLIER
    desk.write_home("settings.json", _settings(calls))
    return desk if "plugin" in request.param else Desk(desk.home, desk.project, [])


def _run(desk: Desk, turns: Sequence[Any], *flags: str, **more: Any) -> Run:
    return desk.run(
        "go", turns=turns, flags=["--permission-mode", "acceptEdits", *ALLOWED, *flags], **more
    )


def _rule(desk: Desk, name: str, glob: str, text: str) -> None:
    path = f".github/instructions/{name}.instructions.md"
    desk.write(path, f'---\napplyTo: "{glob}"\n---\n\n{text}\n')


def _record(desk: Desk) -> dict[str, Any]:
    """The project's record, as anybody may read it."""
    [path] = (desk.home / ".claude/.sisyphus/projects").glob("*/boulder.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _counts(run: Run, text: str) -> list[int]:
    return [request.count(text) for request in run.main]


def test_a_rule_and_the_documents_arrive_once_for_parallel_calls(wired: Desk) -> None:
    _rule(wired, "python", "**/*.py", ADVICE)
    wired.write("src/AGENTS.md", "The cart rounds half to even.\n")
    files = [wired.write(f"src/{n}.py", f"{n}") for n in range(4)]

    run = _run(wired, [use(*map(read, files)), use(read(files[0])), say("seen")])

    assert _counts(run, ADVICE) == [0, 1, 1]
    assert _counts(run, "The cart rounds half to even.") == [0, 1, 1]


def test_two_long_rules_in_one_batch_arrive_both_whole(wired: Desk) -> None:
    """One reply holds 10,000 units, so the second waits for the next."""
    _rule(wired, "python", "**/*.py", "p" * 8_000)
    _rule(wired, "script", "**/*.js", "j" * 8_000)
    one, two = wired.write("one.py", "1"), wired.write("two.js", "2")
    other = wired.write("other.txt", "3")

    run = _run(wired, [use(read(one), read(two)), use(read(other)), use(read(other)), say("seen")])

    assert run.main[-1].count("p" * 8_000) == 1
    assert run.main[-1].count("j" * 8_000) == 1


def test_a_plan_that_is_written_is_followed_and_its_progress_is_read_from_the_file(
    wired: Desk,
) -> None:
    plan = wired.project / "PLAN.md"
    ticked = edit(plan, "- [ ] cart", "- [x] cart")

    run = _run(wired, [use(write(plan, PLAN)), use(ticked, read(plan)), say("one is done")])
    following = wired.run("go on", turns=[say("gladly")])

    assert run.told.count(ENABLED) == 1
    assert following.main[0].count("Progress: 1/2 tasks complete") == 1


def test_todos_keep_their_ids(wired: Desk) -> None:
    """Of a batch the id stands only in what the model reads: `Task #1 created successfully`."""
    wired.write("PLAN.md", PLAN)
    made = [Tool("TaskCreate", {"subject": name, "description": name}) for name in ("cart", "tax")]
    done = Tool("TaskUpdate", {"taskId": "1", "status": "completed"})

    _run(wired, [use(*made), use(done), say("noted")], "--model", "claude-sonnet-4-5")

    todos = {todo["content"]: todo["status"] for todo in _record(wired)["todos"]}
    assert todos == {"cart": "completed", "tax": "pending"}


def test_a_loop_that_the_model_starts_by_a_skill_begins_once(wired: Desk) -> None:
    text = "---\ndescription: Start a loop\n---\n\nTask: $ARGUMENTS\n"
    wired.write_home("commands/ralph-loop.md", marks.marked(text, __version__).decode())
    started = use(skill("ralph-loop", '"Fix the cart" --completion-promise "DONE"'))

    run = _run(wired, [started, say("Not yet."), say("Done.\n\n<promise>DONE</promise>")])

    assert [GO_ON in request.last for request in run.main] == [False, False, True]
    assert run.told.count(COMPLETE) == 1


def test_calls_that_fail_do_no_harm(wired: Desk) -> None:
    _rule(wired, "python", "**/*.py", ADVICE)
    file = wired.write("one.py", "1")
    missing = wired.project / "missing.py"
    turns = [
        use(edit(file, "nothing like that", "x"), Tool("Bash", {"command": "exit 3"})),
        use(read(file), read(missing)),
        say("seen"),
    ]

    run = _run(wired, turns)

    assert _counts(run, ADVICE)[-1] == 1
    assert file.read_text(encoding="utf-8") == "1"


def test_a_subagents_batch_counts_for_itself(wired: Desk) -> None:
    _rule(wired, "python", "**/*.py", ADVICE)
    files = [wired.write(f"{n}.py", f"{n}") for n in range(2)]

    run = _run(
        wired,
        [use(agent("read both")), use(*map(read, files)), say("seen")],
        agent_turns=[use(*map(read, files)), use(read(files[0])), say("read them")],
    )

    assert [request.count(ADVICE) for request in run.agents] == [0, 1, 1]
    assert _counts(run, ADVICE) == [0, 0, 1]
