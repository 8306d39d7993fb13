"""The circuit breaker's settings, and when a loop that it paused has another try."""

from __future__ import annotations

from sisyphus.ralph import breaker
from sisyphus.ralph import loop as lp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.ralph.loop import Loop
    from sisyphus.workspace import Workspace


def limits(space: Workspace) -> breaker.Limits:
    return breaker.Limits(
        no_progress=space.settings.get("ralph.no_progress"),
        same_error=space.settings.get("ralph.same_error"),
        cool_minutes=space.settings.get("ralph.breaker_minutes"),
    )


def try_again(loops: Sequence[Loop], space: Workspace) -> bool:
    """Takes up a session's loop that its breaker paused, if that is long enough ago; whether it
    did."""
    loop = loops[-1]
    if loop.paused_by != lp.BY_BREAKER:
        return False
    loop.breaker = breaker.cooled(loop.breaker, space.now, limits(space))
    if breaker.is_open(loop.breaker):
        return False
    lp.resume(loops, space.now)
    return True
