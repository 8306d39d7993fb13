"""`sisyphus enforce`: switches enforcement on and off in a project, and shows its gates."""

import os
import time
from typing import Annotated, Any

import typer

from sisyphus.enforce import enforcements, gates, messages, state_file
from sisyphus.enforce.enforcements import Enforcement
from sisyphus.enforce.gates import GateFacts
from sisyphus.ground import exports
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.paths import can_be_project, display
from sisyphus.ground.text import iso, one_line
from sisyphus.hook.session import Session
from sisyphus.loops import loops
from sisyphus.sessions import sessions
from sisyphus.sessions.messages import NO_PROJECT
from sisyphus.terminal import asker, show

SessionId = Annotated[
    str, typer.Option("--session-id", metavar="ID", help="Session id, or its first characters.")
]

_NOT_ON = "Enforcement is off here. `sisyphus enforce on` switches it on."

LIMITS = ("idle_seconds", "cooldown_seconds", "max_failures", "recovery_seconds", "max_iterations")
"""The settings that `status --json` shows."""


def on(project: show.Project = "") -> None:
    """Switch enforcement on in this project: its sessions go on when they say that they are done.

    What was counted in its sessions begins at 0 again.
    """
    show.need_user("/enforce on")
    place = show.place_to_change(project)
    if not can_be_project(place.project):
        raise SisyphusError(NO_PROJECT)
    with place.store.write():
        enforcements.switch(place.store, place.project, is_on=True, now=time.time())
        enforcements.restart(place.store, place.project)
    _export(place)
    _say_on(place)
    if sessions.open_in(place.store, place.project):
        show.line("A session that is idle now is woken only after its next turn.")
    show.what_is_off(place, "enforce.enabled")


def off(project: show.Project = "") -> None:
    """Switch enforcement off in this project."""
    show.need_user("/enforce off")
    place = show.place_to_change(project)
    with place.store.write():
        was_on = bool(enforcements.enforced_since(place.store, place.project))
        enforcements.switch(place.store, place.project, is_on=False, now=time.time())
    if was_on or os.path.lexists(state_file.file_of(place.project)):  # a lost row leaves it "on"
        _export(place)
    how = "is off" if was_on else "was not on"
    show.line(f"Enforcement {how} in {display(place.project, '')}.")


def stop(session: SessionId = "", project: show.Project = "") -> None:
    """Leave sessions alone until their user's next prompt. Default: this session or, in a terminal,
    all of this project."""
    show.need_user("/enforce stop")
    place = show.place_to_change(project)
    if not enforcements.enforced_since(place.store, place.project):
        show.line(_NOT_ON)
        return
    meant = asker.known_session(place.store, session)
    with place.store.write():
        if meant.id and not meant.n:  # its start was not heard
            meant = sessions.ensure_by_id(place.store, meant.id, place.project, time.time())
        stopped = [meant] if meant.n else sessions.open_in(place.store, place.project)
        for each in stopped:
            enforcement = enforcements.load(place.store, each)
            enforcement.is_stopped = True
            enforcements.save(place.store, each, enforcement)
    if stopped:
        _export(place)
    which = f"{len(stopped)} sessions are"
    if len(stopped) == 1:
        which = f"Session {stopped[0].id} is"
    left = f"{which} left alone until your next prompt there."
    show.line(left if stopped else "No session of this project is open.")


def status(
    session: SessionId = "",
    project: show.Project = "",
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the gates that are open, too.")
    ] = False,
    as_json: show.AsJson = False,
) -> None:
    """Show whether enforcement is on, what keeps a session from being enforced now, and when it may
    come next. Default: this session, else the one that was enforced last."""
    place = show.place(project)
    meant = asker.known_session(place.store, session)
    if not meant.n:
        meant = enforcements.latest(place.store, place.project)
    data = _describe(place, meant)
    if as_json:
        show.as_json(data)
    else:
        _print(place, data, verbose=verbose)


def _say_on(place: show.Place) -> None:
    """Says what enforcement does from now on, how far it goes, and how to end it."""
    typed, values = show.asker().typed, place.settings
    command, whom = typed or "sisyphus enforce", "this session" if typed else "the sessions"
    limit = values["enforce.max_iterations"]
    most = f"At most {limit} times a session" if limit else "Without a limit"
    show.line(
        f"Enforcement is on in {display(place.project, '')}.\n"
        "An agent that says that it is done must prove it, and one that has been idle for "
        f"{values['enforce.idle_seconds']} s is woken, where its client can do that.\n"
        f"{most}: each time costs you a turn of the model.\n"
        f"`{command} stop` leaves {whom} alone until your next prompt, `{command} off` ends it."
    )


