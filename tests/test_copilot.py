"""Copilot CLI: its payloads, its transcript, and what it loads by itself."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import PAYLOADS, Reply, World

from sisyphus.clients.copilot import events, native, payload, transcript, usage
from sisyphus.clients.transcript_records import AGENT, CONTINUATION, OTHER, PROMPT, TOOL
from sisyphus.hook.event import EDIT, EVENTS, READ, WRITE, Event
from sisyphus.hook.event import OTHER as OTHER_ACTION
from sisyphus.hook.outcome import Outcome

Json = dict[str, Any]

SESSION = "00000000-0000-4000-8000-000000000000"
AGENT_ID = "00000000-0000-4000-8000-0000000000aa"
HOOKS = {"user-prompt-submit": "userPromptSubmitted", "stop": "agentStop"}
"""The events of which the client's transcript tells us something → its own names there."""

QUICK = 0.5
"""Seconds in which a hook answers that waits for no line."""


class Copilot:
    """A session of Copilot CLI in a user's world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.events = world.home / f".copilot/session-state/{SESSION}/events.jsonl"
        self.events.parent.mkdir(parents=True, exist_ok=True)
        self.note("session.start", context={"cwd": str(world.project)})

    def payload(self, recorded: str, **fields: object) -> Json:
        """A recorded payload, in this world and now."""
        text = (PAYLOADS / "copilot" / f"{recorded}.json").read_text()
        text = text.replace("/home/user/project", str(self.world.project))
        raw: Json = json.loads(text.replace("/home/user", str(self.world.home)))
        return {**raw, "timestamp": stamp(), **fields}

    def send(self, event: str, recorded: str, **fields: object) -> Reply:
        """The client notes that it runs our hook, and runs it."""
        raw = self.payload(recorded, **fields)
        if event in HOOKS:
            self.note_hook(event, raw)
        reply = self.world.hook(event, raw, "--client", "copilot")
        assert reply.code == 0
        assert reply.json.keys() <= {"additionalContext", "decision", "reason"}, reply.out
        return reply

    def note_hook(self, event: str, raw: Json) -> None:
        moment = datetime.fromisoformat(raw["timestamp"]).timestamp()
        given = {"prompt": raw.get("prompt"), "timestamp": round(moment * 1000)}
        agent = {"agentId": raw["agent_id"]} if "agent_id" in raw else {}
        self.note("hook.start", agent, hookType=HOOKS[event], input=given)

    def start(self, source: str = "new") -> Reply:
        return self.send("session-start", f"SessionStart.{source}")

    def prompt(self, text: str = "go", recorded: str = "UserPromptSubmit") -> Reply:
        """The user types something, or a slash command where there is no terminal."""
        reply = self.send("user-prompt-submit", recorded, prompt=text)
        if reply.reason:
            return reply
        self.note("user.message", content=text, delivery="idle")
        return reply

    def skill(self, name: str, arguments: str) -> Reply:
        """The user types a slash command into the terminal, and the client sends its skill."""
        text = self.payload("UserPromptSubmit.skill")["prompt"]
        old = '"x <promise>" --completion-promise "DONE"'
        assert old in text
        reply = self.send(
            "user-prompt-submit",
            "UserPromptSubmit.skill",
            prompt=text.replace("baz", name).replace(old, arguments),
        )
        if not reply.reason:
            self.note("user.message", content=f"/{name} {arguments}", delivery="idle")
        return reply

    def tool(self, name: str, **fields: object) -> Reply:
        """The model has used a tool."""
        recorded = f"PostToolUse.{name}"
        if path := fields.get("path"):
            fields["path"] = str(self.world.project / str(path))
        given = {**self.payload(recorded)["tool_input"], **fields}
        return self.send("post-tool-use", recorded, tool_input=given)

    def patch(self, *paths: str) -> Reply:
        lines = [line for path in paths for line in (f"*** Update File: {path}", "@@", "-x", "+y")]
        patch = "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
        return self.send("post-tool-use", "PostToolUse.patch", tool_input=patch)

    def say(self, text: str, *calls: Json, agent: Json | None = None) -> None:
        self.note("assistant.message", agent, content=text, toolRequests=list(calls))

    def call(self, name: str, given: object, **result: object) -> None:
        """The model calls a tool, and the client notes what came of it."""
        id = f"call {stamp()}"
        self.say("", {"toolCallId": id, "name": name, "arguments": given})
        told: Json = {"success": True, "result": {"content": "ok"}, **result}
        self.note("tool.execution_complete", toolCallId=id, **told)

    def stop(self, last: str = "I work.", *, is_first: bool = False, **fields: object) -> Reply:
        """The agent says its last words, and wants to stop. A reason comes back as a prompt."""
        self.say(last)
        reply = self.send("stop", "Stop" if is_first else "Stop.active", **fields)
        self.end_stop(reply.reason)
        return reply

    def end_stop(self, reason: str) -> None:
        """The client notes what hooks have said of a Stop, and sends the reason as a prompt."""
        output: Json = {"output": {"decision": "block", "reason": reason}} if reason else {}
        self.note("hook.end", hookType="agentStop", success=True, **output)
        if reason:
            pushed = "UserPromptSubmit.after-a-block"
            assert not self.send("user-prompt-submit", pushed, prompt=reason).reason
            self.note("user.message", content=reason, delivery="queued")

    def count(self, tokens: int, agent: Json | None = None) -> None:
        counts = {"inputTokens": tokens, "outputTokens": 10, "maxPromptTokens": 168_000}
        self.note("session.usage_record", agent, usage=counts)

    def note(self, kind: str, others: Json | None = None, **data: object) -> None:
        """The client adds a line to the transcript."""
        now = stamp()
        line = {"type": kind, "data": data, **(others or {}), "id": f"{kind} {now}"}
        with self.events.open("a") as file:
            file.write(json.dumps({**line, "timestamp": now}, separators=(",", ":")) + "\n")


def stamp() -> str:
    """The time as the client writes it, of which no two are equal here."""
    time.sleep(0.001)
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.fixture
def copilot(world: World) -> Copilot:
    for name in ("ralph-loop", "ralph", "boulder-status"):
        file = world.home / f".copilot/skills/{name}/SKILL.md"
        world.write(file, f"---\nname: {name}\nauthor: sisyphus\n---\n")
    return Copilot(world)


# ---------------------------------------------------------------- plan, rules, documents


def test_a_plan_and_the_readme_are_sent_at_the_start(world: World, copilot: Copilot) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n- [ ] two\n")
    world.write("README.md", "Read me.\n")

    text = copilot.start().text

    assert "Next task: one" in text
    assert "Read me." in text


def test_what_a_start_sent_is_sent_again_to_the_next_process(
    world: World, copilot: Copilot
) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n")
    world.write("README.md", "Read me.\n")
    copilot.start()

    text = copilot.start("resume").text

    assert "Next task: one" in text
    assert "Read me." in text


@pytest.mark.parametrize("next_event", ["tool call", "prompt"])
def test_what_follows_a_compaction_comes_with_the_next_event(
    world: World, copilot: Copilot, next_event: str
) -> None:
    """No start follows a compaction, and no reply to a hook before it is read."""
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n")
    world.write("README.md", "Read me.\n")
    copilot.start()
    for event in ("pre-compact", "session-start"):
        assert copilot.send(event, "PreCompact.auto").is_silent

    is_prompt = next_event == "prompt"
    text = (copilot.prompt() if is_prompt else copilot.tool("Bash")).text

    assert "Next task: one" in text
    assert "Read me." in text
    assert not copilot.tool("Bash").text


def test_progress_counts_at_the_edit_of_a_plan(world: World, copilot: Copilot) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n- [ ] two\n")
    copilot.start()
    world.write("PLAN.md", "# Ship\n\n- [x] one\n- [ ] two\n")

    copilot.tool("Edit", path="PLAN.md")

    assert world.boulder_file()["progress"]["completed"] == 1


@pytest.mark.parametrize("tool", ["Read", "Edit", "Write"])
def test_the_rules_of_a_file_come_once(world: World, copilot: Copilot, tool: str) -> None:
    world.rule(".cursor/rules/a.mdc", "Rule A.", globs=["src/*.py"])
    world.write("src/a.py")
    copilot.start()

    assert "Rule A." in copilot.tool(tool, path="src/a.py").text
    assert not copilot.tool(tool, path="src/a.py").text


def test_the_files_of_a_patch_get_their_rules(world: World, copilot: Copilot) -> None:
    for name in "abc":
        world.rule(f".cursor/rules/{name}.mdc", f"Rule {name}.", globs=[f"src/{name}.py"])
        world.write(f"src/{name}.py")
    copilot.start()

    text = copilot.patch("src/a.py", str(world.project / "src/b.py")).text

    assert "Rule a." in text
    assert "Rule b." in text
    assert "Rule c." not in text


@pytest.mark.parametrize(
    ("place", "keys"),
    [
        (".claude/rules/a.md", {"paths": ["**/*.py"]}),
        (".claude/rules/a.md", {"globs": ["**/*.py"]}),
        (".github/instructions/a.instructions.md", {"applyTo": "**/*.py"}),
        (".github/copilot-instructions.md", {}),
    ],
)
def test_rules_that_the_client_sends_are_its_own(
    world: World, copilot: Copilot, place: str, keys: Json
) -> None:
    world.rule(place, "Rule A.", **keys)
    world.write("src/a.py")

    assert "Rule A." not in copilot.start().text
    assert not copilot.tool("Read", path="src/a.py").text


def test_memory_files_in_the_repository_are_the_clients(world: World, copilot: Copilot) -> None:
    for folder in ("", "src/", "src/deep/"):
        world.write(f"{folder}AGENTS.md", "For agents.\n")
    world.write("src/deep/a.py")

    assert "For agents." not in copilot.start().text
    assert not copilot.tool("Read", path="src/deep/a.py").text


def test_what_a_memory_file_imports_is_the_clients(world: World, copilot: Copilot) -> None:
    world.write("GEMINI.md", "Look at @./README.md first.\n")
    world.write("README.md", "Read me.\n")

    assert "Read me." not in copilot.start().text


# ---------------------------------------------------------------- what it loads by itself


@pytest.mark.parametrize(
    ("folder", "path", "why"),
    [
        ("", "AGENTS.md", "down to the session's folder"),
        ("src", "AGENTS.md", "down to the session's folder"),
        ("src", "src/AGENTS.md", "down to the session's folder"),
        ("src", "web/AGENTS.md", "views a file there"),
        ("", "src/deep/AGENTS.md", "views a file there"),
        ("", "../AGENTS.md", ""),
    ],
)
def test_why_it_loads_an_agents_md(world: World, folder: str, path: str, why: str) -> None:
    own, file = world.project / folder, world.write(path)

    found = native.why_agents_md("", str(own), str(file))

    assert (why in found) if why else not found


def test_outside_of_a_repository_it_loads_the_folders_alone(tmp_path: Path) -> None:
    for name in ("AGENTS.md", "src/AGENTS.md", "src/deep/AGENTS.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    own = str(tmp_path / "src")

    why = [
        native.why_agents_md("", own, str(tmp_path / name))
        for name in ("AGENTS.md", "src/AGENTS.md", "src/deep/AGENTS.md")
    ]

    assert [bool(each) for each in why] == [False, True, False]


def test_its_memory_files(world: World) -> None:
    wanted = [
        world.home / ".copilot/copilot-instructions.md",
        world.project / "AGENTS.md",
        world.project / "CLAUDE.md",
        world.project / ".github/copilot-instructions.md",
        world.project / "src/GEMINI.md",
    ]
    others = ("AGENTS.md", "src/deep/CLAUDE.md", "web/AGENTS.md", ".claude/CLAUDE.md")
    world.write(world.root / "AGENTS.md")
    for path in (*wanted, *(world.project / "below" / name for name in others)):
        world.write(path)

    found = native.loads("", str(world.project / "src"))

    assert sorted(path for path, text in found.items() if text) == sorted(map(str, wanted))


def test_the_memory_files_of_a_file_that_it_views(world: World) -> None:
    for path in ("web/deep/AGENTS.md", "web/CLAUDE.md", world.root / "other/AGENTS.md"):
        world.write(path, "See @./more.md\n")
        world.write((world.project / path).with_name("more.md"))

    folders = (world.project, world.project / "web/deep", world.root / "other")
    found = native.imports("", *map(str, folders))

    names = {str(Path(path).relative_to(world.root)) for path, text in found.items() if text}
    assert names == {
        "project/web/deep/more.md", "project/web/CLAUDE.md", "project/web/more.md",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("place", "is_its"),
    [
        (".claude/rules", True),
        (".github/instructions", True),
        (".github/copilot-instructions.md", True),
        (".cursor/rules", False),
        (".cursorrules", False),
        ("rules", False),
    ],
)
def test_whose_rules_it_reads(place: str, is_its: bool) -> None:
    assert native.reads_rules_in(place) == is_its


@pytest.mark.parametrize("keys", [["paths"], ["applyTo"], ["globs"], []])
@pytest.mark.parametrize("always", [True, False])
def test_of_those_it_sends_each(keys: list[str], always: bool) -> None:
    assert native.sends_rule(keys, always=always)


@pytest.mark.parametrize(
    ("config", "is_trusted"),
    [
        ('{"trustedFolders": ["PROJECT"]}', True),
        ('// The client wrote this.\n  // Twice.\n{"trustedFolders": ["PROJECT"]}\n', True),
        ('{"trustedFolders": ["PROJECT/.."]}', True),
        ('{"trustedFolders": ["/nowhere", "PROJECT"]}', True),
        ('{"trustedFolders": ["PROJECT/src"]}', False),
        ('{"trustedFolders": ["PROJECTS"]}', False),
        ('{"trusted_folders": ["PROJECT"]}', False),
        ('{"trustedFolders": [7, null, "", "project", "a\\u0000b"]}', False),
        ('{"trustedFolders": "PROJECT"}', False),
        ('["PROJECT"]', False),
        ('{"trustedFolders": ["PROJECT"', False),
        ("", False),
        (None, False),
    ],
)
def test_whom_it_trusts(world: World, config: str | None, is_trusted: bool) -> None:
    if config is not None:
        text = config.replace("PROJECT", str(world.project))
        world.write(world.home / ".copilot/config.json", text)

    assert native.trusts(str(world.project)) == is_trusted


def test_a_config_that_is_no_file_trusts_nobody(world: World) -> None:
    (world.home / ".copilot/config.json").mkdir(parents=True)

    assert not native.trusts(str(world.project))


def test_its_home_by_the_variable(world: World) -> None:
    world.setenv("COPILOT_HOME", str(world.root / "other"))
    config = json.dumps({"trustedFolders": [str(world.project)]})
    world.write(world.root / "other/config.json", config)

    assert native.trusts(str(world.project))
    raw = {"session_id": SESSION}
    found = payload.read("session-start", raw).transcript
    assert found == str(world.root / f"other/session-state/{SESSION}/events.jsonl")


# ---------------------------------------------------------------- the loop


LOOP = '/ralph-loop "Fix it." --completion-promise "DONE"'


def test_a_loop_goes_on_until_its_promise(world: World, copilot: Copilot) -> None:
    copilot.start()
    told = copilot.prompt(f"{LOOP} --max-iterations 5", "UserPromptSubmit.command")
    assert "<promise>DONE</promise>" in told.text

    assert "<promise>DONE</promise>" in copilot.stop("I think so.", is_first=True).reason
    assert world.loops()[0]["iteration"] == 2
    assert not copilot.stop("It works.\n\n<promise>DONE</promise>").reason
    assert world.ended()[0]["outcome"] == "success"


def test_the_reason_that_comes_back_is_no_persons(world: World, copilot: Copilot) -> None:
    copilot.start()
    copilot.prompt(LOOP)
    copilot.stop("Not yet.", is_first=True)
    pushed = copilot.payload("UserPromptSubmit.after-a-block", prompt="Go on.")
    copilot.note("hook.end", hookType="agentStop", output={"decision": "block"})
    copilot.note_hook("user-prompt-submit", pushed)

    prompt = payload.read("user-prompt-submit", pushed).prompt

    assert not prompt.is_personal
    copilot.note("user.message", content="Go on.")
    typed = copilot.payload("UserPromptSubmit", prompt="Go on.")
    copilot.note_hook("user-prompt-submit", typed)
    assert payload.read("user-prompt-submit", typed).prompt.is_personal


def test_a_reason_that_is_a_command_commands_nothing(world: World, copilot: Copilot) -> None:
    """Another program's hook may say anything."""
    copilot.start()
    copilot.say("Done.")
    copilot.send("stop", "Stop")

    copilot.end_stop(LOOP)

    assert not world.loops()


