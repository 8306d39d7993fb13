"""Holds: the sessions at a plan go on until it is complete."""

from __future__ import annotations

import pytest

from e2e.codex import NO_AGENTS
from e2e.desk import CODEX, WITH_SHELL, Desk
from e2e.scenario import Scenario, Step, play, rows
from e2e.script import delegate, edit, read, say, shell, skill, use
from e2e.terminal import terminal

PLAN = "# Shop\n\n- [ ] one\n- [ ] two\n"
ON = "/sisyphus:boulder-hold on"
OFF = "/sisyphus:boulder-hold off"
NOT_YET = say("I am done.")
READ = use(read("PLAN.md"))
ONE = use(edit("PLAN.md", "- [ ] one", "- [x] one"))
TWO = use(edit("PLAN.md", "- [ ] two", "- [x] two"))
BLOCKED = say("<blocked>a key</blocked>")
BLOCK = "[BOULDER HOLD]"
COMPLETE = "[BOULDER HOLD COMPLETE]"
LOOP = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'


@rows(
    Scenario("until the plan is ticked", {"PLAN.md": PLAN},
             [Step([ON, "go"], [NOT_YET, READ, ONE, NOT_YET, TWO, say("Both.")])],
             last={BLOCK: [0, 2, 0, 0, 2, 0]}, user=["Hold of the plan: 1 of 2", COMPLETE],
             after={"PLAN.md": "- [x] two"}),
    Scenario("blocked, then the next prompt", {"PLAN.md": PLAN},
             [Step([ON, "go", "here it is"], [
                 NOT_YET, BLOCKED, NOT_YET, READ, ONE, TWO, say("Both.")])],
             last={BLOCK: [0, 2, 0, 2, 0, 0, 0]},
             user=["The agent needs you: a key.", COMPLETE]),
    Scenario("off lets it stop", {"PLAN.md": PLAN},
             [Step([ON, "go", OFF, "and now?"], [NOT_YET, BLOCKED, NOT_YET])],
             last={BLOCK: [0, 2, 0]}),
    Scenario("the next session and a clear", {"PLAN.md": PLAN},
             [Step([ON, "go"], [NOT_YET, BLOCKED]),
              Step(["go", "/clear", "go"], [NOT_YET, BLOCKED, NOT_YET, BLOCKED])],
             last={BLOCK: [0, 2, 0, 2, 0, 2]},
             user=["This session must go on until the plan is complete"]),
    Scenario("a plan that is deleted", {"PLAN.md": PLAN},
             [Step([ON, "go"], [NOT_YET, use(shell("rm PLAN.md")), NOT_YET], flags=WITH_SHELL)],
             last={BLOCK: [0, 2, 0]}, user=["The file of the plan Shop is gone"],
             silent=[COMPLETE]),
    Scenario("first the loop, then the hold", {"PLAN.md": PLAN},
             [Step([ON, LOOP], [NOT_YET, say("<promise>DONE</promise>"), BLOCKED])],
             last={"[RALPH LOOP ENFORCEMENT]": [0, 2, 0], BLOCK: [0, 0, 2]}),
    Scenario("a subagent may stop", {"PLAN.md": PLAN},
             [Step([ON, "go"], [use(delegate("read it")), BLOCKED],
                   agents=[READ, say("read")])], agents={BLOCK: [0, 0]}, out={CODEX: NO_AGENTS}),
    Scenario("plan mode may stop", {"PLAN.md": PLAN},
             [Step([ON, "go"], [NOT_YET], flags=["--permission-mode", "plan"])],
             last={BLOCK: [0]}),
)  # fmt: skip
def test_holds(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


def test_only_the_user_can_switch_it(desk: Desk) -> None:
    desk.write("PLAN.md", PLAN)
    calls = use(skill("sisyphus:boulder-hold", "off"), shell("sisyphus boulder hold off"))

    run = desk.run(ON, "go", turns=[calls, NOT_YET, BLOCKED], flags=WITH_SHELL)

    assert "disable-model-invocation" in run.main[1].last
    assert "A session of an agent cannot change this." in run.main[1].last
    assert BLOCK in run.main[2].last


@pytest.fixture
def installed(desk: Desk) -> Desk:
    """A desk without the plugin, after `sisyphus install`."""
    desk.plugins.clear()
    desk.sisyphus("install", "--yes")
    return desk


def test_typed_in_the_terminal(installed: Desk) -> None:
    installed.write("PLAN.md", PLAN)

    with terminal(installed, turns=[NOT_YET, BLOCKED, NOT_YET]) as client:
        client.type("/boulder-hold on --max-iterations 9")
        client.until_drawn("or after 9 iterations")
        client.enter("go")
        client.until_drawn("hold 2/9 blocked")
        client.type("/boulder-hold off")
        client.until_drawn("was cancelled at iteration 2")
        client.enter("and now?")

    assert [BLOCK in request.last for request in client.requests] == [False, True, False]
