"""Codex: its payloads, its rollout, and what its replies may hold."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_work import waiting
from world import PAYLOADS, SISYPHUS, Reply, World

from sisyphus.clients import escaped_tags, transcript_records
from sisyphus.clients.codex import native, payload, queue, touched, transcript, usage
from sisyphus.clients.transcript_records import AGENT, CONTINUATION, PROMPT
from sisyphus.ground.store import open_store
from sisyphus.hook.event import EDIT, OTHER, READ, WRITE, Event
from sisyphus.hook.outcome import Outcome

Json = dict[str, Any]

KEYS = {
    "session-start": {"systemMessage", "hookSpecificOutput"},
    "user-prompt-submit": {"systemMessage", "hookSpecificOutput", "decision", "reason"},
    "post-tool-use": {"systemMessage", "hookSpecificOutput"},
    "stop": {"systemMessage", "decision", "reason"},
    "pre-compact": {"systemMessage"},
    "permission-request": {"systemMessage"},
    "interrupt": {"systemMessage"},
    "session-end": set(),
}
"""The keys that we may write; one that an event's schema lacks drops the whole reply."""


TWO_FILES = "*** Begin Patch\n*** Add File: /p/one.py\n+1\n*** Delete File: two.py\n*** End Patch\n"


class Codex:
    """A session of Codex in a user's world."""

    def __init__(self, world: World, session: str = "c1") -> None:
        self.world = world
        self.session = session
        self.rollout = world.root / f"rollout-{session}.jsonl"
        self.calls = 0
        self.clock_back = timedelta()  # by how much the clock has been set back

    def payload(self, recorded: str, **fields: object) -> Json:
        """A recorded payload, in this world."""
        text = (PAYLOADS / "codex" / f"{recorded}.json").read_text()
        raw: Json = json.loads(text.replace("/home/user/project", str(self.world.project)))
        return {
            **raw, "session_id": self.session, "transcript_path": str(self.rollout), **fields,
        }  # fmt: skip

    def send(self, event: str, recorded: str, **fields: object) -> Reply:
        reply = self.world.hook(event, self.payload(recorded, **fields), "--client", "codex")
        assert reply.code == 0
        assert reply.json.keys() <= KEYS[event], reply.out
        return reply

    def start(self, source: str = "startup") -> Reply:
        return self.send("session-start", f"SessionStart.{source}")

    def prompt(self, text: str = "go") -> Reply:
        return self.send("user-prompt-submit", "UserPromptSubmit", prompt=text)

    def read(self, *paths: str, **fields: object) -> Reply:
        """The model reads files of the project with one command."""
        parsed = [{"type": "read", "cmd": f"cat {path}", "path": path} for path in paths]
        item = {
            "type": "CommandExecution",
            "command": ["/bin/bash", "-lc", f"cat {' '.join(paths)}"],
            "cwd": f"file://{self.world.project}",
            "parsed_cmd": parsed,
            "exit_code": 0,
            "aggregated_output": "x\n",
            **fields,
        }
        return self.tool("PostToolUse.Bash", item)

    def edit(self, path: str, old: str, new: str) -> Reply:
        """The model changes a file of the project with a patch."""
        file = self.world.project / path
        file.write_text(file.read_text().replace(old, new, 1))
        diff = f"@@ -1 +1 @@\n-{old}\n+{new}\n"
        change = {"type": "update", "unified_diff": diff, "move_path": None}
        return self.tool(
            "PostToolUse.apply_patch", {"type": "FileChange", "changes": {str(file): change}}
        )

    def tool(self, recorded: str, item: Json | None, **fields: object) -> Reply:
        self.calls += 1
        id = f"call_{self.calls}"
        if item:
            self.note({"type": "item_completed", "turn_id": "t1", "item": {**item, "id": id}})
        return self.send("post-tool-use", recorded, tool_use_id=id, **fields)

    def stop(self, last: str = "I work.", **fields: object) -> Reply:
        return self.send("stop", "Stop.first", last_assistant_message=last, **fields)

    def note(self, content: Json, kind: str = "event_msg") -> None:
        """The client adds a line to the rollout."""
        stamp = (datetime.now(UTC) - self.clock_back).isoformat(timespec="milliseconds")
        with self.rollout.open("a") as file:
            file.write(json.dumps({"timestamp": stamp, "type": kind, "payload": content}) + "\n")

    def note_item(self, type: str, text: str = "", **fields: object) -> None:
        """The client notes an item."""
        content = [{"type": "text", "text": text}] if text else []
        item = {"type": type, "id": f"i{type}", "content": content, **fields}
        self.note({"type": "item_completed", "turn_id": "t1", "item": item})

    def fill(self, percent: int) -> None:
        """The model answers, with so much of its context in use."""
        tokens = {"input_tokens": 2584 * percent, "output_tokens": 10}
        info = {"last_token_usage": tokens, "model_context_window": 258_400}
        self.note({"type": "token_count", "info": info})
        self.note({"usage": tokens, "turn_id": "t1"}, "token_usage_record")


