"""What users do in a day: several processes, several features at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from e2e.codex import NO_AGENTS
from e2e.desk import CODEX, Desk, Run, make_project
from e2e.scenario import Scenario, Step, play, rows
from e2e.script import Turn, delegate, edit, read, say, use, write

STATE = "[BOULDER STATE DETECTED]"
BLOCK = "[RALPH LOOP ENFORCEMENT]"
RULE = "Annotate every function."
GUIDE = "Never touch the lamp."
SHIPS = "Keeps ships off the rocks."
PLAN = "# Lamp\n\n- [ ] one\n- [ ] two\n- [ ] three\n- [ ] four\n- [ ] five\n"
TYPED = '/sisyphus:ralph-loop "do it" --completion-promise "DONE"'
PYTHON = {
    ".github/instructions/python.instructions.md": f'---\napplyTo: "**/*.py"\n---\n{RULE}\n',
    "api/one.py": "1",
    "api/two.py": "2",
}


def tick(plan: str, task: str) -> list[Turn]:
    """The turns of an agent that does a task of a plan."""
    done = edit(plan, f"- [ ] {task}", f"- [x] {task}")
    return [use(read(plan)), use(done), say(f"{task} is done")]


@pytest.mark.parametrize("plan", ["PLAN.md", ".claude/PLAN.md"])
def test_a_plan_is_worked_to_its_end(desk: Desk, plan: str) -> None:
    desk.write(plan, PLAN)
    prompts = ["work", "/compact", "work", "/clear", "work"]
    turns = [turn for task in ("one", "two", "three") for turn in tick(plan, task)]

    first = desk.run(*prompts, turns=turns)
    second = desk.resume(first, "work", turns=tick(plan, "four"))
    third = desk.run("work", turns=tick(plan, "five"))

    runs = (first, second, third)
    counts = [[request.text.count(STATE) for request in run.requests] for run in runs]
    assert counts == [[1] * 9, [2] * 3, [1] * 3]  # a resume tells how far the plan is by now
    starts = [run.requests[n].last for run, n in ((first, 3), (first, 6), (third, 0))]
    progress = [f"Progress: {n}/5 tasks complete" for n in (1, 2, 4)]
    assert [text in start for text, start in zip(progress, starts, strict=True)] == [True] * 3
    messages = "".join(run.messages for run in runs)
    assert messages.count("Lamp is complete: all 5 tasks are done.") == 1
    assert desk.boulder_file() is None


def test_specification_plan_work_and_review(desk: Desk) -> None:
    for name in ("brainstorm", "design", "implement"):
        desk.write(f".claude/commands/dev-{name}.md", f"---\ndescription: {name}\n---\n\nDo it.\n")
    files = []

    def note() -> None:
        files.append(desk.boulder_file())

    turns = [
        *(use(write("SPEC.md", "# Login\n\n- [ ] a criterion\n")), say("written")),
        use(write(".claude/PLAN.md", "# Login\n\n- [ ] Form\n- [ ] Test\n"), meanwhile=note),
        say("planned"),
        use(read(".claude/PLAN.md"), meanwhile=note),
        use(edit(".claude/PLAN.md", "- [ ] Form", "- [x] Form")),
        use(edit(".claude/PLAN.md", "- [ ] Test", "- [x] Test"), meanwhile=note),
        say("done", meanwhile=note),
    ]

    prompts = ("/dev-brainstorm", "/dev-design", "/dev-implement")
    run = desk.run(*prompts, turns=turns, flags=["--permission-mode", "bypassPermissions"])

    expected = [None, {"total": 2, "completed": 0}, {"total": 2, "completed": 1}, None]
    assert [file and file["progress"] for file in files] == expected
    assert files[1] | {"started_at": "", "progress": {}, "metadata": {}} == {
        "active_plan": str(desk.project / ".claude/PLAN.md"),
        "project_root": str(desk.project),
        "plan_name": "Login",
        "started_at": "",
        "session_ids": [run.session],
        "progress": {},
        "metadata": {},
    }
    assert "Boulder state tracking enabled for this plan" in run.messages


def test_waves_and_stories_travel_in_the_repository(desk: Desk) -> None:
    plan = "docs/kord/plans/docs.md"
    stories = "### S01: README\n- [ ] Origin\n\n### S02: CONTRIBUTING\n- [ ] Title\n"
    desk.write(plan, f"# Docs\n\n## Wave 1 — Foundation\n\n{stories}")
    desk.sisyphus("boulder", "start", "docs", "--in-repo")

    desk.run("/sisyphus:start-work docs", turns=tick(plan, "Origin"))
    following = desk.run("on", turns=[say("yes")])

    state = json.loads((desk.project / "docs/kord/boulder.json").read_text(encoding="utf-8"))
    assert state["progress"] == {
        "totalStories": 2,
        "completedStories": 1,
        "stories": {
            "S01": {"status": "completed", "wave": 1},
            "S02": {"status": "in_progress", "wave": 1},
        },
    }
    assert (state["activePlan"], state["currentWave"], state["currentStory"]) == (plan, 1, "S02")
    assert "S01" in state["checkpoint"]["message"]
    for line in ("Current wave: 1 — Foundation", "Current story: S02", "Last checkpoint: "):
        assert line in following.requests[0].text


def test_a_spec_kit_repository_after_boulder_start(desk: Desk) -> None:
    tasks = "specs/001-login/tasks.md"
    desk.write(tasks, "# Tasks: Login\n\n- [ ] T001 Create app.py\n- [ ] T002 [P] [US1] Form\n")
    desk.write("specs/002-later/tasks.md", "# Tasks: Later\n\n- [ ] T001 Think\n")
    desk.sisyphus("boulder", "start", "001-login")

    first = desk.run("work", turns=tick(tasks, "T001"))
    second = desk.run("on", turns=[say("yes")])

    shown = [f"Progress: {n}/2 tasks complete\nPlan location: {tasks}" for n in (0, 1)]
    runs = (first, second)
    assert [s in run.requests[0].text for s, run in zip(shown, runs, strict=True)] == [True] * 2
    assert "002-later" not in first.messages + second.messages


@rows(
    Scenario(
        "rules and documents of the folders it reads, each once",
        {**PYTHON, "CLAUDE.md": "Be kind.\n", "api/AGENTS.md": f"{GUIDE}\n"},
        [Step(["look"], [use(delegate("look")), use(read("api/one.py"), read("api/two.py")),
                         use(read("api/one.py")), say("seen")],
              agents=[use(read("api/one.py"), read("api/two.py")), use(read("api/one.py")),
                      say("seen")])],
        model={RULE: [0, 0, 1, 1], GUIDE: [0, 0, 1, 1]},
        agents={RULE: [0, 1, 1], GUIDE: [0, 1, 1]}, out={CODEX: NO_AGENTS},
    ),
)  # fmt: skip
def test_a_subagent_has_a_context_of_its_own(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


def test_parallel_sessions_in_one_project(desk: Desk) -> None:
    for path, text in {**PYTHON, "PLAN.md": PLAN, "README.md": f"{SHIPS}\n"}.items():
        desk.write(path, text)

    look = use(read("api/one.py"), read("api/two.py"))

    def work(number: int) -> Run:
        if number:
            return desk.run("look", turns=[look, say("seen")])
        return desk.run(
            TYPED, turns=[look, *tick("PLAN.md", "one"), say("<promise>DONE</promise>")]
        )

    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(work, range(3)))

    for run in runs:
        texts = [request.text for request in run.requests]
        assert [texts[-1].count(text) for text in (RULE, STATE, SHIPS)] == [1, 1, 1]
    assert [sum(BLOCK in r.last for r in run.requests) for run in runs] == [1, 0, 0]
    assert "1/5" in desk.sisyphus("boulder", "status")
    assert set(desk.boulder_file()["session_ids"]) == {run.session for run in runs}


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-sonnet-4-5"])
def test_two_generations_of_models_get_the_same_texts(desk: Desk, model: str) -> None:
    for path, text in {**PYTHON, "PLAN.md": PLAN, "README.md": f"{SHIPS}\n"}.items():
        desk.write(path, text)
    turns = [use(read("api/one.py")), say("Not yet."), say("<promise>DONE</promise>")]

    run = desk.run(TYPED, turns=turns, flags=["--model", model])

    texts = [request.text for request in run.requests]
    assert [text.count(RULE) for text in texts] == [0, 1, 1]
    assert [[text.count(part) for text in texts] for part in (STATE, SHIPS)] == [[1] * 3] * 2
    assert [BLOCK in request.last for request in run.requests] == [False, False, True]
    roles = {message["role"] for message in run.requests[-1].body["messages"]}
    assert ("system" in roles) == (model == "claude-opus-5-5")


def test_a_home_that_is_a_repository_is_no_project(desk: Desk) -> None:
    make_project(desk.home)
    shop = Desk(desk.home, desk.home / "work" / "shop")
    for path, text in {**PYTHON, "PLAN.md": PLAN, "README.md": f"{SHIPS}\n"}.items():
        shop.write(path, text)
    shop.write("../../README.md", "My dotfiles.\n")

    run = shop.run("look", turns=[use(read("api/one.py")), say("seen")])

    last = run.requests[-1].text
    assert [last.count(text) for text in (RULE, STATE, SHIPS)] == [1, 1, 1]
    assert "My dotfiles." not in last
    assert shop.boulder_file()["project_root"] == str(shop.project)
