"""Which items of a plan may begin now, where several are done at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sisyphus.boulder import order
from sisyphus.boulder.plan import (
    BLOCKED,
    CANCELLED,
    DONE,
    IN_PROGRESS,
    OPEN,
    SPEC_KIT,
    Plan,
    Task,
    parse,
)
from sisyphus.ground.record import Record, field
from sisyphus.runner import schedule

CASES = tomllib.loads((Path(__file__).parent / "cases" / "schedule.toml").read_text())["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_which_items_may_begin(case: dict[str, Any]) -> None:
    plan = parse(case["text"], case.get("tool", ""))
    plan = plan.at(case.get("wave"), case.get("story", ""))
    merged, at_work, aside = (case.get(key, []) for key in ("merged", "at_work", "aside"))

    found = schedule.startable(plan, merged, at_work, aside, case.get("free", 8))

    assert found.begin == case["begin"]
    assert found.waits == case.get("waits", {})
    assert order.problems(plan) == case.get("problems", [])


def test_a_failed_item_begins_again_unless_its_work_is_merged() -> None:
    plan = parse("- [x] a\n- [ ] b (after: a)\n").with_failed([1])

    assert schedule.startable(plan, [], [], [], 8) == schedule.Schedule(["a"], {"b": ["a"]})
    assert schedule.startable(plan, ["a"], [], [], 8) == schedule.Schedule(["b"], {})


# ---------------------------------------------------------------------------- any plan, any order

WAVES = "## Wave 1", "## Wave 2", "## Wave 3", "# Notes"
PHASES = "## Phase 1: Setup", "## Phase 2: Cart", "# Notes"


@st.composite
def plans(draw: st.DrawFn, *, is_sound: bool = True) -> Plan:
    """A plan whose items are called `T1 …` to `T8 …`. is_sound: each `(after: …)` names an item
    that a drawn order has before; otherwise any, and also none."""
    tool = draw(st.sampled_from(("", SPEC_KIT)))
    headings = draw(st.sampled_from(((), PHASES if tool else WAVES)))
    count = draw(st.integers(1, 8))
    ranks = draw(st.permutations(range(count)))
    lines = []
    for number in range(count):
        if headings and draw(st.booleans()):
            lines.append(draw(st.sampled_from(headings)))
        mark = draw(st.sampled_from("     x!-/"))
        label = draw(st.sampled_from(("", "[P] ")))
        before = [other for other in range(count) if ranks[other] < ranks[number]]
        choice = before if is_sound else [*range(count), 99]
        named = draw(st.lists(st.sampled_from(choice), max_size=2)) if choice else []
        after = f" (after: {'; '.join(f'T{other + 1}' for other in named)})" if named else ""
        lines.append(f"- [{mark}] T{number + 1} {label}item{after}")
    return parse("\n".join(lines), tool)


class Play(Record):
    """A run at a plan. free: how many work at once. sets_aside: some items end so. begun: the items
    in the order in which they began."""

    plan: Plan
    free: int
    sets_aside: bool = True
    merged: list[str] = field(default_factory=list)
    at_work: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)

    def begin(self) -> schedule.Schedule:
        """Begins what may begin."""
        free = self.free - len(self.at_work)
        found = schedule.startable(self.plan, self.merged, self.at_work, self.aside, free)
        assert len(found.begin) <= free
        assert found.waits.keys().isdisjoint(found.begin)
        self.at_work += found.begin
        self.begun += found.begin
        return found

    def steps(self, data: st.DataObject) -> Iterator[schedule.Schedule]:
        """Begins what may begin, yields that, and ends an item at work, until there is none."""
        while True:
            yield self.begin()
            if not self.at_work:
                return
            name = data.draw(st.sampled_from(self.at_work))
            self.at_work.remove(name)
            is_aside = self.sets_aside and data.draw(st.booleans())
            (self.aside if is_aside else self.merged).append(name)

    def tasks(self, names: list[str]) -> list[Task]:
        named = dict(zip(self.plan.names, self.plan.tasks, strict=True))
        return [named[name] for name in names]

    def left(self, *statuses: str) -> list[str]:
        """Returns the items of these statuses, in the order of the list."""
        named = zip(self.plan.names, self.plan.tasks, strict=True)
        return [name for name, task in named if task.status in statuses]


def called(plan: Plan, task: Task) -> list[str]:
    """Returns the names of the items that one is to begin after."""
    return [name for name in plan.names for id in task.after if name.startswith(f"{id} ")]


@given(st.data(), plans(is_sound=False), st.integers(1, 4))
def test_each_item_begins_once_and_none_waits_for_ever(
    data: st.DataObject, plan: Plan, free: int
) -> None:
    """Whatever order the items end in, whatever is wrong with what they name, and wherever the user
    says that they are."""
    plan = plan.at(data.draw(st.sampled_from((None, 1, 2))), "")
    play = Play(plan, free, sets_aside=False)

    *_, last = play.steps(data)

    assert len(play.begun) == len(set(play.begun))
    assert sorted([*play.begun, *last.waits]) == sorted(play.left(OPEN, IN_PROGRESS))
    stuck = {*play.left(BLOCKED), *last.waits}
    assert all(stuck.issuperset(named) for named in last.waits.values())
    assert play.left(BLOCKED) or not last.waits


@given(st.data(), plans(), st.integers(1, 4))
def test_what_never_begins_waits_for_what_is_left_to_the_user(
    data: st.DataObject, plan: Plan, free: int
) -> None:
    play = Play(plan, free)

    *_, last = play.steps(data)

    assert order.problems(plan) == []
    assert len(play.begun) == len(set(play.begun))
    assert sorted([*play.begun, *last.waits]) == sorted(play.left(OPEN, IN_PROGRESS))
    stuck = {*play.aside, *play.left(BLOCKED), *last.waits}
    assert all(stuck.issuperset(named) for named in last.waits.values())
    assert play.aside or play.left(BLOCKED) or not last.waits


@given(st.data(), plans(), st.integers(1, 4))
def test_no_item_begins_before_those_that_it_names(
    data: st.DataObject, plan: Plan, free: int
) -> None:
    play = Play(plan, free)

    for found in play.steps(data):
        over = {*play.left(DONE, CANCELLED), *play.merged}
        for task in play.tasks(found.begin):
            assert over.issuperset(called(plan, task))


@given(st.data(), plans(is_sound=False), st.integers(1, 4))
def test_waves_do_not_overlap_and_spec_kits_items_run_alone(
    data: st.DataObject, plan: Plan, free: int
) -> None:
    plan = plan.at(data.draw(st.sampled_from((None, 1, 2))), "")
    play = Play(plan, free)

    for _ in play.steps(data):
        tasks = play.tasks(play.at_work)
        assert len({task.wave for task in tasks}) <= 1
        if plan.tool == SPEC_KIT:
            assert len(tasks) <= 1 or all(task.is_parallel for task in tasks)


@given(st.data(), plans(is_sound=False), st.integers(1, 4))
def test_what_is_earlier_in_the_list_goes_first(data: st.DataObject, plan: Plan, free: int) -> None:
    """But for what is done side by side, and what waits for another item by name."""
    play = Play(plan, free)
    places = {name: place for place, name in enumerate(plan.names)}

    for found in play.steps(data):
        over = {*play.merged, *play.aside, *play.left(DONE, CANCELLED, BLOCKED), *found.waits}
        for name, task in zip(found.begin, play.tasks(found.begin), strict=True):
            earlier = [each for each in plan.names[: places[name]] if each not in over]
            for other in play.tasks(earlier):
                assert other.wave == task.wave
                assert plan.tool != SPEC_KIT or (task.is_parallel and other.is_parallel)


@given(st.data(), plans(is_sound=False), st.integers(-1, 9))
def test_any_state_is_answered(data: st.DataObject, plan: Plan, free: int) -> None:
    """As one that was read after a kill, when the user has changed the plan meanwhile."""
    some = st.lists(st.sampled_from([*plan.names, "gone"]), unique=True)
    merged, at_work, aside = data.draw(some), data.draw(some), data.draw(some)
    plan = plan.at(data.draw(st.sampled_from((None, 1, 2))), data.draw(st.sampled_from(("", "T1"))))

    found = schedule.startable(plan, merged, at_work, aside, free)

    assert len(found.begin) <= max(free, 0)
    assert len(set(found.begin)) == len(found.begin)
    assert {*found.begin, *found.waits} <= {*plan.names} - {*merged, *at_work, *aside}
