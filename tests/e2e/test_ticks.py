"""What stands behind a tick: the clients run the checks of a plan, and record how they ended."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from e2e.codex import call
from e2e.desk import CLAUDE_CODE, CODEX, COPILOT, OPENCODE, QWEN, WITH_SHELL, Desk, Run
from e2e.scenario import COLUMNS, Scenario, Step, each_client, play, rows
from e2e.script import Tool, Turn, edit, read, say, shell, use

PLAN = """\
# Cart

- [ ] Show the total (verify: `./check_total.sh`)
- [ ] Round it
  verify: `./check_round.sh`
- [ ] Show the tax
  - **Verify**: `python3 -m unittest test_tax`
- [ ] Ship it
  <!-- verify: `./check_ship.sh` -->
"""
CART = "# total\n# round\n# tax\n# ship\n"
TEST = """\
import unittest
from pathlib import Path


class TestTax(unittest.TestCase):
    def test_tax(self):
        self.assertIn("tax(", Path("cart.py").read_text())
"""
TOTAL, ROUND, TAX, SHIP = "Show the total", "Round it", "Show the tax", "Ship it"
CHECKS = {
    TOTAL: "./check_total.sh",
    ROUND: "./check_round.sh",
    TAX: "python3 -m unittest test_tax",
    SHIP: "./check_ship.sh",
}
CHECKED, CHANGED, UNCHANGED, FAILED = "checked", "changed", "unchanged", "failed"


@dataclass(frozen=True)
class Ticks(Scenario):
    """evidence: what stands behind the ticks at the end. told: the tasks of which the model is told
    something, each of them once; of the others it is told nothing."""

    evidence: dict[str, str] = field(default_factory=dict)
    told: Sequence[str] = ()


def begin(desk: Desk) -> None:
    """A plan of four tasks, and their checks, which look for a word in the source."""
    desk.write("PLAN.md", PLAN)
    desk.write("cart.py", CART)
    desk.write("test_tax.py", TEST)
    for name in ("total", "round", "ship"):
        script(desk, f"check_{name}.sh", f'grep "{name}(" cart.py')


def script(desk: Desk, path: str, line: str) -> None:
    desk.write(path, f"#!/bin/sh\n{line}\n").chmod(0o755)


def code(name: str, text: str = "") -> Tool:
    """Writes the code that the check of a task looks for, or a text."""
    return edit("cart.py", f"# {name}\n", text or f"def {name}(): ...\n")


def check(task: str, **more: Any) -> Tool:
    return Tool("shell", {"command": CHECKS[task], "background": False, **more})


def tick(task: str) -> Tool:
    return edit("PLAN.md", f"- [ ] {task}", f"- [x] {task}")


def thinking(*tools: Tool) -> Turn:
    """The model calls tools, or ends, after it has thought. Claude Code writes down what happened
    in the last tenth of a second only after the hooks of the next call."""
    return Turn("" if tools else "done", tools, meanwhile=lambda: time.sleep(0.3))


def failed(task: str) -> str:
    return f"Ticked: {task}. Its check failed: {CHECKS[task]}"


def not_run(task: str) -> str:
    return f"Ticked: {task}. Its check has not run since the last change: {CHECKS[task]}"


LOOK = use(read("PLAN.md"), read("cart.py"))


def work(*turns: Turn) -> Step:
    """The agent looks at plan and source, works, and stops. Then the user asks something."""
    turns = (LOOK, *turns, thinking(), say("nothing"))
    return Step(["work", "and now?"], turns, flags=WITH_SHELL)


NEXT = Step(["go on"], [say("gladly")], flags=WITH_SHELL)
HONEST = [use(code("total")), use(check(TOTAL)), thinking(tick(TOTAL))]
LIED = [use(code("round", "def round_it(): ...\n")), use(check(ROUND)), thinking(tick(ROUND))]
STALE = [use(code("tax")), use(check(TAX)), use(code("ship", "# later\n")), thinking(tick(TAX))]
BARE = [use(tick(SHIP))]


@rows(
    Ticks("one is true, one a lie, one too old, one bare", {},
          [work(*HONEST, *LIED, *STALE, *BARE), NEXT],
          last={failed(ROUND): [*[0] * 7, 1, *[0] * 7],
                not_run(TAX): [*[0] * 11, 1, *[0] * 3],
                not_run(SHIP): [*[0] * 12, 1, *[0] * 2]},
          evidence={TOTAL: CHECKED, ROUND: FAILED, TAX: CHANGED, SHIP: UNCHANGED},
          told=[ROUND, TAX, SHIP]),
    Ticks("a tick beside the run of its check", {},
          [work(use(code("total")), use(check(TOTAL), tick(TOTAL)))],
          evidence={TOTAL: CHECKED}),
    Ticks("a tick before the run of its check, in one answer", {},
          [work(use(code("total")), use(tick(TOTAL), check(TOTAL)))],
          evidence={TOTAL: CHECKED},
          out=dict.fromkeys((CODEX, COPILOT), "it hears of the tick before it runs the check")),
    Ticks("all in one answer", {},
          [work(use(code("total"), check(TOTAL), tick(TOTAL)))],
          evidence={TOTAL: CHECKED},
          out={OPENCODE: "it runs them at once, so the check may come before the edit"}),
    Ticks("a tick beside a check that fails", {},
          [work(use(code("round", "x\n")), use(check(ROUND), tick(ROUND)))],
          evidence={ROUND: FAILED}, told=[ROUND]),
    Ticks("mended after the tick", {},
          [work(*LIED, use(edit("cart.py", "def round_it", "def round")), use(check(ROUND)))],
          last={failed(ROUND): [0, 0, 0, 0, 1, 0, 0, 0]}, evidence={ROUND: CHECKED}, told=[ROUND]),
    Ticks("checked in one process, ticked in the next", {},
          [work(use(code("total")), use(check(TOTAL))),
           Step(["go on"], [use(read("PLAN.md")), use(tick(TOTAL)), say("done")], how="resume",
                flags=WITH_SHELL)],
          evidence={TOTAL: CHECKED}),
)  # fmt: skip
def test_ticks(desk: Desk, scenario: Ticks) -> None:
    begin(desk)

    runs = play(desk, scenario)

    status = json.loads(desk.sisyphus("boulder", "status", "--json"))
    words = [*scenario.evidence.values()]
    assert status["evidence"] == scenario.evidence
    assert status["progress"]["failed"] == words.count(FAILED)
    assert status["progress"]["completed"] == len(words) - words.count(FAILED)
    assert {task: told(runs, task) for task in CHECKS} == {
        task: int(task in scenario.told) for task in CHECKS
    }


def told(runs: list[Run], task: str) -> int:
    """Returns how often the model was told something about the tick of a task."""
    return sum(request.last.count(f"Ticked: {task}") for run in runs for request in run.main)


def evidence(desk: Desk) -> str:
    """Returns what stands behind the tick of the first task."""
    return str(json.loads(desk.sisyphus("boulder", "status", "--json"))["evidence"][TOTAL])


@each_client
def test_checks_as_agents_write_them(desk: Desk) -> None:
    desk = desk.shared
    begin(desk)
    lines = (
        f"{CHECKS[TAX]} -v 2>&1",
        f"cd {desk.project} && {CHECKS[TOTAL]} 2>&1",
        f'cd "{desk.project}" && git status --short && {CHECKS[ROUND]}',
    )
    tasks = (TOTAL, ROUND, TAX)
    turns = [
        LOOK,
        use(code("total"), code("round"), code("tax")),
        *(use(shell(line)) for line in lines),
        thinking(*map(tick, tasks)),
        say("done"),
    ]

    run = desk.run("work", turns=turns, flags=WITH_SHELL)

    found = json.loads(desk.sisyphus("boulder", "status", "--json"))["evidence"]
    assert found == dict.fromkeys(tasks, CHECKED)
    assert [told([run], task) for task in tasks] == [0, 0, 0]


def columns(*but: str) -> pytest.MarkDecorator:
    """A test with the argument `desk`, once for each client. but: clients that cannot do it."""
    names = [name for name in COLUMNS if name not in but]
    return pytest.mark.parametrize("desk", names, indirect=True)


@columns()
def test_the_next_task_makes_no_check_older_than_its_tick(desk: Desk) -> None:
    desk = desk.shared
    begin(desk)
    script(desk, "check_total.sh", "sleep 0.5; echo fine")
    both = use(check(TOTAL), tick(TOTAL))
    turns = [LOOK, use(code("total")), both, use(code("round")), thinking(tick(ROUND))]

    run = desk.run("work", turns=[*turns, say("done")], flags=WITH_SHELL)

    assert evidence(desk) == CHECKED
    assert (told([run], TOTAL), told([run], ROUND)) == (0, 1)


@columns(OPENCODE, CODEX, QWEN)
def test_what_another_check_leaves_behind_is_no_change(desk: Desk) -> None:
    """No `.gitignore` names it, as in many a project that an agent begins. Nothing in it depends on
    the client."""
    begin(desk)
    checks = [use(check(TOTAL)), use(check(TAX))]
    turns = [LOOK, use(code("total"), code("tax")), *checks, thinking(tick(TOTAL), tick(TAX))]

    run = desk.run("work", turns=[*turns, say("done")], flags=WITH_SHELL)

    assert evidence(desk) == CHECKED
    assert told([run], TOTAL) == 0


@pytest.mark.parametrize("desk", [CODEX], indirect=True)
def test_codex_hears_of_a_tick_before_it_runs_the_check_behind_it(desk: Desk) -> None:
    begin(desk)
    turns = [LOOK, use(code("total")), use(tick(TOTAL), check(TOTAL)), say("done")]

    run = desk.run("work", turns=turns)
    more = desk.resume(run, "and now?", turns=[say("nothing")])

    assert evidence(desk) == CHECKED
    assert told([run, more], TOTAL) <= 1


# ---------------------------------------------------------------- runs that prove nothing


@columns()
def test_a_check_that_did_not_end_in_time_has_not_passed(desk: Desk) -> None:
    """Claude Code moves it to the background, and wakes the agent when it ends there. Codex gives
    the agent the turn while it runs. The others kill it."""
    desk = desk.shared
    begin(desk)
    script(desk, "check_total.sh", "sleep 3; exit 1")
    slow = check(TOTAL, timeout=1000)
    woken = [say("I see.")] if desk.name == CLAUDE_CODE else []
    if desk.name == CODEX:
        folder = str(desk.project)
        slow = call("exec_command", cmd=CHECKS[TOTAL], workdir=folder)
        slow.values["input"]["yield_time_ms"] = 300
    turns = [LOOK, use(code("total")), use(slow), thinking(tick(TOTAL)), say("done"), *woken]

    run = desk.run("work", turns=turns, flags=WITH_SHELL)

    assert evidence(desk) != CHECKED
    assert told([run], TOTAL) == 1


@columns()
def test_a_script_of_the_same_name_in_another_folder_is_no_check(desk: Desk) -> None:
    begin(desk)
    script(desk, "api/check_total.sh", "echo fine")
    turns, folder = [use(check(TOTAL))], ""
    if desk.name == CLAUDE_CODE:  # its shell stays where it goes
        turns.insert(0, use(shell("cd api")))
    elif desk.name == CODEX:
        there = str(desk.project / "api")
        turns = [use(call("exec_command", cmd=CHECKS[TOTAL], workdir=there))]
    else:
        folder = "api"
    turns = [LOOK, use(code("total")), *turns, thinking(tick(TOTAL)), say("done")]

    run = desk.run("work", turns=turns, flags=WITH_SHELL, folder=folder)

    assert evidence(desk) == CHANGED
    assert told([run], TOTAL) == 1


@columns(OPENCODE, CODEX, QWEN)
def test_a_check_that_was_refused_has_not_failed(desk: Desk) -> None:
    """The others allow every command here, or wait for an answer."""
    begin(desk)

    run = desk.run("work", turns=[LOOK, *HONEST, say("done")])

    assert evidence(desk) == CHANGED
    assert [request.last.count(not_run(TOTAL)) for request in run.main] == [0, 0, 0, 0, 1]


@columns(CLAUDE_CODE, OPENCODE, QWEN, COPILOT)
def test_a_change_while_the_check_runs(desk: Desk) -> None:
    """In the other clients a call beside it would have to change a file."""
    begin(desk)
    script(desk, "check_total.sh", "sleep 2; echo fine")
    folder = str(desk.project)
    start = call("exec_command", cmd=CHECKS[TOTAL], workdir=folder)
    start.values["input"]["yield_time_ms"] = 300
    turns = [LOOK, use(start), use(code("total")), use(shell("sleep 3")), thinking(tick(TOTAL))]

    run = desk.run("work", turns=[*turns, say("done")])

    assert evidence(desk) == CHANGED
    assert told([run], TOTAL) == 1
