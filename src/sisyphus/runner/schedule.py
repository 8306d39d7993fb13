"""Which items of a plan may begin now, where several are done at once. Pure.

A list is a row of stages. The items of a stage are done side by side, and those of the next one
begin when nothing of it is left to begin and nothing of it is at work. A stage is
- in a plan with waves: the items of a wave, or those between two waves;
- in spec-kit's list: one item, or items that follow each other in a phase, all marked `[P]`;
- in any other plan: the whole list.

An item with `(after: WORDS)` begins when the one that is named is merged. It holds up nobody
meanwhile but those that wait for it by name: if the one it waits for is in a later stage, or is set
aside, the list goes on without it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from sisyphus.boulder.plan import CANCELLED, DONE, SPEC_KIT, Plan, Task, plain
from sisyphus.ground.quoting import code
from sisyphus.ground.record import Record

_SHOWN = 60
"""The characters of an item's name in a sentence."""

_MOST = 5
"""The most items that a sentence names."""

_NUMBER = re.compile(r"(?:(?:task|step|item) )?([a-z]{0,4}-?[0-9]+(?:\.[0-9]+)*[a-z]?)(?![\w-])")
"""How a name starts that has a number or an id, in lower case: `1. a`, `1.2 a`, `t012 a`,
`s7: a`, `task 3: a`. Not `2-factor login`."""


class Schedule(Record, frozen=True):
    """What may be done now. begin: the items to begin, in the order of work. waits: the open items
    that wait for others by name → these, as far as they are not merged. If nothing may begin
    though `free` was above 0, and nothing is at work, these are all that is left to do."""

    begin: list[str]
    waits: dict[str, list[str]]


def startable(
    plan: Plan, merged: Collection[str], at_work: Collection[str], aside: Collection[str], free: int
) -> Schedule:
    """Tells which items may begin now.

    merged: those that count as done, whatever their box says. at_work: those that somebody works at
    now; one that the plan has no more counts as one of another stage. aside: those that are left
    to the user. All are called as `Plan.names` calls them. free: how many more may be at work.

    Where the user says that they are at a wave or story, the stages that have a task of it go
    first. What `problems` complains about is no reason to wait.
    """
    over = _over(plan, merged) - set(at_work)
    before = _Order(plan, over).before
    names = dict(zip((task.line for task in plan.tasks), plan.names, strict=True))
    left = [names[task.line] for task in plan.open_tasks]
    left = [name for name in left if not any(name in each for each in (over, at_work, aside))]
    unmet = {name: [each for each in before[name] if each not in over] for name in left}
    may_begin = [name for name in left if not unmet[name]]
    begin = _of_first_stage(_stages(plan), may_begin, at_work)[: max(free, 0)]
    return Schedule(begin, {name: others for name, others in unmet.items() if others})


def after(plan: Plan) -> dict[str, list[str]]:
    """Returns the open items that have to wait for others → these, done or not. Nobody waits for
    one that is cancelled."""
    if not any(task.after for task in plan.tasks):
        return {}
    tasks = dict(zip(plan.names, plan.tasks, strict=True))
    before = _Order(plan, _over(plan, ())).before
    others = {
        name: [each for each in before[name] if tasks[each].status != CANCELLED] for name in before
    }
    return {name: each for name, each in others.items() if each}


def problems(plan: Plan) -> list[str]:
    """Returns what is wrong with the `(after: …)` of open items, in sentences: words that name no
    item, several, or the item itself, and items that wait for each other."""
    named = any(task.after for task in plan.tasks)
    return _Order(plan, _over(plan, ())).problems if named else []


def _over(plan: Plan, merged: Collection[str]) -> set[str]:
    """Returns the items that nobody has to wait for any more. A cancelled one is among them."""
    named = zip(plan.names, plan.tasks, strict=True)
    return {name for name, task in named if task.status in (DONE, CANCELLED) or name in merged}


# ------------------------------------------------------------------------------- stages


