"""Codex: what is different there, and what needs both clients. The tables of the other files run
with it too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from e2e.codex import WAIT, Codex
from e2e.desk import CODEX, CODEX_PROGRAMS, Desk, make_project
from e2e.model import Request, serving
from e2e.scenario import Scenario, Step, play
from e2e.script import Script, Turn, delegate, edit, read, say, use
from e2e.test_boulder import PLAN, STATE, TEST_DONE, continuation
from e2e.test_rules import PARALLEL, PYTHON, TEXT

with_tools = pytest.mark.parametrize("desk", [CODEX], indirect=True)
with_programs = pytest.mark.parametrize("desk", [CODEX_PROGRAMS], indirect=True)
"""The client's default model. It writes programs that call tools, and starts subagents."""

LOOP = '$ralph-loop "do it" --completion-promise "DONE"'
BLOCK = "[RALPH LOOP ENFORCEMENT]"
COMPLETE = "[RALPH LOOP COMPLETE]"
RESUME = "CONTEXT CHECKPOINT RESUME"
FRAME = "The following project documentation is available:"
LAMP = "Never touch the lamp."
SHIPS = "Keeps ships off the rocks."
PROMISE = say("<promise>DONE</promise>")
NOT_YET = say("Not yet.")
NEXT = Step(["go on"], [say("gladly")])
TASKS = ("Test", "Ship")


# ---------------------------------------------------------------- one database for both clients


@with_tools
def test_a_plan_of_claude_code_is_finished_in_codex(desk: Desk) -> None:
    desk.write("PLAN.md", PLAN)
    first = Desk(desk.home, desk.project)
    test, ship = (edit("PLAN.md", f"- [ ] {name} it", f"- [x] {name} it") for name in TASKS)

    one = first.run("go on", turns=[use(read("PLAN.md")), use(test), say("tested")])
    two = desk.run("go on", turns=[use(read("PLAN.md")), use(ship), say("shipped")])
    after = first.run("what now?", turns=[say("nothing")])

    assert two.requests[0].text.count(continuation("Checkout page", "3/4", "PLAN.md")) == 1
    assert "Checkout page is complete: all 4 tasks are done." in two.messages + after.messages
    assert STATE not in after.requests[0].text
    shown = desk.sisyphus("sessions")
    assert one.session[:8] in shown
    assert two.session[:8] in shown


# ---------------------------------------------------------------- what the client loads itself


@pytest.mark.parametrize(
    "files",
    [
        {"AGENTS.md": f"{LAMP}\n"},
        {"AGENTS.md": f"{LAMP}\n", "CLAUDE.md": "Be kind.\n"},
        {"AGENTS.override.md": f"{LAMP}\n", "AGENTS.md": "Be kind.\n"},
        {"packages/api/AGENTS.md": f"{LAMP}\n"},
        {"packages/api/AGENTS.md": f"{LAMP}\n", "AGENTS.md": "Be kind.\n"},
    ],
    ids=["AGENTS.md", "next to CLAUDE.md", "an override", "of a package", "both"],
)
@with_tools
def test_the_model_gets_each_document_once(desk: Desk, files: dict[str, str]) -> None:
    files = {**files, "README.md": f"{SHIPS}\n", "packages/api/one.py": "1"}
    look = [use(read("packages/api/one.py")), use(read("packages/api/one.py")), say("seen")]

    (run,) = play(desk, Scenario("", files, [Step(["look"], look)]))

    assert [request.text.count(SHIPS) for request in run.main] == [1, 1, 1]
    assert [request.text.count(LAMP) for request in run.main[1:]] == [1, 1]


@with_tools
def test_a_session_in_a_folder_gets_the_documents_above_it_once(desk: Desk) -> None:
    files = {"AGENTS.md": f"{LAMP}\n", "src/AGENTS.md": "Be kind.\n", "src/one.py": "1"}
    look = Step(["look"], [use(read("src/one.py")), say("seen")], folder="src")

    play(desk, Scenario("", files, [look], model={LAMP: [1, 1], "Be kind.": [1, 1]},
                        silent=[FRAME]))  # fmt: skip


@with_tools
def test_a_command_in_another_project_brings_none_of_its_rules(desk: Desk) -> None:
    """The client says the folder of the command where it says that of the session elsewhere."""
    make_project(desk.project / "../here")
    look = Step(["look"], [use(read("one.py")), say("seen")], folder="../here")

    play(desk, Scenario("", PYTHON, [look], silent=[TEXT]))


