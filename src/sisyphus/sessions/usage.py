"""How full the context of a session is, and which level that is."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.ground.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.settings import Values
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.session import Session

LEVELS = ("handoff.warn_percent", "handoff.checkpoint_percent", "handoff.emergency_percent")
"""The settings with the percentages at which level 1, 2 and 3 begin."""


WARNING, CHECKPOINT, EMERGENCY = 1, 2, 3
"""The levels: the session is warned, it hands its work over, it has no room left."""


class Usage(Record):
    """tokens: in the context, by the last answer; 0 = unknown. window: how many fit."""

    tokens: int = 0
    window: int = 0

    @property
    def percent(self) -> int:
        return 100 * self.tokens // self.window if self.window else 0

    def level(self, settings: Values) -> int:
        """Returns the highest level that is reached; 0 = none."""
        reached = [n for n, name in enumerate(LEVELS, 1) if self.percent >= settings[name] > 0]
        return reached[-1] if reached else 0


def of_session(session: Session, settings: Values, transcript: str = "") -> Usage:
    """Returns the usage of a session, by the end of its transcript.

    transcript: where it is, if the session does not know it yet. The window is the one that the
    client's status line reported, else the setting `handoff.window`, else the one of the model. A
    reported window in which the tokens do not fit was of another model.
    """
    tokens, window = clients.usage(session.client, transcript or session.transcript)
    if session.context_window >= tokens > 0:
        window = session.context_window
    elif settings["handoff.window"]:
        window = int(settings["handoff.window"])
    return Usage(tokens, window if tokens else 0)


def of_event(hook: Hook) -> Usage:
    """Returns the usage of the event's session."""
    return of_session(hook.session, hook.settings, hook.event.transcript)
