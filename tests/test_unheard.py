"""Loops whose command no hook heard: the next Stop finds them in the transcript."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from world import Json, World, agent, result, typed, use, user

from sisyphus.ground import store

PROMISE = "<promise>DONE</promise>"
ONE, TWO = "<promise>TASK1_DONE</promise>", "<promise>TASK2_DONE</promise>"
DO_IT = '"do it" --completion-promise "DONE"'


def call(arguments: str, id: str = "t9", name: str = "ralph-wiggum:ralph-loop") -> Json:
    """The model calls the command."""
    return use("Skill", id, skill=name, args=arguments)


def task(number: int) -> Json:
    words = f'"task {number}" --completion-promise TASK{number}_DONE'
    return call(words, f"t{number}")


def write_bare(world: World, *lines: Json) -> None:
    """Adds lines with no id and no time, as somebody writes them for a test."""
    with world.transcript().open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


# ---------------------------------------------------------------- the name without a prefix


@pytest.mark.parametrize(
    "line",
    [typed(DO_IT, "ralph-loop"), agent(call(DO_IT, name="ralph-loop"))],
    ids=["typed", "called"],
)
def test_a_short_name_is_found_where_the_command_is_ours(world: World, line: Json) -> None:
    world.write_down(line)
    assert world.stop().is_silent, "it may be anybody's command"
    world.cli("install", "--yes")

    assert PROMISE in world.stop().reason
    assert world.loops()[0]["prompt"] == "do it"


def test_a_check_that_no_hook_heard_is_not_run(world: World) -> None:
    world.cli("install", "--yes")
    world.write_down(typed(f"{DO_IT} --verify 'touch PWNED'", "ralph-loop"))

    reply = world.stop(PROMISE)

    assert "no loop was started" in reply.message
    assert "--verify can only be set by the user" in reply.message
    assert world.stop(PROMISE).is_silent, "once"
    assert not (world.project / "PWNED").exists()


def test_a_command_that_came_while_the_database_was_locked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.1)
    world.cli("install", "--yes")
    world.start()
    line = typed(DO_IT, "ralph-loop")
    with closing(sqlite3.connect(world.ours / "sisyphus.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        world.prompt(text=f"/ralph-loop {DO_IT}", prompt_id="p1")
        other.execute("ROLLBACK")
    assert world.loops() == []
    world.write_down({**line, "promptId": "p1"})

    assert PROMISE in world.stop().reason


# ---------------------------------------------------------------- nested in another


def test_the_last_loop_counts_and_the_others_wait_for_it(world: World) -> None:
    world.start()
    world.write_down(user("go"), agent(task(1)), result("Launching skill", "t1"))
    assert ONE in world.stop().reason
    world.write_down(agent(task(2)), result("Launching skill", "t2"))

    assert TWO in world.stop().reason
    assert TWO in world.stop().reason
    assert len(world.loops()) == 2
    assert ONE in world.stop(TWO).reason
    assert world.stop(ONE).reason == ""
    assert [loop["outcome"] for loop in world.ended()] == ["success"] * 2


def test_a_loop_whose_promise_was_said_before_the_next_began_is_done(world: World) -> None:
    for number in range(1, 8):
        world.write_down(agent(task(number)), result("Launching skill", f"t{number}"))
        reply = world.stop("Not yet.")
        assert f"<promise>TASK{number}_DONE</promise>" in reply.reason
        assert len(world.loops()) == 1
        world.write_down(agent(f"<promise>TASK{number}_DONE</promise>"))

    assert "[RALPH LOOP COMPLETE]" in reply.message
    assert [loop["outcome"] for loop in world.ended()] == ["success"] * 6


def test_one_with_a_check_is_not_done_before_its_own_stop(world: World) -> None:
    world.loop("--verify", "true")
    world.write_down(agent(PROMISE), agent(task(1)))

    assert PROMISE in world.stop(ONE).reason


def test_the_tokens_before_it_are_of_the_outer_loop_alone(world: World) -> None:
    world.loop()
    world.stop()
    world.write_down(agent("I work.", tokens=1000), agent(task(1), tokens=500), agent("So."))
    world.stop()

    assert sorted(loop["tokens"] for loop in world.loops()) == [610, 1610]


def test_a_loop_that_a_hook_heard_is_not_nested_in_itself(world: World) -> None:
    world.start()
    world.prompt(text=f"/sisyphus:ralph-loop {DO_IT}", prompt_id="p1")
    world.write_down({**typed(DO_IT, "sisyphus:ralph-loop"), "promptId": "p1"})
    assert PROMISE in world.stop().reason
    world.skill("ralph-wiggum:ralph-loop", "x --completion-promise X", tool_use_id="t5")
    world.write_down(agent(call("x --completion-promise X", "t5")))
    world.stop()

    assert len(world.loops()) == 2


def test_nor_is_it_without_the_id_of_its_prompt(world: World) -> None:
    world.start()
    world.prompt(text=f"/sisyphus:ralph-loop {DO_IT}")
    world.write_down(typed(DO_IT, "sisyphus:ralph-loop"))
    world.stop()

    assert len(world.loops()) == 1


def test_what_stands_before_the_loop_is_not_nested_in_it(world: World) -> None:
    world.write_down(agent(task(1)))
    world.loop()

    assert PROMISE in world.stop().reason
    assert len(world.loops()) == 1


def test_at_most_five_are_nested(world: World) -> None:
    for number in range(1, 6):
        world.write_down(agent(task(number)))
        world.write(f"step-{number}")
        world.stop()
    world.write_down(agent(task(6)))
    reply = world.stop()

    assert "At most 5 loops" in reply.message
    assert "TASK5_DONE" in reply.reason


@pytest.mark.parametrize("words", ["x --verify true", "x --verify-plan", "x --no-such", ""])
def test_a_wrong_command_frees_nobody(world: World, words: str) -> None:
    world.loop()
    world.write_down(agent(call(words)))

    reply = world.stop()

    assert PROMISE in reply.reason
    assert "no loop was started" in reply.message


def test_nor_does_it_free_an_enforced_session(world: World) -> None:
    world.cli("enforce", "on")
    world.write_down(agent(call("x --verify true")), agent("All done."))

    assert "no loop was started" in (reply := world.stop("All done.")).message
    assert reply.reason


def test_what_the_agent_scheduled_starts_nothing(world: World) -> None:
    world.loop()
    crons = [{"id": "c1", "schedule": "* * * * *", "prompt": f"/sisyphus:ralph-loop {DO_IT}"}]
    world.stop("I wait.", session_crons=crons)
    world.write_down(typed(DO_IT, "sisyphus:ralph-loop"))
    world.stop()

    assert len(world.loops()) == 1


# ---------------------------------------------------------------- lines without id and time


@pytest.mark.parametrize("line", [typed(DO_IT), agent(call(DO_IT))], ids=["typed", "called"])
def test_a_line_without_a_time_is_of_this_turn(world: World, line: Json) -> None:
    write_bare(world, line, agent("hm"))

    assert PROMISE in world.stop("hm").reason
    assert "[RALPH LOOP COMPLETE]" in world.stop(PROMISE).message
    assert world.stop("hm").is_silent, "a loop that has ended never comes back"
    write_bare(world, typed("more --completion-promise MORE"))
    assert "<promise>MORE</promise>" in world.stop("hm").reason


def test_without_times_the_last_loop_counts_too(world: World) -> None:
    write_bare(world, agent(task(1)))
    assert ONE in world.stop().reason
    write_bare(world, agent(task(2)))

    assert TWO in world.stop().reason
    assert ONE in world.stop(TWO).reason
    assert world.stop(ONE).reason == ""
    assert world.stop().is_silent


def test_without_times_the_promise_of_an_earlier_loop_ends_no_later_one(world: World) -> None:
    write_bare(world, agent(call(DO_IT)))
    world.stop("hm")
    write_bare(world, agent(PROMISE))
    assert "[RALPH LOOP COMPLETE]" in world.stop(None).message
    write_bare(world, agent(call(DO_IT, "t2")), agent("hm"))

    assert PROMISE in world.stop("hm").reason


def test_what_no_time_places_after_a_cancel_starts_nothing(world: World) -> None:
    world.start()
    world.prompt(text=f"/sisyphus:ralph-loop {DO_IT}")
    write_bare(world, typed(DO_IT, "sisyphus:ralph-loop"))
    world.cli("ralph", "cancel")

    assert world.stop().is_silent


def test_nor_after_the_start_of_another(world: World) -> None:
    write_bare(world, agent(task(1)))
    world.loop()

    assert PROMISE in world.stop().reason
    assert len(world.loops()) == 1


def test_a_plain_line_is_a_command_that_the_client_did_not_run(world: World) -> None:
    write_bare(world, user(f"/ralph-wiggum:ralph-loop {DO_IT}"))
    world.write_down(user(f"/ralph-wiggum:ralph-loop {DO_IT}"))

    assert world.stop().is_silent


# ---------------------------------------------------------------- what nobody wants any more


def unheard_command(world: World, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    """The user types a command while the database is locked."""
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.1)
    with closing(sqlite3.connect(world.ours / "sisyphus.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        world.prompt(text=words, prompt_id="p1")
        other.execute("ROLLBACK")


@pytest.mark.parametrize("cancel", ["/cancel-ralph", "/sisyphus:cancel-ralph"])
def test_the_user_has_cancelled_it_since(
    world: World, monkeypatch: pytest.MonkeyPatch, cancel: str
) -> None:
    world.cli("install", "--yes")
    world.start()
    unheard_command(world, monkeypatch, f"/ralph-loop {DO_IT}")
    world.write_down({**typed(DO_IT, "ralph-loop"), "promptId": "p1"})

    assert "No Ralph loop is running" in world.prompt(text=cancel).reason

    assert world.stop().is_silent
    world.write_down(typed("more --completion-promise MORE", "ralph-loop"))
    assert "<promise>MORE</promise>" in world.stop().reason, "one after it counts"


@pytest.mark.parametrize("name", ["ralph-wiggum:cancel-ralph", "sisyphus:cancel-ralph"])
def test_no_hook_heard_the_cancel_either(world: World, name: str) -> None:
    write_bare(world, typed(DO_IT), typed("", name))
    world.write_down(typed(DO_IT), typed("", name), agent("Cancelled."))

    assert world.stop().is_silent


def test_a_cancel_that_the_agent_has_scheduled_cancels_nothing(world: World) -> None:
    cron = {"id": "c1", "schedule": "* * * * *", "prompt": "/sisyphus:cancel-ralph"}
    world.stop("I wait.", session_crons=[cron])
    world.write_down(typed(DO_IT), typed("", "sisyphus:cancel-ralph"))

    assert PROMISE in world.stop().reason


def test_what_the_agent_scheduled_starts_nothing_at_later_stops(world: World) -> None:
    prompt = f"/sisyphus:ralph-loop {DO_IT}"
    world.stop("I wait.", session_crons=[{"id": "c1", "schedule": "* * * * *", "prompt": prompt}])
    world.write_down(typed(DO_IT, "sisyphus:ralph-loop"))

    assert [world.stop().is_silent for _ in range(3)] == [True] * 3


def test_a_loop_of_the_agent_hides_none_of_the_user(world: World) -> None:
    prompt = "/sisyphus:ralph-loop mine --completion-promise MINE"
    world.stop("I wait.", session_crons=[{"id": "c1", "schedule": "* * * * *", "prompt": prompt}])
    world.write_down(typed(DO_IT), typed("mine --completion-promise MINE", "sisyphus:ralph-loop"))

    assert PROMISE in world.stop().reason


@pytest.mark.parametrize(
    "option", ["--max-iterations 0", "--max-minutes 0", "--verify false", "--wait-for-user"]
)
def test_a_user_may_ask_for_what_the_model_may_not(world: World, option: str) -> None:
    world.start()
    world.prompt(text=f"/sisyphus:ralph-loop {DO_IT} {option}")
    world.write_down(typed(f"{DO_IT} {option}", "sisyphus:ralph-loop"))

    reply = world.stop()

    assert "no loop was started" not in reply.message
    assert PROMISE in reply.reason
    assert len(world.loops()) == 1


@pytest.mark.parametrize("words", ["x --verify true", "--prompt-file no-such", "x --verify-plan"])
def test_a_call_that_a_hook_has_refused_is_no_news(world: World, words: str) -> None:
    world.loop()
    refusal = world.skill("ralph-wiggum:ralph-loop", words, tool_use_id="t5").text
    assert "No Ralph loop was started" in refusal
    world.write_down(agent(call(words, "t5")))

    reply = world.stop()

    assert ("no loop was started" in reply.message, PROMISE in reply.reason) == (False, True)


def test_a_row_that_cannot_be_used_hides_no_loop(world: World) -> None:
    world.start()
    with closing(sqlite3.connect(world.ours / "sisyphus.db")) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute("""UPDATE session SET stops = '{"at": '""")
        database.commit()
    world.write_down(typed('"Fix it" --completion-promise DONE'))

    assert world.stop().reason


def test_what_was_said_before_a_loop_from_a_terminal_was_heard_of_ends_it_nowhere(
    world: World,
) -> None:
    world.start()
    world.write_down(user("Fix the other thing."))
    outer = world.loop(prompt="Mend the kiln.")
    world.write_down(agent("<promise>DONE</promise>"))
    world.skill("ralph-wiggum:ralph-loop", '"a part" --completion-promise PART')
    world.write_down(agent("I work.", call('"a part" --completion-promise PART')))

    world.stop("I work.")

    assert {each["loop_id"]: each["status"] for each in world.loops()}[outer] == "active"
