"""Around a session: who is asked what happened, what is switched off, what is broken or strange."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from making import COMMAND
from world import EITHER

from sisyphus.clients.base import EVENTS

if TYPE_CHECKING:
    from world import World

UNITS = 10_000
LOOP = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
RULE = '---\nglobs: "**/*.py"\n---\n\nAnnotate.\n'


# Two wirings at once


def wire(world: World, event: str, command: str) -> None:
    wired = {"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}}
    world.write("~/.claude/settings.json", json.dumps(wired))


@EITHER
@pytest.mark.parametrize("event", ["PostToolUse", "PostToolBatch"])
def test_settings_and_plugin_together_bring_a_rule_once(world: World, event: str) -> None:
    world.write(".claude/rules/py.md", RULE)
    wire(world, event, f"{COMMAND} hook post-tool-use")
    both = [world.wired("plugin"), world]
    for one in both:
        one.start()

    said = "".join(one.use("Read", file_path="a.py").text for one in both)

    assert said.count("Annotate.") == 1


def test_settings_and_plugin_together_hold_a_loop_once(world: World) -> None:
    wire(world, "Stop", f"{COMMAND} hook stop")
    both = [world.wired("plugin"), world]
    for one in both:
        one.start()
    world.hook("user-prompt-submit", prompt=LOOP)

    held = [one.hook("stop", said="not yet") for one in both]

    assert [answer.blocked for answer in held] == [False, True]


def test_a_plugin_alone_answers(world: World) -> None:
    world.write(".claude/rules/py.md", RULE)
    plugin = world.wired("plugin")
    plugin.start()

    assert "Annotate." in plugin.tool("Read", file_path="a.py").text


# why, sessions, purge and the line below the prompt


@EITHER
def test_why_says_what_was_sent(world: World) -> None:
    world.write(".claude/rules/py.md", RULE)
    world.start()
    world.use("Read", file_path="a.py")

    shown = world.sisyphus("why")

    assert "sent .claude/rules/py.md" in shown.stdout
    entries = world.sisyphus("why --json").json["entries"]
    assert [entry["event"] for entry in entries][-1] in {"post-tool-use", "post-tool-batch"}
    assert entries[-1]["sent"] > 0


def test_why_says_what_blocked(world: World) -> None:
    world.start()
    world.hook("user-prompt-submit", prompt=LOOP)
    world.hook("stop", said="not yet")

    assert "blocked" in world.sisyphus("why").stdout
    assert world.sisyphus("why --event stop --json").json["entries"][0]["blocked"] is True


def test_why_of_a_session_that_nobody_saw_is_a_known_failure(world: World) -> None:
    assert world.sisyphus("why --session-id nobody").exit == 1


def test_sessions_tells_of_all_and_of_one_project(world: World) -> None:
    other = world.project("other").session("s2")
    world.start()
    other.start()

    assert found(world, "sessions --json") == {"s1", "s2"}
    assert found(other, "sessions --json --project .") == {"s2"}
    assert "2 sessions, 2 hooks" in world.sisyphus("sessions").stdout


def found(world: World, words: str) -> set[str]:
    return {session["session_id"] for session in world.sisyphus(words).json["sessions"]}


def test_purge_removes_an_ended_session_alone_and_says_so(world: World) -> None:
    world.start()
    world.hook("session-end")
    world.age()
    world.session("s2").start()

    assert world.sisyphus("purge --dry-run --json").json["dry_run"] is True
    assert found(world, "sessions --json") == {"s1", "s2"}
    assert world.sisyphus("purge --json").exit == 1
    purged = world.sisyphus("purge --yes --json").json

    assert (purged["days"], purged["dry_run"], purged["sessions"]) == (30, False, 1)
    assert found(world, "sessions --json") == {"s2"}


def test_the_line_shows_plan_and_context(world: World) -> None:
    world.write(".claude/PLAN.md", "# Ship it\n\n- [x] one\n- [ ] two\n")
    world.start()

    line = world.statusline().stdout

    assert "1/2" in line
    assert "ctx 40%" in line
    assert line.count("\n") == 1


# Enforcement


@EITHER
def test_a_session_that_used_a_tool_since_is_not_at_rest(world: World) -> None:
    world.start()
    assert world.sisyphus("enforce on").exit == 0
    world.hook("user-prompt-submit", prompt="do it")

    answer = world.use("Bash", command="make")

    assert (answer.exit, answer.text) == (0, "")
    assert world.hook("stop", said="All tests pass, I am done.").blocked


# Off, broken and beside it


@pytest.mark.parametrize("event", EVENTS)
def test_switched_off_nothing_is_said_and_nothing_written(
    world: World, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    world.write("README.md", "# Ours\n")
    world.write(".claude/rules/py.md", RULE)
    monkeypatch.setenv("SISYPHUS_DISABLE", "1")

    answer = world.hook(event)

    assert (answer.exit, answer.stdout, answer.stderr) == (0, "", "")
    assert not world.ours.exists()
    assert world.statusline().stdout == ""


def test_a_home_that_cannot_be_written_still_gets_its_documents_at_the_start(world: World) -> None:
    world.write("README.md", "# Ours\n")
    world.ours.parent.mkdir(exist_ok=True)
    world.write("~/.claude/.sisyphus", "a file in the way of our folder")

    answer = world.start()

    assert (answer.exit, answer.stderr) == (0, "")
    assert "# Ours" in answer.text
    assert world.hook("user-prompt-submit").text == ""
    assert world.hook("stop", said="done").blocked is False


def test_an_empty_home_disturbs_nobody(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    world.write("README.md", "# Ours\n")

    answer = world.start()

    assert (answer.exit, answer.stderr) == (0, "")
    assert "# Ours" in answer.text
    assert "HOME is empty" in answer.message
    begun = world.hook("user-prompt-submit", prompt='/sisyphus:ralph-loop "x"')
    assert "[RALPH LOOP NOT STARTED]" in begun.reason
    assert "HOME is empty" in begun.reason


@pytest.mark.parametrize("typed", ["sessions", "why", "config set rules.enabled false"])
def test_commands_say_that_the_home_is_empty(
    world: World, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setenv("HOME", "")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")

    answer = world.sisyphus(typed)

    assert (answer.exit, answer.stdout) == (1, "")
    assert "HOME is empty" in answer.stderr


def test_what_an_older_installation_left_in_the_home_does_no_harm(world: World) -> None:
    world.write("~/.sisyphus/state.json", "{not ours")
    world.write("~/.sisyphus/plans.json", "[]")
    world.write("README.md", "# Ours\n")

    assert "# Ours" in world.start().text
    assert (world.home / ".sisyphus/state.json").read_text() == "{not ours"


def test_state_that_cannot_be_read_is_replaced_and_work_goes_on(world: World) -> None:
    world.write("README.md", "# Ours\n")
    world.start()
    for path in world.ours.rglob("*"):
        if path.is_file():
            path.write_bytes(b"\xff\0 torn")

    answer = world.start("compact")

    assert (answer.exit, answer.stderr) == (0, "")
    assert "# Ours" in answer.text
    assert world.hook("stop", said="done").blocked is False


def test_files_of_ours_are_for_their_user_alone(world: World) -> None:
    world.write("README.md", "# Ours\n")
    world.start()

    modes = {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in world.ours.rglob("*")}

    assert modes == {0}


# Whatever comes in


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=12), below),
    max_leaves=12,
)
FIELDS = (
    "session_id", "agent_id", "transcript_path", "cwd", "hook_event_name", "source", "reason",
    "prompt", "prompt_id", "permission_mode", "last_assistant_message", "background_tasks",
    "session_crons", "tool_name", "tool_input", "tool_response", "tool_calls", "tool_use_id",
    "error", "opencode",
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    event=st.sampled_from([event for event in EVENTS if event != "idle"]),
    client=st.sampled_from(["claude", "opencode"]),
    strange=st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=5),
)
def test_a_payload_of_any_shape_is_answered_politely(
    world: World, event: str, client: str, strange: dict[str, object]
) -> None:
    world.write("README.md", "# Ours\n" * 2_000)
    world.write(".claude/PLAN.md", "# Ship it\n\n- [ ] one\n")
    one = world.client(client)
    before = outside(world)

    answer = one.raw(event, json.dumps({**one.payload(event), **strange}).encode())

    assert answer.exit == 0
    assert answer.stderr == ""
    assert len(answer.text.encode("utf-16-le", "surrogatepass")) // 2 <= UNITS
    assert outside(world) == before


def outside(world: World) -> set[str]:
    """Everything below the home and beside the project that is not the client's."""
    roots = (world.home, world.folder.parent)
    paths = {str(path) for root in roots for path in root.rglob("*")}
    return {path for path in paths if not path.startswith(str(world.home / ".claude"))}


