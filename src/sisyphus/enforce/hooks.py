"""Tells the user at a start that enforcement is on, and lets their prompt lift a stop."""

from __future__ import annotations

from sisyphus.enforce import enforcements, messages, state_file
from sisyphus.ground.partial import partial
from sisyphus.hook.outcome import Outcome
from sisyphus.sessions import command_names, ledger, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act


_LATE_SECONDS = 120
"""A client gives an idle session the text that wakes it within seconds."""


def look_at_start(hook: Hook) -> Act | None:
    return partial(_tell, hook)


def _tell(hook: Hook) -> Outcome:
    """Tells it once, even if plugin and settings both call us at this start."""
    if not ledger.record_notice(hook, "enforcement is on"):
        return Outcome()
    command = command_names.typed(hook, "enforce")
    text = (
        f"Enforcement is on here: the agent is made to go on. `{command} stop` leaves it alone "
        f"until your next prompt, `{command} off` ends it."
    )
    return Outcome(messages=[text])


def look_at_prompt(hook: Hook) -> Act | None:
    enforcement = enforcements.load(hook.store, hook.session)
    if not (enforcement.is_stopped or enforcement.is_pending):
        return None
    return partial(_tell_of_wake if hook.event.prompt.is_wake else _take_prompt, hook)


def _tell_of_wake(hook: Hook) -> Outcome:
    """Tells the user why the session goes on: the client does not. A client may keep a wake until
    the session is resumed; then the user is there, and it goes no further. Nor does one that comes
    when they have gone on in another session."""
    enforcement = enforcements.load(hook.store, hook.session)
    is_left = sessions.is_left(hook, enforcement.at)
    if is_left or hook.now - enforcement.at > _LATE_SECONDS:
        late = "This was to wake the session when it was idle, and came too late. It is left out."
        return Outcome(reason=late, notes=[late])
    number = messages.number(enforcement, hook.settings)
    text = messages.is_woken(number)
    return Outcome(messages=[text], notes=[text])


def _take_prompt(hook: Hook) -> Outcome:
    """What follows a person's prompt answers them, not the last enforcement."""
    enforcement = enforcements.load(hook.store, hook.session)
    notes = ["the user's prompt ends the stop of enforcement"] if enforcement.is_stopped else []
    enforcement.is_stopped = enforcement.is_pending = False
    enforcements.save(hook.store, hook.session, enforcement)
    export = partial(state_file.export, hook.store, hook.project, hook.settings)
    return Outcome(notes=notes, exports=[export])