def with_skills(world: World) -> Codex:
    """A session in which some of our skills are installed."""
    world.setenv("CODEX_HOME", str(world.home / ".codex"))
    for name in ("ralph-loop", "ralph", "boulder-status"):
        world.write(
            world.home / f".codex/skills/{name}/SKILL.md",
            f"---\nname: {name}\nauthor: sisyphus\n---\n",
        )
    return Codex(world)


@pytest.fixture
def codex(world: World) -> Codex:
    return with_skills(world)


# ---------------------------------------------------------------- plan, rules, documents


def test_a_plan_and_the_readme_are_sent_at_the_start(world: World, codex: Codex) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n- [ ] two\n")
    world.write("README.md", "Read me.\n")

    text = codex.start().text

    assert "Next task: one" in text
    assert "Read me." in text


def test_a_resume_sends_only_what_changed(world: World, codex: Codex) -> None:
    world.write("README.md", "Read me.\n")
    codex.start()

    assert not codex.start("resume").text
    assert "Read me." in codex.start("compact").text


def test_progress_counts_at_the_edit_of_a_plan(world: World, codex: Codex) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n- [ ] two\n")
    codex.start()

    codex.edit("PLAN.md", "- [ ] one", "- [x] one")

    assert world.boulder_file()["progress"]["completed"] == 1


def test_the_rules_of_each_file_that_a_command_reads(world: World, codex: Codex) -> None:
    world.rule("a.md", "Rule A.", paths=["src/*.py"])
    world.rule("b.md", "Rule B.", paths=["web/*.ts"])
    world.write("src/a.py")
    world.write("web/b.ts")
    codex.start()

    text = codex.read("src/a.py", "web/b.ts").text

    assert "Rule A." in text
    assert "Rule B." in text
    assert not codex.read("src/a.py").text


def test_a_rule_that_the_client_would_not_send_is_sent(world: World, codex: Codex) -> None:
    world.rule("always.md", "For every file.")
    world.write("src/a.py")
    codex.start()

    assert "For every file." in codex.read("src/a.py").text


def test_agents_md_is_the_clients_down_to_the_sessions_folder(world: World, codex: Codex) -> None:
    world.write("AGENTS.md", "At the root.\n")
    world.write("src/AGENTS.md", "Below it.\n")
    world.write("src/a.py")

    assert "At the root." not in codex.start().text
    assert "Below it." in codex.read("src/a.py").text


def test_outside_of_a_repository_only_the_sessions_agents_md_is_the_clients(world: World) -> None:
    if any((folder / ".git").exists() for folder in world.root.parents):
        pytest.skip("the folder for temporary files is in a repository")
    inner = world.write("packages/app/AGENTS.md").parent
    above = world.write("packages/AGENTS.md")
    assert native.loads("", str(inner)).keys() == {str(above), str(inner / "AGENTS.md")}
    world.write("PLAN.md", "- [ ] one\n")
    shutil.rmtree(world.project / ".git")

    assert native.loads("", str(inner)).keys() == {str(inner / "AGENTS.md")}
    assert native.why_agents_md("", str(inner), str(inner / "AGENTS.md"))
    assert not native.why_agents_md("", str(inner), str(above))


def test_above_the_repository_no_agents_md_is_the_clients(world: World) -> None:
    above = world.write(world.root / "AGENTS.md")

    assert not native.why_agents_md("", str(world.project), str(above))


