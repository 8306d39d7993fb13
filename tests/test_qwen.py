"""Qwen Code: its payloads, its transcript, and what it loads by itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import PAYLOADS, Reply, World

from sisyphus.clients.qwen import native, payload, transcript, usage
from sisyphus.clients.transcript_records import AGENT, OTHER, PROMPT, TOOL
from sisyphus.hook.event import EDIT, EVENTS, READ, WRITE, Event
from sisyphus.hook.event import OTHER as OTHER_ACTION
from sisyphus.hook.outcome import Outcome

Json = dict[str, Any]


class Qwen:
    """A session of Qwen Code in a user's world."""

    def __init__(self, world: World, session: str = "q1") -> None:
        self.world = world
        self.session = session
        self.folder = world.home / ".qwen/projects/-project"
        self.chat = self.folder / f"chats/{session}.jsonl"
        self.chat.parent.mkdir(parents=True, exist_ok=True)

    def payload(self, recorded: str, **fields: object) -> Json:
        text = (PAYLOADS / "qwen" / f"{recorded}.json").read_text()
        raw = json.loads(text.replace("/home/user/project", str(self.world.project)))
        return {**raw, "session_id": self.session, "transcript_path": str(self.chat), **fields}

    def send(self, event: str, recorded: str, **fields: object) -> Reply:
        reply = self.world.hook(event, self.payload(recorded, **fields), "--client", "qwen")
        assert reply.code == 0
        return reply

    def start(self, source: str = "startup") -> Reply:
        return self.send("session-start", f"SessionStart.{source}")

    def prompt(self, text: str = "go", number: int = 0) -> Reply:
        fields = {"prompt": text, "submitted_prompt": text, "prompt_id": f"q1########{number}"}
        return self.send("user-prompt-submit", "UserPromptSubmit", **fields)

    def command(self, line: str) -> Reply:
        """The user types a slash command, and the client sends the text of its file."""
        return self.send("user-prompt-submit", "UserPromptSubmit.command", submitted_prompt=line)

    def tool(self, name: str, **fields: object) -> Reply:
        """The model calls a tool. The client sends each call in a batch of its own, and then a
        prompt without a text."""
        raw = self.payload(f"PostToolBatch.{name}")
        if path := fields.get("file_path"):
            fields["file_path"] = str(self.world.project / str(path))
        raw["tool_calls"][0]["tool_input"] |= fields
        reply = self.send("post-tool-use", f"PostToolBatch.{name}", tool_calls=raw["tool_calls"])
        self.send("user-prompt-submit", "UserPromptSubmit.after-a-tool")
        return reply

    def stop(self, last: str = "I work.", *, is_first: bool = False, **fields: object) -> Reply:
        recorded = "Stop" if is_first else "Stop.active"
        reply = self.send("stop", recorded, last_assistant_message=last, **fields)
        if reply.reason:
            self.send("user-prompt-submit", "UserPromptSubmit.after-a-block", prompt=reply.reason)
        return reply

    def note(self, kind: str, *parts: Json, **fields: object) -> None:
        """The client adds a line to the transcript."""
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds")
        line: Json = {"uuid": f"u{stamp}", "timestamp": stamp, "type": kind}
        with self.chat.open("a") as file:
            file.write(json.dumps({**line, "message": {"parts": list(parts)}, **fields}) + "\n")

    def answer(self, *parts: Json, tokens: int = 100) -> None:
        usage = {"promptTokenCount": tokens, "totalTokenCount": tokens + 10}
        self.note("assistant", *parts, usageMetadata=usage, contextWindowSize=200_000)


@pytest.fixture
def qwen(world: World) -> Qwen:
    for name in ("ralph-loop", "ralph", "boulder-status"):
        world.write(world.home / f".qwen/commands/{name}.md", "---\nauthor: sisyphus\n---\n")
    return Qwen(world)


# ---------------------------------------------------------------- plan, rules, documents


def test_a_plan_and_the_readme_are_sent_at_the_start(world: World, qwen: Qwen) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n- [ ] two\n")
    world.write("README.md", "Read me.\n")

    text = qwen.start().text

    assert "Next task: one" in text
    assert "Read me." in text


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_what_a_start_sent_is_sent_again(world: World, qwen: Qwen, source: str) -> None:
    world.write("README.md", "Read me.\n")
    qwen.start()

    assert "Read me." in qwen.start(source).text


def test_progress_counts_at_the_edit_of_a_plan(world: World, qwen: Qwen) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n- [ ] two\n")
    qwen.start()
    world.write("PLAN.md", "# Ship\n\n- [x] one\n- [ ] two\n")

    qwen.tool("edit", file_path="PLAN.md")

    assert world.boulder_file()["progress"]["completed"] == 1


