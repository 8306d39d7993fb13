"""Copilot CLI: what is different there, and what needs several clients. The tables of the other
files run with it too."""

from __future__ import annotations

import json
import time

import pytest

from e2e.desk import CLAUDE_CODE, COPILOT, OPENCODE, Desk
from e2e.scenario import Scenario, Step, play
from e2e.script import edit, read, say, use, write
from e2e.test_boulder import PLAN, STATE, continuation
from e2e.test_ralph import BLOCK, NO_BREAKER, TASK_AGAIN
from e2e.test_rules import FRAME, PATHS, TEXT

with_copilot = pytest.mark.parametrize("desk", [COPILOT], indirect=True)

TASKS = ("Test", "Ship")
LOOP = '/ralph-loop "do it" --completion-promise "DONE"'
RESUME = "CONTEXT CHECKPOINT RESUME"
LAMP = "Never touch the lamp."
SHIPS = "Keeps ships off the rocks."
PROMISE = say("<promise>DONE</promise>")
NOT_YET = say("Not yet.")
HELLO = Step(["hello"], [say("hi")])
LOOK = [use(read("api/one.py")), use(read("api/one.py")), say("seen")]
START = {"PLAN.md": PLAN, "README.md": f"{SHIPS}\n", "one.py": "1"}
APPLIED = f'---\napplyTo: "**/*.py"\n---\n\n{TEXT}\n'
CURSORS = f"---\nglobs: api/*.py\n---\n\n{TEXT}\n"
SECONDS = 20.0
"""A limit for a client; it compacts within a second."""


# ---------------------------------------------------------------- one database for all clients


@with_copilot
def test_a_plan_goes_from_claude_code_to_copilot_and_on_to_opencode(desk: Desk) -> None:
    desk.write("PLAN.md", PLAN)
    first, last = Desk(desk.home, desk.project), desk.with_client(OPENCODE)
    test, ship = (edit("PLAN.md", f"- [ ] {name} it", f"- [x] {name} it") for name in TASKS)

    first.run("begin", turns=[use(read("PLAN.md")), say("I have read it.")])
    two = desk.run("go on", turns=[use(read("PLAN.md")), use(test), say("tested")])
    three = last.run("go on", turns=[use(read("PLAN.md")), use(ship), say("shipped")])
    after = first.run("what now?", turns=[say("nothing")])

    assert continuation("Checkout page", "2/4", "PLAN.md") in two.requests[0].text
    assert continuation("Checkout page", "3/4", "PLAN.md") in three.requests[0].text
    assert STATE not in after.requests[0].text
    assert "4/4" in desk.sisyphus("boulder", "status")
    assert clients(desk) == ["claude-code", "opencode", "copilot", "claude-code"]


