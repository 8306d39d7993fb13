"""`sisyphus context` and `sisyphus handoff`: how full a session's context is, and a handoff now."""

import time
from statistics import median
from typing import Annotated, Any

import typer

from sisyphus.boulder import plans, size
from sisyphus.boulder.size import Size
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.text import one_line
from sisyphus.handoff import handoffs, messages, writing
from sisyphus.handoff.handoffs import Handoff
from sisyphus.hook.session import Session
from sisyphus.loops import iterations, loops
from sisyphus.loops.loop import Work
from sisyphus.sessions import sessions, usage
from sisyphus.sessions.usage import Usage
from sisyphus.terminal import asker, show

SessionId = Annotated[
    str, typer.Option("--session-id", metavar="ID", help="Session. Default: the current one.")
]

_NO_SESSION = "No session of this project yet. Start one, then ask again."

_OF_ENDED_RUN = (
    "All sessions here are of runs that have ended. Give one with --session-id; `sisyphus "
    "sessions` lists them."
)

_FEW = 3
"""Of fewer iterations a median says nothing."""


def context(
    session: SessionId = "", project: show.Project = "", as_json: show.AsJson = False
) -> None:
    """Show how full the context of a session is."""
    place = show.place(project)
    found = _find(place, session)
    if found is None:
        show.as_json(None) if as_json else show.line(_NO_SESSION)
        return
    used = usage.of_session(found, place.settings)
    level = used.level(place.settings)
    run = loops.run_of(place.store, found)
    item = run.state.item if run else _item(place, found)
    measure = size.of(item) if item else None
    data = {
        "session_id": found.id,
        "percent": used.percent if used.tokens else None,
        "level": messages.LEVELS[level],
        "tokens": used.tokens or None,
        "window": used.window or None,
        "tokens_left": used.window - used.tokens if used.tokens else None,
        "item": item or None,
        "complexity": measure.name if measure else None,
        "recommendation": _recommendation(place, found, used, None if run else measure),
        "iterations_left": _iterations_left(place, run, used),
    }
    if as_json:
        show.as_json(data)
        return
    if found.id != show.asker().session:
        show.line(f"Session {found.id}", "dim")
    _print(data, level)
    if is_open := handoffs.open_of(place.store, found):
        show.line(f"Open Handoff: {messages.place(is_open)}")


def handoff(session: SessionId = "", project: show.Project = "") -> None:
    """Write a handoff now: what was done, what failed, where to go on. It ends nothing."""
    place = show.place_to_change(project)
    found = _find(place, session)
    if found is None:
        raise SisyphusError(_NO_SESSION)
    if not session and sessions.is_of_ended_run(place.store, found):
        raise SisyphusError(_OF_ENDED_RUN)
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
    show.line(f"Session: {found.id}")
    if loop and loop.counters.iteration:
        show.line(f"Iteration: {loop.counters.iteration}")
    show.line(f"Context: {used.percent} %" if used.tokens else "Context: unknown")
    show.line(f"Handoff: {messages.place(made.handoff)}")
    show.line(_who_gets(place, made.handoff))


def _who_gets(place: show.Place, handoff: Handoff) -> str:
    if not place.settings["handoff.enabled"]:
        return "No session gets it by itself: `handoff.enabled` is false."
    if handoffs.has_ended(place.store, handoff):
        return "No session gets it by itself: its work has ended."
    return "The next session that starts here gets it, or this one after /clear or a compaction."


def _print(data: dict[str, Any], level: int) -> None:
    if data["percent"] is None:
        show.line("How full the context is is not known: no answer of the model was found.")
        return
    show.line(f"Current Context: {data['percent']} %")
    show.line(f"Level: {messages.level_name(level)}")
    show.line(f"Estimated Remaining: {data['tokens_left']:,} of {data['window']:,} tokens")
    if data["item"]:
        show.line(f"Current Item: {one_line(data['item'])}")
        of = size.of(data["item"])
        needs = f"about {of.least} to {of.most} % of a context"
        show.line(f"Item Complexity: {of.name} ({needs})")
    if data["iterations_left"] is not None:
        show.line(f"Iterations Left: about {data['iterations_left']} like those of this run")
    show.line(data["recommendation"])


def _find(place: show.Place, session: str) -> Session | None:
    """Returns the session that a command means: the named one, the one that it runs in, else the
    open or the latest one of the project; None = there is none. Of a typed command it is read
    where the client says now. Raises `SisyphusError` if the named one is not known."""
    found, typed = asker.known_session(place.store, session), show.asker()
    if not found.id:
        found = sessions.meant_in(place.store, place.project)
    if found.id == typed.session and typed.transcript:
        found.transcript = typed.transcript
    return found if found.n else None


def _recommendation(place: show.Place, found: Session, used: Usage, item: Size | None) -> str:
    """Says what to do. item: the size of the next one; None = there is none, or it has begun."""
    is_on, level = bool(place.settings["handoff.enabled"]), used.level(place.settings)
    is_open = is_on and handoffs.open_of(place.store, found) is not None
    go_on = "type /clear, and go on from the handoff"
    if level > 1 and is_open:
        return f"The context is nearly full: {go_on}."
    then = _what_follows(place, found, used, is_full=level > 1)
    if level > 1:
        return f"The context is nearly full: finish what is in progress. {then}"
    if item and (misfit := messages.why_not_begun(item, 100 - used.percent)):
        way = go_on if is_open else "run `sisyphus handoff` and type /clear"
        way = "" if item.must_be_split else f" To checkpoint, {way}."
        return f"{'Finish what is in progress. ' if level else ''}{misfit}{way}"
    return f"{'Finish what is in progress' if level else 'Safe to continue'}. {then}"


def _what_follows(place: show.Place, found: Session, used: Usage, *, is_full: bool) -> str:
    """Says at which percentage of the context a handoff will be written, or why none will."""
    store, values = place.store, place.settings
    percents = [int(values[name]) for name in usage.LEVELS[1:]]
    if not values["handoff.enabled"] or not any(percents):
        return "No handoff will be written: the settings say so."
    plan = plans.of_session(store, found)
    loop = loops.run_of(store, found) or loops.current(store, found)
    has_plan = plan is not None and plan.state == plans.ACTIVE
    if not (loop or has_plan or loops.hold_of(store, found)):
        return (
            "No handoff will be written: the session has no loop and no open plan. `sisyphus "
            "handoff` writes one."
        )
    ahead = [percent for percent in percents if percent > used.percent]
    if is_full or not ahead:
        return "No handoff is open; `sisyphus handoff` writes one."
    return f"A handoff is written at {min(ahead)} %."


def _iterations_left(place: show.Place, run: Work | None, used: Usage) -> int | None:
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
