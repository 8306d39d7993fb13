"""The gates of enforcement: a session goes on only if all of them are open. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sisyphus.enforce.record import Enforcement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.settings import Values

BACKOFF = 2
"""Each failure in a row doubles the cooldown."""


@dataclass(eq=False, repr=False)
class GateFacts:
    """What the gates look at.

    now: seconds since 1970. idle_seconds: how long the session has been idle; None = it stops right
        now, so that the idle gate does not apply.
    is_planning: the agent may only plan. is_waiting: background work will wake it.
    rests: why the session may stop until its user's next prompt; "" = it may not.
    asks: the last message asks the user something.
    has_other: a loop or a hold decides about this session.
    is_at_cap: the client would ignore one more blocked Stop.
    """

    now: float
    idle_seconds: float | None = None
    is_planning: bool = False
    is_waiting: bool = False
    rests: str = ""
    asks: bool = False
    has_other: bool = False
    is_at_cap: bool = False


def after_turn(
    enforcement: Enforcement, *, uses_tools: bool, now: float, settings: Values
) -> Enforcement:
    """Returns what is known of a session after it has stopped again.

    An enforcement that no tool call followed is a failure. Failures are forgotten after a tool
    call, and `enforce.recovery_seconds` after the last enforcement.
    """
    failures = enforcement.failures
    if uses_tools or now - enforcement.at >= settings["enforce.recovery_seconds"]:
        failures = 0
    elif enforcement.is_pending:
        failures += 1
    return replace(enforcement, failures=failures, is_pending=False)


def why_closed(facts: GateFacts, enforcement: Enforcement, settings: Values) -> str:
    """Returns the first closed gate in words, as the end of "enforcement holds back: …"; "" = all
    are open."""
    last, most = settings["enforce.max_iterations"], settings["enforce.max_failures"]
    opens = cooldown_ends(enforcement, settings)
    gates = (
        (facts.is_planning, "the agent is in plan mode"),
        (facts.has_other, "a loop or a hold decides"),
        (facts.is_waiting, "background work is still running"),
        (bool(facts.rests), f"the session waits for its user: {facts.rests}"),
        (facts.asks, "the agent asks its user something"),
        (is_too_early(facts, settings), "the session is not idle for long enough"),
        (facts.now < opens, f"{opens - facts.now:.0f} s of the cooldown are left"),
        (0 < most <= enforcement.failures, f"{enforcement.failures} failures in a row"),
        (enforcement.is_stopped, "the user stopped it until their next prompt"),
        (0 < last <= enforcement.iteration, f"it made the session go on {last} times"),
        (facts.is_at_cap, "the client would ignore one more blocked Stop"),
    )
    return next((why for is_closed, why in gates if is_closed), "")


def is_too_early(facts: GateFacts, settings: Values) -> bool:
    seconds = facts.idle_seconds
    return seconds is not None and seconds < settings["enforce.idle_seconds"]


def cooldown_ends(enforcement: Enforcement, settings: Values) -> float:
    """Returns when the next enforcement may follow the last one, in seconds since 1970."""
    if not enforcement.at:
        return 0.0
    cooldown = settings["enforce.cooldown_seconds"] * BACKOFF ** min(enforcement.failures, 20)
    return float(enforcement.at + cooldown)
