"""Loops: the agent works until it says the promise, and no longer."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from e2e import copilot
from e2e.codex import NO_AGENTS
from e2e.copilot import NO_FORK
from e2e.desk import CODEX, COPILOT, OPENCODE, QWEN, WITH_SHELL, Desk
from e2e.install import CHECKOUT, CLAUDE_CODE
from e2e.qwen import CAP as QWEN_CAP
from e2e.qwen import LATE
from e2e.scenario import Scenario, Step, each_client_but, play, rows
from e2e.script import delegate, read, say, shell, skill, use

ARGUMENTS = '"do it" --completion-promise "DONE"'
TYPED = f"/ralph-wiggum:ralph-loop {ARGUMENTS}"
PROMISE = say("All is well.\n\n<promise>DONE</promise>")
NOT_YET = say("Not yet.")
OFF = {"SISYPHUS_DISABLE": "1"}
NO_BREAKER = {"../home/.claude/.sisyphus/config.toml": "[ralph]\nbreaker_stops = 0\n"}
GO_ON = """\
[RALPH LOOP ENFORCEMENT]

The completion promise was not output. The loop must continue.

Expected promise: <promise>DONE</promise>

Continue working on the task. Output the promise only when the task is TRULY complete."""
BLOCK = "[RALPH LOOP ENFORCEMENT]"
COMPLETE = """\
[RALPH LOOP COMPLETE]

