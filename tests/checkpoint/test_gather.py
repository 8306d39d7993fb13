from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making import put

from checkpoint.desk import SMALL, Desk
from sisyphus.checkpoint import gather, in_run
from sisyphus.errors import SisyphusError

if TYPE_CHECKING:
    from sisyphus._types import Json


def test_how_full_the_context_is(desk: Desk) -> None:
    desk.fill(60)
    desk.fill(72)
    found = gather.facts(desk.space(), "s1")
    assert (found.percent, found.level) == (72, "L1")
    assert (found.tokens, found.window) == (144_000, SMALL)
    assert (found.l1, found.l2, found.l3, found.l2_tokens) == (70, 85, 95, 170_000)
    assert [tokens for _, tokens in found.points] == [120_000, 144_000]
    assert found.why_nothing == ""
    assert found.item == ""


def test_why_nothing_is_known(desk: Desk) -> None:
    assert gather.facts(desk.space(), "").why_nothing == gather.NO_SESSION
    assert gather.facts(desk.space(), "s1").why_nothing == gather.NO_TRANSCRIPT
    desk.add({"type": "user"})
    assert gather.facts(desk.space(), "s1").why_nothing == gather.NO_ANSWER


RUNS = [
    pytest.param({}, [], [], id="nothing"),
    pytest.param(
        {
            "context_history": [{"iteration": 1, "peak_percent": 40}, 7],
            "item_costs": [{"complexity": "simple", "percent": 12}],
        },
        [{"iteration": 1, "peak_percent": 40}],
        [("simple", 12.0)],
        id="what items took",
    ),
    pytest.param(
        {
            "context_history": "x",
            "item_costs": [7, {"complexity": 1, "percent": 2}, {"complexity": "simple"}],
        },
        [],
        [],
        id="other shapes",
    ),
]


@pytest.mark.parametrize(("run", "history", "costs"), RUNS)
def test_what_the_last_run_of_the_project_took(
    desk: Desk, run: Json, history: list[Json], costs: list[tuple[str, float]]
) -> None:
    put(desk.project / in_run.STATE_FILE, json.dumps(run))
    desk.fill(60)
    found = gather.facts(desk.space(), "s1")
    assert (found.history, found.costs) == (history, costs)


def test_the_next_task_is_estimated(desk: Desk) -> None:
    desk.begin_plan()
    desk.fill(60)
    found = gather.facts(desk.space(), "s1")
    assert found.item == "two"
    assert found.estimate is not None


def test_a_checkpoint_that_was_asked_for(desk: Desk) -> None:
    desk.fill(72)
    entry = gather.checkpoint_now(desk.space(), "s1")
    assert (entry["occasion"], entry["level"]) == ("asked", "")
    assert entry["percent_at_checkpoint"] == 72
    assert desk.waiting == [entry]


def test_one_of_a_session_that_was_not_answered_yet(desk: Desk) -> None:
    desk.add({"type": "user"})
    assert "percent_at_checkpoint" not in gather.checkpoint_now(desk.space(), "s1")


@pytest.mark.parametrize(
    ("session", "why"), [("", gather.NO_SESSION), ("s7", gather.NO_TRANSCRIPT)]
)
def test_one_of_an_unknown_session_is_refused(desk: Desk, session: str, why: str) -> None:
    with pytest.raises(SisyphusError, match=why):
        gather.checkpoint_now(desk.space(), session)
