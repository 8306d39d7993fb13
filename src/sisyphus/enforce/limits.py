"""How much enforcement there may be: the settings, in milliseconds. Pure."""

from __future__ import annotations

from sisyphus.settings import SETTINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_YEAR = 31_536_000_000
"""No duration is longer, whatever the settings say."""

_BACKOFF, _POWERS = 1_000, 64


class Limits:
    """The settings, by `get` of "section.key"; `max_failures` and `max_iterations` 0 = none."""

    __slots__ = ("backoff", "cooldown", "idle", "max_failures", "max_iterations", "recovery")

    def __init__(self, get: Callable[[str], Any]) -> None:
        self.idle = _milliseconds(get("enforce.idle_seconds"))
        self.cooldown = _milliseconds(get("enforce.cooldown_seconds"))
        self.recovery = _milliseconds(get("enforce.recovery_seconds"))
        self.backoff = min(max(get("enforce.backoff"), 1), _BACKOFF)
        self.max_failures = _limit("enforce.max_failures", get)
        self.max_iterations = _limit("enforce.max_iterations", get)

    def cooldown_of(self, failures: int) -> int:
        """How long after an enforcement the next one may come."""
        factor: float = self.backoff ** min(failures, _POWERS)
        return round(min(self.cooldown * factor, _YEAR))


def _limit(key: str, get: Callable[[str], Any]) -> int:
    """A number below zero is a slip, and no way to have none."""
    found: int = get(key)
    return found if found >= 0 else int(SETTINGS[key].default)


def _milliseconds(seconds: float) -> int:
    return min(max(round(seconds * 1_000), 0), _YEAR)
