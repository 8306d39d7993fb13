"""`sisyphus context` and `sisyphus handoff`: how full a session's context is, and a handoff now."""

import time
from statistics import median
from typing import Annotated, Any

import typer

from sisyphus.boulder import plans, size
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line
from sisyphus.handoff import handoffs, messages, writing
from sisyphus.loops import iterations, loops, runs
from sisyphus.loops.loops import Loop
from sisyphus.sessions import sessions, usage
from sisyphus.sessions.usage import Usage
from sisyphus.terminal import asker, show

Session = Annotated[
    str, typer.Option("--session-id", metavar="ID", help="Session. Default: the current one.")
]

_FEW = 3
"""Of fewer iterations a median says nothing."""


class Found(Record, frozen=True):
    """The session that a command means: the number of its row, its id, its client, and its
    transcript."""

    number: int
    id: str
    client: str
    transcript: str
    used: Usage
    project: str


def context(
    session: Session = "", project: show.Project = "", as_json: show.AsJson = False
) -> None:
    """Show how full the context of a session is."""
    place = show.place(project)
    found = _find(place, session)
    if found is None:
        show.as_json(None) if as_json else show.line(messages.NO_SESSION)
        return
    used = found.used
    level = used.level(place.settings)
    run = loops.run_of(place.store, found.number)
    item = runs.of(place.store, run).state.item if run else _item(place, found.number)
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
        "recommendation": _recommendation(place, found, level, misfit),
        "iterations_left": _iterations_left(place, run, used),
    }
    if as_json:
        show.as_json(data)
        return
    if found.id != show.asker().session:
        show.line(f"Session {found.id}, the latest of this project", "dim")
    _print(data, level)
    if is_open := handoffs.open_of(place.store, found.number):
        show.line(f"Open Handoff: {messages.place(is_open)}")


def handoff(session: Session = "", project: show.Project = "") -> None:
    """Write a handoff now: what was done, what failed, where to go on. It ends nothing."""
    place = show.place_to_change(project)
    found = _find(place, session)
    if found is None:
        raise SisyphusError(messages.NO_SESSION)
    now = time.time()
    source = writing.Source(
        place.store, found.client, found.number, found.id, found.project, found.transcript
    )
    level = found.used.level(place.settings)
    try:
        made = writing.draft(source, found.used, level, messages.BY_USER, now)
        writing.write(made)
    except OSError as error:
        raise SisyphusError(f"{messages.NOT_WRITTEN} ({error})") from error
    with place.store.write():
        handoffs.insert(place.store, made.handoff)
        loop = loops.run_of(place.store, found.number) or loops.current(place.store, found.number)
    iteration = loop.counters.iteration if loop else 0
    is_on = bool(place.settings["handoff.enabled"])
    for line in messages.written_now(found.used, made.handoff, iteration, is_on=is_on):
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


def _find(place: show.Place, session: str) -> Found | None:
    """Returns the session that a command means: the named one, the one that it runs in, else the
    latest of the project; None = there is none. Raises `SisyphusError` if the named one is not
    known."""
    id = asker.known_session(place.store, session)
    id = id or sessions.latest_id(place.store, place.project)
    number = sessions.find(place.store, id) if id else 0
    if not number:
        return None
    row = place.store.one("SELECT client, transcript, project FROM session WHERE n = ?", number)
    assert row is not None
    client, transcript, project = row
    used = usage.read(place.store, place.settings, client, number, transcript)
    return Found(number, id, client, transcript, used, project)


def _recommendation(place: show.Place, found: Found, level: int, misfit: str) -> str:
    """Returns what to do, by the handoff that is open or will be written. misfit: why the next item
    must not be begun yet; "" = it fits."""
    store, values, number = place.store, place.settings, found.number
    plan = plans.of_session(store, number)
    loop = loops.run_of(store, number) or loops.current(store, number)
    has_plan = plan is not None and plan.state == plans.ACTIVE
    has_work = bool(loop or loops.hold_of(store, number) or has_plan)
    percents = [int(values[name]) for name in usage.LEVELS[1:]]
    is_on = bool(values["handoff.enabled"])
    why_none = messages.NOT_OPEN if has_work else messages.NO_WORK
    if not is_on or not any(percents):
        why_none = messages.SWITCHED_OFF
    ahead = [percent for percent in percents if percent > found.used.percent]
    is_ahead = is_on and has_work and bool(ahead)
    is_open = is_on and handoffs.open_of(store, number) is not None
    next_percent = min(ahead) if is_ahead else 0
    return messages.recommendation(level, next_percent, why_none, misfit, is_open=is_open)


def _iterations_left(place: show.Place, run: Loop | None, used: Usage) -> int | None:
    """Returns how many iterations of a run would fit into what is left of the context, by the
    median of those so far; None = it is no run, or fewer than three are known."""
    rows = iterations.of(place.store, run) if run and used.tokens else []
    percents = [each.percent for each in rows if each.percent]
    if len(percents) < _FEW:
        return None
    return int((100 - used.percent) // median(percents))


def _item(place: show.Place, number: int) -> str:
    """Returns the next task of the session's plan; "" = it has none."""
    plan = plans.of_session(place.store, number)
    return plan.next_task if plan else ""