@pytest.mark.parametrize(
    "stdin", [b"", b"hello", b"[1]", b"null", b'{"a": 1} {}', b"\xff\xfe", b"[" * 100_000]
)
@pytest.mark.parametrize("event", ["session-start", "stop", "notification"])
def test_what_is_no_payload_is_answered_with_silence(
    world: World, event: str, stdin: bytes
) -> None:
    answer = world.raw(event, stdin)

    assert (answer.exit, answer.stdout, answer.stderr) == (0, "", "")


def test_as_a_plugin_a_hook_with_nothing_to_say_says_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_ROOT", "/plugin")
    world.start()

    assert world.tool("Bash", command="ls").stdout == ""


def test_the_line_leaves_nothing_beside_the_memory(world: World) -> None:
    world.write("~/.claude/.sisyphus/config.toml", "[rules]\nenabled = true\n")
    world.start()

    world.statusline()

    assert not list(world.ours.glob("sisyphus.db-*"))


@pytest.mark.parametrize("command", ["install --yes", "uninstall --yes", "enforce on"])
def test_without_a_home_a_command_says_what_is_missing(
    world: World, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.setenv("HOME", "")

    answer = world.sisyphus(command)

    assert answer.exit == 1
    assert answer.stderr.startswith("error: HOME is empty")