def _export(place: show.Place) -> None:
    exports.run([lambda: state_file.export(place.store, place.project, place.settings)])


def _describe(place: show.Place, session: Session) -> dict[str, Any]:
    """Returns what `status --json` shows of a session, which may not be in the store."""
    since = enforcements.enforced_since(place.store, place.project)
    none: dict[str, Any] = {"gates": [], "next_at": None, "next": None}
    return {
        "project": place.project,
        "since": iso(since) if since else None,
        "limits": {name: place.settings[f"enforce.{name}"] for name in LIMITS},
        **state_file.as_dict(place.store, place.project, place.settings, session),
        "session_id": session.id or None,
        **(_gates(place, session) if since and session.n else none),
    }


def _gates(place: show.Place, session: Session) -> dict[str, Any]:
    """Returns the gates of a session as they are now, and when the next enforcement may come: None
    if it works, or a gate is closed that time does not open."""
    enforcement, values = enforcements.load(place.store, session), place.settings
    now, idle_since, stops = time.time(), session.idle_since, session.stops
    facts = GateFacts(
        now,
        idle_seconds=None if idle_since is None else now - idle_since,
        is_waiting=bool(stops.excuses(now, values["ralph.background_wait"])),
        rests=one_line(session.why_waits),
        asks=bool(session.question),
        has_other=_has_other(place, session),
    )
    rows = gates.gates(facts, enforcement, values)
    if session.failed:
        why = one_line(session.failed, 200)
        at, when = 0.0, f"not before your next prompt, because its last turn failed: {why}"
    elif not all(gate.opens_in_time for gate in rows if gate.why):
        at, when = 0.0, "not by itself now"
    else:
        wait_ends = stops.patience_ends(values["ralph.background_wait"])
        at = _next_wake(place, idle_since, enforcement, now, wait_ends)
        when = f"at {show.clock(at)}, if it stays idle" if at else "after its next turn"
    return {
        "gates": [{"gate": gate.name, "is_open": not gate.why, "why": gate.why} for gate in rows],
        "next_at": iso(at) if at else None,
        "next": when,
    }


def _next_wake(
    place: show.Place,
    idle_since: float | None,
    enforcement: Enforcement,
    now: float,
    wait_ends: float,
) -> float:
    """Returns when the process that waits beside an idle session wakes it; 0 = none waits, because
    it does not run for longer, or because enforcement was off at the last Stop."""
    if idle_since is None or idle_since < enforcements.enforced_since(place.store, place.project):
        return 0.0
    at = gates.next_at(idle_since, enforcement, place.settings, wait_ends=wait_ends)
    return at if now <= at <= idle_since + gates.WAIT_SECONDS else 0.0


def _has_other(place: show.Place, session: Session) -> bool:
    """Tells whether a loop of the session, the hold of its plan, or a run is in charge of it."""
    store = place.store
    has_loop = any(not each.is_stalled for each in loops.live(store, session))
    others = loops.hold_at(store, session.plan), loops.run_of(store, session)
    return has_loop or any(others)


def _print(place: show.Place, data: dict[str, Any], *, verbose: bool) -> None:
    show.what_is_off(place, "enforce.enabled")
    if not data["since"]:
        show.line(_NOT_ON)
        return
    show.line(f"Enforcement: {messages.STATUS[data['status']]}")
    id = data["session_id"]
    if not id:
        show.line("No session of this project yet.")
        return
    show.line(f"Session {id}", "bold")
    count = messages.of_limit(data["iteration"], data["limits"]["max_iterations"])
    show.line(f"Enforcements: {count}, failures in a row: {data['failureCount']}", indent=2)
    closed = [gate for gate in data["gates"] if not gate["is_open"]]
    show.line(f"It would {'not ' if closed else ''}be enforced now.", indent=2)
    for gate in data["gates"] if verbose else closed:
        show.line(f"{gate['gate']}: {gate['why'] or 'open'}", indent=2)
    show.line(f"Next by idle time: {data['next']}", indent=2)
    if others := [each for each in enforcements.stopped(place.store, place.project) if each != id]:
        show.line(messages.left_alone(others))
