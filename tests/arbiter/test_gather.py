from __future__ import annotations

from typing import TYPE_CHECKING

from making import ours, put
from ralph.lines import add, prompt, said, skill, typed

from arbiter.desk import ARGS, PROMISE

if TYPE_CHECKING:
    from pathlib import Path

    from arbiter.desk import Desk

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