def test_a_promise_of_an_earlier_turn_does_not_count(world: World, copilot: Copilot) -> None:
    copilot.say("<promise>DONE</promise>")
    copilot.start()
    copilot.prompt(LOOP)

    copilot.send("stop", "Stop")

    assert world.loops()


def test_a_promise_of_a_subagent_does_not_count(world: World, copilot: Copilot) -> None:
    copilot.start()
    copilot.prompt(LOOP)
    copilot.say("I delegate.")
    copilot.say("<promise>DONE</promise>", agent={"agentId": AGENT_ID})

    assert copilot.send("stop", "Stop").reason


def test_the_promise_may_stand_before_a_line_of_ten_megabytes(
    world: World, copilot: Copilot
) -> None:
    copilot.start()
    copilot.prompt(LOOP)
    copilot.note("tool.execution_complete", toolCallId="1", result={"content": "x" * 10_000_000})
    copilot.note("session.usage_record", usage={"inputTokens": 10})

    assert not copilot.stop("<promise>DONE</promise>", is_first=True).reason
    assert world.ended()[0]["outcome"] == "success"


def test_tool_calls_do_not_begin_the_clients_count_again(world: World, copilot: Copilot) -> None:
    world.write("a.py", "0\n")
    copilot.start()
    copilot.prompt(f"{LOOP} --max-iterations 30")
    for number in range(7):
        assert copilot.stop(f"Step {number}.", is_first=number == 0).reason
        file = world.write("a.py", f"{number}\n")
        copilot.tool("Edit", path="a.py")
        copilot.call("edit", {"path": str(file), "old_str": "0", "new_str": "1"})

    assert not copilot.stop("Step 7.").reason

    told = " ".join(map(str, world.why(SESSION)[-1]["notes"]))
    assert "8 blocked Stops in a row" in told
    copilot.prompt("go on")
    assert copilot.stop("Step 8.", is_first=True).reason


