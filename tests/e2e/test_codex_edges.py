"""Codex where things may go wrong: an error of the service, two wirings, no transcript, the agent's
own shell, hooks that nobody has trusted."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.claude_code import COMMANDS
from e2e.codex import Codex, serving
from e2e.desk import CODEX, CODEX_PROGRAMS, WITH_SHELL, Desk
from e2e.install import CODEX as PACKAGE
from e2e.scenario import Scenario, Step, play
from e2e.script import read, say, shell, use
from e2e.test_boulder import PLAN, STATE
from e2e.test_codex import BLOCK, COMPLETE, LOOP, NOT_YET, PROMISE, asked
from e2e.test_rules import PYTHON, TEXT

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
    typed = '/ralph-loop "do it" --completion-promise "DONE"'

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
