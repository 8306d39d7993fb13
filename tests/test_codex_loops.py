"""Loops in Codex: what its other events, its rollout and a second wiring do to them."""

from __future__ import annotations

import time
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
from test_codex import Codex, with_skills
from test_enforcing import DONE, configure
from world import Reply, World

from sisyphus.ground.store import open_store

Json = dict[str, Any]

TYPED = '$ralph-loop "Fix it." --completion-promise "DONE" --max-iterations 5'
GO_ON = 'Type "go on" in session c1.'


@pytest.fixture
def codex(world: World) -> Codex:
    return with_skills(world)


def begin(codex: Codex) -> None:
    """The user starts a loop, and the agent has stopped once."""
    codex.start()
    codex.prompt(TYPED)
    codex.stop()


# ---------------------------------------------------------------- the user interrupts


def interrupt(codex: Codex) -> Reply:
    """The user presses Esc during a turn."""
    return codex.send("interrupt", "Interrupt")


def waiting(world: World) -> list[Json]:
    found: list[Json] = world.cli("status", "--json").json["waiting"]
    return found


def test_an_interrupted_loop_waits_for_a_prompt(world: World, codex: Codex) -> None:
    begin(codex)

    assert interrupt(codex).is_silent

    assert world.why("c1")[-1]["notes"] == [
        "you interrupted the turn, so nothing goes on before your next prompt"
    ]
    (loop,), (each,) = world.loops(), waiting(world)
    id = loop["loop_id"]
    assert (loop["status"], loop["iteration"]) == ("active", 2)
    assert (each["kind"], each["session_id"], each["loop_id"]) == ("prompt", "c1", id)
    assert each["text"] == (
        f"Ralph loop {id} waits for your next prompt, because you interrupted its agent: Fix it."
    )
    assert each["answer"] == GO_ON
    assert f"You interrupted its agent. {GO_ON}" in world.cli("ralph", "list").out


@pytest.mark.parametrize("text", ["go on", "$lint the shop", TYPED])
def test_the_next_prompt_makes_it_a_loop_at_work(world: World, codex: Codex, text: str) -> None:
    begin(codex)
    interrupt(codex)

    codex.prompt(text)

    assert waiting(world) == []
    assert "interrupted" not in world.cli("ralph", "list").out
    assert codex.stop().reason


def test_a_turn_that_no_hook_heard_begin_makes_it_so_too(world: World, codex: Codex) -> None:
    begin(codex)
    interrupt(codex)

    assert codex.stop().reason

    assert waiting(world) == []


def test_a_command_that_we_answer_begins_no_turn(world: World, codex: Codex) -> None:
    begin(codex)
    interrupt(codex)

    assert codex.prompt("$boulder-status").reason

    assert [each["kind"] for each in waiting(world)] == ["prompt"]


@pytest.mark.parametrize("by", ["hold", "enforcement"])
def test_a_stop_is_no_rest_after_a_turn_that_no_hook_heard_begin(
    world: World, codex: Codex, by: str
) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] Cart\n- [ ] Pay\n")
    codex.start()
    world.cli(*(("boulder", "hold", "on") if by == "hold" else ("enforce", "on")))
    codex.prompt()
    interrupt(codex)

    assert codex.stop(DONE).reason


def test_what_the_agent_says_is_no_interruption(world: World, codex: Codex) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] Cart\n- [ ] Pay\n")
    codex.start()
    codex.prompt()
    world.cli("boulder", "hold", "on")

    assert not codex.stop("<blocked>you interrupted it</blocked>").reason

    assert [each["kind"] for each in waiting(world)] == ["rests"]
    assert not codex.stop("I wait.").reason


def test_an_interrupted_session_says_why_it_waits(world: World, codex: Codex) -> None:
    world.write("PLAN.md", "# Shop\n\n- [ ] Cart\n- [ ] Pay\n")
    codex.start()
    codex.prompt()
    world.cli("boulder", "hold", "on")
    interrupt(codex)

    assert "(needs you: you interrupted it)" in world.cli("boulder", "hold").out
    assert waiting(world) == []


# ---------------------------------------------------------------- started while no hook ran


@pytest.mark.parametrize("text", [TYPED, f"  {TYPED}"])
def test_a_skill_that_no_hook_heard_starts_a_loop_at_the_next_stop(
    world: World, codex: Codex, text: str
) -> None:
    codex.note_item("UserMessage", text)
    codex.note_item("AgentMessage", "hm")

    assert "DONE (inside a promise tag)" in codex.stop("hm").reason

    assert [loop["prompt"] for loop in world.loops()] == ["Fix it."]
    assert not codex.stop("<promise>DONE</promise>").reason
    assert not codex.stop("Anything.").reason
    assert world.loops() == []


def test_a_skill_that_a_hook_heard_starts_no_second_loop(world: World, codex: Codex) -> None:
    codex.start()
    codex.send("user-prompt-submit", "UserPromptSubmit", prompt=TYPED, turn_id="t1")
    codex.note_item("UserMessage", TYPED)
    assert not codex.stop("<promise>DONE</promise>").reason

    assert not codex.stop("Anything.").reason

    assert len(world.ended()) == 1


