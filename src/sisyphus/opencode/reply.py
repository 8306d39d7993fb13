"""Our reply to the plugin: Claude Code's, and under `opencode` what that has no words for. Pure.

toasts                [{variant, title, message, seconds, countdown}]
wake_after            seconds of rest after which the plugin asks `hook idle`
abort_seconds         so long after an abort nothing is asked of the session
stability_seconds     so long nothing may have changed before an idle session is woken
keep                  what a summary must keep
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.clients.base import Outcome
    from sisyphus.settings import Settings

_GUARDS = ("abort_seconds", "stability_seconds")


def extras(outcome: Outcome, settings: Settings) -> Json:
    """{} where there is nothing to add."""
    found: Json = {}
    if outcome.toasts:
        found["toasts"] = outcome.toasts
    if outcome.keep:
        found["keep"] = outcome.keep
    if outcome.wake_after is not None:
        found["wake_after"] = outcome.wake_after
    if outcome.wake_after is not None or outcome.reason is not None:
        found |= {name: settings.get(f"enforce.{name}") for name in _GUARDS}
    return found
