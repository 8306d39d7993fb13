"""`sisyphus boulder hold`: keeps the sessions at a plan going until it is complete."""

import time
from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from sisyphus.boulder import commands, find, hold_messages, holds, progress, trust
from sisyphus.ground import exports
from sisyphus.ground.errors import SisyphusError, UsageError
from sisyphus.loops import limits, loops
from sisyphus.loops.loop import DEFAULT_ITERATIONS, DEFAULT_MINUTES, Hold, Options
from sisyphus.loops.messages import BY_USER, cancelled
from sisyphus.sessions import sessions
from sisyphus.terminal import asker, show


class Action(StrEnum):
    ON = "on"
    OFF = "off"
    STATUS = "status"


def hold(
    action: Annotated[
        Action, typer.Argument(metavar="[on|off|status]", help="Switch it on or off, or show it.")
    ] = Action.STATUS,
    max_iterations: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="With `on`: end the hold after N iterations, counted over all its sessions; "
            f"0 = no limit. Default: {DEFAULT_ITERATIONS}.",
        ),
    ] = None,
    max_minutes: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="With `on`: end the hold after N minutes; 0 = no limit. "
            f"Default: {DEFAULT_MINUTES:,}, a day.",
        ),
    ] = None,
    wait_for_user: Annotated[
        bool,
        typer.Option(
            "--wait-for-user", help="With `on`: let the agents stop to ask you a question."
        ),
    ] = False,
    session: commands.SessionId = "",
    project: show.Project = "",
    as_json: show.AsJson = False,
) -> None:  # fmt: skip
    """Make every session that follows the plan go on until the plan is complete."""
    texts = {"max-iterations": max_iterations, "max-minutes": max_minutes}
    given = {name: limits.read(name, text) for name, text in texts.items() if text is not None}
    options = [*given, *(["wait-for-user"] if wait_for_user else [])]
    if options and action != Action.ON:
        raise UsageError(hold_messages.only_for_on(options[0]))
    if action == Action.ON:
        place = show.place_to_change(project)
        asked = Options(
            "",
            given.get("max-iterations", DEFAULT_ITERATIONS),
            given.get("max-minutes", DEFAULT_MINUTES),
            wait_for_user=wait_for_user,
        )
        _start(place, session, asked)
    elif action == Action.OFF:
        _end(show.place(project), session)
    else:
        _show(show.place(project), session, as_json=as_json)


def _start(place: show.Place, session: str, options: Options) -> None:
    here = commands.of_place(place, session)
    plan = here.record
    if plan is None or not plan.is_open:
        raise SisyphusError(hold_messages.needs_plan(commands.way_to_a_plan(here)))
    show.need_user("/boulder-hold on")
    meant, now = asker.session_of(place.store, session), time.time()
    asker.warn_of_new(meant)
    file = find.read(plan.path, plan.project)
    shared = progress.shared_changes(place.store, plan.project)
    with place.store.write():
        row = progress.update(place.store, file, now, shared).record or plan
        facts = holds.plan_facts(row)
        if facts.no_work:
            raise SisyphusError(hold_messages.nothing_to_hold(facts))
        follower = None
        if meant.id:
            follower = sessions.ensure_by_id(place.store, meant.id, place.project, now)
        row = progress.attach(place.store, follower, row, now)
        hold, replaced = holds.start(place.store, row, options, now)
        held = holds.held(place.store, hold)
    own = partial(holds.export, place.store, row.project)
    exports.run([*progress.exports(place.store, row, file), own])
    show.line(hold_messages.hold_started(hold, facts, held, replaced, show.asker().typed))
    if file.plan and (new := trust.allowed(place.store, place.project, file.plan)[1]):
        show.line(hold_messages.not_trusted(len(new)))
    show.what_is_off(place, "boulder.enabled")


def _end(place: show.Place, session: str) -> None:
    picked = _pick(place, session)
    if picked is None:
        if place.store.is_durable and show.asker().is_user:  # who ends one that we have lost
            exports.run([partial(holds.export, place.store, place.project)])
        show.line(hold_messages.NO_HOLD)
        return
    show.need_user("/boulder-hold off")
    with place.store.write():
        hold = loops.hold_at(place.store, picked.plan)
        if hold and hold.id == picked.id:  # no Stop has ended it meanwhile
            loops.cancel(place.store, hold, BY_USER, time.time())
            picked = hold
    exports.run([partial(holds.export, place.store, picked.project)])
    show.line(cancelled([picked]))


def _show(place: show.Place, session: str, *, as_json: bool) -> None:
    hold, now = _pick(place, session), time.time()
    if as_json:
        show.as_json(holds.as_dict(place.store, hold, now) if hold else {"status": "off"})
    elif hold is None:
        show.line(hold_messages.NO_HOLD)
    else:
        show.line(hold_messages.hold_state(hold))
        facts = holds.plan_facts(holds.plan_now(place.store, hold, now))
        typed = show.asker().typed
        way_out = hold_messages.way_out(hold, facts, typed)
        show.line(hold_messages.hold_waits(facts, typed) if facts.no_work else way_out)
        show.line(hold_messages.at_the_plan(holds.held(place.store, hold)))


def _pick(place: show.Place, session: str) -> Hold | None:
    """Returns the hold that a command means: of the session's plan, else of the plan that is
    followed here, else the only one of the project. Raises `SisyphusError` if there are several."""
    store = place.store
    plan = commands.of_place(place, session).record
    if hold := loops.hold_of(store, asker.session_of(store, session)):
        return hold
    here = holds.of_project(store, place.project, plan)
    is_of_plan = bool(here and plan and loops.plan_file(store, here[0]) == plan.path)
    if len(here) > 1 and not is_of_plan:
        raise SisyphusError(hold_messages.which(here))
    return here[0] if here else None