@pytest.mark.parametrize("content", ["x\n", b"\xff\n", ""])
def test_an_override_stands_for_agents_md(world: World, content: str | bytes) -> None:
    world.write("AGENTS.md")
    override = world.write("AGENTS.override.md", content)

    assert native.loads("", str(world.project)).keys() == {str(override)}


def test_an_agents_md_without_room_is_not_the_clients(world: World) -> None:
    """It loads 32 KiB of them."""
    names = ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md", "a/b/c/AGENTS.md"]
    sizes = [30_000, 2_768, 1, 1]
    paths = [str(world.write(name, "x" * size)) for name, size in zip(names, sizes, strict=True)]
    folder = str(world.project / "a/b/c")

    assert [bool(native.why_agents_md("", folder, path)) for path in paths] == [
        True, True, False, False,
    ]  # fmt: skip
    assert [bool(text) for text in native.loads("", folder).values()] == [True, True, False, False]


def test_a_tool_that_works_elsewhere_brings_no_rules_from_there(world: World, codex: Codex) -> None:
    """At a tool call, `cwd` is the folder in which the tool works."""
    codex.note({"id": "c1", "session_id": "c1", "cwd": str(world.project)}, "session_meta")
    other = world.new_project("other")
    (other / ".cursorrules").write_text("Rule of others.\n")
    (other / "a.py").write_text("x\n")
    world.rule("a.md", "Rule A.", paths=["a.py"])
    world.write("a.py")
    codex.start()

    assert not codex.read("a.py", cwd=f"file://{other}").text
    item = {"type": "CommandExecution", "cwd": f"file://{world.project}", "exit_code": 0}
    parsed = {"parsed_cmd": [{"type": "read", "path": "a.py"}]}
    reply = codex.tool("PostToolUse.Bash", item | parsed, cwd=str(other))
    assert "Rule A." in reply.text
    assert "Rule of others." not in reply.text


def test_a_fork_has_what_its_parent_was_sent(world: World, codex: Codex) -> None:
    world.rule("a.md", "Rule A.", paths=["a.py"])
    world.write("a.py")
    codex.start()
    assert "Rule A." in codex.read("a.py").text

    fork = Codex(world, "c2")
    fork.note({"id": "c2", "session_id": "c2", "forked_from_id": "c1"}, "session_meta")
    fork.send("session-start", "SessionStart.startup", source="fork")
    fork.prompt()

    assert not fork.read("a.py").text


# ---------------------------------------------------------------- the loop


def test_a_loop_goes_on_until_its_promise(world: World, codex: Codex) -> None:
    codex.start()
    told = codex.prompt('$ralph-loop "Fix it." --completion-promise "DONE" --max-iterations 5')
    assert "<promise>DONE</promise>" in told.text + told.message

    first = codex.stop("I think that I am done.")

    assert "DONE (inside a promise tag)" in first.reason
    assert "<" not in first.reason
    assert not codex.stop("It works.\n\n<promise>DONE</promise>").reason
    assert world.ended()[0]["outcome"] == "success"


@pytest.mark.parametrize(
    "words",
    ["&lt;promise&gt;DONE&lt;/promise&gt;", "Ready.\n\n&lt;promise&gt;DONE&lt;/promise&gt;\n"],
)
def test_an_escaped_promise_counts(world: World, codex: Codex, words: str) -> None:
    codex.start()
    codex.prompt('$ralph-loop "Fix it." --completion-promise "DONE"')

    assert not codex.stop(words).reason
    assert world.ended()[0]["outcome"] == "success"


def test_an_escaped_promise_counts_in_the_rollout(world: World, codex: Codex) -> None:
    codex.start()
    codex.prompt('$ralph-loop "Fix it." --completion-promise "FISH & CHIPS"')
    codex.note_item("AgentMessage", "<promise>FISH &amp; CHIPS</promise>")

    assert not codex.stop("").reason
    assert world.ended()[0]["outcome"] == "success"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("<promise>FISH &amp; CHIPS</promise>", "<promise>FISH & CHIPS</promise>"),
        ("&lt;blocked&gt;a &lt; b &amp;gt; c&lt;/blocked&gt;", "<blocked>a < b &gt; c</blocked>"),
        ("a &amp;&amp; b <promise>DONE</promise>", "a &amp;&amp; b <promise>DONE</promise>"),
        ("&lt;b&gt; &amp; a && b", "&lt;b&gt; &amp; a && b"),
        ("<promise>A</promise> &amp; <promise>B", "<promise>A</promise> &amp; <promise>B"),
    ],
)
def test_only_what_is_in_a_tag_is_unescaped(message: str, text: str) -> None:
    assert escaped_tags.unescaped(message) == text


