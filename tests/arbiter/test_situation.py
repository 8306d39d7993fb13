from __future__ import annotations

from sisyphus.arbiter.situation import BLOCK, END, Situation, Verdict
from sisyphus.arbiter.steps import decide
from sisyphus.ralph.loop import Loop


def test_a_verdict_says_what_and_why() -> None:
    assert Verdict(BLOCK, "there is work left").text == "blocked: there is work left"
    assert Verdict(END, "enough", outcome="limit").text == "ended: enough"


def test_a_situation_of_which_nothing_is_known_holds_nobody() -> None:
    assert decide(Situation()).text == "allowed: no loop is active"


def test_what_waits_around_a_loop_is_asked_for_its_time_as_well() -> None:
    outer, inner = Loop("s1", "outer", "x"), Loop("s1", "inner", "y")
    outer.started_at = inner.started_at = "2026-11-20T15:00:00.000Z"
    outer.options, inner.options = {"max_minutes": 5}, {"max_minutes": 3}
    situation = Situation()
    situation.loop, situation.around = inner, [outer]
    situation.now = 1_795_186_800.0 + 4 * 60

    assert decide(situation).loop is inner
    situation.now += 60
    assert decide(situation).loop is outer