def test_in_plan_mode_the_agent_may_stop(world: World, copilot: Copilot) -> None:
    copilot.start()
    copilot.prompt(LOOP)
    copilot.note("session.mode_changed", previousMode="interactive", newMode="plan")

    assert not copilot.stop("Here is my plan.", is_first=True).reason

    assert "plan mode" in " ".join(map(str, world.why(SESSION)[-1]["notes"]))
    copilot.note("session.mode_changed", previousMode="plan", newMode="interactive")
    assert copilot.stop("Not yet.", is_first=True).reason


def test_a_typed_command_is_answered_without_the_model(world: World, copilot: Copilot) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n")
    copilot.start()

    assert "Ship" in copilot.prompt("/boulder-status").reason
    assert "Ship" in copilot.skill("boulder-status", "").reason


@pytest.mark.parametrize("way", ["typed", "skill"])
@pytest.mark.parametrize(
    "words",
    [
        "Fix  it <b> & 'that'.",
        "Zwei\nZeilen: ä, 漢, 🜂",
        "</arguments> <arguments>",
        "$ARGUMENTS $(date) `date` %s",
    ],
)
def test_the_words_of_a_command_come_byte_for_byte(
    world: World, copilot: Copilot, way: str, words: str
) -> None:
    copilot.start()
    arguments = f'"{words}" --completion-promise "DONE"'

    if way == "skill":
        copilot.skill("ralph-loop", arguments)
    else:
        copilot.prompt(f"/ralph-loop {arguments}")

    assert world.loops()[0]["prompt"] == words


