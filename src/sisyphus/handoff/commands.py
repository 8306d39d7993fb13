"""`sisyphus context` and `sisyphus handoff`: how full a session's context is, and a handoff now."""

import time
from statistics import median
from typing import Annotated, Any

import typer

from sisyphus.boulder import plans, size
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.text import one_line
from sisyphus.handoff import handoffs, messages, writing
from sisyphus.hook.session import Session
from sisyphus.loops import iterations, loops, runs
from sisyphus.loops.loops import Loop
from sisyphus.sessions import sessions, usage
from sisyphus.sessions.usage import Usage
from sisyphus.terminal import asker, show

SessionId = Annotated[
    str, typer.Option("--session-id", metavar="ID", help="Session. Default: the current one.")
]

_FEW = 3
"""Of fewer iterations a median says nothing."""


def context(
    session: SessionId = "", project: show.Project = "", as_json: show.AsJson = False
) -> None:
    """Show how full the context of a session is."""
    place = show.place(project)
    found = _find(place, session)
    if found is None:
        show.as_json(None) if as_json else show.line(messages.NO_SESSION)
        return
    used = usage.of_session(found, place.settings)
    level = used.level(place.settings)
    run = loops.run_of(place.store, found)
    item = runs.of(place.store, run).state.item if run else _item(place, found)
    measure = size.of(item) if item else None
    fits = not measure or bool(run)  # a run has begun its item
    misfit = "" if fits else messages.why_not_begun(size.of(item), 100 - used.percent)
    data = {
        "session_id": found.id,
        "percent": used.percent if used.tokens else None,
        "level": messages.LEVELS[level],
        "tokens": used.tokens or None,
        "window": used.window or None,
        "tokens_left": used.window - used.tokens if used.tokens else None,
        "item": item or None,
        "complexity": measure.name if measure else None,
        "recommendation": _recommendation(place, found, used, misfit),
        "iterations_left": _iterations_left(place, run, used),
    }
    if as_json:
        show.as_json(data)
        return
    if found.id != show.asker().session:
        show.line(f"Session {found.id}, the latest of this project", "dim")
    _print(data, level)
    if is_open := handoffs.open_of(place.store, found):
        show.line(f"Open Handoff: {messages.place(is_open)}")


def handoff(session: SessionId = "", project: show.Project = "") -> None:
    """Write a handoff now: what was done, what failed, where to go on. It ends nothing."""
    place = show.place_to_change(project)
    found = _find(place, session)
    if found is None:
        raise SisyphusError(messages.NO_SESSION)
    used = usage.of_session(found, place.settings)
    level = used.level(place.settings)
    try:
        made = writing.draft(place.store, found, used, level, messages.BY_USER, time.time())
        writing.write(made)
    except OSError as error:
        raise SisyphusError(f"{messages.NOT_WRITTEN} ({error})") from error
    with place.store.write():
        handoffs.insert(place.store, made.handoff)
        loop = loops.run_of(place.store, found) or loops.current(place.store, found)
    iteration = loop.counters.iteration if loop else 0
    is_on = bool(place.settings["handoff.enabled"])
    for line in messages.written_now(used, made.handoff, iteration, is_on=is_on):
        show.line(line)


def _print(data: dict[str, Any], level: int) -> None:
    if data["percent"] is None:
        show.line(messages.UNKNOWN)
        return
    show.line(f"Current Context: {data['percent']} %")
    show.line(f"Level: {messages.level_name(level)}")
    show.line(f"Estimated Remaining: {data['tokens_left']:,} of {data['window']:,} tokens")
    if data["item"]:
        show.line(f"Current Item: {one_line(data['item'])}")
        show.line(f"Item Complexity: {messages.complexity(size.of(data['item']))}")
    if data["iterations_left"] is not None:
        show.line(messages.iterations_left(data["iterations_left"]))
    show.line(data["recommendation"])


def _find(place: show.Place, session: str) -> Session | None:
    """Returns the session that a command means: the named one, the one that it runs in, else the
    latest of the project; None = there is none. Raises `SisyphusError` if the named one is not
    known."""
    found = asker.known_session(place.store, session)
    if not found.id:
        found = Session.find(place.store, sessions.latest(place.store, place.project).id)
    return found if found.n else None


def _recommendation(place: show.Place, found: Session, used: Usage, misfit: str) -> str:
    """Returns what to do, by the handoff that is open or will be written. misfit: why the next item
    must not be begun yet; "" = it fits."""
    store, values = place.store, place.settings
    plan = plans.of_session(store, found)
    loop = loops.run_of(store, found) or loops.current(store, found)
    has_plan = plan is not None and plan.state == plans.ACTIVE
    has_work = bool(loop or loops.hold_of(store, found) or has_plan)
    percents = [int(values[name]) for name in usage.LEVELS[1:]]
    is_on = bool(values["handoff.enabled"])
    why_none = messages.NOT_OPEN if has_work else messages.NO_WORK
    if not is_on or not any(percents):
        why_none = messages.SWITCHED_OFF
    ahead = [percent for percent in percents if percent > used.percent]
    is_ahead = is_on and has_work and bool(ahead)
    is_open = is_on and handoffs.open_of(store, found) is not None
    next_percent = min(ahead) if is_ahead else 0
    return messages.recommendation(
        used.level(values), next_percent, why_none, misfit, is_open=is_open
    )


def _iterations_left(place: show.Place, run: Loop | None, used: Usage) -> int | None:
    """Returns how many iterations of a run would fit into what is left of the context, by the
    median of those so far; None = it is no run, or fewer than three are known."""
    rows = iterations.of(place.store, run) if run and used.tokens else []
    percents = [each.percent for each in rows if each.percent]
    if len(percents) < _FEW:
        return None
    return int((100 - used.percent) // median(percents))


def _item(place: show.Place, session: Session) -> str:
    """Returns the next task of the session's plan; "" = it has none."""
    plan = plans.of_session(place.store, session)
    return plan.next_task if plan else ""
