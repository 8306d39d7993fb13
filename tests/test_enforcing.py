"""Continuous enforcement at the doors: what makes a session go on, and what holds it back."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from patience import wait_for
from test_house import HEAVY, loaded_by_hook
from test_statusline import line
from world import Json, Reply, World, agent, result, use

from sisyphus.enforce.enforcements import Enforcement
from sisyphus.enforce.gates import GateFacts, after_turn, closed, next_at
from sisyphus.ground.record import replace
from sisyphus.ground.settings import SETTINGS

HEADING = "[CONTINUOUS ENFORCEMENT]"
DONE = "All tests pass. The parser is done."
WORKING = "I look at the parser."
VALUES = {name: setting.default for name, setting in SETTINGS.items()}


def enforce(world: World, session: str = "s1", **settings: object) -> None:
    """Starts a session where enforcement is on. settings: those of `[enforce]`."""
    world.cli("enforce", "on")
    configure(world, **settings)
    world.start(session)


def configure(world: World, **settings: object) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    world.write(world.ours / "config.toml", "\n".join(["[enforce]", *lines, ""]))


def work(world: World, *, session: str = "s1") -> None:
    """The agent uses a tool."""
    world.write_down(agent(use("Read", file_path="/x")), result("text"), session=session)


def exported(world: World) -> Json:
    (file,) = world.ours.glob("projects/*/enforce.json")
    content: Json = json.loads(file.read_text())
    return content


def held_back(world: World) -> str:
    """What the journal says about the last Stop."""
    return "; ".join(note for note in world.why()[-1]["notes"] if "enforcement" in note)


# ---------------------------------------------------------------- the gates in their order

FACTS = GateFacts(1000.0)
NEW = Enforcement()
LAST = Enforcement(iteration=50)
FAILED = Enforcement(iteration=9, failures=5, at=900.0)
STOPPED = Enforcement(is_stopped=True)
RECENT = Enforcement(iteration=1, at=990.0, failures=5, is_stopped=True)


@pytest.mark.parametrize(
    ("facts", "enforcement", "gate"),
    [
        (FACTS, NEW, ""),
        (replace(FACTS, is_planning=True, has_other=True), NEW, "plan mode"),
        (replace(FACTS, has_other=True, is_waiting=True), NEW, "loop or hold"),
        (replace(FACTS, is_waiting=True, rests="a key"), NEW, "background work"),
        (replace(FACTS, rests="a key", asks=True), NEW, "blocked"),
        (replace(FACTS, asks=True, idle_seconds=3), NEW, "question"),
        (replace(FACTS, idle_seconds=29.9), RECENT, "idle time"),
        (replace(FACTS, idle_seconds=30), NEW, ""),
        (FACTS, RECENT, "cooldown"),
        (FACTS, replace(FAILED, is_stopped=True), "failures"),
        (FACTS, replace(FAILED, at=701.0), "failures"),
        (FACTS, replace(FAILED, at=700.0), ""),
        (FACTS, replace(STOPPED, iteration=50), "stop"),
        (replace(FACTS, is_at_cap=True), LAST, "limit"),
        (FACTS, replace(LAST, iteration=49), ""),
        (replace(FACTS, is_at_cap=True), NEW, "client"),
    ],
)
def test_the_first_closed_gate_holds_back(
    facts: GateFacts, enforcement: Enforcement, gate: str
) -> None:
    names = [each.name for each in closed(facts, enforcement, VALUES)]
    assert "".join(names[:1]) == gate


def test_zero_opens_the_gates_that_count() -> None:
    endless = {**VALUES, "enforce.max_iterations": 0, "enforce.max_failures": 0}
    assert not closed(FACTS, Enforcement(iteration=9_999, failures=99, at=0.0), endless)


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 30), (1, 60), (2, 120), (3, 240), (4, 480), (5, 300), (99, 300)]
)
def test_each_failure_doubles_the_cooldown(failures: int, seconds: int) -> None:
    """Too many wait until they are forgotten."""
    enforcement = Enforcement(iteration=1, failures=failures, at=1000.0)
    assert next_at(990.0, enforcement, VALUES) == 1000.0 + seconds


def test_the_cooldown_has_an_end() -> None:
    endless = {**VALUES, "enforce.max_failures": 0}
    assert next_at(990.0, Enforcement(failures=99, at=1000.0), endless) == 1000.0 + (30 << 20)


@pytest.mark.parametrize(
    ("before", "uses_tools", "now", "failures"),
    [
        (Enforcement(1, 0, 1000.0, is_pending=True), False, 1010.0, 1),
        (Enforcement(3, 2, 1000.0, is_pending=True), False, 1010.0, 3),
        (Enforcement(3, 2, 1000.0, is_pending=True), True, 1010.0, 0),
        (Enforcement(3, 2, 1000.0, is_pending=False), False, 1010.0, 2),
        (Enforcement(3, 2, 1000.0, is_pending=False), False, 1300.0, 0),
        (Enforcement(3, 2, 1000.0, is_pending=True), False, 1300.0, 1),
    ],
)
def test_an_enforcement_that_no_tool_call_follows_is_a_failure(
    before: Enforcement, uses_tools: bool, now: float, failures: int
) -> None:
    after = after_turn(before, uses_tools=uses_tools, now=now, settings=VALUES)
    assert (after.failures, after.is_pending) == (failures, False)


# ---------------------------------------------------------------- at a Stop


def test_a_session_that_says_it_is_done_must_prove_it(world: World) -> None:
    enforce(world)

    reply = world.stop(DONE)

    assert reply.reason == (
        f"{HEADING}\n\n"
        f'You say: "{DONE}"\n\n'
        "Before you stop:\n"
        "1. Verify: run the tests and the build, and read what they print.\n"
        "2. Requirements: go through all that the user asked for, one by one.\n"
        "3. Evidence: show the output that proves each of them.\n"
        "4. Improve: find the weakest part of the work, and make it better.\n\n"
        "If you need something from the user, say <blocked>what you need</blocked>\n"
        "(Enforcement 1 of 50. Only the user ends it.)"
    )
    assert reply.message == (
        "Enforcement 1 of 50: the agent says that it is done, and must prove it."
    )


def test_a_session_that_is_not_enforced_never_notices(world: World) -> None:
    world.write("PLAN.md", "# Kiln\n\n- [ ] fire\n")
    world.setenv("CLAUDE_CODE_ENTRYPOINT", "cli")
    world.start()

    assert world.stop(DONE).is_silent
    assert world.hook("idle", world.stop_payload(DONE)).is_silent
    assert world.hook("stop-failure", world.stop_payload("API Error: 500")).is_silent
    assert [event["event"] for event in world.why()] == ["session-start"]
    assert not list(world.ours.glob("projects/*"))


def test_the_demand_names_open_tasks_and_the_tests_that_passed(world: World) -> None:
    world.write("PLAN.md", "# Kiln\n\n- [x] dig\n- [ ] fire\n- [ ] cool\n- [ ] sell\n- [ ] rest\n")
    enforce(world)
    world.write_down(
        agent(use("Edit", "e1", file_path="/x")), result("done", "e1"),
        agent(use("Bash", "b1", command="cd x && pytest -q")), result("3 passed", "b1"),
    )  # fmt: skip

    reason = world.stop(DONE).reason

    assert "Open tasks: fire; cool; sell\n" in reason
    assert (
        "1. Verify: `cd x && pytest -q` passed after your last edit. Prove what it does not cover: "
        "the build, and what has no test.\n"
    ) in reason


@pytest.mark.parametrize(
    ("lines", "is_proven"),
    [
        ([use("Bash", "b1", command="pytest"), result("ok", "b1")], True),
        ([use("Bash", "b1", command="ls"), result("ok", "b1")], False),
        ([use("Bash", "b1", command="pytest"), result("no", "b1", is_error=True)], False),
        ([use("Bash", "b1", command="pytest", run_in_background=True), result("id", "b1")], False),
        ([use("Bash", "b1", command="pytest"), result("ok", "b1"),
          use("Edit", "e1", file_path="/x"), result("done", "e1")], False),
        ([use("Edit", "e1", file_path="/x"), result("done", "e1"),
          use("Bash", "b1", command="pytest"), result("ok", "b1")], True),
        ([use("Bash", "b1", command="pytest"), result("ok", "b1"),
          use("Bash", "b2", command="pytest"), result("no", "b2", is_error=True)], False),
    ],
)  # fmt: skip
def test_tests_prove_something_if_they_pass_after_the_last_edit(
    world: World, lines: list[Json], is_proven: bool
) -> None:
    enforce(world)
    world.write_down(*(agent(line) if line["type"] == "tool_use" else line for line in lines))

    assert ("passed after your last edit" in world.stop(DONE).reason) == is_proven


def test_what_passed_in_an_earlier_turn_counts_until_the_next_edit(world: World) -> None:
    enforce(world, cooldown_seconds=0)
    world.write_down(agent(use("Bash", "b1", command="pytest")), result("ok", "b1"))

    assert "`pytest` passed" in world.stop(DONE).reason
    work(world)
    assert "`pytest` passed" in world.stop(DONE).reason
    world.write_down(agent(use("Write", "w1", file_path="/x")), result("done", "w1"))
    assert "passed after" not in world.stop(DONE).reason


def test_words_of_work_questions_and_needs_hold_it_back(world: World) -> None:
    enforce(world)
    for last, why in (
        ("Let me complete the function.", "does not say that it is done"),
        (WORKING, "does not say that it is done"),
        ("The parser is done. Shall I push it?", "asks its user"),
    ):
        assert not world.stop(last).reason, last
        assert why in held_back(world)

    needs = world.stop("It is done, but\n\n<blocked>a key</blocked>")

    assert not needs.reason
    assert needs.message == "The agent needs you: a key. Enforcement waits for your next prompt."
    assert not world.stop(DONE).reason
    world.prompt(text="here it is")
    assert world.stop(DONE).reason


def test_subagents_plan_mode_and_background_work_hold_it_back(world: World) -> None:
    enforce(world)
    for fields, why in (
        ({"agent_id": "a1"}, ""),
        ({"permission_mode": "plan"}, "plan mode"),
        ({"background_tasks": [{"id": "b1"}]}, "background work"),
    ):
        assert not world.stop(DONE, **fields).reason
        assert why in held_back(world)
    assert world.stop(DONE).reason


def test_a_loop_decides_alone_until_it_ends(world: World) -> None:
    enforce(world)
    world.loop()

    assert HEADING not in world.stop(DONE).reason
    assert HEADING in world.stop(f"{DONE}\n\n<promise>DONE</promise>").reason


def test_the_cooldown_the_failures_and_the_limit_hold_it_back(world: World) -> None:
    enforce(world, max_iterations=7)
    assert world.stop(DONE).reason
    assert not world.stop(DONE).reason
    assert "of the cooldown are left" in held_back(world)

    configure(world, max_iterations=7, cooldown_seconds=0)
    assert [bool(world.stop(DONE).reason) for _ in range(5)] == [True] * 4 + [False]
    assert "5 enforcements in a row without a tool call" in held_back(world)
    assert exported(world)["status"] == "RECOVERING"

    work(world)
    assert world.stop(DONE).reason
    work(world)
    assert world.stop(DONE).reason
    work(world)
    assert not world.stop(DONE).reason
    assert "and 7 are allowed" in held_back(world)
    assert exported(world)["status"] == "EXHAUSTED"

    world.cli("enforce", "on")  # the count starts again
    assert world.stop(DONE).reason


def test_what_follows_a_prompt_answers_the_user(world: World) -> None:
    enforce(world, cooldown_seconds=0)
    world.stop(DONE)
    world.prompt(text="why?")
    world.stop("Because.")

    assert exported(world)["failureCount"] == 0


def test_a_turn_in_plan_mode_is_no_failure(world: World) -> None:
    enforce(world)
    world.stop(DONE)
    world.stop("Here is my plan.", permission_mode="plan")

    assert exported(world)["failureCount"] == 0


def test_it_never_blocks_more_often_than_the_client_allows(world: World) -> None:
    enforce(world, cooldown_seconds=0, max_failures=0)

    assert [bool(world.stop(DONE).reason) for _ in range(9)] == [True] * 7 + [False] * 2
    assert "the client would ignore" in held_back(world)


def test_the_setting_switches_it_off(world: World) -> None:
    enforce(world, enabled=False)

    assert world.stop(DONE).is_silent
    assert "Enforcements are off: " in world.cli("enforce", "status").out


# ---------------------------------------------------------------- starts, failures


def test_a_start_says_that_it_is_on(world: World) -> None:
    world.cli("enforce", "on")
    line = "Enforcement is on here: the agent is made to go on. `/enforce stop` leaves it alone"

    for source, is_told in (
        ("startup", True), ("resume", False), ("compact", False), ("clear", True),
    ):  # fmt: skip
        assert (line in world.start(source, source).message) == is_told, source
    assert line not in world.start("startup").message  # the same start, of another wiring


def test_a_failed_turn_is_noted_and_counts_nothing(world: World) -> None:
    enforce(world)
    world.stop(DONE)
    before = exported(world)

    assert world.hook("stop-failure", world.stop_payload("API Error: 529 Overloaded")).is_silent

    assert world.why()[-1]["notes"] == ["the turn failed: API Error: 529 Overloaded"]
    assert exported(world) == before


def test_where_the_plugin_runs_it_names_the_plugins_command(world: World) -> None:
    world.cli("enforce", "on")
    world.setenv("CLAUDE_PLUGIN_ROOT", "/plugin")

    assert "`/sisyphus:enforce stop`" in world.start().message


# ---------------------------------------------------------------- commands


def test_the_switch_says_what_will_happen(world: World) -> None:
    shown = world.cli("enforce", "on").out

    assert shown.splitlines() == [
        f"Enforcement is on in {world.project}.",
        "An agent that says that it is done must prove it, and one that has been idle for 30 s is "
        "woken, where its client can do that.",
        "At most 50 times a session: each time costs you a turn of the model.",
        "`sisyphus enforce stop` leaves the sessions alone until your next prompt, "
        "`sisyphus enforce off` ends it.",
    ]
    assert world.cli("enforce", "off").out == f"Enforcement is off in {world.project}.\n"
    assert world.cli("enforce", "off").out == f"Enforcement was not on in {world.project}.\n"


def test_only_this_project_is_enforced(world: World) -> None:
    other = world.new_project("other")
    world.cli("enforce", "on", "--project", other)
    world.start()

    assert world.stop(DONE).is_silent
    assert world.cli("status", "--json").json["enforcement"] is None


@pytest.mark.parametrize("word", ["on", "off", "stop"])
def test_the_model_cannot_switch_it(world: World, word: str) -> None:
    enforce(world)
    world.setenv("CLAUDE_CODE_SESSION_ID", "s1")

    answer = world.cli("enforce", word)

    assert answer.code == 1
    assert f"Type /enforce {word}, or use another terminal." in answer.err
    assert world.cli("enforce", "status", "--json").json["status"] == "CONTINUOUS"


def typed(world: World, text: str) -> str:
    """The answer to a slash command."""
    reply: Reply = world.prompt(text=text)
    return reply.reason


def test_typed_commands_are_answered_without_the_model(world: World) -> None:
    world.start()

    assert typed(world, "/sisyphus:enforce on").startswith("Enforcement is on in ")
    assert typed(world, "/sisyphus:enforce").startswith("Enforcement: on\nSession s1\n")
    assert typed(world, "/sisyphus:enforce stop") == (
        "Session s1 is left alone until your next prompt there."
    )
    assert typed(world, "/sisyphus:enforce off").startswith("Enforcement is off in ")


def test_a_stop_lasts_until_a_person_prompts(world: World) -> None:
    enforce(world)
    world.start("s2")
    assert world.cli("enforce", "stop").out == (
        "2 sessions are left alone until your next prompt there.\n"
    )
    for text in ("<task-notification>done</task-notification>", "/sisyphus:enforce status"):
        world.prompt(text=text)
        assert not world.stop(DONE).reason
    assert "the user stopped it" in held_back(world)
    assert exported(world)["status"] == "STOPPED"

    world.prompt(text="go on")

    assert world.stop(DONE).reason
    assert not world.stop(DONE, "s2").reason


def test_one_session_can_be_stopped(world: World) -> None:
    enforce(world)
    world.start("s2")
    world.cli("enforce", "stop", "--session-id", "s2")

    assert world.stop(DONE).reason
    assert not world.stop(DONE, "s2").reason
    assert "No session s9. " in world.cli("enforce", "stop", "--session-id", "s9").err


def test_a_stop_in_a_session_whose_start_was_not_heard_stops_it_alone(world: World) -> None:
    enforce(world)

    assert world.prompt("s9", "/sisyphus:enforce stop").reason == (
        "Session s9 is left alone until your next prompt there."
    )
    assert not world.stop(DONE, "s9").reason
    assert world.stop(DONE).reason


def test_the_status_shows_gates_and_what_is_next(world: World) -> None:
    assert "`sisyphus enforce on` switches it on" in world.cli("enforce", "status").out
    enforce(world)
    world.stop(DONE)
    world.stop("Shall I?")

    shown = world.cli("enforce", "status").out
    data = world.cli("enforce", "status", "--json").json

    assert shown.startswith("Enforcement: on\nSession s1\n  Enforcements: 1 of 50, failures in a")
    assert "  question: the agent asks its user something\n" in shown
    assert "  It would not be enforced now.\n" in shown
    assert "  background work: open\n" not in shown
    assert "  background work: open\n" in world.cli("enforce", "status", "--verbose").out
    assert "  Next by idle time: not by itself now\n" in shown
    names = [gate["gate"] for gate in data["gates"] if not gate["is_open"]]
    assert names == ["question", "idle time", "cooldown"]
    world.stop(WORKING)
    assert world.cli("enforce", "status", "--json").json["next_at"]


def test_status_and_the_exported_file_agree(world: World) -> None:
    enforce(world)
    world.stop(DONE)

    content = exported(world)
    shown = world.cli("status", "--json").json["enforcement"]

    assert list(content) == [
        "iteration", "lastActivity", "lastEnforcement", "failureCount", "stopRequested", "status",
    ]  # fmt: skip
    assert content["iteration"] == 1
    assert content["lastEnforcement"] > 1_700_000_000_000
    assert shown == {"since": shown["since"], "session_id": "s1", **content}
    assert "Enforcement: on, 1 of 50 in the last session\n" in world.cli("status").out
    world.cli("enforce", "off")
    assert exported(world)["status"] == "OFF"


def test_the_status_line_shows_it(world: World) -> None:
    enforce(world)
    assert line(world) == "enforce on\n"
    world.cli("enforce", "stop")
    assert line(world) == "enforce stopped\n"
    world.cli("enforce", "off")
    assert line(world) == "\n"


def test_a_stop_of_an_enforced_session_loads_nothing_heavy(world: World) -> None:
    enforce(world)
    world.write_down(agent(use("Bash", "b1", command="pytest")), result("ok", "b1"))

    modules = loaded_by_hook(world.stop_payload(DONE), "stop")

    assert "sisyphus.enforce.says_done" in modules
    assert not (HEAVY - {"dataclasses"}) & modules


def test_home_is_never_enforced(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.home)
    assert world.cli("enforce", "on").code == 1


def test_the_file_of_the_slash_command_is_for_people() -> None:
    text = (Path(__file__).parents[1] / "commands" / "enforce.md").read_text()
    assert "disable-model-invocation: true" in text


# ---------------------------------------------------------------- what its user learns


def test_its_limit_is_told_once_and_shown(world: World) -> None:
    enforce(world, max_iterations=2, cooldown_seconds=0)
    for number in (1, 2):
        assert world.stop(DONE).message.startswith(f"Enforcement {number} of 2: the agent says")

    last, again = world.stop(DONE), world.stop(DONE)

    assert last.message == (
        "Enforcement 2 of 2 was the last in session s1: it is left alone. "
        "`sisyphus enforce on` starts the count again."
    )
    assert not again.message
    assert line(world) == "enforce at limit\n"
    world.cli("enforce", "on")
    replies = [world.stop(DONE) for _ in range(4)]
    assert ["was the last" in reply.message for reply in replies] == [False, False, True, False]


def test_too_many_failures_are_told_once_and_shown(world: World) -> None:
    enforce(world, max_failures=2, cooldown_seconds=0)
    assert [bool(world.stop(DONE).reason) for _ in range(2)] == [True, True]

    last, again = world.stop(DONE), world.stop(DONE)

    assert re.fullmatch(
        r"Enforcement holds back for (300|299) s: 2 times in a row the agent did nothing.",
        last.message,
    )
    assert not again.message
    assert line(world) == "enforce waiting\n"
    assert exported(world)["status"] == "RECOVERING"
    configure(world, max_failures=2, cooldown_seconds=0, recovery_seconds=0)
    assert line(world) == "enforce on\n"


def test_the_users_command_is_told_of_the_limit(world: World) -> None:
    inbox = world.root / "inbox"
    world.cli("enforce", "on")
    world.write(
        world.ours / "config.toml",
        f"[enforce]\nmax_iterations = 1\n[notify]\ncommand = 'cat >> \"{inbox}\"'\n",
    )
    world.start()
    world.stop(DONE)
    world.stop(DONE)

    wait_for(lambda: inbox.exists() and inbox.read_text().endswith("\n"))
    notice = json.loads(inbox.read_text())
    assert (notice["kind"], notice["title"]) == ("ended", "Enforcement ended")
    assert notice["text"].startswith("Enforcement 1 of 1 was the last in session s1")


def next_wake(world: World, *words: str) -> str:
    return str(world.cli("enforce", "status", *words, "--json").json["next"])


def test_the_status_says_when_an_idle_session_is_woken(world: World) -> None:
    world.start()
    world.loop()
    world.cli("ralph", "pause", "--session-id", "s1")
    world.stop(WORKING)  # idle from now on, and nobody waits beside it
    world.cli("ralph", "cancel", "--session-id", "s1")
    on = world.cli("enforce", "on").out
    assert on.endswith("\nA session that is idle now is woken only after its next turn.\n")
    assert next_wake(world) == "after its next turn"

    world.prompt()
    assert next_wake(world) == "after its next turn"
    world.stop(WORKING)
    assert re.fullmatch(r"at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, if it stays idle", next_wake(world))
    configure(world, idle_seconds=900)
    assert next_wake(world) == "after its next turn"
    configure(world, idle_seconds=0)
    assert next_wake(world) == "after its next turn"

    world.prompt()
    world.hook("stop-failure", world.stop_payload("API Error: 500"))
    assert next_wake(world) == (
        "not before your next prompt, because its last turn failed: API Error: 500"
    )


def test_the_status_is_of_an_open_session_and_names_those_that_are_stopped(world: World) -> None:
    enforce(world)
    world.start("s2")
    world.stop(DONE)
    world.stop(DONE, "s2")
    world.start("s3")
    world.cli("enforce", "stop", "--session-id", "s3")

    assert "Session s2\n" in world.cli("enforce", "status").out
    assert "Left alone until your next prompt there: s3\n" in world.cli("enforce", "status").out
    assert "on, 1 of 50 in the last session. Left alone until your next prompt there: s3\n" in (
        world.cli("status").out
    )
    for session in ("s1", "s2"):
        world.hook("session-end", world.payload("SessionEnd.other", session))
    assert world.cli("enforce", "status").out.startswith(
        "Enforcement: stopped until your next prompt\nSession s3\n"
    )
    assert "Enforcement: stopped until your next prompt\n" in world.cli("status").out


def test_a_session_that_only_a_command_named_is_not_open(world: World) -> None:
    enforce(world)
    id = "12345678-1234-1234-1234-123456789abc"
    assert world.cli("ralph", "start", "--session-id", id, "--", "x").code == 0

    assert (
        world.cli("enforce", "stop").out
        == "Session s1 is left alone until your next prompt there.\n"
    )
    assert world.cli("ralph", "start", "--", "x").code == 0


@pytest.mark.parametrize("command", ["stop", "status"])
def test_its_commands_take_the_start_of_an_id(world: World, command: str) -> None:
    enforce(world, "a4b2c3d4-1")
    world.start("s2")

    assert "a4b2c3d4-1" in world.cli("enforce", command, "--session-id", "a4").out
    unknown = world.cli("enforce", command, "--session-id", "qq")
    assert (unknown.code, unknown.err) == (
        1, "error: No session qq. `sisyphus sessions --all` lists them.\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "ways"),
    [
        ("/sisyphus:enforce", "`/sisyphus:enforce stop` leaves this session alone"),
        ("", "`sisyphus enforce stop` leaves the sessions alone"),
    ],
)
def test_a_start_names_the_commands_of_where_it_was_typed(
    world: World, typed: str, ways: str
) -> None:
    world.start()
    said = world.prompt(text=f"{typed} on").reason if typed else world.cli("enforce", "on").out
    assert ways in said


def test_a_session_whose_client_is_gone_is_not_open(world: World) -> None:
    enforce(world)
    with subprocess.Popen(["sleep", "60"]) as client:
        world.setenv("CLAUDE_PID", str(client.pid))
        world.start("s2")
        client.kill()
    world.setenv("CLAUDE_PID", "")

    assert world.cli("enforce", "stop").out.startswith("Session s1 is left alone")
    assert "The session is s1, the only open one" in world.cli("ralph", "start", "--", "x").out
