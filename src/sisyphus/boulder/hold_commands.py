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
        raise UsageError(f"--{options[0]} is for `sisyphus boulder hold on`.")
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
    problem = "A hold needs a plan with open tasks, and none is followed here."
    plan = commands.open_plan(place, session, problem)
    show.need_user("/boulder-hold on")
    meant = asker.session_of(place.store, session)
    asker.warn_of_new(meant)
    file = find.read(plan.path, plan.project)
    with commands.changing(place, file) as change:
        change.update()
        facts = holds.plan_facts(change.row)
        if facts.no_work:
            raise SisyphusError(f"No hold was started: {facts.no_work}.")
        follower = change.follower(meant)
        change.row = progress.attach(place.store, follower, change.row, change.now)
        hold, replaced = holds.start(place.store, change.row, options, change.now)
        held = holds.held(place.store, hold)
        change.exports.append(partial(holds.export, place.store, change.row.project))
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
        several = "".join(f"\n  {each.id}  {each.task}" for each in here)
        raise SisyphusError(
            f"Several holds are on here. `sisyphus ralph cancel ID` ends one:{several}"
        )
    return here[0] if here else None
