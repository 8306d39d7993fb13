"""Qwen Code: what is different there, and what needs both clients. The tables of the other files
run with it too."""

from __future__ import annotations

import time

import pytest

from e2e.desk import QWEN, Desk
from e2e.qwen import CAP
from e2e.scenario import Scenario, Step, play
from e2e.script import edit, read, say, use
from e2e.test_boulder import PLAN, STATE, TEST_DONE, continuation
from e2e.test_ralph import NO_BREAKER, TASK_AGAIN
from e2e.test_rules import TEXT

with_qwen = pytest.mark.parametrize("desk", [QWEN], indirect=True)

LOOP = '/ralph-loop "do it" --completion-promise "DONE"'
BLOCK = "[RALPH LOOP ENFORCEMENT]"
RESUME = "CONTEXT CHECKPOINT RESUME"
FRAME = "The following project documentation is available:"
LAMP = "Never touch the lamp."
SHIPS = "Keeps ships off the rocks."
GUIDE = {"api/AGENTS.md": f"{LAMP}\n", "api/one.py": "1"}
LOOK_API = [use(read("api/one.py")), use(read("api/one.py")), say("seen")]
PROMISE = say("<promise>DONE</promise>")
BLOCKED = say("<blocked>a key</blocked>")
NOT_YET = say("Not yet.")
HELLO = Step(["hello"], [say("hi")])
MORE = Step(["more"], [say("yes")], how="resume")
TASKS = ("Test", "Ship")
START = {"PLAN.md": PLAN, "README.md": f"{SHIPS}\n"}
SECONDS = 20.0
"""A limit for a hook; it takes a tenth of a second."""


# ---------------------------------------------------------------- one database for both clients


@with_qwen
def test_a_plan_of_claude_code_is_finished_in_qwen_code(desk: Desk) -> None:
    desk.write("PLAN.md", PLAN)
    first = Desk(desk.home, desk.project)
    test, ship = (edit("PLAN.md", f"- [ ] {name} it", f"- [x] {name} it") for name in TASKS)

    first.run("go on", turns=[use(read("PLAN.md")), use(test), say("tested")])
    two = desk.run("go on", turns=[use(read("PLAN.md")), use(ship), say("shipped")])
    after = first.run("what now?", turns=[say("nothing")])

    assert "4/4" in desk.sisyphus("boulder", "status")
    assert two.requests[0].text.count(continuation("Checkout page", "3/4", "PLAN.md")) == 1
    assert STATE not in after.requests[0].text


@with_qwen
def test_a_loop_begins_before_its_session(desk: Desk) -> None:
    id = "0a1b2c3d-0000-4000-8000-00000000abcd"
    desk.sisyphus(
        "ralph", "start", "--session-id", id, "--completion-promise", "DONE", "--", "Light the lamp"
    )

    run = desk.run("go on", turns=[NOT_YET, PROMISE], flags=["--session-id", id])

    assert "Light the lamp" in run.requests[1].text
    assert "complete, 2 iterations" in desk.sisyphus("ralph", "log")


