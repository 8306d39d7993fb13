from __future__ import annotations

import pytest

from boulder.scene import PLAN, Scene
from sisyphus.boulder import enforcing
from sisyphus.boulder.book import Book
from sisyphus.boulder.enforcement import asked_for
from sisyphus.boulder.store import read_plans
from sisyphus.errors import SisyphusError

OTHER = ("- [ ] x\n", ".claude/plans/second.md")

GIVEN = [
    pytest.param({"max_iterations": 101}, {"max_iterations": 100}, id="iterations"),
    pytest.param({"max_minutes": 1_441}, {"max_minutes": 1_440}, id="minutes"),
    pytest.param({"max_tokens": 10**9}, {"max_tokens": 10**9}, id="tokens have no default"),
    pytest.param({"max_iterations": 100}, {"max_iterations": 100}, id="the default itself"),
    pytest.param({"max_iterations": 3, "max_minutes": None}, {"max_iterations": 3}, id="less"),
    pytest.param({}, {}, id="none"),
]


@pytest.mark.parametrize(("given", "bound"), GIVEN)
def test_the_model_does_not_raise_limits(
    given: dict[str, int | None], bound: dict[str, int]
) -> None:
    found, notes = enforcing.limits(given, by_model=True)
    asked = {name: number for name, number in given.items() if number is not None}
    assert found == bound
    assert len(notes) == (asked != bound)
    assert enforcing.limits(given, by_model=False) == (asked, [])


def test_it_is_told_what_it_gets() -> None:
    _, notes = enforcing.limits({"max_iterations": 100_000}, by_model=True)
    assert notes == ["the model asked for --max-iterations 100000; it gets 100"]


def test_the_model_renews_no_enforcement(scene: Scene) -> None:
    scene.edit(PLAN)
    space = scene.space()
    enforcing.enforce(space, on=True, limits={"max_iterations": 2}, session="s1", by_model=True)
    with pytest.raises(SisyphusError, match=r"Ship it is enforced already.*boulder-enforce"):
        enforcing.enforce(space, on=True, session="s1", by_model=True)
    renewed = enforcing.enforce(space, on=True, limits={"max_iterations": 9}, session="s1")
    assert renewed["enforced"]
    assert renewed["enforced"]["max_iterations"] == 9


ASKING = [
    pytest.param("s1", id="the session that is held"),
    pytest.param("", id="a person"),
]


@pytest.mark.parametrize("session", ASKING)
def test_off_is_about_the_plan_that_holds_not_the_latest(scene: Scene, session: str) -> None:
    plan = scene.write(PLAN)
    scene.tool(plan)
    enforcing.enforce(scene.space(), on=True)
    scene.edit(*OTHER)
    assert enforcing.held_sessions(scene.space(), session) == ["s1"]
    found = enforcing.enforce(scene.space(), on=False, session=session)
    assert (found["active_plan"], found["enforced"]) == (str(plan), None)


def test_of_several_a_person_means_the_current_one(scene: Scene) -> None:
    scene.edit(PLAN)
    enforcing.enforce(scene.space(), on=True)
    second = scene.write(*OTHER)
    scene.tool(second, "s2")
    enforcing.enforce(scene.space(), on=True, session="s2")
    assert enforcing.enforce(scene.space(), on=False)["active_plan"] == str(second)


def test_a_session_of_another_plan_switches_nothing_off(scene: Scene) -> None:
    scene.edit(PLAN)
    enforcing.enforce(scene.space(), on=True)
    scene.tool(scene.write(*OTHER), "s2")
    with pytest.raises(SisyphusError, match="second is not enforced"):
        enforcing.enforce(scene.space(), on=False, session="s2")


def test_of_many_sessions_that_were_released_the_latest_are_remembered(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.tool(plan)
    enforcing.enforce(scene.space(), on=True)
    with Book(str(scene.home), str(scene.project)) as book:
        for number in range(enforcing.REMEMBERED_SESSIONS + 5):
            enforcing.give(book, f"x{number}", "elsewhere")
    record = scene.record(plan)
    assert record
    released = record["metadata"]["enforced"]["released"]
    assert (len(released), released[0], released[-1]) == (200, "x5", "x204")


def test_what_was_switched_off_meanwhile_takes_nobody_back(scene: Scene) -> None:
    plan = scene.write(PLAN)
    scene.tool(plan)
    enforcing.enforce(scene.space(), on=True)
    found = asked_for(scene.space(), "s1")
    assert found
    enforcing.enforce(scene.space(), on=False)
    enforcing.take_back(scene.space(), found, "s1")
    assert asked_for(scene.space(), "s1") is None
    with Book(str(scene.home), str(scene.project)) as book:
        book.forget(str(plan))
    enforcing.take_back(scene.space(), found, "s1")
    assert read_plans(str(scene.home), str(scene.project)).records == {}


@pytest.mark.parametrize("feature", ["boulder", "ralph"])
def test_where_a_feature_is_off_nobody_is_promised_anything(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, feature: str
) -> None:
    scene.edit(PLAN)
    monkeypatch.setenv(f"SISYPHUS_{feature.upper()}_ENABLED", "0")
    with pytest.raises(SisyphusError, match=f"{feature} is switched off"):
        enforcing.enforce(scene.space(), on=True)


def test_a_plan_that_is_complete_is_not_enforced(scene: Scene) -> None:
    scene.edit(PLAN)
    scene.write(PLAN.replace("[ ]", "[x]"))
    with pytest.raises(SisyphusError, match="Ship it is complete"):
        enforcing.enforce(scene.space(), on=True)
