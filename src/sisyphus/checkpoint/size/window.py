"""How many tokens a model's context holds. Pure.

Claude Code 2.1.329: 1,000,000 for models of version 5 on and for `[1m]` variants, 200,000 for the
rest. Where the name has no mark, an answer that found more than 200,000 tokens says it as well.
"""

from __future__ import annotations

LARGE, SMALL = 1_000_000, 200_000

LEAST = 10_000
"""What a setting may say: with less a client has no room for its own prompt."""

_LARGE_MARK = "[1m]"
_FIRST_LARGE = 5
_DATE = 8  # digits, as in `claude-sonnet-4-5-20250929`


def size(model: str, tokens: int, setting: int = 0, reported: int = 0) -> int:
    """The window in tokens: what the client reported, else the setting, else by the model's name.

    `tokens`: what is in it by the last answer.
    """
    if reported >= max(tokens, 1):  # else it is of another model that the session had before
        return reported
    if setting >= LEAST:
        return setting
    return LARGE if tokens > SMALL or is_large(model) else SMALL


def is_large(model: str) -> bool:
    """Whether a name such as `claude-opus-5-5` or `claude-sonnet-4-5[1m]` has the large window."""
    return model.lower().endswith(_LARGE_MARK) or is_new(model)


def is_new(model: str) -> bool:
    """Whether it is of version 5 or later, whose windows the client minds by itself."""
    return _major(model) >= _FIRST_LARGE


def _major(model: str) -> int:
    """Its first number: 4 of `claude-sonnet-4-5-20250929`, 3 of `claude-3-7-sonnet`; 0 = none."""
    words = model.lower().replace("[", "-").replace(".", "-").split("-")
    numbers = [word for word in words if word.isascii() and word.isdigit()]
    found = [number for number in numbers if len(number) < _DATE]
    return int(found[0]) if found else 0