@with_tools
def test_a_rule_comes_with_the_first_call_that_succeeds(desk: Desk) -> None:
    failing = edit("one.py", "nothing like it", "x")
    turns = [use(failing), use(read("missing.py"), read("one.py")), say("seen")]

    play(desk, Scenario("", PYTHON, [Step(["look"], turns)], model={TEXT: [0, 0, 1]}))


@with_tools
def test_a_long_rule_in_other_letters_arrives_whole(desk: Desk) -> None:
    """The client counts bytes, and cuts at 10,000 unless our entry says more."""
    rule = {".cursor/rules/py.mdc": f"---\nglobs: *.py\n---\n\n{'字' * 9_000}\n"}
    look = Step(["look"], [use(read("one.py")), say("seen")])

    play(desk, Scenario("", {**rule, "one.py": "1"}, [look], model={"字" * 9_000: [0, 1]}))


# ---------------------------------------------------------------- loops


@with_tools
def test_a_reason_names_tags_in_words(desk: Desk) -> None:
    run = desk.run(LOOP, turns=[NOT_YET, PROMISE])

    assert "<promise>DONE</promise>" in run.main[0].last
    assert "Expected promise: DONE (inside a promise tag)" in run.main[1].last
    assert "&lt;" not in run.main[1].last


@with_tools
def test_a_promise_that_is_copied_from_an_escaped_one_counts(desk: Desk) -> None:
    escaped = say("&lt;promise&gt;DONE&lt;/promise&gt;")

    assert COMPLETE in desk.run(LOOP, turns=[NOT_YET, escaped]).messages


@with_tools
def test_the_reason_of_a_long_task_is_not_cut(desk: Desk) -> None:
    """The client cuts the middle out of a reason of more than 10,000 bytes."""
    task = "é" * 6_000
    run = desk.run(f'$ralph-loop "{task}" --completion-promise DONE', turns=[NOT_YET, PROMISE])

    assert BLOCK in run.main[1].last
    assert "truncated" not in run.main[1].last


@with_tools
def test_forty_iterations(desk: Desk) -> None:
    """The client has no limit of its own."""
    desk.write("../home/.claude/.sisyphus/config.toml", "[ralph]\nbreaker_stops = 0\n")

    run = desk.run(LOOP, turns=[*[NOT_YET] * 40, PROMISE])

    assert [BLOCK in request.last for request in run.main] == [False, *[True] * 40]
    assert COMPLETE in run.messages


@with_tools
def test_it_compacts_before_the_third_level(desk: Desk) -> None:
    desk.write("one.py", "1\n")
    fills = [use(read("one.py"), tokens=10_000 * percent) for percent in (60, 72, 87, 93, 95)]

    run = desk.run(LOOP, turns=[*fills, PROMISE])

    marks = [mark for each in run.main for mark in re.findall(r"CCS_\w+\|L\d", each.last)]
    assert marks == ["CCS_WARNING|L1", "CCS_CHECKPOINT_TRIGGERED|L2"]
    assert [RESUME in request.last for request in run.main] == [*[False] * 5, True]


# ---------------------------------------------------------------- the default model


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario("a plan", {".claude/PLAN.md": PLAN},
                 [Step(["work"], [use(read(".claude/PLAN.md")), use(TEST_DONE), say("tested")]),
                  NEXT],
                 last={continuation("Checkout page", "3/4"): [0, 0, 0, 1]}),
        Scenario("a rule", PYTHON, [Step(["look"], PARALLEL)], model={TEXT: [0, 1]}),
        Scenario("a loop", {}, [Step([LOOP], [NOT_YET, NOT_YET, PROMISE])],
                 last={BLOCK: [0, 1, 1]}, user=[COMPLETE]),
        Scenario("a subagent's edit, without a word to it", {"PLAN.md": PLAN},
                 [Step(["delegate"], [use(delegate("test it"), WAIT), say("tested")],
                       agents=[use(edit("PLAN.md", "- [ ] Test it", "- [x] Test it")),
                               say("done")]), NEXT],
                 last={continuation("Checkout page", "3/4", "PLAN.md"): [0, 0, 1]},
                 agents={STATE: [0, 0]}),
        Scenario("a subagent gets a rule in its own context", PYTHON,
                 [Step(["look"], [use(delegate("look"), WAIT), *PARALLEL],
                       agents=[use(read("one.py")), use(read("one.py")), say("read it")])],
                 model={TEXT: [0, 0, 1]}, agents={TEXT: [0, 1, 1]}),
        Scenario("a subagent stops freely, and its promise does not count", {},
                 [Step([LOOP], [use(delegate("do it"), WAIT), NOT_YET, PROMISE],
                       agents=[PROMISE])],
                 last={BLOCK: [0, 0, 1]}, agents={"[RALPH LOOP": [0]}),
    ],
    ids=lambda scenario: scenario.name,
)  # fmt: skip
@with_programs
def test_the_default_model(desk: Desk, scenario: Scenario) -> None:
    play(desk, scenario)


