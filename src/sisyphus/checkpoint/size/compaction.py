"""At how many tokens the client compacts by itself. Pure.

Claude Code 2.1.329, by its own formula, which 14 runs agree with: models of the large window, and
whoever has set a window for it, at `window - min(output, 20,000) - 13,000` tokens. Other models
are compacted only when the API refuses a prompt as too long.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sisyphus._types import Json

WINDOW = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
PERCENT = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
OUTPUT = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
SMALL_ONLY = "CLAUDE_CODE_DISABLE_1M_CONTEXT"
OFF = ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT")

LEAST_WINDOW = 100_000
"""The client raises a smaller window of the environment to this one, and takes none from settings.
So a stranger's settings cannot make every session look full."""

_MOST_OUTPUT, _SPARE, _REFUSED = 20_000, 13_000, 3_000
_DIGITS = 9
_WHOLE = 100
_YES = ("1", "true", "yes", "on")
_UNITS = {"k": 1_000, "m": 1_000_000}


class Client:
    """How the client is set up: `window` that was set for its compaction, 0 = none; `percent` of
    what can be used, 0 = none; `output` tokens that it keeps free; `is_off`; `is_small`: it uses no
    large window."""

    __slots__ = ("is_off", "is_small", "output", "percent", "window")

    def __init__(self, environment: Mapping[str, str], known: Json) -> None:
        """`known`: `compact_window` and `compacts`, as the client's settings have them."""
        self.window = _window(environment.get(WINDOW), known.get("compact_window"))
        self.percent = min(_number(environment.get(PERCENT)), _WHOLE)
        self.output = min(_number(environment.get(OUTPUT)) or _MOST_OUTPUT, _MOST_OUTPUT)
        named_off = any(_is_on(environment.get(name)) for name in OFF)
        self.is_off = named_off or known.get("compacts") is False
        self.is_small = _is_on(environment.get(SMALL_ONLY))

    def usable_window(self, window: int) -> int:
        """The part of `window` that this client uses."""
        return min(window, self.window) if self.window and not self.is_off else window

    def ends_at(self, window: int, *, by_itself: bool) -> int:
        """Tokens of `window` at which it compacts, or refuses to go on where it does not; 0 = none.

        `by_itself`: models whose window the client minds without being told.
        """
        if self.is_off:
            return max(window - self.output - _REFUSED, 0)
        if not (by_itself or self.window):
            return 0
        limit = window - self.output - _SPARE
        if self.percent and by_itself:
            limit = min(limit, (window - self.output) * self.percent // _WHOLE)
        return max(limit, 0)


def _window(named: str | None, setting: object) -> int:
    if number := _number(named):
        return max(number, LEAST_WINDOW)
    return setting if type(setting) is int and setting >= LEAST_WINDOW else 0


def _number(text: str | None) -> int:
    """`200000`, `200k`; 0 for whatever is no number."""
    lower = (text or "").strip().lower()
    factor = _UNITS.get(lower[-1:], 1)
    digits = lower[:-1] if factor > 1 else lower
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS
    return int(digits) * factor if is_number else 0


def _is_on(text: str | None) -> bool:
    return (text or "").strip().lower() in _YES
