"""Loops as they go overnight: many iterations, a check that fails first, a user who answers, a
client that dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from typing import Any

import pytest

from e2e import claude_code
from e2e.desk import COPILOT, WITH_SHELL, Desk, Run
from e2e.model import serving
from e2e.scenario import Scenario, Step, play, rows
from e2e.script import Script, Turn, edit, read, say, use, write

LOOP = "/sisyphus:ralph-loop"
PROMISE = say("All is well.\n\n<promise>DONE</promise>")
NOT_YET = say("Not yet.")
BLOCK = "[RALPH LOOP ENFORCEMENT]"
COMPLETE = "[RALPH LOOP COMPLETE]"
CHANGED = "Files that the check depends on changed during the loop: "


def test_fifteen_iterations_until_the_check_passes(desk: Desk) -> None:
    desk.write("check.sh", "test $(cat steps/* | wc -l) = 15 || { echo too few steps; exit 3; }\n")
    turns = [
        turn
        for number in range(1, 16)
        for turn in (use(write(f"steps/{number}.txt", "x\n")), PROMISE)
    ]

    run = desk.run(
        f'{LOOP} "make fifteen steps" --completion-promise DONE --verify "sh check.sh"',
        turns=turns,
    )

    assert COMPLETE in run.messages
    blocked = [request for request in run.main if BLOCK in request.last]
    assert len(blocked) == 14
    assert ["too few steps" in request.last for request in blocked] == [True] + [False] * 13
    log = json.loads(desk.sisyphus("ralph", "log", "--json"))
    assert (log[0]["outcome"], log[0]["iterations"]) == ("success", 15)
    assert CHANGED not in run.messages


@rows(
    Scenario("blocked, answered, done", {}, [
        Step([f'{LOOP} "deploy" --completion-promise DONE', "The key is k."], [
            say("<blocked>the deploy key</blocked>"), NOT_YET, PROMISE])],
        last={BLOCK: [0, 0, 2]},
        user=["needs you: the deploy key", "is running again", COMPLETE]),
    Scenario("a process that is resumed takes up what was blocked", {}, [
        Step([f'{LOOP} "deploy" --completion-promise DONE'], [
            say("<blocked>the deploy key</blocked>")]),
        Step(["The key is k."], [NOT_YET, PROMISE], how="resume")],
        last={BLOCK: [0, 0, 2]}, user=["is running again", COMPLETE]),
    Scenario("a script that was emptied", {"check.sh": "exit 1\n"}, [
        Step([f'{LOOP} "fix it" --completion-promise DONE --verify "sh check.sh"'], [
            PROMISE, use(read("check.sh")), use(write("check.sh", "exit 0\n")), PROMISE])],
        user=[COMPLETE, f"{CHANGED}check.sh"], out={COPILOT: "it writes no file that is there"}),
    Scenario("a target that was emptied", {"Makefile": "test:\n\t@exit 1\n"}, [
        Step([f'{LOOP} "fix it" --completion-promise DONE --verify "make test"'], [
            use(read("Makefile")), use(edit("Makefile", "exit 1", "exit 0")), PROMISE])],
        user=[COMPLETE, f"{CHANGED}Makefile"]),
    Scenario("a test runner of the agent's own", {"test_a.py": "def test_a():\n    assert 0\n"}, [
        Step([f'{LOOP} "fix it" --completion-promise DONE --verify "python3 -m pytest -q"'], [
            use(write("pytest.py", "raise SystemExit(0)\n")), PROMISE])],
        user=[COMPLETE, f"{CHANGED}pytest.py"]),
)  # fmt: skip
def test_long_loops(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


def test_a_cancel_while_the_check_runs_counts(desk: Desk) -> None:
    desk.write("check.sh", "touch started; sleep 3; exit 1\n")
    answers: list[str] = []

    def cancel() -> None:
        while not (desk.project / "started").exists():
            time.sleep(0.02)
        answers.append(desk.sisyphus("ralph", "cancel"))

    user = threading.Thread(target=cancel)
    user.start()
    run = desk.run(f'{LOOP} "x" --completion-promise DONE --verify "sh check.sh"', turns=[PROMISE])
    user.join()

    assert "was cancelled at iteration 1" in answers[0]
    assert COMPLETE not in run.messages


def test_two_sessions_have_a_loop_each(desk: Desk) -> None:
    blocked = say("<blocked>a key</blocked>")
    first = desk.run(f'{LOOP} "one" --completion-promise ONE', turns=[blocked])
    second = desk.run(f'{LOOP} "two" --completion-promise TWO', turns=[blocked])
    assert len(json.loads(desk.sisyphus("ralph", "list", "--json"))) == 2

    again = desk.resume(
        first, "go on", turns=[say("<promise>TWO</promise>"), say("<promise>ONE</promise>")]
    )

    assert "Expected promise: <promise>ONE</promise>" in again.main[1].last
    (left,) = json.loads(desk.sisyphus("ralph", "list", "--json"))
    assert left["session_id"] == second.session


def test_a_loop_goes_on_when_its_client_was_killed(desk: Desk) -> None:
    """The machine lost power, or the user closed the window."""
    run = _run_until_killed(desk, f'{LOOP} "x" --completion-promise DONE', [NOT_YET, NOT_YET])
    (loop,) = json.loads(desk.sisyphus("ralph", "list", "--json"))
    assert loop["status"] == "active"

    again = desk.resume(run, "go on", turns=[NOT_YET, PROMISE])

    assert BLOCK in again.main[1].last
    assert COMPLETE in again.messages


def _run_until_killed(desk: Desk, prompt: str, turns: list[Turn]) -> Run:
    """Runs a session whose client is killed while the model answers after `turns`."""
    too_late = say("too late", meanwhile=lambda: os.kill(_client(desk), signal.SIGKILL))

    with pytest.raises(AssertionError, match="the client exited -9"):
        desk.run(prompt, turns=[*turns, too_late])
    session = next((desk.home / ".claude" / "projects").glob("*/*.jsonl")).stem
    return Run([], [{"session_id": session}])


def _client(desk: Desk) -> int:
    """Returns the process id of the client that runs at this desk; 0 = none does."""
    files = (desk.home / ".claude" / "sessions").glob("*.json")
    return max((int(file.stem) for file in files), default=0)


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.03])
def test_a_hook_that_is_killed_loses_no_loop(desk: Desk, seconds: float) -> None:
    """Another program kills the hooks that it sees."""
    over = threading.Event()
    killed: list[int] = []
    killer = threading.Thread(target=_kill_hooks, args=(desk, seconds, over, killed))
    desk.write("one.py", "1")
    killer.start()
    try:
        _talk(desk, f'{LOOP} "x" --completion-promise DONE', [use(read("one.py")), NOT_YET] * 3)
    finally:
        over.set()
        killer.join()

    assert killed
    loops: list[dict[str, Any]] = json.loads(desk.sisyphus("ralph", "list", "--json"))
    for loop in loops:  # the hook that starts it may have been killed
        # Which one depends on the moment of the kill; either goes on with the next prompt.
        assert loop["status"] in ("active", "paused")
    assert "project" in json.loads(desk.sisyphus("status", "--json"))
    desk.check_log()
    again = desk.run(f'{LOOP} "y" --completion-promise DONE', turns=[NOT_YET, PROMISE])
    assert COMPLETE in again.messages


def _talk(desk: Desk, prompt: str, turns: list[Turn]) -> None:
    """Runs a session in which hooks may fail and turns be left."""
    plugins = [word for path in desk.plugins for word in ("--plugin-dir", str(path))]
    with serving(Script(turns), lambda tool: claude_code.spell(tool, desk.project)) as model:
        variables = {**claude_code.environment(desk.home), "ANTHROPIC_BASE_URL": model.url}
        claude_code.talk([prompt], [*plugins, *WITH_SHELL], desk.project, variables)


def _kill_hooks(desk: Desk, seconds: float, over: threading.Event, killed: list[int]) -> None:
    """Kills each hook of this desk's client, `seconds` after it was seen."""
    while not over.is_set():
        client = _client(desk)
        for pid in _hooks_below(client) if client else ():
            time.sleep(seconds)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)


def _hooks_below(client: int) -> list[int]:
    """Returns the processes of our hooks that a client has started."""
    command = ["ps", "-axww", "-o", "pid=,ppid=,command="]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in done.stdout.splitlines()]
    parents = {int(pid): int(parent) for pid, parent, *_ in rows}
    hooks = [int(row[0]) for row in rows if "sisyphus hook " in row[-1]]
    return [pid for pid in hooks if client in (parents[pid], parents.get(parents[pid]))]