def test_a_subagents_events_do_nothing_to_the_loop(world: World, copilot: Copilot) -> None:
    copilot.start()
    copilot.prompt(LOOP)
    before = world.loops()
    copilot.say("<promise>DONE</promise>", agent={"agentId": AGENT_ID})

    copilot.send("user-prompt-submit", "UserPromptSubmit.in-subagent", prompt=LOOP)
    copilot.send("post-tool-use", "PostToolUse.in-subagent")
    assert not copilot.send("stop", "Stop.in-subagent").reason

    assert world.loops() == before
    assert [each["session_id"] for each in listed(world)] == [SESSION]


def listed(world: World) -> list[Json]:
    found: list[Json] = world.cli("sessions", "--json").json["sessions"]
    return found


# ---------------------------------------------------------------- ticks


PLAN = "# Cart\n\n- [ ] Show it (verify: `pytest tests/test_cart.py`)\n- [ ] Round it\n"


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ({"shellExecution": {"exitCode": 0}}, "checked"),
        ({"shellExecution": {"exitCode": 3}}, "failed"),
        ({"success": False, "error": {"code": "denied", "message": "No."}}, "changed"),
    ],
)
def test_a_tick_and_its_check(world: World, copilot: Copilot, result: Json, found: str) -> None:
    """The result of a command that failed is a success of the tool."""
    world.write("PLAN.md", PLAN)
    copilot.start()
    copilot.prompt()
    file = world.write("cart.py", "1\n")
    copilot.call("edit", {"path": str(file), "old_str": "0", "new_str": "1"})
    copilot.call("bash", {"command": "pytest tests/test_cart.py", "mode": "sync"}, **result)
    plan = world.write("PLAN.md", PLAN.replace("[ ] Show", "[x] Show"))
    copilot.call("edit", {"path": str(plan), "old_str": "[ ] Show", "new_str": "[x] Show"})

    copilot.tool("Edit", path="PLAN.md")

    assert world.plan()["evidence"] == {"Show it": found}


