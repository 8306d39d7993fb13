"""What is done ahead of a compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from making import put
from ralph.lines import prompt, said

from sisyphus.checkpoint import compacting
from sisyphus.workspace import RUN_VARIABLE

if TYPE_CHECKING:
    import pytest

    from checkpoint.desk import Desk


def test_a_compaction_of_no_work_costs_nothing(desk: Desk) -> None:
    desk.add(prompt("hello"), said("hello"))
    outcome = desk.compact()
    assert (outcome.keep, outcome.messages, desk.entries) == ([], [], [])


def test_a_session_without_a_transcript_has_nothing_to_keep(desk: Desk) -> None:
    assert desk.compact().keep == []


def test_a_compaction_hands_over_and_says_what_to_keep(desk: Desk) -> None:
    desk.begin_plan()
    desk.begin_loop()
    desk.fill(60)

    outcome = desk.compact()

    [entry] = desk.waiting
    assert (entry["occasion"], entry["level"]) == ("compaction", "")
    assert entry["percent_at_checkpoint"] == 60
    kept = "\n".join(outcome.keep)
    assert "the task of the loop: do it" in kept
    assert "1 of 3 tasks complete, next task: two" in kept
    assert "where the work goes on: " in kept
    assert entry["handoff_file"] in kept


def test_work_without_a_loop_or_a_plan_is_handed_over_as_well(desk: Desk) -> None:
    desk.fill(60)
    assert len(desk.compact().keep) == 4
    assert len(desk.waiting) == 1


def test_the_task_is_kept_whole(desk: Desk) -> None:
    task = "mend the parser and its tests " * 15
    desk.begin_loop(args=f'"{task}" --completion-promise "DONE"')
    desk.fill(60)
    assert task.strip() in "\n".join(desk.compact().keep)


def test_a_task_that_is_too_long_for_the_client_is_cut(desk: Desk) -> None:
    desk.begin_loop(args=f'"{"mend it " * 2_000}" --completion-promise "DONE"')
    desk.fill(60)
    told = desk.compact().keep[0]
    assert told.startswith("the task of the loop: mend it mend it")
    assert len(told) <= compacting.PROMPT_CHARACTERS + 30


def test_a_task_of_many_lines_is_kept_as_one(desk: Desk) -> None:
    desk.begin_loop(args='"mend\nit\x1b[2J" --completion-promise "DONE"')
    desk.fill(60)
    [told] = [item for item in desk.compact().keep if item.startswith("the task of the loop")]
    assert "\n" not in told
    assert "\x1b" not in told


def test_what_an_iteration_of_a_run_hands_over_is_its_runs(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUN_VARIABLE, "abc12")
    desk.fill(60)
    desk.compact()
    assert desk.waiting[0]["in_run"]


def test_a_compaction_behind_the_second_level_names_it(desk: Desk) -> None:
    desk.begin_loop()
    desk.reach(87)
    desk.compact()
    [entry] = desk.waiting
    assert (entry["occasion"], entry["percent_at_checkpoint"]) == ("compaction", 87)


def test_what_to_keep_is_said_although_no_handoff_can_be_written(desk: Desk) -> None:
    desk.begin_loop()
    desk.fill(60)
    put(desk.index, '{"version": 2}')
    assert "the task of the loop: do it" in desk.compact().keep