def test_a_loop_has_no_cap_of_the_client(world: World, codex: Codex) -> None:
    world.write("a.py", "0\n")
    codex.start()
    codex.prompt('$ralph-loop "Fix it." --completion-promise "DONE" --max-iterations 14')
    for number in range(12):
        codex.edit("a.py", str(number), str(number + 1))
        assert codex.stop(f"Step {number}.").reason


def test_plan_mode_lets_the_agent_stop(world: World, codex: Codex) -> None:
    codex.start()
    codex.prompt('$ralph-loop "Fix it." --completion-promise "DONE"')
    codex.note({"type": "task_started", "collaboration_mode_kind": "plan"})

    assert not codex.stop("I plan.").reason
    assert world.loops()


def test_a_typed_command_is_answered_without_the_model(world: World, codex: Codex) -> None:
    world.write("PLAN.md", "# Ship\n\n- [ ] one\n")
    codex.start()

    reply = codex.prompt("$boulder-status")

    assert "Ship" in reply.reason
    assert "hookSpecificOutput" not in reply.json


def test_commands_are_named_as_they_are_typed_here(world: World, codex: Codex) -> None:
    codex.start()

    told = codex.prompt('$ralph-loop "Fix it." --completion-promise "DONE"')
    refused = codex.prompt("$ralph foo")

    assert "$cancel-ralph" in told.message
    assert "/cancel-ralph" not in told.out
    assert "`$ralph list`" in refused.reason


def test_a_run_is_not_started_in_a_hook(world: World, codex: Codex) -> None:
    """A hook must end within seconds."""
    codex.start()

    reply = codex.prompt("$ralph run --client codex --max-iterations 3")

    assert "terminal: `sisyphus ralph run --client codex --max-iterations 3`" in reply.reason
    assert not world.loops()


@pytest.mark.parametrize(
    ("typed", "name", "arguments"),
    [
        ("$ralph-loop fix it", "ralph-loop", "fix it"),
        ("$sisyphus:ralph list", "sisyphus:ralph", "list"),
        ("/ralph-loop fix", None, ""),
        ("/sisyphus:ralph list", None, ""),
        ("$ralph-status", "ralph-status", ""),
        ("$HOME is wrong", None, ""),
        ("$5 are missing", None, ""),
        ("go $ralph", None, ""),
        ("$ralph.md", None, ""),
    ],
)
def test_what_is_a_command(typed: str, name: str | None, arguments: str) -> None:
    command = payload.command_of(typed)

    assert (command.name if command else None) == name
    assert (command.arguments if command else "") == arguments


# ---------------------------------------------------------------- the context


def test_levels_by_the_rollout(world: World, codex: Codex) -> None:
    codex.start()
    codex.prompt()
    codex.fill(30)
    assert not codex.read("a.py").text
    codex.fill(80)

    assert "80 % of 258,400" in codex.read("b.py").message


def test_a_compaction_empties_the_context(codex: Codex) -> None:
    codex.fill(80)
    assert usage.read(str(codex.rollout)) == (80 * 2584, 258_400)
    codex.note({"message": "summary"}, "compacted")
    empty = {"input_tokens": 0, "total_tokens": 6877}
    info = {"last_token_usage": empty, "model_context_window": 258_400}
    codex.note({"type": "token_count", "info": info})

    assert usage.read(str(codex.rollout)) == (0, 0)


def test_usage_stands_before_much_output(codex: Codex) -> None:
    codex.fill(50)
    for _ in range(10):
        codex.note({"type": "item_completed", "item": {"aggregated_output": "x" * 60_000}})

    assert usage.read(str(codex.rollout)) == (50 * 2584, 258_400)


# ---------------------------------------------------------------- what a tool touched