@pytest.mark.parametrize(
    "text",
    [
        TYPED.replace("$", "/"),
        "Use $ralph-loop here.",
        "$ralph-loops",
        '$other:ralph-loop "Fix it."',
        "$cancel-ralph",
    ],
)
def test_a_prompt_that_mentions_it_starts_none(world: World, codex: Codex, text: str) -> None:
    codex.note_item("UserMessage", text)

    assert not codex.stop("hm").reason
    assert world.loops() == []


def test_a_skill_of_somebody_else_starts_none(world: World, codex: Codex) -> None:
    world.write(world.home / ".codex/skills/ralph-loop/SKILL.md", "---\nname: ralph-loop\n---\n")
    codex.note_item("UserMessage", TYPED)

    assert not codex.stop("hm").reason
    assert world.loops() == []


# ---------------------------------------------------------------- two wirings


def note_block(codex: Codex) -> None:
    """The client notes that our reason makes the turn go on."""
    codex.note_item("HookPrompt", fragments=[{"text": "Go on."}])


def test_a_stop_of_two_wirings_is_one_iteration(world: World, codex: Codex) -> None:
    """The second hook begins when the first has saved."""
    codex.start()
    codex.prompt(TYPED)
    for iteration in (2, 3, 4):
        codex.note_item("AgentMessage", "Not yet.")
        is_later = {"stop_hook_active": iteration > 2}

        assert codex.stop("Not yet.", **is_later).reason
        assert not codex.stop("Not yet.", **is_later).out

        assert [loop["iteration"] for loop in world.loops()] == [iteration]
        note_block(codex)
    assert world.why("c1")[-1]["notes"] == ["another hook already decided this Stop"]


def test_what_the_client_writes_down_late_is_no_new_turn(world: World, codex: Codex) -> None:
    codex.start()
    codex.prompt(TYPED)
    codex.note_item("UserMessage", TYPED)

    assert codex.stop("Not yet.").reason
    codex.note_item("AgentMessage", "Not yet.")
    codex.fill(10)
    assert not codex.stop("Not yet.").out

    assert [loop["iteration"] for loop in world.loops()] == [2]


@pytest.mark.parametrize("differs", ["words", "reason", "tool", "turn", "not the first"])
def test_another_stop_counts(world: World, codex: Codex, differs: str) -> None:
    codex.start()
    codex.prompt(TYPED)
    codex.note_item("AgentMessage", "Not yet.")
    assert codex.stop("Not yet.").reason

    words = "Still not." if differs == "words" else "Not yet."
    fields: Json = {"turn_id": "t2"} if differs == "turn" else {}
    if differs == "not the first":  # and nothing is written down yet
        fields = {"stop_hook_active": True}
    if differs == "reason":
        note_block(codex)
    if differs == "tool":
        codex.note_item("CommandExecution", command=["/bin/bash", "-lc", "true"], exit_code=0)
    again = codex.stop(words, **fields)

    assert again.reason
    assert [loop["iteration"] for loop in world.loops()] == [3]


@pytest.mark.parametrize("what", ["reason", "tool"])
@pytest.mark.parametrize("by", ["loop", "enforcement"])
def test_another_stop_counts_when_the_clock_was_set_back(
    world: World, codex: Codex, what: str, by: str
) -> None:
    codex.start()
    world.cli("enforce", "on")
    configure(world, cooldown_seconds=0)
    codex.prompt(TYPED if by == "loop" else "go")
    codex.note_item("AgentMessage", DONE)
    assert codex.stop(DONE).reason

    codex.clock_back = timedelta(hours=1)
    if what == "reason":
        note_block(codex)
    else:
        codex.note_item("CommandExecution", command=["/bin/bash", "-lc", "true"], exit_code=0)

    assert codex.stop(DONE).reason


@pytest.mark.parametrize("seconds", [-60, 60])
def test_a_stop_at_another_time_counts(world: World, codex: Codex, seconds: int) -> None:
    """The client has not yet written down what came between."""
    codex.start()
    world.cli("enforce", "on")
    configure(world, cooldown_seconds=0)
    codex.prompt()
    assert codex.stop(DONE).reason
    codex.note_item("AgentMessage", DONE)
    assert codex.stop(DONE, stop_hook_active=True).reason
    with closing(open_store(str(world.ours))) as store, store.write():
        store.run("UPDATE session SET stops = json_set(stops, '$.at', ?)", time.time() + seconds)

    assert codex.stop(DONE, stop_hook_active=True).reason


def test_without_a_rollout_each_stop_counts(world: World, codex: Codex) -> None:
    """Nobody can tell then: the client was started with `--ephemeral`."""
    codex.start()
    codex.prompt(TYPED)

    for _ in range(2):
        stop = codex.send("stop", "Stop.first", last_assistant_message="No.", transcript_path=None)
        assert stop.reason


def test_a_check_runs_once_for_two_wirings(world: World, codex: Codex) -> None:
    codex.start()
    codex.prompt(f"{TYPED} --verify 'echo x >> ../runs; false'")
    codex.note_item("AgentMessage", "<promise>DONE</promise>")

    assert codex.stop("<promise>DONE</promise>").reason
    assert not codex.stop("<promise>DONE</promise>").out

    assert (world.root / "runs").read_text() == "x\n"