@pytest.mark.parametrize("tool", ["read_file", "edit", "write_file"])
def test_the_rules_of_a_file_come_once(world: World, qwen: Qwen, tool: str) -> None:
    world.rule("a.md", "Rule A.", paths=["src/*.py"])
    world.write("src/a.py")
    qwen.start()

    assert "Rule A." in qwen.tool(tool, file_path="src/a.py").text
    assert not qwen.tool(tool, file_path="src/a.py").text


def test_agents_md_is_the_clients_down_to_the_sessions_folder(world: World, qwen: Qwen) -> None:
    world.write("AGENTS.md", "At the root.\n")
    world.write("src/AGENTS.md", "Below it.\n")
    world.write("src/a.py")

    assert "At the root." not in qwen.start().text
    assert "Below it." in qwen.tool("read_file", file_path="src/a.py").text


def test_what_a_qwen_md_imports_is_the_clients(world: World, qwen: Qwen) -> None:
    world.write("QWEN.md", "Look at @./README.md first.\n")
    world.write("README.md", "Read me.\n")

    assert "Read me." not in qwen.start().text


def test_its_memory_files(world: World) -> None:
    wanted = [world.home / ".qwen/QWEN.md", world.root / "AGENTS.md", world.project / "src/QWEN.md"]
    for path in (*wanted, world.project / "src/deep/QWEN.md", world.project / ".qwen/QWEN.md"):
        world.write(path)

    found = native.loads("", str(world.project / "src"))

    assert sorted(path for path, text in found.items() if text) == sorted(map(str, wanted))


# ---------------------------------------------------------------- the loop


def test_a_loop_goes_on_until_its_promise(world: World, qwen: Qwen) -> None:
    qwen.start()
    told = qwen.command('/ralph-loop "Fix it." --completion-promise "DONE" --max-iterations 5')
    assert "<promise>DONE</promise>" in told.text + told.message

    assert "<promise>DONE</promise>" in qwen.stop("I think so.", is_first=True).reason
    assert not qwen.stop("It works.\n\n<promise>DONE</promise>").reason
    assert world.ended()[0]["outcome"] == "success"


def test_a_message_that_is_written_down_after_its_stop_is_no_promise(
    world: World, qwen: Qwen
) -> None:
    """The terminal writes it down when the hook has answered, and nothing of our reason."""
    qwen.start()
    check = "test -e done || (touch done; false)"
    qwen.command(f'/ralph-loop "Fix it." --completion-promise "DONE" --verify "{check}"')
    said = datetime.now(UTC).isoformat(timespec="milliseconds")
    kept = "<promise>DONE</promise>"
    assert "failed" in qwen.stop(kept, is_first=True).reason
    qwen.note("assistant", {"text": kept}, timestamp=said)

    assert qwen.stop("Half of it is still missing.").reason
    assert not qwen.stop(kept).reason


def test_an_escaped_promise_counts(world: World, qwen: Qwen) -> None:
    qwen.start()
    qwen.command('/ralph-loop "Fix it." --completion-promise "DONE"')

    assert not qwen.stop("Ready.\n\n&lt;promise&gt;DONE&lt;/promise&gt;", is_first=True).reason
    assert world.ended()[0]["outcome"] == "success"


def test_tool_calls_do_not_begin_the_clients_count_again(world: World, qwen: Qwen) -> None:
    world.write("a.py", "0\n")
    qwen.start()
    qwen.command('/ralph-loop "Fix it." --completion-promise "DONE" --max-iterations 30')
    for number in range(7):
        assert qwen.stop(f"Step {number}.", is_first=number == 0).reason
        world.write("a.py", f"{number}\n")
        qwen.tool("edit", file_path="a.py")
        qwen.answer({"functionCall": {"id": f"c{number}", "name": "edit", "args": {}}})

    reply = qwen.stop("Step 7.")

    assert not reply.reason
    assert "8 blocked Stops in a row" in reply.message
    qwen.prompt("go on", 1)
    assert qwen.stop("Step 8.", is_first=True).reason


@pytest.mark.parametrize(
    ("variable", "users", "projects", "cap"),
    [
        ("", {}, {}, 8),
        ("", {"stopHookBlockingCap": 50}, {}, 50),
        ("", {"stopHookBlockingCap": 50}, {"stopHookBlockingCap": 3}, 3),
        ("20", {"stopHookBlockingCap": 50}, {}, 20),
        ("x", {"stopHookBlockingCap": 50}, {}, 50),
        ("", {"stopHookBlockingCap": 500}, {}, 100),
        ("", {"stopHookBlockingCap": 0}, {}, 8),
        ("", {"stopHookBlockingCap": "9"}, {}, 8),
        ("", {"stopHookBlockingCap": True}, {}, 8),
    ],
)
def test_its_cap_of_blocked_stops(
    world: World, variable: str, users: Json, projects: Json, cap: int
) -> None:
    world.write(world.home / ".qwen/settings.json", json.dumps(users))
    world.write(".qwen/settings.json", json.dumps(projects))
    world.setenv("QWEN_CODE_STOP_HOOK_BLOCK_CAP", variable)

    assert payload.block_cap(str(world.project)) == cap