Completion promise detected: <promise>DONE</promise>
Ralph loop has ended."""
TASK_AGAIN = re.compile(r"The task of Ralph loop \w+:\n\ndo it")
NO_SKILL = "no other client's model can call commands"
NO_CAP = dict.fromkeys((OPENCODE, CODEX), "it has no limit of its own")
NO_BACKGROUND = "it tells of no background commands"
NO_CLEAR = dict.fromkeys((OPENCODE, CODEX, COPILOT), "a new session is no clear of another one")
WRITTEN_AFTER = 1.0
"""Seconds after which the client has written a prompt down, which it does every 0.1 s or so."""

CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"


@pytest.fixture(autouse=True)
def ralph_wiggum(desk: Desk, tmp_path: Path) -> None:
    """A stand-in for the plugin whose command starts a loop."""
    folder = tmp_path / "ralph-wiggum"
    for name, text in (
        (".claude-plugin/plugin.json", json.dumps({"name": "ralph-wiggum", "version": "1.0.0"})),
        ("commands/ralph-loop.md", "---\ndescription: Start a loop\n---\n\nTask: $ARGUMENTS\n"),
    ):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    desk.plugins.append(folder)


@rows(
    Scenario("a typed loop blocks until its promise", {},
             [Step([TYPED], [NOT_YET, NOT_YET, PROMISE])],
             last={BLOCK: [0, 2, 2]}, user=[COMPLETE]),
    Scenario("one that the model starts", {},
             [Step(["please loop"],
                   [use(skill("ralph-wiggum:ralph-loop", ARGUMENTS)), NOT_YET, PROMISE])],
             last={BLOCK: [0, 0, 2]}, only=NO_SKILL),
    Scenario("our own command, with its task",  {},
             [Step(['/sisyphus:ralph-loop "count to three" --completion-promise "ALL DONE"'],
                   [say("one"), say("two three\n\n<promise>ALL DONE</promise>")])],
             last={BLOCK: [0, 2]}, user=["[RALPH LOOP COMPLETE]"]),
    Scenario("options with the quotes and dashes of a word processor", {},
             [Step(["/ralph-wiggum:ralph-loop “do it” —completion-promise “DONE”"],
                   [NOT_YET, PROMISE])], last={BLOCK: [0, 2]}, user=[COMPLETE]),
    Scenario("a loop for each task, one after the other", {},
             [Step(["implement it"], [
                 use(skill("ralph-wiggum:ralph-loop", '"one" --completion-promise "TASK1_DONE"')),
                 NOT_YET,
                 say("<promise>TASK1_DONE</promise>", tools=(
                     skill("ralph-wiggum:ralph-loop", '"two" --completion-promise "TASK2_DONE"'),)),
                 NOT_YET, say("<promise>TASK2_DONE</promise>")])],
             last={"<promise>TASK1_DONE</promise>": [0, 1, 2, 0, 0],
                   "<promise>TASK2_DONE</promise>": [0, 0, 0, 1, 2]}, only=NO_SKILL),
    Scenario("an ended loop does not come back", {},
             [Step([TYPED, "and now?"], [NOT_YET, PROMISE, NOT_YET]),
              Step(["and now?"], [NOT_YET], how="resume")], last={BLOCK: [0, 2, 0, 0]}),
    Scenario("the next loop needs its own promise", {},
             [Step([TYPED, TYPED], [PROMISE, NOT_YET, PROMISE])], last={BLOCK: [0, 0, 2]}),
    Scenario("a limit ends it", {},
             [Step([f"{TYPED} --max-iterations 2"], [NOT_YET, NOT_YET])],
             last={BLOCK: [0, 2]}, user=["2 iterations"]),
    Scenario("plan mode waits for the user", {},
             [Step([TYPED], [NOT_YET], flags=["--permission-mode", "plan"])], last={BLOCK: [0]}),
    Scenario("prose starts nothing", {},
             [Step([f"What does {TYPED} do?"], [say("It loops.")])], last={BLOCK: [0]}),
    Scenario("a subagent stops freely", {"one.py": "1"},
             [Step([TYPED], [use(delegate("read one.py")), NOT_YET, PROMISE],
                   agents=[use(read("one.py")), say("read it")])],
             last={BLOCK: [0, 0, 2]}, agents={"[RALPH LOOP": [0, 0]}, out={CODEX: NO_AGENTS}),
    Scenario("a subagent's promise does not count", {},
             [Step([TYPED], [use(delegate("do it all")), NOT_YET, PROMISE], agents=[PROMISE])],
             last={BLOCK: [0, 0, 2]}, out={CODEX: NO_AGENTS}),
    Scenario("a subagent starts no loop", {},
             [Step(["delegate"], [use(delegate("loop")), NOT_YET],
                   agents=[use(skill("ralph-wiggum:ralph-loop", ARGUMENTS)), NOT_YET])],
             last={BLOCK: [0, 0]}, agents={BLOCK: [0, 0]}, only=NO_SKILL),
    Scenario("background work is waited for", {},
             [Step([TYPED], [use(shell("sleep 1", background=True)), say("It runs."), NOT_YET,
                             PROMISE], flags=["--allowedTools", "Bash"])],
             last={BLOCK: [0, 0, 0, 2], "<task-notification>": [0, 0, 1, 0]},
             out=dict.fromkeys((OPENCODE, CODEX, QWEN, COPILOT), NO_BACKGROUND)),
    Scenario("a start that no hook saw", {},
             [Step([TYPED], [NOT_YET], env=OFF),
              Step(["on"], [NOT_YET, PROMISE], how="resume")], last={BLOCK: [0, 0, 2]},
             out={OPENCODE: "a session is written down by the plugin alone",
                  QWEN: "it writes down no command that was typed"}),
    Scenario("a fork adopts no loop that no hook saw", {},
             [Step([TYPED], [NOT_YET], env=OFF), Step(["on"], [NOT_YET], how="fork")],
             last={BLOCK: [0, 0]}, out={COPILOT: NO_FORK}),
    Scenario("a fork adopts no loop of its parent", {},
             [Step([TYPED], [NOT_YET] * 2, env={CAP: "2", QWEN_CAP: "2"}),
                  Step(["on"], [NOT_YET], how="fork")],
             last={BLOCK: [0, 2, 0]}, out={**NO_CAP, COPILOT: NO_FORK}),
    Scenario("it pauses before the client overrides it", NO_BREAKER,
             [Step([TYPED], [NOT_YET] * 8, env={QWEN_CAP: "8"})],
             last={BLOCK: [0, *[2] * 7]}, user=["paused"], out=NO_CAP),
    Scenario("a tool call starts the client's count again", {**NO_BREAKER, "one.py": "1"},
             [Step([TYPED], [*[NOT_YET] * 6, use(read("one.py")), *[NOT_YET] * 6, PROMISE])],
             user=[COMPLETE],
             out=dict.fromkeys((QWEN, COPILOT), "it counts all Stops since the prompt")),
    Scenario("without the client's limit it goes on", {},
             [Step([TYPED], [*[NOT_YET] * 4, PROMISE], env={CAP: "0"})], user=[COMPLETE]),
    Scenario("over a clear", {},
             [Step([f"{TYPED} --max-iterations 9", "/clear", "on"], [
                 say("<blocked>a key</blocked>"), NOT_YET, PROMISE])],
             user=[COMPLETE], out=NO_CLEAR),
)  # fmt: skip
def test_loops(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


@each_client_but({CODEX: "it names tags in words; see test_codex.py"})
def test_the_first_reason_is_whole(desk: Desk) -> None:
    run = desk.run(TYPED, turns=[NOT_YET, NOT_YET, PROMISE])

    assert [GO_ON in request.last for request in run.requests] == [False, True, False]


@pytest.mark.parametrize(
    "text",
    [
        "```\n<promise>DONE</promise>\n```",
        "I will say `<promise>DONE</promise>` then.",
        "> <promise>DONE</promise>",
        "<!-- <promise>DONE</promise> -->",
        "DONE",
        "<promise>OTHER</promise>",
        "<promise>DONE",
    ],
)
def test_what_only_looks_like_the_promise_does_not_end_the_loop(desk: Desk, text: str) -> None:
    run = desk.run(TYPED, turns=[say(text), PROMISE])

    assert BLOCK in run.requests[1].last


def test_only_the_user_can_cancel(desk: Desk) -> None:
    names = ("cancel-ralph", "list-ralph-loops", "boulder-status", "boulder-clear", "checkpoint")
    calls = [skill(f"sisyphus:{name}", "") for name in names]

    turns = [use(*calls), say("<blocked>a key</blocked>")]
    run = desk.run(TYPED, "/sisyphus:cancel-ralph", turns=turns)

    assert run.main[1].last.count("disable-model-invocation") == len(names)
    assert "was cancelled at iteration 1" in run.result


def test_a_nested_loop_ends_and_the_outer_one_continues(desk: Desk) -> None:
    nested = use(skill("ralph-wiggum:ralph-loop", '"a part" --completion-promise "PART"'))
    part = say("<promise>PART</promise>")

    run = desk.run(TYPED, turns=[nested, NOT_YET, part, NOT_YET, PROMISE])

    expected = [set(re.findall(r"<promise>(\w+)</promise>", r.last)) for r in run.requests]
    assert expected == [{"DONE"}, {"PART"}, {"PART"}, {"DONE"}, {"DONE"}]


def test_commands_that_no_hook_hears_are_found_at_the_next_stop(desk: Desk) -> None:
    desk.plugins.clear()
    desk.sisyphus("install", "--yes")
    file = desk.home / ".claude" / "settings.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    for event in ("UserPromptSubmit", "PostToolBatch"):
        del settings["hooks"][event]
    file.write_text(json.dumps(settings), encoding="utf-8")
    nested = use(skill("ralph-loop", '"a part" --completion-promise "PART"'))
    later = say(NOT_YET.text, meanwhile=lambda: time.sleep(WRITTEN_AFTER))

    run = desk.run(
        f"/ralph-loop {ARGUMENTS}",
        turns=[later, nested, later, say("<promise>PART</promise>"), PROMISE],
    )

    expected = [set(re.findall(r"<promise>(\w+)</promise>", r.last)) for r in run.requests]
    assert expected == [set(), {"DONE"}, set(), {"PART"}, {"DONE"}]


@each_client_but({QWEN: LATE, COPILOT: copilot.LATE})
def test_the_task_travels_again_after_a_compaction(desk: Desk) -> None:
    desk.write("one.py", "1")
    full = use(read("one.py"), tokens=990_000)  # near the window: the client compacts

    run = desk.run(TYPED, turns=[NOT_YET, full, NOT_YET, NOT_YET, PROMISE])

    assert "What was said before." in run.requests[2].text
    with_task = [bool(TASK_AGAIN.search(request.last)) for request in run.requests]
    assert with_task == [False, False, False, True, False]


@each_client_but(dict.fromkeys((OPENCODE, CODEX, QWEN, COPILOT), "the nested one is Claude Code"))
def test_the_agent_cannot_cancel_by_a_client_of_its_own(desk: Desk) -> None:
    """It resumes its session in its shell. The client sets its variables anew for the hooks."""
    report = "--output-format stream-json --verbose --include-hook-events"
    client = f"'{CLAUDE_CODE.binary}' --print --max-turns 1 --plugin-dir '{CHECKOUT}' {report}"
    words = f"echo '/sisyphus:cancel-ralph' | {client} --resume $CLAUDE_CODE_SESSION_ID"
    turns = [use(shell(f"{words} | grep -o 'started in an agent.s shell'")), NOT_YET]

    run = desk.run(TYPED, turns=[*turns, NOT_YET, PROMISE], flags=WITH_SHELL)

    nested, outer, last = run.main[1:]
    assert "/sisyphus:cancel-ralph" in nested.last
    assert "started in an agent's shell" in outer.last
    assert BLOCK in last.last
    assert COMPLETE in run.messages
