"""The order that a plan names by `(after: WORDS)`: which tasks wait for which. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from sisyphus.boulder.plan import CANCELLED, DONE, Plan, plain
from sisyphus.ground.quoting import code
from sisyphus.ground.record import Record

_SHOWN = 60
"""The characters of an item's name in a sentence."""

_MOST = 5
"""The most items that a sentence names."""

_NUMBER = re.compile(r"(?:(?:task|step|item) )?([a-z]{0,4}-?[0-9]+(?:\.[0-9]+)*[a-z]?)(?![\w-])")
"""How a name starts that has a number or an id, in lower case: `1. a`, `1.2 a`, `t012 a`,
`s7: a`, `task 3: a`. Not `2-factor login`."""


def after(plan: Plan) -> dict[str, list[str]]:
    """Returns the open items that have to wait for others → these, done or not. Nobody waits for
    one that is cancelled."""
    if not plan.names_order:
        return {}
    tasks = dict(zip(plan.names, plan.tasks, strict=True))
    before = _Order(plan, finished(plan, ())).before
    others = {
        name: [each for each in before[name] if tasks[each].status != CANCELLED] for name in before
    }
    return {name: each for name, each in others.items() if each}


def waiting(plan: Plan) -> frozenset[int]:
    """Returns the lines of the open tasks that wait for one that is not done."""
    over = finished(plan, ())
    unmet = {name for name, others in before(plan, over).items() if not over.issuperset(others)}
    named = zip(plan.names, plan.tasks, strict=True)
    return frozenset(task.line for name, task in named if name in unmet)


def before(plan: Plan, over: Collection[str]) -> dict[str, list[str]]:
    """Returns each task → those that it waits for, done or not; nobody is in a circle. over: tasks
    that wait for nothing any more."""
    return _Order(plan, over).before


def problems(plan: Plan) -> list[str]:
    """Returns what is wrong with the `(after: …)` of open items, in sentences: words that name no
    item, several, or the item itself, and items that wait for each other."""
    return _Order(plan, finished(plan, ())).problems if plan.names_order else []


def finished(plan: Plan, merged: Collection[str]) -> set[str]:
    """Returns the items that nobody has to wait for any more. A cancelled one is among them."""
    named = zip(plan.names, plan.tasks, strict=True)
    return {name for name, task in named if task.status in (DONE, CANCELLED) or name in merged}


class _Label(Record, frozen=True):
    """What an item may be called by. folded: its name in lower case, without marks of Markdown.
    number: with which its name starts, or ""."""

    name: str
    folded: str
    number: str


class _Order:
    """Which items have to be done before which. before: items → those that they wait for; nobody
    is in a circle. over: items that wait for nothing any more."""

    def __init__(self, plan: Plan, over: Collection[str]) -> None:
        self.problems: list[str] = []
        self.before: dict[str, list[str]] = {name: [] for name in plan.names}
        labels = [_label(name) for name in plan.names] if plan.names_order else []
        known = set(plan.names)
        for name, task in zip(plan.names, plan.tasks, strict=True):
            for words in task.after if name not in over else ():
                found = [words] if words in known else _called(words, labels)
                others = [each for each in found if each != name]
                if len(others) == 1:
                    self.before[name] += others
                else:
                    self.problems.append(_unclear(name, words, others, is_own=name in found))
            self.before[name] = list(dict.fromkeys(self.before[name]))
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