# ---------------------------------------------------------------- payloads and replies


@pytest.mark.parametrize(
    ("recorded", "command", "arguments"),
    [
        ("UserPromptSubmit", "", ""),
        ("UserPromptSubmit.command", "ralph-loop", '"Fix it." --completion-promise "DONE"'),
        ("UserPromptSubmit.skill", "baz", '"x <promise>" --completion-promise "DONE"'),
    ],
)
def test_what_a_person_types(copilot: Copilot, recorded: str, command: str, arguments: str) -> None:
    raw = copilot.payload(recorded)
    copilot.note_hook("user-prompt-submit", raw)

    prompt = payload.read("user-prompt-submit", raw).prompt

    assert prompt.is_personal
    assert (prompt.command.name if prompt.command else "") == command
    assert (prompt.command.arguments if prompt.command else "") == arguments


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        'The user explicitly invoked the "/',
        'The user explicitly invoked the "/" skill.\n<arguments>x</arguments>',
        'The user explicitly invoked the "/baz" skill. It is not ours.',
        'He wrote: The user explicitly invoked the "/baz" skill. <arguments>x</arguments>',
    ],
)
def test_what_is_no_command(prompt: str) -> None:
    assert payload.command_of(prompt) is None


@pytest.mark.parametrize(
    ("recorded", "action", "object"),
    [
        ("Read", READ, "a.txt"),
        ("Edit", EDIT, "a.txt"),
        ("Write", WRITE, "n.txt"),
        ("Bash", OTHER_ACTION, "exit 3"),
    ],
)
def test_what_a_tool_does(copilot: Copilot, recorded: str, action: str, object: str) -> None:
    (call,) = payload.read("post-tool-use", copilot.payload(f"PostToolUse.{recorded}")).calls

    assert (call.tool, call.action, call.object.rpartition("/")[2]) == (recorded, action, object)