def test_a_patch_touches_each_of_its_files(world: World, codex: Codex) -> None:
    changes = {
        "/p/new.py": {"type": "add", "content": "x"},
        "/p/old.py": {"type": "update", "unified_diff": "", "move_path": "/p/moved.py"},
        "/p/gone.py": {"type": "delete", "content": "x"},
        "/p/kept.py": {"type": "update", "unified_diff": "", "move_path": None},
    }

    found = touched.files_of({"type": "FileChange", "changes": changes}, "/p")

    assert found == [(WRITE, "/p/new.py"), (EDIT, "/p/moved.py"), (EDIT, "/p/kept.py")]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, [(READ, "/p/a.py")]),
        ({"cwd": "file:///p/a%20b"}, [(READ, "/p/a b/a.py")]),
        ({"cwd": "https://a.b/c"}, [(READ, "/q/a.py")]),
        ({"exit_code": 1}, []),
        ({"exit_code": None}, []),
        ({"parsed_cmd": [{"type": "unknown", "cmd": "python x.py"}]}, []),
        ({"parsed_cmd": [{"type": "search", "path": "src"}]}, []),
        ({"parsed_cmd": "cat"}, []),
        ({"parsed_cmd": [{"type": "read", "path": 3}, None]}, []),
        ({"parsed_cmd": [{"type": "read", "path": "a\0b"}]}, []),
    ],
)
def test_what_a_command_reads(fields: Json, found: list[tuple[str, str]]) -> None:
    parsed = [{"type": "read", "path": "a.py"}]
    item = {"type": "CommandExecution", "cwd": "file:///p", "exit_code": 0, "parsed_cmd": parsed}

    assert touched.files_of({**item, **fields}, "/q") == found


def test_without_an_item_the_patch_itself_counts(world: World, codex: Codex) -> None:
    patch = (
        "*** Begin Patch\n*** Update File: b.txt\n*** Add File: sub/d e.txt\n+x\n*** End Patch\n"
    )
    raw = {"tool_name": "apply_patch", "tool_use_id": "c", "tool_input": {"command": patch}}

    found = touched.calls(raw, "", "/p")

    assert [(call.action, call.path) for call in found] == [
        (EDIT, "/p/b.txt"),
        (EDIT, "/p/sub/d e.txt"),
    ]


def test_other_tools_touch_no_file(codex: Codex) -> None:
    raw = json.loads((PAYLOADS / "codex/PostToolUse.mcp__fs__read_thing.json").read_text())

    (call,) = touched.calls(raw, str(codex.rollout), "/p")

    assert (call.action, call.path) == (OTHER, "")


# ---------------------------------------------------------------- the client's process


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the system has no /proc")
@pytest.mark.parametrize(
    ("word", "is_bound", "can_wake"),
    [("--no-daemon", True, True), ("exec", True, False), ("app-server", False, False)],
)
def test_what_calls_us(world: World, word: str, is_bound: bool, can_wake: bool) -> None:
    """A server outlives its terminals, and `exec` ends when it is idle."""
    program = world.root / "codex"
    program.symlink_to("/bin/bash")
    code = (
        "from sisyphus.clients.codex import payload;"
        "event = payload.read('stop', {});"
        "print(bool(event.process), bool(event.stop.host))"
    )
    command = f'{sys.executable} -c "{code}"; true'

    done = subprocess.run(
        [program, "-c", command, word], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == [str(is_bound), str(can_wake)]


@contextmanager
def opened(program: Path, *terminals: tuple[str, str]) -> Iterator[None]:
    """Terminals that show a program, each in a folder and with a word in its command line."""
    with ExitStack() as stack:
        for folder, word in terminals:
            keyboard, tty = pty.openpty()
            stack.callback(os.close, keyboard)
            process = subprocess.Popen(
                [program, "-c", "echo; read line; true", *filter(None, [word])],
                cwd=program.parent / folder, stdin=tty, stdout=tty, stderr=tty,
            )  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.kill)
            os.close(tty)
            assert os.read(keyboard, 1), "it is there"
        yield


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the system has no /proc")
@pytest.mark.parametrize(
    ("terminals", "can_wake"),
    [
        ([], False),
        ([("project", "")], True),
        ([("project", ""), ("elsewhere", "")], True),
        ([("project", ""), ("project", "")], False),  # one of them may show another session
        ([("elsewhere", "")], False),
        ([("project", "--no-daemon")], False),
        ([("project", "--dangerously-bypass-hook-trust")], False),
        ([("project", ""), ("project", "--dangerously-bypass-hook-trust")], True),
        ([("project", "exec")], False),
    ],
)
def test_a_server_wakes_if_one_terminal_is_open(
    world: World, terminals: list[tuple[str, str]], can_wake: bool
) -> None:
    (world.root / "elsewhere").mkdir()
    program = world.root / "codex"
    program.symlink_to("/bin/bash")
    with opened(program, *terminals):
        code = (
            "from sisyphus.clients.codex import payload;"
            f"print(bool(payload.read('idle', {{'cwd': {str(world.project)!r}}}).stop.host))"
        )
        command = f'{sys.executable} -c "$CODE"; true'
        done = subprocess.run(
            [program, "-c", command, "app-server"], env={**os.environ, "CODE": code},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
        )  # fmt: skip

    assert done.stdout.strip() == str(can_wake)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="the system has no /proc")
