"""What our plugin for OpenCode sends, and what it gets."""

from __future__ import annotations

import json
import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from world import Json, Reply, World

from sisyphus.clients.opencode import transcript
from sisyphus.ground import processes
from sisyphus.ground.store import open_store
from sisyphus.sessions import messages, retention

SESSION, CHILD = "ses_1", "ses_2"
PLAN = "# Kiln\n\n- [ ] stack\n- [ ] fire\n"


class OpenCode:
    """A session of OpenCode, as the plugin sees it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.file = world.ours / "opencode" / f"{SESSION}.jsonl"
        self.file.parent.mkdir(parents=True)

    def hook(self, event: str, session: str = SESSION, /, **fields: object) -> Reply:
        payload = {
            "session": session,
            "agent": "",
            "cwd": str(self.world.project),
            "transcript": str(self.file),
            "mode": "build",
            **fields,
        }
        os.environ["SISYPHUS_CLIENT_PID"] = str(os.getpid())  # as the plugin does for a hook
        try:
            return self.world.hook(event, payload, "--client", "opencode")
        finally:
            del os.environ["SISYPHUS_CLIENT_PID"]

    def start(self, source: str = "startup", **fields: object) -> Reply:
        return self.hook("session-start", source=source, **fields)

    def prompt(self, text: str = "go", **fields: object) -> Reply:
        return self.hook("user-prompt-submit", prompt=text, id=f"msg_{time.time()}", **fields)

    def tool(self, tool: str, session: str = SESSION, **args: object) -> Reply:
        return self.hook("post-tool-use", session, tool=tool, call="c1", args=args)

    def read(self, path: str) -> Reply:
        return self.tool("read", filePath=str(self.world.project / path))

    def stop(self, last: str = "I work.", **fields: object) -> Reply:
        self.line("text", id="m1", text=last)
        return self.hook("stop", last=last, **fields)

    def line(self, kind: str, file: Path | None = None, **fields: object) -> None:
        """Writes a line of the transcript."""
        with (file or self.file).open("a") as stream:
            stream.write(json.dumps({"at": time.time() * 1000, "kind": kind, **fields}) + "\n")

    def fill(self, percent: int, window: int = 200_000) -> None:
        used = {"input": window * percent // 100, "output": 1, "reasoning": 0}
        self.line("usage", tokens={**used, "cache": {"read": 0, "write": 0}}, window=window)


@pytest.fixture
def code(world: World) -> OpenCode:
    return OpenCode(world)


def test_plan_rules_and_readme_arrive(code: OpenCode) -> None:
    code.world.write("PLAN.md", PLAN)
    code.world.write("README.md", "# Shop\n")
    code.world.rule("py.md", "RULE", applies_to="*.py")
    code.world.write("a.py")

    assert "Next task: stack" in code.start().json["text"]
    assert "RULE" in code.read("a.py").json["text"]
    assert not code.read("a.py").out


def test_what_opencode_loads_itself_is_not_sent(code: OpenCode) -> None:
    code.world.write("AGENTS.md", "# AGENTS-MARK\n")
    code.world.rule("claude.md", "RULE", paths=["*.py"])
    code.world.write("a.py")

    assert "AGENTS-MARK" not in code.start().out
    assert "RULE" in code.read("a.py").json["text"], "only Claude Code loads this itself"


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write", {"filePath": "sub/a.py"}),
        ("edit", {"filePath": "sub/a.py", "newString": "x"}),
        ("apply_patch", {"patchText": "*** Begin Patch\n*** Update File: sub/a.py\n@@\n-x\n+y\n"}),
        ("apply_patch", {"patchText": "*** Add File: b.md\n+x\n*** Update File: sub/a.py\n"}),
    ],
)
def test_rules_follow_every_tool(code: OpenCode, tool: str, args: dict[str, str]) -> None:
    code.world.rule("py.md", "RULE", applies_to="sub/*.py")
    code.world.write("sub/a.py")
    code.start()

    assert "RULE" in code.tool(tool, **args).json["text"]


def test_a_plan_worked_through(code: OpenCode) -> None:
    code.world.write("PLAN.md", PLAN)
    code.start()

    code.world.write("PLAN.md", PLAN.replace("- [ ] stack", "- [x] stack"))
    code.tool("edit", filePath=str(code.world.project / "PLAN.md"))
    assert code.world.plan()["progress"]["completed"] == 1
    code.world.write("PLAN.md", PLAN.replace("- [ ]", "- [x]"))
    done = code.tool("edit", filePath="PLAN.md")

    assert "complete" in done.json["message"].lower()


def test_a_plan_that_another_client_began(code: OpenCode) -> None:
    code.world.write("PLAN.md", PLAN)
    code.world.start("claude")
    code.world.edit("PLAN.md", "- [ ] stack", "- [x] stack", session="claude")

    assert "Next task: fire" in code.start().json["text"]
    assert set(code.world.boulder_file()["session_ids"]) >= {"claude", SESSION}


def test_todos(code: OpenCode) -> None:
    code.world.write("PLAN.md", PLAN)
    code.start()
    items = [
        {"content": "a", "status": "in_progress", "priority": "high"},
        {"content": "b", "status": "cancelled", "priority": "low"},
    ]

    code.tool("todowrite", todos=items)

    assert [each["content"] for each in code.world.plan()["todos"]] == ["a"]


# ---------------------------------------------------------------- loops


def test_a_loop_until_its_promise(code: OpenCode) -> None:
    code.world.write("PLAN.md", PLAN)
    code.start()
    started = code.prompt('/sisyphus:ralph-loop "Build it" --completion-promise DONE')
    assert "It ends when you say <promise>DONE</promise>" in started.json["text"]

    for number in range(2, 11):
        code.world.write(f"{number}.py")
        answer = code.stop().json
        assert f"iteration {number} of 100" in answer["reason"]
    end = code.stop("All is well.\n\n<promise>DONE</promise>").json

    assert "[RALPH LOOP COMPLETE]" in end["message"]
    assert "reason" not in end
    assert [loop["session_id"] for loop in code.world.ended()] == [SESSION]


def test_a_loop_that_needs_its_user(code: OpenCode) -> None:
    code.start()
    code.prompt("/sisyphus:ralph-loop build --completion-promise DONE --verify 'test -f ok'")

    blocked = code.stop("<blocked>a key</blocked>").json
    assert "needs you: a key" in blocked["message"]
    code.prompt("The key is k.")
    assert "check" in code.stop("<promise>DONE</promise>").json["reason"]
    code.world.write("ok")
    assert "COMPLETE" in code.stop("<promise>DONE</promise>").json["message"]


def test_the_tokens_of_subagents_count(code: OpenCode) -> None:
    code.start()
    code.prompt("/sisyphus:ralph-loop build --completion-promise DONE --max-tokens 1000")
    code.fill(1)
    child = code.file.with_name(f"{SESSION}.{CHILD}.jsonl")
    code.line("usage", child, tokens={"input": 900, "output": 50}, window=1)

    assert "1,000 tokens are used up" in code.stop().json["message"]


def test_commands_are_answered_without_the_model(code: OpenCode) -> None:
    code.world.write("PLAN.md", PLAN)
    code.start()

    assert "0/2 tasks" in code.prompt("/sisyphus:boulder-status").json["reason"]


def test_an_agents_command_starts_no_hold(code: OpenCode) -> None:
    code.world.write("PLAN.md", PLAN)
    code.start()
    code.world.setenv("SISYPHUS_SESSION_ID", SESSION)

    answer = code.world.cli("boulder", "hold", "on")

    assert "A session of an agent cannot change this" in answer.err


def test_a_subagent_is_never_held(code: OpenCode) -> None:
    code.start()
    code.prompt("/sisyphus:ralph-loop build --completion-promise DONE")

    assert code.hook("stop", agent=CHILD, last="Done.").is_silent


# ---------------------------------------------------------------- enforcement


def test_a_claim_is_held_against_the_agent(code: OpenCode) -> None:
    code.world.cli("enforce", "on")
    code.start()

    answer = code.stop("All done, the task is complete.").json

    assert "[CONTINUOUS ENFORCEMENT]" in answer["reason"]
    assert answer["alert"]["variant"] == "warning"
    assert (answer["alert"]["seconds"], answer["alert"]["abort_seconds"]) == (15, 3)


def test_an_idle_session_is_woken(code: OpenCode) -> None:
    code.world.ours.joinpath("config.toml").write_text("[enforce]\nidle_seconds = 0\n")
    code.world.cli("enforce", "on")
    code.start()
    code.stop("So far.", can_wake=True)

    answer = code.hook("idle", can_wake=True).json

    assert "[CONTINUOUS ENFORCEMENT]" in answer["reason"]
    alert = answer["alert"]
    assert (alert["variant"], alert["countdown"], alert["stability_seconds"]) == ("error", 2, 5)


def test_the_plan_agent_is_left_alone(code: OpenCode) -> None:
    code.world.cli("enforce", "on")
    code.start()

    assert "reason" not in code.stop("All done.", mode="plan").json


# ---------------------------------------------------------------- context


def test_levels_and_a_handoff(code: OpenCode) -> None:
    code.world.write("PLAN.md", PLAN)
    code.start()
    code.line("prompt", id="m0", text="Fire the kiln")
    code.line("tool", call="c0", tool="edit", args={"filePath": "kiln.py", "newString": "hot = 1"})
    code.line("result", call="c0", text="ok", failed=False)

    code.fill(72)
    assert "CCS_WARNING|L1|72" in code.tool("bash", command="ls").json["text"]
    code.fill(87)
    told = code.tool("bash", command="ls").json
    assert "CCS_CHECKPOINT_TRIGGERED|L2|87" in told["text"]
    (document,) = (code.world.project / ".claude" / "handoffs").glob("*.md")
    assert "kiln.py" in document.read_text()

    code.line("compacted")
    assert "CONTEXT CHECKPOINT RESUME" in code.start("compact").json["text"]


@pytest.mark.parametrize("word", ["compacted", "usage"])
def test_a_call_that_names_a_kind_of_line_hides_no_usage(code: OpenCode, word: str) -> None:
    code.world.write("PLAN.md", PLAN)
    code.start()
    code.fill(72)
    code.line("tool", call="c1", tool="grep", args={"pattern": word})

    assert "CCS_WARNING|L1|72" in code.tool("grep", pattern=word).json["text"]


# ---------------------------------------------------------------- ends


def test_a_loop_ends_with_a_session_that_is_deleted(code: OpenCode, world: World) -> None:
    code.start()
    code.prompt('/sisyphus:ralph-loop "Fix it." --max-iterations 9')
    assert len(world.loops()) == 1

    code.hook("session-end", reason="deleted")

    assert not world.loops()
    assert world.ended()[0]["error_reason"] == "its session was deleted"


def test_ids_are_cut_behind_their_prefix() -> None:
    assert messages.short("ses_de8b12ab3ffe0001Xyz") == "ses_de8b12ab"
    assert messages.short("3a7c120c-0000-4000-8000-000000000001") == "3a7c120c"


# ---------------------------------------------------------------- retention


def test_transcripts_go_with_their_session(code: OpenCode, world: World) -> None:
    code.start()
    code.line("text", id="m1", text="I work.")
    child = code.file.with_name(f"{SESSION}.{CHILD}.jsonl")
    code.line("text", child, id="m2", text="I look.")
    other = code.file.with_name("ses_3.jsonl")
    code.line("text", other, id="m3", text="I work, too.")
    code.hook("session-start", session="ses_3", transcript=str(other), source="startup")

    with closing(open_store(str(world.ours))) as store:
        store.run("UPDATE session SET seen_at = 0 WHERE id = ?", SESSION)
        retention.remove_old(store, 30, time.time())

    assert sorted(code.file.parent.iterdir()) == [other]


def test_transcripts_that_no_row_knows_go_too(code: OpenCode, world: World) -> None:
    code.line("text", id="m1", text="I work.")
    old = code.file.with_name("ses_old.jsonl")
    code.line("text", old, id="m2", text="I worked.")
    os.utime(old, (time.time() - 40 * 24 * 3600,) * 2)

    with closing(open_store(str(world.ours))) as store:
        retention.remove_old(store, 30, time.time())

    assert sorted(code.file.parent.iterdir()) == [code.file]


# ---------------------------------------------------------------- whatever comes

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)
KEYS = ("session", "agent", "cwd", "transcript", "mode", "source", "prompt", "id", "tool", "call",
        "args", "last", "can_wake", "error", "is_ours", "reason")  # fmt: skip
EVENTS = ("session-start", "session-end", "user-prompt-submit", "post-tool-use", "stop",
          "stop-failure", "pre-compact")  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(EVENTS), st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_no_payload_breaks_a_hook(code: OpenCode, event: str, payload: Json) -> None:
    answer = (
        code.hook(event, **payload)
        if "session" not in payload
        else code.world.hook(event, payload, "--client", "opencode")
    )

    assert answer.code == 0
    if answer.out:
        assert isinstance(json.loads(answer.out), dict)


LINE_KEYS = ("at", "kind", "id", "text", "command", "is_ours", "call", "tool", "args", "failed",
             "tokens", "window")  # fmt: skip
KINDS = st.sampled_from(["prompt", "text", "tool", "result", "usage", "compacted"])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from(LINE_KEYS), VALUES), KINDS)
def test_no_line_breaks_the_reader(code: OpenCode, line: Json, kind: str) -> None:
    code.file.write_text(json.dumps({**line, "kind": kind}) + "\n")

    for record in transcript.read(str(code.file)).records:
        assert isinstance(record.tokens, int)
    assert isinstance(transcript.first_prompt(str(code.file)), str)


def test_the_clients_process_is_known(code: OpenCode) -> None:
    code.start()

    (session,) = code.world.cli("sessions", "--json").json["sessions"]

    assert (session["client"], session["state"]) == ("opencode", "open")
    with closing(open_store(str(code.world.ours))) as store:
        assert store.one("SELECT process FROM session") == (processes.key(os.getpid()),)
