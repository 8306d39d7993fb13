"""Wakes a session that has been idle for too long: under enforcement, and where a loop or a hold
waits for background work that does not end.

The client starts this process beside each Stop and does not wait for it. It sleeps without a lock,
looks now and then, and leaves as soon as the session goes on, ends, or must not be woken. Several
may wait for one session: the first that acts clears `idle_since`, and so only one wakes it.
"""

from __future__ import annotations

import time

from sisyphus.enforce import enforcements, gates, messages
from sisyphus.enforce.enforcements import WAKE
from sisyphus.enforce.gates import WAIT_SECONDS, Gate, GateFacts
from sisyphus.ground import processes
from sisyphus.ground.partial import partial
from sisyphus.hook import standing
from sisyphus.hook.outcome import Alert, Note, Outcome
from sisyphus.hook.session import Session
from sisyphus.sessions import sessions
from sisyphus.stop import enforcing
from sisyphus.stop import messages as stop_messages
from sisyphus.stop.in_charge import in_charge, is_at_checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.enforce.enforcements import Enforcement
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act

STOP_SECONDS = 10
"""How long we wait for the Stop hook, which runs beside us and decides whether the session is
idle."""

_LOOK_SECONDS = 1.0
_FIRST_LOOKS_SECONDS = 0.1


def look_at_idle(hook: Hook) -> Act | None:
    """Waits until the session may be woken. Returns None if it goes on or must be left alone."""
    was_idle = False
    while time.time() - hook.now < WAIT_SECONDS and processes.is_alive(hook.event.stop.host):
        hook.session = Session.of_event(hook.store, hook.event)
        idle_since = _idle_since(hook)
        if idle_since is None:
            is_late = time.time() - hook.now >= STOP_SECONDS
            if was_idle or is_late or _has_decided(hook):
                return None
            time.sleep(_FIRST_LOOKS_SECONDS)
            continue
        was_idle = True
        now = time.time()
        next_at, act = _look_at_work(hook, idle_since) or _look_at_gates(hook, idle_since, now)
        if not 0 < next_at <= hook.now + WAIT_SECONDS:
            return None
        if next_at <= now and act:
            return act
        time.sleep(min(max(next_at - now, 0.01), _LOOK_SECONDS))
    return None


def _look_at_work(hook: Hook, idle_since: float) -> tuple[float, Act] | None:
    """Returns when an idle session is woken whose loop or hold waits for background work, and what
    wakes it; None = it has no loop or hold, and 0 = it is not woken."""
    hook.standing = standing.load(hook.store, hook.session, hook.project)
    work = in_charge(hook)
    if work is None:
        return None
    is_left = not work.is_active or sessions.is_left(hook, idle_since)
    return 0.0 if is_left else _wait_ends(hook), partial(_wake_for_work, hook, idle_since)


def _look_at_gates(hook: Hook, idle_since: float, now: float) -> tuple[float, Act | None]:
    """Returns when enforcement wakes the session, and what does it if its gates are open now; 0 =
    it does not wake it."""
    enforcement = enforcements.load(hook.store, hook.session)
    closed = _closed(hook, enforcement, idle_since, now)
    if not all(gate.opens_in_time for gate in closed):
        return 0.0, None
    if not closed:
        return now, partial(_wake, hook, idle_since, _open_tasks(hook))
    wait_ends = _wait_ends(hook)
    return gates.next_at(idle_since, enforcement, hook.settings, wait_ends=wait_ends), None


def _wait_ends(hook: Hook) -> float:
    """Returns when background work excuses the session no more; 0 = it waits for none."""
    patience = hook.settings["ralph.background_wait"]
    return hook.session.stops.patience_ends(patience)


def _idle_since(hook: Hook) -> float | None:
    """Returns since when the session is idle; None = it is not, or only an earlier Stop says so,
    which a turn followed that no hook heard start."""
    since = hook.session.idle_since
    return since if since is not None and since >= hook.now - STOP_SECONDS else None


def _has_decided(hook: Hook) -> bool:
    """Tells whether the Stop hook beside us has surely decided. It may also have done so before we
    were there."""
    return hook.session.stops.at >= hook.now


def _closed(hook: Hook, enforcement: Enforcement, idle_since: float, now: float) -> list[Gate]:
    """Returns the closed gates, from rows that are read anew."""
    if not hook.is_enforced:
        return [Gate("switch", "enforcement is off")]
    if sessions.is_left(hook, idle_since):
        return [Gate("session", "its user has gone on in another one")]
    return gates.closed(_facts(hook, idle_since, now), enforcement, hook.settings)


def _facts(hook: Hook, idle_since: float, now: float) -> GateFacts:
    """Returns what the gates look at beside an idle session."""
    patience = hook.settings["ralph.background_wait"]
    return GateFacts(
        now,
        idle_seconds=now - idle_since,
        is_planning=hook.event.is_planning,
        is_waiting=bool(hook.session.stops.excuses(now, patience)),
        rests=hook.session.why_waits,
        asks=bool(hook.session.question),
        has_other=in_charge(hook) is not None,
        is_full=is_at_checkpoint(hook),
    )


def _open_tasks(hook: Hook) -> tuple[str, ...]:
    """Returns the next open tasks of the session's plan."""
    path = hook.standing.plan
    if not path or not hook.settings["boulder.enabled"]:
        return ()
    from sisyphus.stop import findings  # imported late: only a session that is woken needs it

    return findings.open_tasks(hook.store, path)


def _wake_for_work(hook: Hook, idle_since: float) -> Outcome:
    """Wakes a session whose background work has run for too long, so that its loop or hold goes on:
    no event of the client would come."""
    waits = hook.session.stops.waits
    found = _look_at_work(hook, idle_since)
    is_idle = hook.session.idle_since == idle_since
    if not is_idle or found is None or not 0 < found[0] <= hook.now:
        return Outcome()
    _note_wake(hook)
    seconds = round(hook.now - min(waits.values()))
    reason = stop_messages.waited_long_enough(seconds, list(waits))
    return Outcome(reason=reason, notes=[f"woke the session: {reason}"])


def _note_wake(hook: Hook) -> None:
    """Notes that the session goes on."""
    hook.session.stops.blocks = 0  # the client counts anew in a turn that it was woken for
    hook.session.go_on()
    hook.session.question = ""


def _wake(hook: Hook, idle_since: float, tasks: tuple[str, ...]) -> Outcome:
    """Wakes the session, unless it went on, or another process woke it."""
    hook.standing = standing.load(hook.store, hook.session, hook.project)
    enforcement = enforcements.load(hook.store, hook.session)
    is_idle = hook.session.idle_since == idle_since
    if not is_idle or _closed(hook, enforcement, idle_since, hook.now):
        return Outcome()
    enforcement = gates.recovered(enforcement, hook.now, hook.settings)
    enforcement.count(hook.now)
    enforcements.save(hook.store, hook.session, enforcement)
    _note_wake(hook)
    number, seconds = messages.number(enforcement, hook.settings), hook.now - idle_since
    names = ("toast", "countdown", "abort", "stability")  # the user gets time to object
    seconds_of_alert = (hook.settings[f"enforce.{name}_seconds"] for name in names)
    return Outcome(
        reason=messages.idle(seconds, tasks, hook.session.stops.tested, number),
        notes=[Note(WAKE, f"enforcement {number}: woken after {seconds:.0f} s")],
        exports=[enforcing.export(hook)],
        alert=Alert("error", messages.is_woken(number), *seconds_of_alert),
    )