# ---------------------------------------------------------------- codex exec


@contextmanager
def asked(desk: Desk, turns: Sequence[Turn]) -> Iterator[tuple[dict[str, str], list[Request]]]:
    """The environment of `codex exec`, and what its model is asked."""
    script = Script([*turns])
    with serving(script, desk.spell) as model:
        variables = {**desk.environment(), **desk.client.model_variables(model.url)}
        yield variables, model.requests
    assert script.is_over, f"left: {script.main}; beyond: {script.surplus}"
    desk.check_log()


@with_tools
def test_a_loop_in_exec_that_is_resumed(desk: Desk) -> None:
    for path, text in {**PYTHON, "PLAN.md": PLAN}.items():
        desk.write(path, text)
    turns = [use(read("one.py")), NOT_YET, say("<blocked>a key</blocked>"), NOT_YET, PROMISE]
    typed = '$ralph-loop "do it" --completion-promise "DONE"'

    with asked(desk, turns) as (variables, requests):
        printed = Codex().execute(typed, desk.project, variables)
        session = re.findall(r"session id: (\S+)", printed)[0]
        Codex().execute("here it is", desk.project, variables, "resume", session)

    assert [request.text.count(STATE) for request in requests] == [1] * 5
    assert [request.text.count(TEXT) for request in requests] == [0, 1, 1, 1, 1]
    assert [BLOCK in request.last for request in requests] == [False, False, True, False, True]
    assert "complete, 3 iterations" in desk.sisyphus("ralph", "log")


@with_tools
def test_hooks_that_nobody_trusted_do_not_run(desk: Desk) -> None:
    desk.write("PLAN.md", PLAN)

    with asked(desk, [say("hi")]) as (variables, requests):
        Codex().execute("hello", desk.project, variables, trusts=False)

    assert STATE not in requests[0].text


@with_tools
def test_a_loop_that_no_hook_heard_start_is_found_later(desk: Desk) -> None:
    typed = '$ralph-loop "do it" --completion-promise "DONE"'

    with asked(desk, [NOT_YET, NOT_YET, PROMISE]) as (variables, requests):
        Codex().execute(typed, desk.project, variables, trusts=False)
        assert "No loop is running." in desk.sisyphus("ralph", "list")
        Codex().execute("go on", desk.project, variables, "resume", "--last")

    assert [BLOCK in request.last for request in requests] == [False, False, True]
    assert "complete, 2 iterations" in desk.sisyphus("ralph", "log")


@with_tools
def test_a_stop_of_two_wirings_is_one_iteration(desk: Desk) -> None:
    """The second hook begins when the first has decided."""
    file = desk.home / ".codex" / "hooks.json"
    wiring = json.loads(file.read_text("utf-8"))
    (stop,) = wiring["hooks"]["Stop"][0]["hooks"]
    late = {**stop, "command": f"sleep 1; {stop['command']}"}
    wiring["hooks"]["Stop"].append({"hooks": [late]})
    file.write_text(json.dumps(wiring), encoding="utf-8")
    typed = '$ralph-loop "do it" --completion-promise "DONE"'

    with asked(desk, [NOT_YET, NOT_YET, PROMISE]) as (variables, requests):
        Codex().execute(typed, desk.project, variables)

    assert [BLOCK in request.last for request in requests] == [False, True, True]
    assert "complete, 3 iterations" in desk.sisyphus("ralph", "log")


# ---------------------------------------------------------------- `sisyphus install`


@with_tools
def test_after_uninstall_nothing_of_ours_happens(desk: Desk) -> None:
    desk.write("README.md", f"{SHIPS}\n")
    desk.write("PLAN.md", PLAN)
    pure = desk.run("hello", turns=[say("hi")], env={"SISYPHUS_DISABLE": "1"})
    desk.sisyphus("uninstall", "--client", CODEX, "--yes")
    run = desk.run("hello", turns=[say("hi")])

    left = [path.name for path in (desk.home / ".codex").rglob("*")]
    assert not {"hooks.json", "ralph-loop"} & {*left}
    for each in (run, pure):
        assert SHIPS not in each.requests[0].text
        assert STATE not in each.requests[0].text
