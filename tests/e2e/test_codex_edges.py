"""Codex where things may go wrong: an error of the service, two wirings, no transcript, the agent's
own shell, hooks that nobody has trusted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.claude_code import COMMANDS
from e2e.codex import Codex, call, escalated, serving
from e2e.codex_terminal import codex_terminal
from e2e.desk import CODEX, CODEX_PROGRAMS, WITH_SHELL, Desk
from e2e.install import CODEX as PACKAGE
from e2e.scenario import Scenario, Step, play
from e2e.script import read, say, shell, use, write
from e2e.test_boulder import PLAN, STATE
from e2e.test_codex import BLOCK, COMPLETE, LOOP, NOT_YET, PROMISE, asked
from e2e.test_rules import PYTHON, TEXT
from e2e.test_work import dialogs

with_tools = pytest.mark.parametrize("desk", [CODEX], indirect=True)
with_both = pytest.mark.parametrize("desk", [CODEX, CODEX_PROGRAMS], indirect=True)

OURS = COMMANDS / "sisyphus"
"""The client's shell is a login shell: it has a PATH of its own."""
REFUSED = "A session of an agent cannot change this."


@with_tools
def test_after_an_error_of_the_service_the_next_prompt_goes_on(desk: Desk) -> None:
    """The client calls no hook for it."""
    error = say("", status=529)

    run = desk.run(LOOP, "go on", turns=[NOT_YET, error, NOT_YET, PROMISE])

    assert [event for event in run.events if event["type"] == "error"]
    assert COMPLETE in run.messages
    assert "complete, 3 iterations" in desk.sisyphus("ralph", "log")


@with_tools
def test_wired_twice_each_text_arrives_once(desk: Desk) -> None:
    for path, text in {**PYTHON, "PLAN.md": PLAN}.items():
        desk.write(path, text)
    desk.sisyphus("install", "--client", CODEX, "--scope", "project", "--yes")
    file = desk.home / ".codex" / "config.toml"
    trust = f'\n[projects.{json.dumps(str(desk.project))}]\ntrust_level = "trusted"\n'
    file.write_text(file.read_text("utf-8") + trust, encoding="utf-8")

    run = desk.run("look", turns=[use(read("one.py")), use(read("two.py")), say("seen")])

    assert "project/.codex/hooks.json" in file.read_text("utf-8"), "it did not run"
    assert [request.text.count(STATE) for request in run.main] == [1] * 3
    assert [request.text.count(TEXT) for request in run.main] == [0, 1, 1]


@with_tools
def test_a_session_without_a_transcript(desk: Desk) -> None:
    """What a command reads is told by the transcript alone."""
    desk.write("PLAN.md", PLAN)
    typed = '$ralph-loop "do it" --completion-promise "DONE"'

    with asked(desk, [use(read("PLAN.md")), NOT_YET, PROMISE]) as (variables, requests):
        Codex().execute(typed, desk.project, variables, "--ephemeral")

    assert [request.text.count(STATE) for request in requests] == [1] * 3
    assert [BLOCK in request.last for request in requests] == [False, False, True]
    assert "complete, 2 iterations" in desk.sisyphus("ralph", "log")


# ---------------------------------------------------------------- the agent's shell


@with_both
def test_the_agent_starts_a_loop_of_its_own_and_may_cancel_it(desk: Desk) -> None:
    start = shell(f"{OURS} ralph start 'do it' --completion-promise DONE")
    turns = [use(start), NOT_YET, use(shell(f"{OURS} ralph cancel")), NOT_YET]

    run = desk.run("please loop", turns=turns, flags=WITH_SHELL)

    assert [BLOCK in request.last for request in run.main] == [False, False, True, False]
    assert "was cancelled at iteration 2" in run.main[3].last


@with_both
def test_the_agent_cannot_end_what_the_user_began(desk: Desk) -> None:
    desk.write("PLAN.md", PLAN)
    desk.sisyphus("enforce", "on")
    words = ("ralph cancel", "enforce off", "boulder clear")
    command = "; ".join(f"{OURS} {each}" for each in words)

    run = desk.run(LOOP, turns=[use(shell(command)), NOT_YET, PROMISE], flags=WITH_SHELL)

    assert run.main[1].last.count(REFUSED) == len(words)
    assert BLOCK in run.main[2].last