def test_a_typed_command_is_answered_without_the_model(world: World, qwen: Qwen) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n")
    qwen.start()

    assert "Ship" in qwen.command("/boulder-status").reason


def test_a_loop_waits_for_work_in_the_background_until_it_ends(qwen: Qwen) -> None:
    qwen.start()
    qwen.command('/ralph-loop "Fix it." --completion-promise "DONE"')

    assert not qwen.send("stop", "Stop.in-background").reason
    assert qwen.send("stop", "Stop.background-done").reason


# ---------------------------------------------------------------- payloads and replies


@pytest.mark.parametrize(
    ("recorded", "command", "is_personal"),
    [
        ("UserPromptSubmit", "", True),
        ("UserPromptSubmit.command", "ralph-loop", True),
        ("UserPromptSubmit.after-a-tool", "", False),
        ("UserPromptSubmit.after-a-block", "", False),
    ],
)
def test_what_a_person_types(qwen: Qwen, recorded: str, command: str, is_personal: bool) -> None:
    prompt = payload.read("user-prompt-submit", qwen.payload(recorded)).prompt

    assert (prompt.command.name if prompt.command else "") == command
    assert prompt.is_personal == is_personal


@pytest.mark.parametrize(
    ("recorded", "action", "object"),
    [
        ("read_file", READ, "a.txt"),
        ("edit", EDIT, "a.txt"),
        ("write_file", WRITE, "n.txt"),
        ("run_shell_command", OTHER_ACTION, "rm -f zzz"),
    ],
)
def test_what_a_tool_does(qwen: Qwen, recorded: str, action: str, object: str) -> None:
    (call,) = payload.read("post-tool-use", qwen.payload(f"PostToolBatch.{recorded}")).calls

    assert (call.tool, call.action, call.object.rpartition("/")[2]) == (recorded, action, object)
    assert call.id.startswith("toolu_")


@pytest.mark.parametrize(
    ("recorded", "mode", "path", "is_allowed"),
    [
        ("edit", "auto_edit", "PLAN.md", True),
        ("edit", "auto", "PLAN.md", True),
        ("edit", "default", "PLAN.md", False),
        ("edit", "auto_edit", "a.py", False),
        ("run_shell_command", "auto_edit", "PLAN.md", False),
    ],
)
def test_edits_of_the_followed_plan_are_allowed(
    world: World, qwen: Qwen, recorded: str, mode: str, path: str, is_allowed: bool
) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n")
    qwen.start()
    raw = qwen.payload(f"PermissionRequest.{recorded}")
    fields = {**raw["tool_input"], "file_path": str(world.project / path)}

    reply = qwen.send(
        "permission-request",
        f"PermissionRequest.{recorded}",
        tool_input=fields,
        permission_mode=mode,
    )

    assert ("allow" in reply.out) == is_allowed


def test_a_session_ends(world: World, qwen: Qwen) -> None:
    qwen.start()

    qwen.send("session-end", "SessionEnd.prompt_input_exit")

    assert "session ended: you left" in str(world.why("q1")[-1]["notes"])


def test_a_subagent_is_not_the_session(qwen: Qwen) -> None:
    raw = qwen.payload("PostToolBatch.in-subagent")

    assert payload.read("post-tool-use", raw).agent == "general-purpose-toolu_000100"


def test_at_a_stop_texts_are_part_of_the_reason() -> None:
    event, outcome = Event("qwen", "stop"), Outcome(reason="Go on.")

    assert payload.render(event, outcome, "Rule.") == {
        "decision": "block",
        "reason": "Go on.\n\nRule.",
    }
    assert payload.room(event, Outcome()) == 0


def test_a_command_of_the_agent_is_in_its_session(world: World) -> None:
    world.setenv("QWEN_CODE_SESSION_ID", "q1")

    assert payload.current_session() == ("q1", "")


# ---------------------------------------------------------------- the context


def test_levels_by_the_transcript(qwen: Qwen) -> None:
    qwen.start()
    qwen.prompt()
    qwen.answer(tokens=60_000)
    assert not qwen.tool("read_file", file_path="a.py").message
    qwen.answer(tokens=160_000)

    assert "80 % of 200,000" in qwen.tool("read_file", file_path="b.py").message


