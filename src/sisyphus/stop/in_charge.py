"""Who is in charge of a session: its loop, or the hold of its plan; and whether it ends at a
checkpoint."""

from __future__ import annotations

from sisyphus.loops import loops
from sisyphus.loops.loop import Hold, Loop
from sisyphus.sessions.usage import EMERGENCY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook


def in_charge(hook: Hook, live: list[Loop] | None = None) -> Loop | Hold | None:
    """Returns the session's current loop, else the hold of its plan; None if it has neither, and
    enforcement decides if it is on. A stalled loop is behind the hold and enforcement. live: the
    session's loops; None = nobody has loaded them."""
    loop: Loop | None = None
    hold: Hold | None = None
    if hook.settings["ralph.enabled"]:
        live = loops.live(hook.store, hook.session) if live is None else live
        loop = loops.current_of(live)
    if loop and not loop.is_stalled:
        return loop
    if hook.settings["boulder.enabled"]:
        hold = loops.hold_of(hook.store, hook.session)
    return hold if hold or hook.is_enforced else loop


def checkpoint(hook: Hook) -> str:
    """Returns the handoff with which this session ends; "" = it does not end at a checkpoint."""
    if not hook.settings["handoff.ends_session"]:
        return ""
    from sisyphus.handoff import handoffs  # imported late: few sessions end so

    return handoffs.checkpoint_of(hook.store, hook.session)


def is_at_checkpoint(hook: Hook) -> bool:
    """Tells whether the session has no room for more work than to hand it over."""
    return hook.session.level >= EMERGENCY or bool(checkpoint(hook))