def _of_first_stage(
    stages: list[set[str]], may_begin: list[str], at_work: Collection[str]
) -> list[str]:
    """Returns the items that may begin in the first stage that has some; none while somebody is at
    work in another one."""
    for stage in stages:
        if begin := [name for name in may_begin if name in stage]:
            is_free = len(stages) == 1 or stage.issuperset(at_work)
            return begin if is_free else []
    return []


def _stages(plan: Plan) -> list[set[str]]:
    """Returns the names of the items of each stage, whatever their status."""
    stages: list[list[int]] = []
    for place, task in enumerate(plan.tasks):
        if place and _is_beside(plan, plan.tasks[place - 1], task):
            stages[-1].append(place)
        else:
            stages.append([place])
    stages.sort(key=lambda stage: not any(plan.is_current(plan.tasks[place]) for place in stage))
    return [{plan.names[place] for place in stage} for stage in stages]


def _is_beside(plan: Plan, last: Task, task: Task) -> bool:
    """Tells whether a task is of the stage of the last one."""
    is_parallel = plan.tool != SPEC_KIT or (last.is_parallel and task.is_parallel)
    return is_parallel and last.wave == task.wave


# ------------------------------------------------------------------------------- (after: …)


class _Label(Record, frozen=True):
    """What an item may be called by. folded: its name in lower case, without marks of Markdown.
    number: with which its name starts, or ""."""

    name: str
    folded: str
    number: str


class _Order:
    """Which items have to be merged before which. before: items → those that they wait for; nobody
    is in a circle. over: items that wait for nothing any more."""

    def __init__(self, plan: Plan, over: Collection[str]) -> None:
        self.problems: list[str] = []
        self.before: dict[str, list[str]] = {name: [] for name in plan.names}
        labels = [_label(name) for name in plan.names] if any(t.after for t in plan.tasks) else []
        for name, task in zip(plan.names, plan.tasks, strict=True):
            for words in task.after if name not in over else ():
                found = _called(words, labels)
                others = [each for each in found if each != name]
                if len(others) == 1:
                    self.before[name] = list(dict.fromkeys([*self.before[name], *others]))
                else:
                    self.problems.append(_unclear(name, words, others, is_own=name in found))
        for circle in _circles(self.before):
            shown = " after ".join(code(name, _SHOWN) for name in circle)
            self.problems.append(f"Items wait for each other: {shown}.")


def _label(name: str) -> _Label:
    folded = _folded(name)
    number = _NUMBER.match(folded)
    return _Label(name, folded, number[1] if number else "")


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("*", "").replace("`", "").split())


def _called(words: str, labels: list[_Label]) -> list[str]:
    """Returns the items that somebody may mean: those of this name, else those of this number,
    else those that have the words in their name."""
    name, folded = plain(words), _folded(words)
    number = _NUMBER.fullmatch(folded.rstrip(".:)"))
    return (
        [each.name for each in labels if each.name == name]
        or [each.name for each in labels if each.folded == folded]
        or [each.name for each in labels if number and each.number == number[1]]
        or [each.name for each in labels if folded and folded in each.folded]
    )


def _unclear(item: str, words: str, others: list[str], *, is_own: bool) -> str:
    """Says why nobody knows which item is meant. others: those that may be. is_own: the item itself
    is called so."""
    about = f"{code(item, _SHOWN)} is to begin after {code(words, _SHOWN)}"
    if others:
        shown = ", ".join(code(name, _SHOWN) for name in others[:_MOST])
        more = f" and {len(others) - _MOST:,} more" if len(others) > _MOST else ""
        return f"{about}, which may be any of {shown}{more}. Write the whole name of one."
    if is_own:
        return f"{about}, which is itself."
    return f"{about}, but no item is called so. Write its name, a part of its name, or its number."


def _circles(before: dict[str, list[str]]) -> Iterator[list[str]]:
    """Yields the items that wait for each other, each one ahead of the one that it waits for, and
    the first one again at the end. Lets none of them wait for the next one any more."""
    while True:
        try:
            TopologicalSorter(before).prepare()
        except CycleError as error:
            circle = error.args[1][::-1]
            for item, other in pairwise(circle):
                before[item].remove(other)
            yield circle
        else:
            return
