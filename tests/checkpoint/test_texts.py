from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checkpoint.telling import a_plan
from sisyphus.checkpoint import texts

if TYPE_CHECKING:
    from sisyphus._types import Checkpoint

FILE = ".claude/handoffs/2026-11-20-1840-abcde.md"
ENTRY: Checkpoint = {"handoff_file": FILE, "next_step": "Refresh a token"}
HOSTILE: Checkpoint = {"handoff_file": "a\n\x1b[2Jb.md", "next_step": "x\ny"}

FIRST_LINES = [
    pytest.param(
        texts.warning(72, next_percent=85, is_held=True),
        "CCS_WARNING|L1|72|Context at 72%",
        id="a warning",
    ),
    pytest.param(
        texts.warning(72, next_percent=85, is_held=False),
        "CCS_WARNING|L1|72|Context at 72%",
        id="no loop",
    ),
    pytest.param(
        texts.informed("L2", 87), "CCS_WARNING|L2|87|Context at 87%", id="no loop, no plan"
    ),
    pytest.param(
        texts.checkpoint("L2", 87, ENTRY), f"CCS_CHECKPOINT_TRIGGERED|L2|87|{FILE}", id="L2"
    ),
    pytest.param(
        texts.written("L2", 87, ENTRY), f"CCS_CHECKPOINT_TRIGGERED|L2|87|{FILE}", id="no stop"
    ),
    pytest.param(texts.emergency(96, ENTRY), f"CCS_CHECKPOINT_TRIGGERED|L3|96|{FILE}", id="L3"),
    pytest.param(
        texts.nearly_full(96, ENTRY), f"CCS_CHECKPOINT_TRIGGERED|L3|96|{FILE}", id="L3, no loop"
    ),
]


@pytest.mark.parametrize(("text", "first"), FIRST_LINES)
def test_a_level_is_told_in_a_line_that_programs_read(text: str, first: str) -> None:
    assert text.partition("\n")[0] == first


def test_what_the_model_is_asked_for_at_each_level() -> None:
    assert "At 85% a handoff is written" in texts.warning(72, next_percent=85, is_held=True)
    assert "85%" not in texts.warning(72, next_percent=85, is_held=False)
    asked = texts.checkpoint("L2", 87, ENTRY)
    assert "in at most 60 seconds" in asked
    assert "Output no completion promise unless" in asked
    assert "go on with your work" in texts.written("L2", 87, ENTRY)
    assert "stop now" in texts.emergency(96, ENTRY)
    assert "tell the user where the work stands" in texts.nearly_full(96, ENTRY)
    assert "stop now" not in texts.nearly_full(96, ENTRY)


@pytest.mark.parametrize("make", [texts.checkpoint, texts.written])
def test_a_strange_name_breaks_no_line(make: object) -> None:
    text = make("L2", 87, HOSTILE)  # type: ignore[operator]  # one of two functions
    assert text.partition("\n")[0] == "CCS_CHECKPOINT_TRIGGERED|L2|87|a  [2Jb.md"
    assert "\x1b" not in text + texts.emergency(96, HOSTILE) + texts.nearly_full(96, HOSTILE)


def test_the_user_is_told_why_there_is_no_handoff() -> None:
    told = texts.no_handoff(87, "the disk\n\x1b[2Jis full")
    assert told.startswith("Context at 87%. No handoff could be written: the disk ")
    assert "\n" not in told
    assert "\x1b" not in told


def test_the_user_is_told_where_the_handoff_lies() -> None:
    stops = texts.user_checkpoint("L2", 87, ENTRY, stops=True)
    goes_on = texts.user_checkpoint("L2", 87, ENTRY, stops=False)
    assert stops.startswith(f"Context at 87% (L2). Handoff: {FILE}\n")
    assert goes_on == f"Context at 87% (L2). Handoff: {FILE}"


STOPPED = [
    pytest.param(ENTRY, 87, ["at 87% of its context", f"Its handoff: {FILE}\n"], id="all known"),
    pytest.param(ENTRY, 0, ["stops here; nothing", f"Its handoff: {FILE}\n"], id="no percentage"),
    pytest.param(None, 87, ["at 87% of its context. No handoff"], id="no handoff"),
    pytest.param({}, 0, ["stops here. No handoff could be written"], id="nothing"),
]


@pytest.mark.parametrize(("entry", "percent", "said"), STOPPED)
def test_the_user_is_told_how_to_go_on(
    entry: Checkpoint | None, percent: int, said: list[str]
) -> None:
    text = texts.checkpointed(entry, percent)
    assert text.startswith("[CHECKPOINTED]\n\nThe work stops here")
    assert [part for part in said if part not in text] == []
    assert "/clear" in text
    assert "/compact" in texts.checkpointed(entry, percent, "opencode")


def test_what_a_summary_is_to_keep() -> None:
    task, plan, step, file, *rest = texts.keep(a_plan(), ENTRY, "do it")
    assert task == "the task of the loop: do it"
    assert plan == (
        "the plan Tokens (/home/user/project/.claude/PLAN.md): 2 of 5 tasks complete, "
        "next task: Refresh a token"
    )
    assert step == "where the work goes on: Refresh a token"
    assert file == f"that the handoff {FILE} holds the facts of this session"
    assert len(rest) == 3


NO_PLANS = [
    pytest.param(None, id="no plan"),
    pytest.param(a_plan(active_plan=None), id="a plan without a file"),
]


@pytest.mark.parametrize("plan", NO_PLANS)
def test_what_is_not_there_is_not_to_be_kept(plan: object) -> None:
    kept = texts.keep(plan, {"handoff_file": FILE}, "")  # type: ignore[arg-type]  # of two kinds
    assert len(kept) == 4
    assert kept[0].startswith("that the handoff")


def test_a_plan_without_a_next_task_has_none_to_keep() -> None:
    assert texts.keep(a_plan(next_task=None), ENTRY, "")[0].endswith("2 of 5 tasks complete")


def test_each_thing_to_keep_is_one_line() -> None:
    hostile = a_plan(next_task="a\nb", plan_name="c\r\nd", active_plan="/x\n/y")
    assert [item for item in texts.keep(hostile, HOSTILE, "") if "\n" in item] == []
