"""Plans: continued over sessions, compactions, clears and resumes; several of them; law by law."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from e2e.codex import NO_AGENTS
from e2e.copilot import LATE
from e2e.desk import CODEX, COPILOT, QWEN, WITH_SHELL, Desk, make_project
from e2e.scenario import ONE_IS_ENOUGH, Scenario, Step, each_client, play, rows
from e2e.script import delegate, edit, read, say, shell, todos, use, write

PLAN = """\
# Checkout page

- [x] Sketch it
- [x] Build it
- [ ] Test it in **two** browsers
- [ ] Ship it
"""
TEST_DONE = edit(".claude/PLAN.md", "- [ ] Test it", "- [x] Test it")
TEST_BY_SHELL = r"sed 's/- \[ \] Test/- [x] Test/' PLAN.md >new; mv new PLAN.md"
"""Qwen Code takes `sed -i` for an edit, and asks that the file is read before."""
HELLO = Step(["hello"], [say("hi")])
NEXT = Step(["go on"], [say("gladly")])
STATE = "[BOULDER STATE DETECTED]"


def continuation(plan: str, progress: str, place: str = ".claude/PLAN.md") -> str:
    return f"""\
[BOULDER STATE DETECTED]

Active plan: {plan}
Progress: {progress} tasks complete
Plan location: {place}

