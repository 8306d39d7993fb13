"""Values of settings in words: what a setting takes, what is wrong with a value. Pure."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

from sisyphus.text import one_line, sound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sisyphus.settings import Setting

_SWITCH = {
    "true": True, "on": True, "yes": True, "1": True,
    "false": False, "off": False, "no": False, "0": False,
}  # fmt: skip
_SHOWN = 60
_ENDLESS = 2**62


def kind(setting: Setting) -> str:
    """What the setting takes: "a whole number from 1 to 600"."""
    if setting.choices:
        return f"one of {', '.join(setting.choices)}"
    if isinstance(setting.default, bool):
        return "true or false"
    if isinstance(setting.default, str):
        return "a text"
    if isinstance(setting.default, list):
        return "a list of texts"
    number = "a number" if setting.fractions else "a whole number"
    if setting.most > _ENDLESS:
        return f"{number}, {setting.least:,} or more"
    return f"{number} from {setting.least:,} to {setting.most:,}"


def example(setting: Setting) -> Any:
    return not setting.default if isinstance(setting.default, bool) else setting.example


def objection(setting: Setting, value: object) -> str:
    """Why `value` does not count, "" where it does."""
    if setting.accepts(value):
        return ""
    return f"{one_line(spelled(value), _SHOWN)} is not {kind(setting)}"


def spelled(value: object) -> str:
    """A value as TOML has it; what no setting takes, in some form that can be read."""
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "a section"
    return str(value)


def typed(setting: Setting, words: Sequence[str]) -> Any:
    """What the words on a command line mean for the setting; raises `ValueError`, with what it
    takes, where that is nothing."""
    if any(sound(word) != word for word in words):
        raise ValueError(f"{one_line(' '.join(words), _SHOWN)!r} is not UTF-8")
    value = _of_words(setting, words)
    if not setting.accepts(value):
        shown = one_line(" ".join(words), _SHOWN)
        raise ValueError(f"{shown!r} is not {kind(setting)}")
    return value


def _of_words(setting: Setting, words: Sequence[str]) -> Any:
    if isinstance(setting.default, list):
        is_toml = len(words) == 1 and words[0].startswith("[")
        return _array(words[0]) if is_toml else split(",".join(words))
    if len(words) != 1:
        return None
    word = words[0]
    if isinstance(setting.default, bool):
        return _SWITCH.get(word.lower())
    return word if isinstance(setting.default, str) else _number(word)


def split(text: str) -> list[str]:
    """A list as its variable spells it."""
    return [item for item in map(str.strip, text.split(",")) if item]


def _array(text: str) -> Any:
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _number(text: str) -> int | float | None:
    """Python takes more for numbers than people do: blanks, `1_0`, the digits of every script."""
    if not text.isascii() or "_" in text or text.strip() != text:
        return None
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return None