@pytest.mark.parametrize(
    ("word", "other", "is_woken"),
    [
        ("--no-daemon", "none", True),
        ("--no-daemon", "here", False),
        ("--no-daemon", "older", True),
        ("--no-daemon", "another process", True),
        ("app-server", "none", True),
        ("app-server", "here", False),
        ("app-server", "another project", True),
        ("app-server", "another process", True),
    ],
)
def test_nobody_is_woken_whom_the_terminal_does_not_show(
    world: World, codex: Codex, word: str, other: str, is_woken: bool
) -> None:
    """After /clear, /new or /resume the client says nothing of the session before."""
    world.cli("enforce", "on")
    world.write(world.ours / "config.toml", "[enforce]\nidle_seconds = 0\ncooldown_seconds = 0\n")
    second, folder = Codex(world, "c2"), world.project
    if other == "another project":
        folder = world.new_project("elsewhere")
    program = world.root / "codex"
    program.symlink_to("/bin/bash")
    with (
        opened(program, *[("project", "")] * (word == "app-server")),
        running(program, word) as client,
        running(program, "exec") as another,
    ):
        starts = partial(
            another if other == "another process" else client,
            second, "session-start", "SessionStart.clear", cwd=str(folder),
        )  # fmt: skip
        if other == "older":
            starts()
        client(codex, "session-start", "SessionStart.startup")
        client(codex, "stop", "Stop.first")
        if other not in ("none", "older"):
            starts()
        client(codex, "idle", "Stop.first")

    notes = [note for each in world.why("c1") for note in each["notes"]]
    assert is_woken == any("woken after" in note for note in notes), notes