def test_what_a_patch_does(world: World, copilot: Copilot) -> None:
    calls = payload.read("post-tool-use", copilot.payload("PostToolUse.patch")).calls

    assert [(call.action, call.path) for call in calls] == [
        (EDIT, str(world.project / "a.txt")),
        (EDIT, str(world.project / "b.txt")),
    ]


def test_an_open_dialog_is_noted(world: World, copilot: Copilot) -> None:
    copilot.start()
    copilot.prompt(LOOP)

    assert copilot.send("permission-request", "Notification.permission_prompt").is_silent

    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as store, store:
        store.execute("UPDATE session SET dialog_at = dialog_at - 60")
    waiting = world.cli("status", "--json").json["waiting"]
    assert [each["kind"] for each in waiting] == ["dialog"]
    assert "Edit file" in json.dumps(waiting)


@pytest.mark.parametrize("kind", ["agent_idle", None, 7, ["permission_prompt"]])
def test_other_notifications_concern_nobody(copilot: Copilot, kind: object) -> None:
    raw = copilot.payload("Notification.permission_prompt", notification_type=kind)

    assert payload.read("permission-request", raw).name == "notification"


@pytest.mark.parametrize(
    ("recorded", "why"),
    [("SessionEnd.complete", "session ended"), ("SessionEnd.user_exit", "you left")],
)
def test_a_session_ends(world: World, copilot: Copilot, recorded: str, why: str) -> None:
    copilot.start()

    copilot.send("session-end", recorded)

    notes = str(world.why(SESSION)[-1]["notes"])
    assert why in notes
    assert "complete" not in notes
    assert "user_exit" not in notes


@pytest.mark.parametrize("recorded", ["UserPromptSubmit", "PostToolUse", "Stop"])
def test_a_subagent_is_not_the_session(copilot: Copilot, recorded: str) -> None:
    names = {"PostToolUse": "post-tool-use", "Stop": "stop"}
    raw = copilot.payload(f"{recorded}.in-subagent")
    began = time.monotonic()

    event = payload.read(names.get(recorded, "user-prompt-submit"), raw)

    assert (event.session, event.agent) == (SESSION, AGENT_ID)
    assert time.monotonic() - began < QUICK


def test_at_a_stop_texts_are_part_of_the_reason() -> None:
    event, outcome = Event("copilot", "stop"), Outcome(reason="Go on.")

    assert payload.render(event, outcome, "Rule.") == {
        "decision": "block",
        "reason": "Go on.\n\nRule.",
    }
    assert payload.room(event, Outcome()) == 0


def test_a_command_of_the_agent_is_in_its_session(world: World) -> None:
    world.setenv("COPILOT_AGENT_SESSION_ID", SESSION)

    assert payload.current_session() == (SESSION, "")