Continuing from where you left off."""


@rows(
    Scenario("the next session continues it", {".claude/PLAN.md": PLAN}, [HELLO, NEXT],
             model={continuation("Checkout page", "2/4"): [1, 1],
                    "Next task: Test it in **two** browsers": [1, 1]}),
    Scenario("hooks' text as reminders, not system messages", {".claude/PLAN.md": PLAN},
             [Step(["go on"], [say("gladly")], flags=["--model", "claude-sonnet-4-5"])],
             model={continuation("Checkout page", "2/4"): [1]},
             only="it is about models of Claude Code"),
    Scenario("a plan that the model writes", {},
             [Step(["plan it"], [use(write("PLAN.md", PLAN)), say("planned")]), NEXT],
             model={continuation("Checkout page", "2/4", "PLAN.md"): [0, 0, 1]},
             user=["Boulder state tracking enabled for this plan"]),
    Scenario("an edit moves the progress", {".claude/PLAN.md": PLAN},
             [Step(["work"], [use(read(".claude/PLAN.md")), use(TEST_DONE), say("tested")]), NEXT],
             last={continuation("Checkout page", "3/4"): [0, 0, 0, 1],
                   "Next task: Ship it": [0, 0, 0, 1]}),
    Scenario("a subagent's edit, without a word to it", {"PLAN.md": PLAN},
             [Step(["delegate"], [use(delegate("test it")), say("tested")],
                   agents=[use(read("PLAN.md")),
                           use(edit("PLAN.md", "- [ ] Test it", "- [x] Test it")), say("done")]),
              NEXT],
             last={continuation("Checkout page", "3/4", "PLAN.md"): [0, 0, 1]},
             agents={STATE: [0, 0, 0]}, out={CODEX: NO_AGENTS}),
    Scenario("a change by the shell", {"PLAN.md": PLAN},
             [Step(["work"], [use(shell(TEST_BY_SHELL)), say("tested")], flags=WITH_SHELL), NEXT],
             last={continuation("Checkout page", "3/4", "PLAN.md"): [0, 0, 1]}),
    Scenario("once a context: resume, compaction, clear", {".claude/PLAN.md": PLAN},
             [HELLO, Step(["more"], [say("yes")], how="resume"),
              Step(["more", "/compact", "more", "more"], [say("yes")] * 3, how="resume"),
              Step(["more", "/clear", "more"], [say("yes")] * 2, how="resume")],
             model={STATE: [1, 1, 1, 1, 1, 1, 1]}, out={COPILOT: LATE}),
    Scenario("worked to its end", {".claude/PLAN.md": PLAN},
             [Step(["work"], [
                 use(read(".claude/PLAN.md")), use(TEST_DONE),
                 use(edit(".claude/PLAN.md", "- [ ] Ship it", "- [x] Ship it")), say("shipped")]),
              Step(["what now?"], [say("nothing")])],
             model={continuation("Checkout page", "4/4"): [0] * 5},
             after={".claude/PLAN.md": "- [x] Ship it"}),
    Scenario("a plan that is gone is no continuation", {".claude/PLAN.md": PLAN},
             [HELLO, Step(["go on"], [say("with what?")], gone=[".claude/PLAN.md"])],
             last={"Continuing from where you left off.": [1, 0]},
             user=["sisyphus boulder clear"]),
    Scenario("start-work continues the plan that it names",
             {"docs/kord/plans/login.md": "# Login\n\n- [ ] Form\n",
              "docs/kord/plans/logout.md": "# Logout\n\n- [ ] Button\n"},
             [Step(["/sisyphus:start-work login"], [say("I start.")])],
             model={continuation("Login", "0/1", "docs/kord/plans/login.md"): [1]}),
    Scenario("start-work continues the plan that is mentioned with an @",
             {"docs/kord/plans/login.md": "# Login\n\n- [ ] Form\n",
              "docs/kord/plans/logout.md": "# Logout\n\n- [ ] Button\n"},
             [Step(["/sisyphus:start-work @docs/kord/plans/login.md"], [say("I start.")])],
             model={continuation("Login", "0/1", "docs/kord/plans/login.md"): [1]},
             only=ONE_IS_ENOUGH),
    Scenario("several open plans: neither is continued",
             {"docs/kord/plans/login.md": "# Login\n\n- [ ] Form\n",
              "docs/kord/plans/logout.md": "# Logout\n\n- [ ] Button\n"},
             [Step(["hello"], [say("Which one?")])],
             model={STATE: [0], "Continuing from where you left off.": [0]},
             user=["Login", "Logout"]),
    Scenario("boulder-status costs no request", {".claude/PLAN.md": PLAN},
             [Step(["/sisyphus:boulder-status"], [])], results=["2/4"],
             out=dict.fromkeys((QWEN, COPILOT), "its terminal alone shows such an answer")),
    Scenario("boulder-clear ends the continuation", {".claude/PLAN.md": PLAN},
             [HELLO, Step(["/sisyphus:boulder-clear"], []), Step(["hello again"], [say("hi")])],
             model={STATE: [1, 0]}),
    Scenario("a checkpoint of the user's reaches the next session", {"PLAN.md": PLAN},
             [HELLO, Step(['/sisyphus:checkpoint "half tested"'], [], how="resume"), NEXT],
             last={"Last checkpoint: half tested": [0, 1]}),
    Scenario("the model's todos reach the next session", {"PLAN.md": PLAN},
             [Step(["plan"], [use(todos(("find owners", "completed"), ("write header", "pending"))),
                              say("noted")],
                   flags=["--model", "claude-sonnet-4-5"], env={"CLAUDE_CODE_ENABLE_TASKS": "0"}),
              NEXT],
             last={"write header": [0, 0, 1], "find owners": [0, 0, 0]},
             only="of the others OpenCode alone has such a tool; see test_opencode.py"),
    Scenario("spec-kit's tasks are offered, not taken",
             {"specs/001-login/tasks.md": "# Tasks\n\n- [ ] T001 [P] [US1] Form in src/form.py\n"},
             [HELLO], model={STATE: [0]}, user=["001-login"], only=ONE_IS_ENOUGH),
)  # fmt: skip
def test_plans(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


@each_client
def test_a_completed_plan_is_told_once_and_leaves_the_global_file(desk: Desk) -> None:
    desk = desk.shared
    desk.write("PLAN.md", PLAN.replace("- [ ] Test", "- [x] Test"))
    done = edit("PLAN.md", "- [ ] Ship it", "- [x] Ship it")

    run = desk.run("ship it", turns=[use(read("PLAN.md")), use(done), say("shipped")])
    following = desk.run("what now?", turns=[say("nothing left")])

    if desk.client.SHOWS_MESSAGES:
        messages = run.messages + following.messages
        assert messages.count("Checkout page is complete: all 4 tasks are done.") == 1
    assert desk.boulder_file() is None
    assert "4/4" in desk.sisyphus("boulder", "status")


def test_sessions_next_to_each_other_are_all_recorded(desk: Desk) -> None:
    desk.write(".claude/PLAN.md", PLAN)

    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda _: desk.run("hello", turns=[say("hi")]), range(3)))

    assert {run.session for run in runs} == set(desk.boulder_file()["session_ids"])
    assert [run.requests[0].text.count(STATE) for run in runs] == [1, 1, 1]


@each_client
def test_two_sessions_at_two_plans_keep_to_their_own(desk: Desk) -> None:
    for name, task in (("login", "Form"), ("logout", "Button")):
        desk.write(f"docs/kord/plans/{name}.md", f"# {name.title()}\n\n- [ ] {task}\n- [ ] Rest\n")
    one = desk.run("/sisyphus:start-work login", turns=[say("I start.")])
    two = desk.run("/sisyphus:start-work logout", turns=[say("I start.")])
    for run, name, task in ((two, "logout", "Button"), (one, "login", "Form")):
        path = f"docs/kord/plans/{name}.md"
        done = edit(path, f"- [ ] {task}", f"- [x] {task}")
        desk.resume(run, "on", turns=[use(read(path)), use(done), say("done")])

    for run, name in ((one, "Login"), (two, "Logout")):
        again = desk.resume(run, "on", turns=[say("yes")])
        path = f"docs/kord/plans/{name.lower()}.md"
        assert again.requests[0].text.count(continuation(name, "1/2", path)) == 1


def test_the_boulder_moves_to_the_project_where_a_session_starts(
    desk: Desk, tmp_path: Path
) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    desk.run("hello", turns=[say("hi")])
    other = Desk(desk.home, make_project(tmp_path / "other"))
    other.write("PLAN.md", "# Other work\n\n- [ ] Start\n")

    there = other.run("hello", turns=[say("hi")])
    back = desk.run("hello", turns=[say("hi")])

    assert there.requests[0].text.count(continuation("Other work", "0/1", "PLAN.md")) == 1
    assert back.requests[0].text.count(continuation("Checkout page", "2/4")) == 1
    assert "Checkout page" in there.messages
    assert "Checkout page" not in there.requests[0].text


def test_three_packages_of_a_monorepo_have_each_their_plan(desk: Desk) -> None:
    names = ("api", "app", "web")
    for name in names:
        desk.write(f"packages/{name}/PLAN.md", f"# Plan of {name}\n\n- [ ] Start\n- [ ] End\n")
        desk.write(f"packages/{name}/.claude/settings.json", "{}")
    for name in names:
        plan = f"packages/{name}/PLAN.md"
        done = edit(plan, "- [ ] Start", "- [x] Start")
        turns = [use(read(plan)), use(done), say("done")]
        desk.run("work", turns=turns, folder=f"packages/{name}")

    runs = [desk.run("go on", turns=[say("yes")], folder=f"packages/{name}") for name in names]

    for name, run in zip(names, runs, strict=True):
        assert run.requests[0].text.count(f"Active plan: Plan of {name}") == 1
        assert "Progress: 1/2" in run.requests[0].text


# ---------------------------------------------------------------- the model's plan in .claude


@pytest.mark.parametrize("place", [".claude/PLAN.md", ".claude/plans/page.md", "PLAN.md"])
def test_where_edits_are_accepted_the_model_may_edit_its_plan(desk: Desk, place: str) -> None:
    desk.write(place, PLAN)
    done = edit(place, "- [ ] Test it", "- [x] Test it")

    run = desk.run("go on", turns=[use(read(place)), use(done), say("tested")])

    assert "- [x] Test it" in (desk.project / place).read_text()
    if place.startswith(".claude"):
        assert "allow" in desk.sisyphus("why", "--session-id", run.session)


@pytest.mark.parametrize("mode", ["default", "plan", "dontAsk"])
def test_elsewhere_the_client_decides_as_without_us(desk: Desk, mode: str) -> None:
    desk.write(".claude/PLAN.md", PLAN)
    turns = [use(read(".claude/PLAN.md")), use(TEST_DONE), say("tested")]

    desk.run("go on", turns=turns, flags=["--permission-mode", mode])

    assert (desk.project / ".claude/PLAN.md").read_text() == PLAN


@pytest.mark.parametrize(
    "path", [".claude/settings.json", ".claude/commands/go.md", ".claude/plans/other.md"]
)
def test_nothing_next_to_the_plan_is_let_through(desk: Desk, path: str) -> None:
    desk.write(".claude/PLAN.md", PLAN)

    desk.run("go on", turns=[use(write(path, "{}\n")), say("tried")])

    assert not (desk.project / path).exists()