@contextmanager
def running(program: Path, word: str) -> Iterator[Callable[..., None]]:
    """A program that tells us of events of sessions, one after the other."""
    with subprocess.Popen(
        [program, "-s", "--", word], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        pipe, replies = process.stdin, process.stdout
        assert pipe and replies

        def tell(codex: Codex, event: str, recorded: str, **fields: object) -> None:
            raw = json.dumps(codex.payload(recorded, **fields))
            file = codex.world.write(codex.world.root / "payload.json", raw)
            pipe.write(f"{SISYPHUS} hook {event} --client codex < {file} > /dev/null; echo\n")
            pipe.flush()
            assert replies.readline() == "\n"

        yield tell
        pipe.close()


def test_the_client_queues_what_wakes_a_session(world: World) -> None:
    program = world.write("client", '#!/bin/sh\nprintf "%s\\n" "$@" > arguments\n')
    program.chmod(0o755)

    queue.send(str(program), "c1", "-Go on.\nNow.")

    said = (world.home / "arguments").read_text()
    assert said == "queue\n--thread\nc1\n--message=-Go on.\nNow.\n"
    assert not world.log()


def test_a_client_that_queues_nothing_is_noted(world: World) -> None:
    queue.send("false", "c1", "Go on.")

    assert "did not take a text for session c1" in world.log()


def test_a_wake_that_comes_too_late_goes_no_further(world: World, codex: Codex) -> None:
    """`codex queue` keeps it for a session that was closed until that is resumed."""
    world.cli("enforce", "on")
    codex.start()
    codex.stop("All tests pass. The parser is done.")
    late = "[sisyphus woke this session]\n\nGo on."
    assert not codex.prompt(late).reason

    with closing(open_store(str(world.ours))) as store, store.write():
        store.run("UPDATE enforcement SET at = at - 3600")

    assert "came too late" in codex.prompt(late).reason


def test_a_wake_of_a_session_that_its_user_has_left_goes_no_further(
    world: World, codex: Codex
) -> None:
    """They have typed /clear or the like since, of which the client says nothing."""
    world.cli("enforce", "on")
    codex.start()
    codex.stop("All tests pass. The parser is done.")

    Codex(world, "c2").start("clear")

    assert "came too late" in codex.prompt("[sisyphus woke this session]\n\nGo on.").reason


def test_a_prompt_that_wakes_is_nobodys(codex: Codex) -> None:
    event = payload.read("user-prompt-submit", {"prompt": "[sisyphus woke this session]\n\nGo on."})

    assert event.prompt.is_wake
    assert not event.prompt.is_personal


# ---------------------------------------------------------------- replies


def test_a_long_reason_and_its_texts_fit_the_clients_limit() -> None:
    event = Event("codex", "stop")
    for reason in ("é" * 4000, "一" * 4000, "a" * 4000, "😀" * 2000):
        outcome = Outcome(reason=reason)
        free = payload.room(event, outcome)
        reply = payload.render(event, outcome, "一" * free)
        assert reply is not None
        assert len(reply["reason"].encode()) <= 10_000


def test_what_has_no_room_at_a_stop_waits_whole(world: World, codex: Codex) -> None:
    world.rule("a.md", "\n".join(f"Rule {number}." for number in range(700)), paths=["a.py"])
    world.rule("b.md", "\n".join(f"Also {number}." for number in range(700)), paths=["a.py"])
    world.write("a.py")
    codex.start()
    codex.prompt('$ralph-loop "Fix it." --completion-promise "DONE"')
    first = codex.read("a.py").text

    at_stop = codex.stop("So far.").reason
    rest = codex.read("b.py").text

    assert "Cut here" not in first + at_stop + rest
    assert "Also 699." in first + rest
    assert "Rule 699." in first + rest


def test_a_reply_to_a_prompt_is_a_block_or_a_text() -> None:
    event = Event("codex", "user-prompt-submit")

    assert payload.room(event, Outcome(reason="No.")) == 0
    assert payload.room(event, Outcome()) == 10_000


# ---------------------------------------------------------------- the rollout as a transcript


def test_a_rollout_in_our_words(codex: Codex) -> None:
    said = [{"type": "text", "text": "$ralph-loop fix"}]
    codex.note({"id": "c1", "session_id": "c1"}, "session_meta")
    codex.note(
        {"type": "item_completed", "turn_id": "t1",
         "item": {"type": "UserMessage", "id": "u1", "content": said}}
    )  # fmt: skip
    codex.read("a.py")
    codex.note(
        {"type": "item_completed", "turn_id": "t1",
         "item": {"type": "AgentMessage", "content": [{"type": "Text", "text": "Done."}]}}
    )  # fmt: skip
    codex.note(
        {"type": "item_completed", "item": {"type": "HookPrompt", "id": "h", "fragments": []}}
    )
    codex.note({"type": "turn_aborted", "reason": "interrupted"})
    codex.fill(1)

    prompt, command, answer, hook, interrupt, tokens = transcript.read(str(codex.rollout)).records

    assert (prompt.author, prompt.texts) == (PROMPT, ("$ralph-loop fix",))
    assert prompt.command
    assert "t1" in prompt.ids
    assert [(call.shell, call.action) for call in command.calls] == [("cat a.py", READ)]
    assert [(result.text, result.is_error) for result in command.results] == [("x\n", False)]
    assert (answer.author, answer.texts) == (AGENT, ("Done.",))
    assert hook.author == CONTINUATION
    assert interrupt.is_interrupt
    assert tokens.tokens == 2584 + 10
    assert transcript.first_id(str(codex.rollout)) == "u1"
    assert transcript.first_prompt(str(codex.rollout)) == "$ralph-loop fix"


def test_a_prompt_that_wakes_continues_the_session(codex: Codex) -> None:
    codex.note_item("UserMessage", "[sisyphus woke this session]\n\nGo on.")

    (record,) = transcript.read(str(codex.rollout)).records

    assert (record.author, record.is_personal, record.texts) == (CONTINUATION, False, ())


@pytest.mark.parametrize(
    ("type", "fields", "name"),
    [
        ("McpToolCall", {"server": "fs", "tool": "read"}, "mcp__fs__read"),
        ("CollabAgentToolCall", {"tool": "wait"}, "CollabAgentToolCall"),
        ("SubAgentActivity", {"kind": "started"}, "SubAgentActivity"),
        ("SubAgentActivity", {"kind": "completed"}, ""),
        ("WebSearch", {"query": "x"}, "WebSearch"),
        ("Reasoning", {}, ""),
        ("ContextCompaction", {}, ""),
        ("Plan", {}, ""),
    ],
)
def test_which_items_are_tool_calls(codex: Codex, type: str, fields: Json, name: str) -> None:
    codex.note_item(type, **fields)

    (record,) = transcript.read(str(codex.rollout)).records

    assert [call.name for call in record.calls] == [name] * bool(name)
    assert all(call.action == OTHER for call in record.calls)
    assert record.author == (AGENT if name else transcript_records.OTHER)


def test_the_tokens_of_subagents_are_in_their_own_rollouts(world: World, codex: Codex) -> None:
    child = Codex(world, "c2")
    codex.note({"id": "c1", "session_id": "c1"}, "session_meta")
    child.note({"id": "c2", "session_id": "c1", "parent_thread_id": "c1"}, "session_meta")
    child.fill(1)
    other = Codex(world, "c3")
    other.note({"id": "c3", "session_id": "c3"}, "session_meta")
    other.fill(1)

    assert transcript.subagent_tokens(str(codex.rollout), 1.0) == 2584 + 10


def test_the_tokens_of_a_subagent_that_began_on_a_later_day(world: World, codex: Codex) -> None:
    days = {"c1": "2026/12/31", "c2": "2027/01/01", "c3": "2026/12/30"}
    sessions = {id: Codex(world, id) for id in days}
    for id, session in sessions.items():
        session.rollout = world.home / ".codex/sessions" / days[id] / f"rollout-{id}.jsonl"
        session.rollout.parent.mkdir(parents=True)
        session.note({"id": id, "session_id": "c1"}, "session_meta")
        session.fill(1)
    (sessions["c2"].rollout.parent / "gone.jsonl").symlink_to("nowhere")

    assert transcript.subagent_tokens(str(sessions["c1"].rollout), 1.0) == 2584 + 10


@pytest.mark.parametrize(
    ("tool", "values", "shown"),
    [
        ("Bash", {"command": "make deploy", "description": "It has to."}, "Bash: make deploy"),
        ("apply_patch", {"command": TWO_FILES}, "apply_patch: /p/one.py, two.py"),
        ("mcp__shop__look", {"path": "one.py"}, "mcp__shop__look"),
    ],
)
def test_a_dialog_names_the_command_or_the_files_of_its_patch(
    world: World, codex: Codex, tool: str, values: Json, shown: str
) -> None:
    codex.start()
    codex.prompt("$ralph-loop fix it")

    asked = codex.send(
        "permission-request", "PermissionRequest.Bash", tool_name=tool, tool_input=values
    )

    assert asked.is_silent
    (each,) = waiting(world)
    assert each["text"] == f"Session c1 in project asks for your permission to use {shown}"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(), each, max_size=4),
    max_leaves=12,
)


@given(
    name=st.sampled_from(sorted(KEYS)),
    fields=st.fixed_dictionaries(
        {},
        optional={
            key: JSON
            for key in (
                "session_id", "agent_id", "cwd", "source", "transcript_path", "tool_name",
                "tool_input", "tool_use_id", "prompt", "turn_id", "last_assistant_message",
            )
        },
    ),
)  # fmt: skip
def test_whatever_a_payload_holds(name: str, fields: Json) -> None:
    assert payload.read(name, fields).name == name


@given(line=JSON | st.fixed_dictionaries({"type": JSON, "timestamp": JSON, "payload": JSON}))
def test_whatever_a_rollout_holds(tmp_path_factory: pytest.TempPathFactory, line: object) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "rollout.jsonl"
    file.write_text(
        json.dumps({"type": "event_msg", "payload": {"item": line}}) + f"\n{json.dumps(line)}\n"
    )

    transcript.read(str(file))
    usage.read(str(file))
    assert transcript.first_id(str(file)) == ""