def test_a_compaction_empties_the_context(qwen: Qwen) -> None:
    qwen.answer(tokens=160_000)
    assert usage.read(str(qwen.chat)) == (160_000, 200_000)

    qwen.note("system", subtype="chat_compression", systemPayload={"compressedHistory": []})

    assert usage.read(str(qwen.chat)) == (0, 0)


def test_a_transcript_in_our_words(qwen: Qwen) -> None:
    context = "<qwen:user-prompt-submit-context>\nRule.\n</qwen:user-prompt-submit-context>"
    qwen.note("user", {"text": "Fix it."}, {"text": context}, provenance="real_user")
    args = {"command": "make test", "is_background": False}
    qwen.answer(
        {"text": "Hm.", "thought": True},
        {"text": "I test."},
        {"functionCall": {"id": "c1", "name": "run_shell_command", "args": args}},
        {"functionCall": {"id": "c2", "name": "read_file", "args": {"file_path": "/p/a.py"}}},
    )
    response = {"id": "c1", "name": "run_shell_command", "response": {"error": "No."}}
    qwen.note("tool_result", {"functionResponse": response}, toolCallResult={"status": "error"})
    qwen.note("user", {"text": "A notification."}, provenance="system")
    qwen.note("system", subtype="ui_telemetry")

    prompt, answer, result, note, other = transcript.read(str(qwen.chat)).records

    assert (prompt.author, prompt.texts, prompt.is_personal) == (PROMPT, ("Fix it.",), True)
    assert (answer.author, answer.texts, answer.tokens) == (AGENT, ("I test.",), 110)
    assert [(call.shell, call.action, call.target) for call in answer.calls] == [
        ("make test", OTHER_ACTION, "make test"),
        ("", READ, "/p/a.py"),
    ]
    assert (result.author, result.results[0].text) == (TOOL, "No.")
    assert result.results[0].is_error
    assert not note.is_personal
    assert other.author == OTHER
    assert transcript.first_prompt(str(qwen.chat)) == "Fix it."
    assert transcript.first_id(str(qwen.chat))


def test_an_escaped_promise_counts_in_the_transcript(world: World, qwen: Qwen) -> None:
    qwen.start()
    qwen.command('/ralph-loop "Fix it." --completion-promise "FISH & CHIPS"')
    qwen.answer({"text": "&lt;promise&gt;FISH &amp; CHIPS&lt;/promise&gt;"})

    assert not qwen.stop("").reason
    assert world.ended()[0]["outcome"] == "success"


def test_the_tokens_of_subagents_are_in_files_of_their_own(world: World, qwen: Qwen) -> None:
    subagent = Qwen(world)
    subagent.chat = qwen.folder / "subagents/q1/agent-a1.jsonl"
    subagent.chat.parent.mkdir(parents=True)
    subagent.answer(tokens=500)

    assert transcript.subagent_tokens(str(qwen.chat), 1.0) == 510


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
                "session_id", "agent_id", "cwd", "source", "transcript_path", "tool_calls",
                "tool_input", "tool_name", "prompt", "submitted_prompt", "prompt_id",
                "last_assistant_message", "background_tasks", "crons", "stop_hook_active",
            )
        },
    ),
)  # fmt: skip
def test_whatever_a_payload_holds(name: str, fields: Json) -> None:
    assert payload.read(name, fields).name == name


@given(
    line=JSON
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["user", "assistant", "tool_result"])},
        optional={
            "message": st.fixed_dictionaries(
                {"parts": st.lists(st.dictionaries(st.sampled_from(
                    ["text", "functionCall", "functionResponse"]), JSON))}
            ),
            "usageMetadata": JSON,
            "toolCallResult": JSON,
        },
    )
)  # fmt: skip
def test_whatever_a_transcript_holds(
    tmp_path_factory: pytest.TempPathFactory, line: object
) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "qwen.jsonl"
    file.write_text(json.dumps(line) + "\n")

    transcript.read(str(file))
    transcript.first_prompt(str(file))
    assert usage.read(str(file))[0] >= 0


def test_a_loop_that_a_script_started_before_the_session_is_its_own(world: World) -> None:
    id = "0a1b2c3d-0000-4000-8000-00000000abcd"  # as Claude Code's are
    loop = ("ralph", "start", "--session-id", id, "--completion-promise", "KILN", "--", "Fire it.")
    assert world.cli(*loop).code == 0
    qwen = Qwen(world, id)

    qwen.start()

    assert "KILN" in qwen.stop(is_first=True).reason
    assert [each["client"] for each in world.cli("sessions", "--json").json["sessions"]] == ["qwen"]