# ---------------------------------------------------------------- what it forgets and loads


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("a resume says the start again", START, [HELLO, MORE],
                 model={STATE: [1, 1], SHIPS: [1, 1]}),
        Scenario("a resume with a plan that has moved on", {".claude/PLAN.md": PLAN},
                 [Step(["work"], [use(read(".claude/PLAN.md")), use(TEST_DONE), say("tested")]),
                  MORE],
                 model={continuation("Checkout page", "2/4"): [1, 1, 1, 0],
                        continuation("Checkout page", "3/4"): [0, 0, 0, 1]}),
        Scenario("a compaction and a clear say the start again", START,
                 [Step(["hello", "/compact", "more", "/clear", "on"], [say("yes")] * 3)],
                 model={STATE: [1, 1, 1], SHIPS: [1, 1, 1]}),
        Scenario("AGENTS.md of a package, once", {"AGENTS.md": "Be kind.\n", **GUIDE},
                 [Step(["look"], LOOK_API)],
                 model={LAMP: [0, 1, 1], "Be kind.": [1, 1, 1]}),
        Scenario("QWEN.md and AGENTS.md of the folders above the session's",
                 {"QWEN.md": "Be kind.\n", **GUIDE}, [Step(["look"], LOOK_API, folder="api")],
                 model={LAMP: [1, 1, 1], "Be kind.": [1, 1, 1]}, silent=[FRAME]),
        Scenario("a rule's text that QWEN.md imports",
                 {"QWEN.md": "@.github/copilot-instructions.md\n", "one.py": "1",
                  ".github/copilot-instructions.md": f"{TEXT}\n"},
                 [Step(["look"], [use(read("one.py")), say("seen")])], model={TEXT: [1, 1]}),
        Scenario("CLAUDE.md is no file of its own", {"CLAUDE.md": "Be kind.\n"}, [HELLO],
                 silent=["Be kind."]),
    ],
    ids=lambda scenario: scenario.name,
)  # fmt: skip
@with_qwen
def test_what_the_model_has(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


# ---------------------------------------------------------------- loops


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("blocked, then the next prompt", {},
                 [Step([LOOP], [NOT_YET, BLOCKED]),
                  Step(["here it is"], [NOT_YET, PROMISE], how="resume")],
                 last={BLOCK: [0, 1, 0, 1]}),
        Scenario("a promise that is copied from an escaped one", {},
                 [Step([LOOP], [NOT_YET, say("&lt;promise&gt;DONE&lt;/promise&gt;")])],
                 last={BLOCK: [0, 1]}),
        Scenario("seven times with tool calls between them", {**NO_BREAKER, "one.py": "1"},
                 [Step([LOOP], [use(read("one.py")), NOT_YET] * 8, env={CAP: "8"})],
                 last={BLOCK: [0, 0, *[1, 0] * 7]}),
        Scenario("after the limit, the next prompt", {},
                 [Step([LOOP], [NOT_YET] * 3, env={CAP: "3"}),
                  Step(["go on"], [NOT_YET, PROMISE], how="resume")],
                 last={BLOCK: [0, 1, 1, 0, 1]}),
    ],
    ids=lambda scenario: scenario.name,
)  # fmt: skip
@with_qwen
def test_loops(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


@with_qwen
def test_a_reason_has_its_tags_and_all_else_has_them_escaped(desk: Desk) -> None:
    run = desk.run(LOOP, turns=[NOT_YET, PROMISE])

    assert "&lt;promise&gt;DONE&lt;/promise&gt;" in run.main[0].last
    assert "Expected promise: <promise>DONE</promise>" in run.main[1].last
    assert "complete, 2 iterations" in desk.sisyphus("ralph", "log")


@with_qwen
def test_forty_iterations(desk: Desk) -> None:
    """`sisyphus install` has raised the limit."""
    for path, text in NO_BREAKER.items():
        desk.write(path, text)

    run = desk.run(LOOP, turns=[*[NOT_YET] * 40, PROMISE])

    assert [BLOCK in request.last for request in run.main] == [False, *[True] * 40]


# ---------------------------------------------------------------- compaction


@with_qwen
def test_a_compaction_in_a_loop(desk: Desk) -> None:
    """The client does not wait for the hook of a start after a compaction."""

    def until_it_started() -> None:
        end = time.monotonic() + SECONDS
        while "session started: compact" not in desk.sisyphus("why"):
            assert time.monotonic() < end

    for path, text in {**START, "one.py": "1"}.items():
        desk.write(path, text)
    full = use(read("one.py"), tokens=990_000)
    late = say("Not yet.", meanwhile=until_it_started)

    run = desk.run(LOOP, turns=[full, late, NOT_YET, PROMISE])

    assert "What was said before." in run.main[1].text
    assert [request.text.count(RESUME) for request in run.main] == [0, 0, 1, 1]
    assert [bool(TASK_AGAIN.search(request.last)) for request in run.main] == [0, 0, 1, 0]
    assert [request.text.count(SHIPS) for request in run.main] == [1] * 4


# ---------------------------------------------------------------- `sisyphus install`


@with_qwen
def test_after_uninstall_nothing_of_ours_happens(desk: Desk) -> None:
    for path, text in START.items():
        desk.write(path, text)
    pure = desk.run("hello", turns=[say("hi")], env={"SISYPHUS_DISABLE": "1"})
    desk.sisyphus("uninstall", "--client", QWEN, "--yes")
    run = desk.run("hello", turns=[say("hi")])

    assert not [*(desk.home / ".qwen").rglob("ralph-loop.md")]
    assert "hooks" not in (desk.home / ".qwen" / "settings.json").read_text(encoding="utf-8")
    for each in (run, pure):
        assert SHIPS not in each.requests[0].text
        assert STATE not in each.requests[0].text