@pytest.mark.parametrize("event", ["session-start", "user-prompt-submit", "post-tool-use", "stop"])
def test_claude_codes_hooks_leave_its_sessions_alone(world: World, event: str) -> None:
    """In a trusted project it runs those of `.claude/settings.json`, too."""
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n")
    names = {
        "session-start": "SessionStart.startup", "user-prompt-submit": "UserPromptSubmit",
        "post-tool-use": "PostToolUse.Read", "stop": "Stop",
    }  # fmt: skip
    world.setenv("COPILOT_PROJECT_DIR", str(world.project))

    assert world.hook(event, world.payload(names[event])).is_silent

    assert not world.cli("sessions", "--all", "--json").json["sessions"]


# ---------------------------------------------------------------- the transcript


def test_levels_by_the_transcript(world: World, copilot: Copilot) -> None:
    copilot.start()
    copilot.prompt()
    copilot.count(60_000)
    assert usage.read(str(copilot.events)) == (60_000, 168_000)
    copilot.tool("Read", path="a.py")
    assert "level 1" not in json.dumps(world.why(SESSION))
    copilot.count(140_000)

    copilot.tool("Read", path="b.py")

    assert "level 1: the context is 83 % full" in world.why(SESSION)[-1]["notes"]


def test_a_compaction_empties_the_context(copilot: Copilot) -> None:
    copilot.count(150_000)
    copilot.note("session.compaction_start", trigger="threshold")
    copilot.note("session.compaction_complete", success=False)
    assert usage.read(str(copilot.events)) == (150_000, 168_000)

    copilot.note("session.compaction_complete", success=True)

    assert usage.read(str(copilot.events)) == (0, 0)


def test_a_subagents_context_is_not_the_sessions(copilot: Copilot) -> None:
    copilot.count(150_000)
    copilot.count(100, {"agentId": AGENT_ID})

    assert usage.read(str(copilot.events)) == (150_000, 168_000)


def test_a_transcript_in_our_words(world: World, copilot: Copilot) -> None:
    project = world.project
    copilot.note("user.message", content=LOOP)
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\n"
    copilot.say(
        "I test.",
        {"toolCallId": "c1", "name": "bash", "arguments": {"command": "make", "mode": "sync"}},
        {"toolCallId": "c2", "name": "view", "arguments": {"path": str(project / "a.py")}},
        {"toolCallId": "c3", "name": "apply_patch", "arguments": patch},
    )
    failed: Json = {"shellExecution": {"exitCode": 3}, "result": {"content": "No."}}
    copilot.note("tool.execution_complete", toolCallId="c1", success=True, **failed)
    copilot.count(100)
    copilot.count(50, {"agentId": AGENT_ID})
    copilot.note("hook.end", hookType="agentStop", output={"decision": "block", "reason": "Go."})
    copilot.note("user.message", content="Go.")
    copilot.note("user.message", content="From an agent.", source="agent-1")
    copilot.note("abort", reason="user_initiated")

    records = transcript.read(str(copilot.events)).records
    prompt, answer, result, count, subagent, pushed, note, abort = records

    assert (prompt.author, prompt.texts, prompt.is_personal) == (PROMPT, (LOOP,), True)
    assert prompt.command
    assert prompt.command.name == "ralph-loop"
    assert (answer.author, answer.texts) == (AGENT, ("I test.",))
    assert [(call.shell, call.action) for call in answer.calls] == [
        ("make", OTHER_ACTION),
        ("", READ),
        ("", EDIT),
    ]
    assert (answer.calls[2].target, answer.calls[2].text) == ("a.py", "y")
    assert (result.author, result.results[0].text) == (TOOL, "No.")
    assert result.results[0].is_error
    assert (count.author, count.tokens) == (AGENT, 110)
    assert (subagent.author, subagent.tokens) == (OTHER, 60)
    assert pushed.author == CONTINUATION
    assert not note.is_personal
    assert abort.is_interrupt
    assert transcript.first_prompt(str(copilot.events)) == LOOP
    assert transcript.first_id(str(copilot.events))


# ---------------------------------------------------------------- whatever comes


@pytest.mark.parametrize("value", [None, 7, "", "now", "9" * 5000, ["x"], {"a": 1}, True])
@pytest.mark.parametrize("event", ["user-prompt-submit", "stop"])
def test_without_a_usable_time_it_waits_for_nothing(
    copilot: Copilot, event: str, value: object
) -> None:
    recorded = {"stop": "Stop"}.get(event, "UserPromptSubmit")
    raw = copilot.payload(recorded, timestamp=value)
    began = time.monotonic()

    assert copilot.world.hook(event, raw, "--client", "copilot").code == 0
    del raw["timestamp"]
    assert copilot.world.hook(event, raw, "--client", "copilot").code == 0
    assert time.monotonic() - began < QUICK


