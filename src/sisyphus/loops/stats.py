"""Figures over loops that have ended, all together and by project."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from sisyphus.ground.paths import display
from sisyphus.ground.store import Store
from sisyphus.loops import iterations, messages
from sisyphus.loops.loop import SUCCESS, Work


def of(store: Store, loops: list[Work]) -> dict[str, Any]:
    """Returns the figures as `ralph log --stats --json` shows them; projects with most loops
    first."""
    made = {loop.id: iterations.made(store, loop) for loop in loops}
    by_project: dict[str, list[Work]] = {}
    for loop in loops:
        by_project.setdefault(loop.project, []).append(loop)
    projects = [{"project": name, **_figures(own, made)} for name, own in by_project.items()]
    projects.sort(key=lambda each: each["loops"], reverse=True)
    return {**_figures(loops, made), "projects": projects}


def lines(figures: dict[str, Any]) -> Iterator[str]:
    """Yields the same for people."""
    if not figures["loops"]:
        yield "There is no ended loop to count. Holds do not count."
        return
    yield _count(figures)
    outcomes = [f"{messages.outcome(name)} {count}" for name, count in figures["outcomes"].items()]
    yield f"Outcomes: {', '.join(outcomes)}"
    for name in ("iterations", "minutes", "tokens"):
        each = figures[name]
        total = f", {each['total']:,} in all"
        yield f"{name.title()}: median {each['median']:,}, most {each['most']:,}{total}"
    for project in figures["projects"]:
        yield f"{display(project['project'], '')}: {_count(project)}"


def _count(figures: dict[str, Any]) -> str:
    number = figures["loops"]
    complete = f"{figures['outcomes'].get(SUCCESS, 0):,} complete ({figures['success_rate']:.0%})"
    return f"{number:,} loop{'' if number == 1 else 's'}, {complete}"


def _figures(loops: list[Work], made: dict[str, int]) -> dict[str, Any]:
    """Returns the figures of some loops. made: their iterations, by the id of the loop. The success
    rate is between 0 and 1; None = no loops."""
    outcomes = Counter(loop.result for loop in loops)
    return {
        "loops": len(loops),
        "outcomes": dict(outcomes.most_common()),
        "success_rate": round(outcomes[SUCCESS] / len(loops), 3) if loops else None,
        "iterations": _spread([made[loop.id] for loop in loops]),
        "minutes": _spread([round(loop.seconds(0.0) / 60, 1) for loop in loops]),
        "tokens": _spread([loop.counters.tokens for loop in loops]),
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    """Returns the median, the largest and the sum; 0 if there are no values."""
    middle = median(values) if values else 0
    spread = {"median": middle, "most": max(values, default=0), "total": sum(values)}
    return {name: _short(value) for name, value in spread.items()}


def _short(value: float) -> float:
    """Returns a number with one decimal place at most."""
    return int(value) if value == int(value) else round(value, 1)
