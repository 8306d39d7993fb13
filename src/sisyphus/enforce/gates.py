"""The gates of enforcement: a session goes on only if all of them are open. Pure."""

from __future__ import annotations

from sisyphus.enforce.enforcements import Enforcement
from sisyphus.ground.record import Record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.settings import Values

BACKOFF = 2
"""Each failure in a row doubles the cooldown."""

_MAX_DOUBLINGS = 20

PLANNING, BACKGROUND = "plan mode", "background work"
"""The gates at which nobody works, and the user is told."""

IDLE, COOLDOWN, FAILURES = "idle time", "cooldown", "failures"
"""The gates that open by themselves, with time."""

WAIT_SECONDS = 890
"""How long a process waits beside an idle session. The client kills it after 900 s, see
hooks.json."""


class GateFacts(Record):
    """What the gates look at.

    now: seconds since 1970. idle_seconds: how long the session has been idle; None = it stops right
        now, so that the idle gate does not apply.
    is_planning: the agent may only plan. is_waiting: background work will wake it.
    rests: why the session may stop until its user's next prompt; "" = it may not.
    asks: the last message asks the user something.
    has_other: a loop or a hold decides about this session.
    is_at_cap: the client would ignore one more blocked Stop.
    is_full: the context is nearly full, or the session ends at its checkpoint.
    """

    now: float
    idle_seconds: float | None = None
    is_planning: bool = False
    is_waiting: bool = False
    rests: str = ""
    asks: bool = False
    has_other: bool = False
    is_at_cap: bool = False
    is_full: bool = False


class Gate(Record):
    """A gate. why: why it is closed, as the end of "enforcement holds back: …"; "" = it is open."""

    name: str
    why: str

    @property
    def opens_in_time(self) -> bool:
        """Tells whether nothing but time has to pass until it is open."""
        return self.name in (BACKGROUND, IDLE, COOLDOWN, FAILURES)

    @property
    def is_standstill(self) -> bool:
        return self.name in (PLANNING, BACKGROUND)


def after_turn(
    enforcement: Enforcement, *, uses_tools: bool, now: float, settings: Values
) -> Enforcement:
    """Returns what is known of a session after it has stopped again.

    An enforcement that no tool call followed is a failure. Failures are forgotten after a tool
    call, and `enforce.recovery_seconds` after the last enforcement.
    """
    is_recovered = now - enforcement.at >= settings["enforce.recovery_seconds"]
    failures = 0 if uses_tools or is_recovered else enforcement.failures
    if enforcement.is_pending and not uses_tools:
        failures += 1
    return replace(enforcement, failures=failures, is_pending=False)


def has_too_many_failures(enforcement: Enforcement, settings: Values) -> bool:
    return bool(0 < settings["enforce.max_failures"] <= enforcement.failures)


def recovers_at(enforcement: Enforcement, settings: Values) -> float:
    """Returns when too many failures are forgotten, in seconds since 1970."""
    return float(enforcement.at + settings["enforce.recovery_seconds"])


def recovered(enforcement: Enforcement, now: float, settings: Values) -> Enforcement:
    """Returns what is known of a session whose failures, if they were too many, may be forgotten
    by now."""
    is_over = now >= recovers_at(enforcement, settings)
    if is_over and has_too_many_failures(enforcement, settings):
        return replace(enforcement, failures=0)
    return enforcement


def gates(facts: GateFacts, enforcement: Enforcement, settings: Values) -> list[Gate]:
    """Returns all gates in their order: first what leaves the session alone in any case."""
    enforcement = recovered(enforcement, facts.now, settings)
    last, opens = settings["enforce.max_iterations"], cooldown_ends(enforcement, settings)
    left = recovers_at(enforcement, settings) - facts.now
    rows = (
        (PLANNING, facts.is_planning, "the agent is in plan mode"),
        ("loop or hold", facts.has_other, "a loop or a hold decides"),
        (BACKGROUND, facts.is_waiting, "background work is still running"),
        ("context", facts.is_full, "the context is nearly full: the work is handed over"),
        ("blocked", facts.rests, f"the session waits for its user: {facts.rests}"),
        ("question", facts.asks, "the agent asks its user something"),
        (IDLE, is_too_early(facts, settings), "the session is not idle for long enough"),
        (COOLDOWN, facts.now < opens, f"{opens - facts.now:.0f} s of the cooldown are left"),
        (
            FAILURES,
            has_too_many_failures(enforcement, settings),
            f"{enforcement.failures} enforcements in a row without a tool call, forgotten in "
            f"{left:.0f} s",
        ),
        ("stop", enforcement.is_stopped, "the user stopped it until their next prompt"),
        (
            "limit",
            is_exhausted(enforcement, settings),
            f"it made the session go on {enforcement.iteration} times, and {last} are allowed",
        ),
        ("client", facts.is_at_cap, "the client would ignore one more blocked Stop"),
    )
    return [Gate(name, why if is_closed else "") for name, is_closed, why in rows]


def closed(facts: GateFacts, enforcement: Enforcement, settings: Values) -> list[Gate]:
    """Returns the closed gates; [] = all are open, and the session may be made to go on."""
    return [gate for gate in gates(facts, enforcement, settings) if gate.why]


def is_too_early(facts: GateFacts, settings: Values) -> bool:
    seconds = facts.idle_seconds
    return seconds is not None and seconds < settings["enforce.idle_seconds"]


def is_exhausted(enforcement: Enforcement, settings: Values) -> bool:
    return bool(0 < settings["enforce.max_iterations"] <= enforcement.iteration)


def cooldown_ends(enforcement: Enforcement, settings: Values) -> float:
    """Returns when the next enforcement may follow the last one, in seconds since 1970. If there
    were too many failures, that is not before they are forgotten."""
    if not enforcement.at:
        return 0.0
    if has_too_many_failures(enforcement, settings):
        return float(enforcement.at + settings["enforce.cooldown_seconds"])
    doublings = min(enforcement.failures, _MAX_DOUBLINGS)
    return float(enforcement.at + settings["enforce.cooldown_seconds"] * BACKOFF**doublings)


def next_at(
    idle_since: float, enforcement: Enforcement, settings: Values, *, wait_ends: float = 0.0
) -> float:
    """Returns when time has opened the gates of an idle session, in seconds since 1970. wait_ends:
    when its background work excuses it no more."""
    idle_ends = float(idle_since + settings["enforce.idle_seconds"])
    ends = max(idle_ends, wait_ends, cooldown_ends(enforcement, settings))
    is_failing = has_too_many_failures(enforcement, settings)
    return max(ends, recovers_at(enforcement, settings)) if is_failing else ends