@with_tools
def test_rules_of_claude_code_for_files_that_a_command_reads(desk: Desk) -> None:
    """The client loads none of them."""
    files = {
        ".claude/rules/py.md": f'---\npaths: "**/*.py"\n---\n\n{TEXT}\n',
        **dict.fromkeys(("api/one.py", "api/two.py"), "1\n"),
    }
    commands = [shell(command) for command in ("cd api && sed -n 1,5p one.py", "head api/two.py")]
    look = Step(["look"], [*(use(command) for command in commands), say("seen")])

    play(desk, Scenario("", files, [look], model={TEXT: [0, 1, 1]}))


# ---------------------------------------------------------------- `sisyphus doctor`


@pytest.fixture
def doctor(desk: Desk, tmp_path: Path) -> Callable[[], tuple[int, str]]:
    """Runs it where `codex` is on the PATH; returns its exit code, and what it prints."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "codex").symlink_to(PACKAGE.binary)
    variables = desk.environment()
    variables["PATH"] = f"{folder}{os.pathsep}{variables['PATH']}"

    def run() -> tuple[int, str]:
        done = subprocess.run(
            [OURS, "doctor"],
            cwd=desk.project,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


@with_tools
def test_doctor_asks_the_client_what_is_trusted(
    desk: Desk, doctor: Callable[[], tuple[int, str]]
) -> None:
    before = doctor()
    url = "http://127.0.0.1:9"  # nobody asks it
    with serving(desk.project, {**desk.environment(), "SCRIPTED_URL": url}, Codex.model):
        pass  # it trusts the hooks
    after = doctor()

    assert before[0] == 1
    assert "not trusted: 9 of 9 in ~/.codex/hooks.json" in before[1]
    assert after[0] == 0
    assert "All is well" in after[1]


# ---------------------------------------------------------------- MCP

SERVER = """
import json, sys

SHOP = {"name": "shop", "version": "1"}
READS = {"name": "look", "description": "reads a file", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    request = json.loads(line)
    match request["method"]:
        case "initialize":
            result = {"protocolVersion": request["params"]["protocolVersion"]}
            result |= {"capabilities": {"tools": {}}, "serverInfo": SHOP}
        case "tools/list":
            result = {"tools": [READS]}
        case "tools/call":
            text = open(request["params"]["arguments"]["path"]).read()
            result = {"content": [{"type": "text", "text": text}]}
        case _:
            result = {}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


@with_both
def test_a_tool_of_an_mcp_server_beside_our_hooks(desk: Desk) -> None:
    """Nobody tells which of its arguments is a file, so it brings no rule."""
    for path, text in {**PYTHON, "PLAN.md": PLAN}.items():
        desk.write(path, text)
    server = desk.write("../home/server.py", SERVER)
    table = {"command": sys.executable, "args": [str(server)]}
    configure(desk, "mcp_servers.shop", **table)
    look = call("look", "mcp__shop", path=str(desk.project / "one.py"))

    run = desk.run(LOOP, turns=[use(look), use(look, read("two.py")), NOT_YET, PROMISE])

    assert "Wall time" in run.main[1].last
    assert [request.text.count(TEXT) for request in run.main] == [0, 0, 1, 1]
    assert [BLOCK in request.last for request in run.main] == [False, False, False, True]
    assert COMPLETE in run.messages


def configure(desk: Desk, table: str, **values: object) -> None:
    """Adds a table to the user's settings of the client."""
    file = desk.home / ".codex" / "config.toml"
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in values.items()]
    file.write_text("".join([file.read_text("utf-8"), f"\n[{table}]\n", *lines]), encoding="utf-8")


# ---------------------------------------------------------------- permissions

TYPED = LOOP
WAITS = "python3 -c 'import time; time.sleep(13)'"
"""Longer than a dialog may be open before it is in the list."""


@with_tools
def test_a_dialog_is_named_and_answered_by_the_user_alone(desk: Desk) -> None:
    """Nothing tells that it was answered before the command has ended, or gives its turn back."""
    may_ask(desk, "workspace-write")

    with codex_terminal(desk, turns=[use(escalated(WAITS)), PROMISE]) as client:
        client.type(TYPED)
        client.until_drawn("Would you like to run the following command?")
        assert dialogs(desk) == []
        client.until(lambda: dialogs(desk), "entry in the list")
        assert (
            f"in {desk.project.name} asks for your permission to use Bash: {WAITS}"
            in dialogs(desk)[0]
        )
        assert len(client.requests) == 1
        client.press("y")
        client.until(lambda: not dialogs(desk), "end of the entry")
        client.until_drawn(COMPLETE)


