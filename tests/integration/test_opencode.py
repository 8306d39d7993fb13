"""A session of OpenCode from its first prompt to its end, through the real command."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from making import COMMAND, debug_log, ours, put, stored
from opencode.stand_in import CHILD, SESSION, StandIn, recorded

from sisyphus.session.client_process import SESSION_VARIABLES
from sisyphus.session.transcripts import transcript_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opencode.stand_in import Answers

    from sisyphus._types import Json

PLAN = "# Ship it\n\n## Wave 1\n\n- [x] one\n- [ ] two\n- [ ] three\n"
RULE = '---\nglobs: "*.py"\n---\nAnnotate all.\n'


@pytest.fixture
def session(home: Path, project: Path) -> Iterator[StandIn]:
    """A session in a project with a plan, documents and a rule; fails where a feature did."""
    put(project / ".claude" / "PLAN.md", PLAN)
    put(project / "README.md", "# Ours\n\nHow to build.\n")
    put(project / "AGENTS.md", "# Agents\n\nBe brief.\n")
    put(project / ".cursor" / "rules" / "python.mdc", RULE)
    put(project / "a.py", "one\ntwo\nthree\n")
    yield StandIn(project)
    assert debug_log(home) == ""


def _reads(session: StandIn, name: str = "a.py") -> Answers:
    return session.uses("read", {"filePath": str(session.project / name)}, "1: one")


def _sisyphus(session: StandIn, *words: str) -> str:
    """What a command says in the shell of the session's agent."""
    done = subprocess.run(
        [COMMAND, *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=session.project,
        env={**os.environ, SESSION_VARIABLES[1]: session.session},
    )
    return done.stdout


def _record(home: Path) -> Json:
    (path,) = ours(home, "projects").glob("*/boulder.json")
    return stored(path)


# --- what the stand-in says -----------------------------------------------------------------------

ALIKE = [
    pytest.param("session-start.startup", {"source": "startup"}, id="a start"),
    pytest.param("user-prompt-submit", {"prompt": "go", "prompt_id": "m"}, id="a prompt"),
    pytest.param("stop.first", {"hook_event_name": "Stop"}, id="a stop"),
    pytest.param("pre-compact", {"trigger": "auto"}, id="a compaction"),
    pytest.param("session-end", {"reason": "other"}, id="an end"),
]


@pytest.mark.parametrize(("name", "fields"), ALIKE)
def test_the_stand_in_says_what_the_plugin_said(project: Path, name: str, fields: Json) -> None:
    message, before = StandIn(project).message(**fields), recorded(name)
    assert set(message) == set(before)
    assert set(before["opencode"]) <= set(message["opencode"])


def test_it_speaks_of_a_tool_as_the_plugin_did(project: Path) -> None:
    session = StandIn(project)
    told = {"tool": "read", "call": "c1", "args": {}, "output": "", "metadata": {}}
    before = recorded("post-tool-use.read")
    assert set(session.message(told)) == set(before)
    assert set(told) == set(before["opencode"]["tool"])

    child = StandIn(project, CHILD, session)
    before = recorded("post-tool-use.in-subagent")
    assert set(child.message(told)) == set(before)
    assert set(child.message(told)["opencode"]) == set(before["opencode"])


# --- boulder, context, rules ----------------------------------------------------------------------


def test_the_first_prompt_brings_plan_and_documents_the_next_one_nothing(session: StandIn) -> None:
    started, heard = session.hears("go on")

    assert started.text.startswith("[BOULDER STATE DETECTED]\n\nActive plan: Ship it\n")
    assert "Next task: two" in started.text
    assert "How to build." in started.text
    assert "Be brief." not in started.text  # OpenCode sends AGENTS.md itself
    assert "README.md" in started.told
    assert heard.reply == {}
    assert [answer.reply for answer in session.hears("and on")] == [{}]


def test_a_session_that_is_continued_is_sent_nothing_twice(session: StandIn) -> None:
    session.hears("go on")
    again = StandIn(session.project)
    resumed = again.begins("resume")

    assert "How to build." not in resumed.text


def test_a_rule_follows_the_read_of_a_file_that_it_covers_once(session: StandIn) -> None:
    session.hears("go on")

    assert "# Rule from .cursor/rules/python.mdc\n\nAnnotate all." in _reads(session).text
    assert _reads(session).reply == {}
    assert _reads(session, "README.md").reply == {}


def test_rules_that_claude_code_would_send_itself_are_sent(session: StandIn) -> None:
    put(session.project / ".claude/rules/python.md", '---\npaths: "*.py"\n---\nNo globals.\n')
    session.hears("go on")

    assert "No globals." in _reads(session).text


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-two\n+deux\n*** End Patch\n"


def test_a_rule_follows_a_patch_of_a_file_that_it_covers(session: StandIn) -> None:
    session.hears("go on")

    assert "Annotate all." in session.uses("apply_patch", {"patchText": PATCH}).text


def test_an_edit_of_the_plan_is_followed_at_once(session: StandIn, home: Path) -> None:
    session.hears("go on")
    path = put(session.project / ".claude" / "PLAN.md", PLAN.replace("[ ] two", "[x] two"))
    session.uses("edit", {"filePath": str(path), "oldString": "[ ]", "newString": "[x]"})

    shared = stored(home / ".claude" / ".boulder.json")
    assert shared["progress"] == {"total": 3, "completed": 2}
    assert shared["session_ids"] == [SESSION]


TODOS = [
    {"content": "A", "status": "completed", "priority": "high"},
    {"content": "B", "status": "in_progress", "priority": "medium"},
    {"content": "C", "status": "pending", "priority": "low"},
    {"content": "D", "status": "cancelled", "priority": "low"},
]


def test_the_models_todos_are_mirrored_without_the_cancelled_ones(
    session: StandIn, home: Path
) -> None:
    session.hears("go on")
    session.uses("todowrite", {"todos": TODOS}, "[]", todos=TODOS)

    found = _record(home)["todos"]
    assert [(todo["content"], todo["status"]) for todo in found] == [
        ("A", "completed"), ("B", "in_progress"), ("C", "pending"),
    ]  # fmt: skip

    session.uses("todowrite", {"todos": [{"content": "B", "status": "cancelled"}]}, "[]")
    assert [todo["content"] for todo in _record(home)["todos"]] == ["A"]


# --- ralph ----------------------------------------------------------------------------------------

LOOP = '"fix it" --completion-promise DONE'
KEPT = "All is well.\n\n<promise>DONE</promise>"


def test_a_typed_loop_holds_the_session_until_its_promise_is_kept(session: StandIn) -> None:
    assert "until <promise>DONE</promise>" in session.types("ralph-loop", LOOP).told
    _reads(session)
    held = session.stops("I am done.")

    assert held.reason.startswith("[RALPH LOOP ENFORCEMENT]")
    assert "Iteration 2 of 100" in held.reason
    assert held.extras == {"abort_seconds": 3, "stability_seconds": 5}

    session.goes_on(held)
    _reads(session)
    ended = session.stops(KEPT)
    assert ended.reason == ""
    assert ended.told.startswith("[RALPH LOOP COMPLETE]")
    assert session.stops("Thank you.").reply == {}


def test_a_promise_of_before_the_continuation_keeps_nothing(session: StandIn) -> None:
    session.types("ralph-loop", LOOP)
    session.says("I will end with:\n\n<promise>DONE</promise>, when it is true.")
    session.goes_on(session.stops("Not yet."))

    assert session.stops("Still not.").reason


def test_a_subagents_promise_keeps_nothing_and_its_tokens_count(session: StandIn) -> None:
    session.types("ralph-loop", f"{LOOP} --max-tokens 5000")
    child = StandIn(session.project, CHILD, session)
    child.note("prompt", id="msg_c", text="SUBTASK")
    assert "Annotate all." in _reads(child).text
    child.uses_up(4_000)
    child.says(KEPT)
    child.ends_below()
    session.uses("task", {"description": "sub", "prompt": "SUBTASK"}, KEPT)

    held = session.stops("It is done below.")
    assert held.reason
    session.goes_on(held)
    session.uses_up(2_000)
    ended = session.stops("Going on.")
    assert (ended.reason, "tokens" in ended.told) == ("", True)


def test_a_subagents_end_of_turn_is_never_held(session: StandIn) -> None:
    session.types("ralph-loop", LOOP)
    child = StandIn(session.project, CHILD, session)

    assert child.stops("Sub done.").reply == {}


def test_the_plan_agent_waits_for_the_user(session: StandIn) -> None:
    session.types("ralph-loop", LOOP)
    session.agent = "plan"
    assert session.stops("This is my plan.").reply == {}

    session.agent = "build"
    assert session.stops("Now I build.").reason


ANSWERED = [
    ("ralph-status", "", '/ralph-loop "TASK"'), ("boulder-status", "", "Ship it"),
    ("ralph-help", "", "ralph-loop"), ("ralph-context", "", "context"),
    ("ralph-loop", "--max-iterations x", "max-iterations"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "arguments", "said"), ANSWERED)
def test_a_command_about_our_state_is_answered_without_the_model(
    session: StandIn, command: str, arguments: str, said: str
) -> None:
    assert said.lower() in session.types(command, arguments).reason.lower()


def test_a_cancelled_loop_holds_nobody(session: StandIn) -> None:
    session.types("ralph-loop", LOOP)
    assert session.types("cancel-ralph").reason

    assert session.stops("I stop.").reply == {}


def test_the_agents_shell_knows_its_session(session: StandIn, home: Path) -> None:
    session.hears("go on")
    _sisyphus(session, "ralph", "start", "--completion-promise", "DONE", "--", "fix it")

    assert json.loads(_sisyphus(session, "ralph", "status", "--json"))["session_id"] == SESSION
    held = session.stops("I am done.")
    assert held.reason.startswith("[RALPH LOOP ENFORCEMENT]")
    assert transcript_path(str(home / ".claude"), SESSION).endswith(f"{SESSION}.jsonl")


def test_two_sessions_do_not_take_each_others_loop(session: StandIn) -> None:
    session.types("ralph-loop", LOOP)
    other = StandIn(session.project, "ses_another")
    other.hears("hello")

    assert other.stops("Done.").reply == {}
    assert session.stops("Done.").reason


# --- checkpoints ----------------------------------------------------------------------------------

LEVELS = [
    pytest.param(130_000, 5_000, "", id="67 percent"),
    pytest.param(100_000, 42_000, "CCS_WARNING|L1|71|", id="71 percent, with what was cached"),
    pytest.param(172_000, 0, "CCS_CHECKPOINT_TRIGGERED|L2|86|", id="86 percent"),
]


@pytest.mark.parametrize(("tokens", "cached", "words"), LEVELS)
def test_levels_are_told_by_the_window_of_the_sessions_model(
    session: StandIn, tokens: int, cached: int, words: str
) -> None:
    session.types("ralph-loop", LOOP)
    session.uses_up(tokens, cached)
    text = _reads(session, "README.md").text

    assert words in text
    assert ("CCS_" in text) is bool(words)
    assert "CCS_" not in _reads(session, "README.md").text


def test_a_larger_window_fills_later(session: StandIn) -> None:
    session.window = 1_000_000
    session.hears("go on")
    session.uses_up(172_000)

    assert "CCS_" not in _reads(session).text


def test_a_small_window_fills_sooner(session: StandIn) -> None:
    session.window = 32_000
    session.types("ralph-loop", LOOP)
    session.uses_up(23_000)

    assert "CCS_WARNING|L1|71|" in _reads(session).text


def test_from_95_percent_on_no_loop_holds(session: StandIn) -> None:
    session.types("ralph-loop", LOOP)
    stopped = session.stops("Not done.", 192_000)

    assert stopped.reason == ""
    assert list((session.project / ".claude" / "handoffs").glob("*.md"))


def test_a_compaction_is_told_what_to_keep_and_gives_the_handoff(session: StandIn) -> None:
    session.types("ralph-loop", LOOP)
    diff = "@@ -1,3 +1,3 @@\n one\n-two\n+deux\n three\n"
    edited = {"filePath": str(session.project / "a.py"), "oldString": "two", "newString": "deux"}
    session.uses("edit", edited, "Edit applied successfully.", filediff={"patch": diff})
    session.uses("bash", {"command": "pytest"}, "1 failed", exit=1)
    session.uses_up(180_000)
    before, after = session.compacts()

    assert before.extras["keep"]
    assert "fix it" in "\n".join(before.extras["keep"])
    assert "CONTEXT CHECKPOINT RESUME" in after.text
    assert "How to build." in after.text
    (handoff,) = (session.project / ".claude" / "handoffs").glob("*.md")
    written = handoff.read_text("utf-8")
    assert "a.py" in written
    assert "pytest" in written
    assert "CCS_" not in _reads(session, "README.md").text


def test_the_context_is_shown_by_the_window_that_the_client_named(session: StandIn) -> None:
    session.hears("go on")
    session.stops("Done.", 100_000)
    found = json.loads(_sisyphus(session, "ralph", "context", "--json"))

    assert (found["window"], found["tokens"], found["percent"]) == (200_000, 100_000, 50)
