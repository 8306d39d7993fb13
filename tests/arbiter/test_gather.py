from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import ours, put
from ralph.lines import add, prompt, said, skill, typed

from arbiter.desk import ARGS, PROMISE

if TYPE_CHECKING:
    from pathlib import Path

    from arbiter.desk import Desk
    from sisyphus._types import Json

MEMORY = "ralph/loops/session-s1.json"


def _typed_loop(desk: Desk, args: str = ARGS) -> Desk:
    desk.add(typed(args))
    return desk


def test_a_start_that_the_prompt_hook_saw_is_the_same_as_its_line(desk: Desk) -> None:
    desk.prompt(f"/ralph-wiggum:ralph-loop {ARGS}", prompt_id="p7")
    loop_id = desk.loop.loop_id
    desk.answer("working")
    desk.add(typed(ARGS, prompt_id="p7"))

    desk.answer("working")

    assert (desk.loop.loop_id, desk.loop.iteration) == (loop_id, 3)


def test_nor_does_a_client_without_prompt_ids_start_it_twice(desk: Desk) -> None:
    desk.prompt(f"/ralph-wiggum:ralph-loop {ARGS}", prompt_id="")
    loop_id = desk.loop.loop_id
    start = typed(ARGS)
    desk.add(start)

    desk.answer("working")

    assert (desk.loop.loop_id, desk.loop.origin) == (loop_id, start["uuid"])


def _history(desk: Desk) -> bytes:
    """A transcript in which another loop was started before ours."""
    add(desk.transcript, typed('"old" --completion-promise OLD'), said("x"))
    desk.prompt(f"/ralph-wiggum:ralph-loop {ARGS}", prompt_id="p7")
    desk.add(typed(ARGS, prompt_id="p7"))
    desk.answer("working")
    return desk.transcript.read_bytes()


def test_another_transcript_of_an_active_loop_starts_nothing(desk: Desk, tmp_path: Path) -> None:
    copy = put(tmp_path / "copy.jsonl", _history(desk))

    outcome = desk.stop("working", transcript_path=str(copy))

    assert "<promise>DONE</promise>" in str(outcome.reason)
    assert outcome.notes[0].endswith("iteration 3 of 100")


def test_nor_does_one_that_was_cut(desk: Desk) -> None:
    lines = _history(desk).splitlines(keepends=True)
    desk.answer("working")
    put(desk.transcript, b"".join(lines[:2]))

    assert "<promise>DONE</promise>" in str(desk.stop("working").reason)


def test_nor_does_one_whose_memory_was_lost(desk: Desk) -> None:
    _history(desk)
    ours(desk.home, MEMORY).unlink()

    assert "<promise>DONE</promise>" in str(desk.stop("working").reason)


def test_a_copy_of_its_beginning_brings_no_ended_loop_back(desk: Desk, tmp_path: Path) -> None:
    _typed_loop(desk)
    copy = put(tmp_path / "copy.jsonl", desk.transcript.read_bytes())
    desk.answer("working")
    desk.answer(PROMISE)

    assert desk.stop("hello again", transcript_path=str(copy)).reason is None
    assert desk.loops == []


def test_of_the_loops_of_a_history_only_the_last_is_known(desk: Desk) -> None:
    desk.add(typed('"old" --completion-promise OLD'), said("x"), typed(ARGS))

    assert "<promise>DONE</promise>" in str(desk.answer("working").reason)
    assert [line["task"] for line in desk.log] == ["do it"]


def test_a_line_that_is_half_written_is_read_when_it_is_whole(desk: Desk) -> None:
    add(desk.transcript, prompt("x"))
    whole = desk.transcript.read_bytes()
    _typed_loop(desk)
    line = desk.transcript.read_bytes()[len(whole) :]
    put(desk.transcript, whole + line[:50])
    assert desk.stop("x").reason is None

    put(desk.transcript, whole + line)
    assert desk.stop("x").reason is not None


def test_a_loop_whose_line_is_late_holds_all_the_same(desk: Desk) -> None:
    desk.add(prompt("x"))
    desk.use(ARGS, "toolu_7")
    loop_id = desk.loop.loop_id

    assert desk.stop("working").reason is not None
    desk.add(skill(ARGS, call="toolu_7"), said("working"))
    assert desk.stop("working").reason is not None
    assert (desk.loop.loop_id, desk.loop.iteration) == (loop_id, 3)
    assert desk.stop(PROMISE).reason is None
    assert desk.stop("working").reason is None


def test_what_was_said_before_the_model_began_a_loop_is_not_its_promise(desk: Desk) -> None:
    desk.add(prompt("x"))
    desk.use(ARGS, "toolu_7")
    desk.add(said(PROMISE), skill(ARGS, call="toolu_7"))

    assert desk.stop("working").reason is not None


# --- tokens -------------------------------------------------------------------------------------


def _spent(tokens: int, answer: str, **fields: object) -> Json:
    """A line of the model's answer, with what the whole answer cost so far."""
    line = said("working", **fields)
    counts = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 2,
        "cache_read_input_tokens": 3,
        "output_tokens": tokens - 6,
    }
    line["message"].update(id=answer, usage={**counts, "service_tier": "standard"})
    return line