@with_tools
def test_a_dialog_about_a_patch_names_its_file(desk: Desk) -> None:
    may_ask(desk, "read-only")

    with codex_terminal(desk, turns=[use(write("one.py", "1"))]) as client:
        client.type(TYPED)
        client.until(lambda: dialogs(desk), "entry in the list")
        assert " to use apply_patch: /" in dialogs(desk)[0]
        client.press("\x1b")
        client.until_idle()
        client.until(lambda: not dialogs(desk), "end of the entry")

    assert not (desk.project / "one.py").exists()


def may_ask(desk: Desk, sandbox: str) -> None:
    """Lets the client ask its user what this sandbox forbids."""
    file = desk.home / ".codex" / "config.toml"
    text = file.read_text("utf-8").replace('"never"', '"on-request"')
    file.write_text(text.replace("danger-full-access", sandbox), encoding="utf-8")


# ---------------------------------------------------------------- `/goal`

GOAL = '<codex_internal_context source="goal">'


@with_tools
def test_a_goal_goes_on_when_the_loop_has_ended(desk: Desk) -> None:
    """It is the client's own loop, of which no hook is told."""
    aims = use(call("create_goal", objective="Build a shop."))
    reached = use(call("update_goal", status="complete"))
    turns = [aims, NOT_YET, PROMISE, say("A bit of it."), reached, say("All of it.")]

    with codex_terminal(desk, turns=turns) as client:
        client.type(TYPED)
        client.until(lambda: client.ends == 3, "end of the goal")

    requests = [request.last for request in client.requests]
    assert [BLOCK in text for text in requests] == [False, False, True, False, False, False]
    assert [GOAL in text for text in requests] == [False, False, False, True, True, False]
    assert "complete, 2 iterations" in desk.sisyphus("ralph", "log")


@with_tools
def test_a_loop_that_begins_under_a_goal(desk: Desk) -> None:
    """It keeps a turn of the goal going; the goal then starts its next one."""

    def steer() -> None:
        client.type(TYPED)
        client.until_drawn("Messages to be submitted")

    reached = use(call("update_goal", status="complete"))
    turns = [say("A bit of it.", meanwhile=steer), NOT_YET, PROMISE, reached, say("All of it.")]

    with codex_terminal(desk, turns=turns) as client:
        client.type("/goal Build a shop.")
        client.until(lambda: client.ends == 2, "end of the goal")

    requests = [request.last for request in client.requests]
    assert [GOAL in requests[n] for n in (0, 2, 3, 4)] == [True, False, True, False]
    assert [BLOCK in text for text in requests] == [False, False, True, False, False]
    assert "complete, 2 iterations" in desk.sisyphus("ralph", "log")


# ---------------------------------------------------------------- documents


@pytest.mark.parametrize("folder", ["", "api"])
@with_tools
def test_documents_above_the_clients_limit(desk: Desk, folder: str) -> None:
    """The client takes 32 KiB of AGENTS.md, from the root down, and says nothing of the rest."""
    desk.write("AGENTS.md", f"Begins here.\n{'x' * 99}\n" + f"{'x' * 99}\n" * 400 + "Ends here.\n")
    desk.write("api/AGENTS.md", "Mind the API.\n")
    desk.write("api/one.py", "1\n")
    desk.write("web/AGENTS.md", "Mind the web.\n")
    desk.write("web/two.py", "2\n")
    looks = [use(read(path)) for path in ("api/one.py", *["web/two.py"] * 7)]
    alone = {"SISYPHUS_DISABLE": "1"}

    pure = desk.run("look", turns=[*looks, say("seen")], folder=folder, env=alone)
    run = desk.run("look", turns=[*looks, say("seen")], folder=folder)

    texts = ("Begins here.", "Ends here.", "Mind the API.", "Mind the web.")
    assert [pure.main[-1].text.count(text) for text in texts] == [1, 0, 0, 0]
    assert [run.main[-1].text.count(text) for text in texts] == [2, 1, 1, 1]
    parts = [re.findall(r"part (\d) of 5", request.last) for request in run.main]
    assert [part for each in parts for part in each] == [*"12345"]


# ---------------------------------------------------------------- a project that is not trusted


@pytest.mark.parametrize("is_trusted", [True, False])
@with_tools
def test_hooks_of_a_project_need_its_trust_and_those_of_the_user_do_not(
    desk: Desk, is_trusted: bool
) -> None:
    desk.write("PLAN.md", PLAN)
    hook = {"type": "command", "command": "touch ran"}
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    desk.write(".codex/hooks.json", json.dumps(hooks))
    if is_trusted:
        configure(desk, f"projects.{json.dumps(str(desk.project))}", trust_level="trusted")

    run = desk.run("go on", turns=[say("gladly")])

    assert (desk.project / "ran").exists() == is_trusted
    assert run.main[0].text.count(STATE) == 1
