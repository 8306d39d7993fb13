"""Loops in Codex: what its other events, its rollout and a second wiring do to them."""

from __future__ import annotations

from typing import Any

import pytest
from test_codex import Codex, with_skills
from world import Reply, World

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


# ---------------------------------------------------------------- started while no hook ran


@pytest.mark.parametrize("text", [TYPED, f"  {TYPED}", TYPED.replace("$", "/")])
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
    ["Use $ralph-loop here.", "$ralph-loops", '$other:ralph-loop "Fix it."', "$cancel-ralph"],
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

        assert codex.stop("Not yet.").reason
        assert not codex.stop("Not yet.").out

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


@pytest.mark.parametrize("differs", ["words", "reason", "tool", "turn"])
def test_another_stop_counts(world: World, codex: Codex, differs: str) -> None:
    codex.start()
    codex.prompt(TYPED)
    codex.note_item("AgentMessage", "Not yet.")
    assert codex.stop("Not yet.").reason

    words = "Still not." if differs == "words" else "Not yet."
    turn = {"turn_id": "t2"} if differs == "turn" else {}
    if differs == "reason":
        note_block(codex)
    if differs == "tool":
        codex.note_item("CommandExecution", command=["/bin/bash", "-lc", "true"], exit_code=0)
    again = codex.send("stop", "Stop.first", last_assistant_message=words, **turn)

    assert again.reason
    assert [loop["iteration"] for loop in world.loops()] == [3]


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