# ---------------------------------------------------------------- what it loads by itself


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("rules and AGENTS.md of a package, when the agent views a file",
                 {".github/instructions/py.instructions.md": APPLIED,
                  "api/AGENTS.md": f"{LAMP}\n", "api/one.py": "1"},
                 [Step(["look"], LOOK)], model={TEXT: [0, 1, 1], LAMP: [0, 1, 1]}, silent=[FRAME]),
        Scenario("the same outside of the session's folder",
                 {".claude/rules/py.md": f"{PATHS}{TEXT}\n", "api/AGENTS.md": f"{LAMP}\n",
                  "api/one.py": "1", "web/one.py": "1"},
                 [Step(["look"], LOOK, folder="web")],
                 model={TEXT: [0, 1, 1], LAMP: [0, 1, 1]}, silent=[FRAME]),
        Scenario("a rule with a key of ours comes at the start",
                 {".claude/rules/py.md": f'---\nglobs: "**/*.py"\n---\n\n{TEXT}\n',
                  "api/one.py": "1"},
                 [Step(["look"], LOOK)], model={TEXT: [1, 1, 1]}, silent=[FRAME]),
        Scenario("instructions and what AGENTS.md imports, from above the session",
                 {".github/copilot-instructions.md": f"{TEXT}\n", "AGENTS.md": "@README.md\n",
                  "README.md": f"{SHIPS}\n", "api/one.py": "1"},
                 [Step(["look"], LOOK, folder="api")],
                 model={TEXT: [1, 1, 1], SHIPS: [1, 1, 1]}, silent=[FRAME]),
        Scenario("a rule of Cursor's is ours to send",
                 {".cursor/rules/py.mdc": CURSORS, "api/one.py": "1"},
                 [Step(["look"], LOOK)], model={TEXT: [0, 1, 1], FRAME: [0, 1, 1]}),
        Scenario("and for a file that is written",
                 {".cursor/rules/py.mdc": CURSORS, "api/one.py": "1"},
                 [Step(["write"], [use(write("api/new.py", "1")), say("written")])],
                 model={TEXT: [0, 1]}),
        Scenario("a resume says the start again", START,
                 [HELLO, Step(["more"], [say("yes")], how="resume")],
                 model={STATE: [1, 1], SHIPS: [1, 1]}),
    ],
    ids=lambda scenario: scenario.name,
)  # fmt: skip
@with_copilot
def test_what_the_model_has(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


# ---------------------------------------------------------------- loops


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("seven times with tool calls between them", {**NO_BREAKER, "one.py": "1"},
                 [Step([LOOP], [use(read("one.py")), NOT_YET] * 8)],
                 last={BLOCK: [0, 0, *[1, 0] * 7]}),
        Scenario("after the limit, the next prompt", NO_BREAKER,
                 [Step([LOOP], [NOT_YET] * 8),
                  Step(["go on"], [NOT_YET, PROMISE], how="resume")],
                 last={BLOCK: [0, *[1] * 7, 0, 1]}),
        Scenario("typed in a session, where it comes as a skill", {},
                 [Step(["hello", LOOP], [say("hi"), NOT_YET, PROMISE])],
                 last={BLOCK: [0, 0, 1]}),
        Scenario("in plan mode it waits", {},
                 [Step(["hello", LOOP], [say("hi"), NOT_YET],
                       flags=["--permission-mode", "plan"])], last={BLOCK: [0, 0]}),
    ],
    ids=lambda scenario: scenario.name,
)  # fmt: skip
@with_copilot
def test_loops(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


# ---------------------------------------------------------------- compaction


@with_copilot
def test_a_compaction_in_a_loop(desk: Desk) -> None:
    """It compacts while the agent goes on. What was sent before it began is gone."""

    def until_it_has() -> None:
        end = time.monotonic() + SECONDS
        files = [*(desk.home / ".copilot" / "session-state").glob("*/events.jsonl")]
        while not any('"session.compaction_complete"' in file.read_text() for file in files):
            assert time.monotonic() < end
            time.sleep(0.05)

    for path, text in START.items():
        desk.write(path, text)
    full = use(read("one.py"), tokens=990_000)
    during = use(read("one.py"), meanwhile=lambda: time.sleep(1))
    later = say("Not yet.", meanwhile=until_it_has)

    run = desk.run(LOOP, turns=[full, during, later, NOT_YET, PROMISE])

    compacted = [request for request in run.main if "What was said before." in request.text]
    assert compacted
    last = compacted[-1]
    assert last.text.count(RESUME) == 1
    assert last.text.count(SHIPS) == 1
    assert last.text.count(STATE) == 1
    assert sum(bool(TASK_AGAIN.search(request.last)) for request in run.main) == 1
    assert "complete" in desk.sisyphus("ralph", "log")


# ---------------------------------------------------------------- `sisyphus install`


@with_copilot
def test_after_uninstall_nothing_of_ours_happens(desk: Desk) -> None:
    for path, text in START.items():
        desk.write(path, text)
    desk.sisyphus("uninstall", "--client", COPILOT, "--yes")

    run = desk.run("hello", turns=[say("hi")])

    assert SHIPS not in run.requests[0].text
    assert not [*(desk.home / ".copilot").rglob("SKILL.md")]
    assert "sisyphus" not in "".join(
        file.read_text() for file in (desk.home / ".copilot").glob("hooks/*.json")
    )


@with_copilot
def test_a_session_that_is_wired_twice_counts_each_stop_once(desk: Desk) -> None:
    desk.sisyphus("install", "--client", COPILOT, "--scope", "project", "--yes")
    trust(desk)

    run = desk.run(LOOP, turns=[NOT_YET, NOT_YET, PROMISE])

    assert [request.last.count(BLOCK) for request in run.main] == [0, 1, 1]
    assert "complete, 3 iterations" in desk.sisyphus("ralph", "log")


@with_copilot
def test_hooks_for_claude_code_do_nothing_in_it(desk: Desk) -> None:
    """In a project that the user trusts it runs those of `.claude/settings.json`, too."""
    desk.sisyphus("install", "--client", CLAUDE_CODE, "--scope", "project", "--yes")
    trust(desk)

    run = desk.run(LOOP, turns=[NOT_YET, PROMISE])

    assert [request.last.count(BLOCK) for request in run.main] == [0, 1]
    assert "complete, 2 iterations" in desk.sisyphus("ralph", "log")
    assert clients(desk) == [COPILOT]


def trust(desk: Desk) -> None:
    """The user has said that they trust the project."""
    settings = {"trustedFolders": [str(desk.project)]}
    (desk.home / ".copilot" / "config.json").write_text(json.dumps(settings))


def clients(desk: Desk) -> list[str]:
    """Returns the client of each session, the newest first."""
    return [each["client"] for each in json.loads(desk.sisyphus("sessions", "--json"))["sessions"]]