def _agent(desk: Desk, name: str, *records: Json) -> None:
    """A subagent writes into its own transcript, as the client lays it out."""
    folder = desk.transcript.with_suffix("") / "subagents"
    add(folder / f"agent-{name}.jsonl", *({**record, "isSidechain": True} for record in records))


def test_everything_that_an_answer_costs_counts(desk: Desk) -> None:
    desk.begin()
    desk.add(_spent(100, "m1"), _spent(50, "m2"))

    desk.answer("working")

    assert desk.loop.tokens == 150


def test_the_lines_of_one_answer_count_once_at_their_highest(desk: Desk) -> None:
    desk.begin()
    desk.add(_spent(100, "m1"), _spent(400, "m1"), _spent(400, "m1"))

    desk.answer("working")

    assert desk.loop.tokens == 400


def test_an_answer_that_is_half_written_at_one_stop_counts_once(desk: Desk) -> None:
    desk.begin()
    desk.add(_spent(100, "m1"))
    desk.answer("working")
    desk.add(_spent(120, "m1"), _spent(50, "m2"))

    desk.answer("working")

    assert desk.loop.tokens == 170


def test_nor_does_one_of_an_agent_count_twice(desk: Desk) -> None:
    desk.begin()
    _agent(desk, "a", _spent(70, "m8"), _spent(100, "m9"))
    desk.answer("working")
    _agent(desk, "a", _spent(120, "m9"))
    _agent(desk, "b", _spent(1_000, "n1"))
    desk.answer("working")

    assert desk.loop.tokens == 70 + 120 + 1_000


def test_what_subagents_spend_counts(desk: Desk) -> None:
    desk.begin()
    _agent(desk, "a", _spent(100, "m8"), _spent(50, "m9"), _spent(60, "m9"))
    _agent(desk, "b", _spent(1_000, "n1"))
    desk.add(_spent(10, "m1"))
    desk.answer("working")
    _agent(desk, "b", _spent(2_000, "n2"))

    desk.answer("working")

    assert desk.loop.tokens == 100 + 60 + 1_000 + 10 + 2_000
    assert [row["tokens"] for row in desk.rows(desk.loop.loop_id)] == [1_170, 2_000]


def test_what_a_client_writes_of_a_subagent_in_the_same_transcript_counts_too(desk: Desk) -> None:
    desk.begin()
    desk.add(_spent(100, "m1"), _spent(500, "m8", isSidechain=True))

    desk.answer("working")

    assert desk.loop.tokens == 600


def test_what_was_spent_before_the_loop_is_not_its_own(desk: Desk) -> None:
    desk.add(prompt("x"), _spent(7_000, "m0"))
    _agent(desk, "a", _spent(8_000, "m8"))
    desk.begin()
    desk.add(_spent(100, "m1"))
    _agent(desk, "a", _spent(50, "m9"))

    desk.answer("working")

    assert desk.loop.tokens == 150


def test_nor_is_it_where_nobody_saw_the_loop_begin(desk: Desk) -> None:
    _agent(desk, "a", _spent(8_000, "m8"))
    desk.add(prompt("x"), _spent(7_000, "m0"), typed(ARGS), _spent(100, "m1"))
    desk.answer("working")
    assert desk.loop.tokens == 100

    _agent(desk, "a", _spent(50, "m9"))
    desk.answer("working")
    assert desk.loop.tokens == 150


def test_a_nested_loop_begins_with_nothing_spent(desk: Desk) -> None:
    desk.begin()
    desk.add(_spent(7_000, "m1"))
    desk.nest()
    desk.add(_spent(100, "m2"))

    desk.answer("working")

    assert [loop.tokens for loop in desk.loops] == [7_100, 100]


def test_history_that_is_read_again_costs_nothing(desk: Desk, tmp_path: Path) -> None:
    desk.begin()
    desk.add(_spent(100, "m1"))
    desk.answer("working")
    copy = put(tmp_path / "copy.jsonl", desk.transcript.read_bytes())

    desk.stop("working", transcript_path=str(copy))
    desk.stop("working")

    assert desk.loop.tokens == 100


COUNTS = [
    pytest.param({}, id="none"),
    pytest.param({"output_tokens": "9"}, id="texts"),
    pytest.param({"output_tokens": -9}, id="negative"),
    pytest.param({"output_tokens": 1.5}, id="fractions"),
    pytest.param([], id="no object"),
]


@pytest.mark.parametrize("usage", COUNTS)
def test_counts_that_make_no_sense_cost_nothing(desk: Desk, usage: object) -> None:
    desk.begin()
    line = said("working")
    line["message"].update(id="m1", usage=usage)
    desk.add(line)

    assert desk.answer("working").reason is not None
    assert desk.loop.tokens == 0


def test_a_nested_loop_whose_line_is_late_is_the_current_one(desk: Desk) -> None:
    desk.begin()
    desk.use('"a part of it" --completion-promise INNER', "toolu_7")

    assert "<promise>INNER</promise>" in str(desk.answer("working").reason)
    desk.add(skill('"a part of it" --completion-promise INNER', call="toolu_7"))
    assert "<promise>DONE</promise>" in str(desk.answer("<promise>INNER</promise>").reason)
    assert desk.answer(PROMISE).reason is None