@pytest.mark.parametrize("path", ["", ".", "missing.jsonl", "/dev/null", "a\0b", 7, None])
@pytest.mark.parametrize("event", ["user-prompt-submit", "stop"])
def test_without_a_transcript_it_waits_for_nothing(
    copilot: Copilot, event: str, path: object
) -> None:
    copilot.events.unlink()
    recorded = {"stop": "Stop"}.get(event, "UserPromptSubmit")
    began = time.monotonic()

    raw = copilot.payload(recorded, transcript_path=path)
    assert copilot.world.hook(event, raw, "--client", "copilot").code == 0

    assert time.monotonic() - began < QUICK


def test_a_line_that_does_not_come_is_waited_for_a_second(copilot: Copilot) -> None:
    began = time.monotonic()

    events.wait_for_hook(str(copilot.events), stamp())

    assert 0.9 < time.monotonic() - began < 5


def test_a_prompt_of_ten_megabytes_is_found_started(copilot: Copilot) -> None:
    raw = copilot.payload("UserPromptSubmit", prompt="x" * 10_000_000)
    copilot.note_hook("user-prompt-submit", raw)
    began = time.monotonic()

    assert payload.read("user-prompt-submit", raw).prompt.is_personal

    assert time.monotonic() - began < QUICK


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(), each, max_size=4),
    max_leaves=12,
)


@given(
    name=st.sampled_from(EVENTS),
    fields=st.fixed_dictionaries(
        {},
        optional={
            key: JSON
            for key in (
                "session_id", "sessionId", "agent_id", "parent_agent_id", "cwd", "source",
                "reason", "hook_event_name", "transcript_path", "tool_name", "tool_input",
                "prompt", "timestamp", "notification_type", "message", "stop_hook_active",
            )
        },
    ),
)  # fmt: skip
def test_whatever_a_payload_holds(name: str, fields: Json) -> None:
    assert payload.read(name, fields).name in (name, "notification")


@given(
    line=JSON
    | st.fixed_dictionaries(
        {
            "type": st.sampled_from(
                [
                    "session.start", "user.message", "assistant.message", "hook.end", "abort",
                    "tool.execution_complete", "session.usage_record", "session.mode_changed",
                    "session.compaction_complete",
                ]
            )
        },
        optional={
            "agentId": JSON,
            "id": JSON,
            "timestamp": JSON,
            "data": JSON
            | st.dictionaries(
                st.sampled_from(
                    [
                        "content", "toolRequests", "toolCallId", "result", "error", "success",
                        "shellExecution", "usage", "newMode", "hookType", "output", "context",
                        "source",
                    ]
                ),
                JSON,
            ),
        },
    )
)  # fmt: skip
def test_whatever_a_transcript_holds(
    tmp_path_factory: pytest.TempPathFactory, line: object
) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "copilot.jsonl"
    file.write_text(json.dumps(line) + "\n")
    path = str(file)

    transcript.read(path)
    assert isinstance(transcript.first_prompt(path), str)
    assert isinstance(transcript.first_id(path), str)
    assert usage.read(path)[0] >= 0
    assert isinstance(events.last_message(path), str)
    assert isinstance(events.is_pushed(path), bool)
    assert isinstance(events.is_planning(path), bool)


@pytest.mark.parametrize(("choice", "is_sent"), [("auto", False), ("always", True)])
def test_an_editor_gets_the_agents_md_below_if_you_say_so(
    world: World, copilot: Copilot, choice: str, is_sent: bool
) -> None:
    """The client loads it when its agent views a file, but not over the Agent Client Protocol."""
    world.write("api/AGENTS.md", "MARK\n")
    world.write("api/cart.py")
    world.write(".claude/sisyphus.toml", f'[context]\nagents_md = "{choice}"\n')

    assert ("MARK" in copilot.tool("Read", path="api/cart.py").out) is is_sent


@pytest.mark.parametrize("kind", ["permission_prompt", "shell_completed", "agent_idle"])
def test_a_notification_of_any_type_is_no_failure(
    world: World, copilot: Copilot, kind: str
) -> None:
    raw = copilot.payload("Notification.permission_prompt", notification_type=kind)

    reply = world.hook("permission-request", raw, "--client", "copilot", "--strict")

    assert reply.is_silent, reply
