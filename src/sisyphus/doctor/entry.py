"""What a hook entry says: whether Claude Code runs it (2.1.329, each row measured), and whose it
is. Pure."""

from __future__ import annotations

import re
from math import isfinite

from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.install.wiring import Wired

_COMMAND = "command"
_SHELLS = ("bash", "powershell")
_WITH_A_TOOL = {"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"}
"""The events at which `if` can be true."""

_SCOPE = re.compile(r" hook [a-z-]+ +--scope +(user|project|local|plugin)(?= |$)")
_WORDS = 40


def scope(command: str) -> str:
    """Whose entry a command says that it is: "user", "project", "local", "plugin"."""
    found = _SCOPE.search(command)
    return found[1] if found else ""


def fault(wired: Wired) -> str:
    """Why the client never runs the command of an entry; "" = it does."""
    if told := _another_kind(wired.fields):
        return told
    for name, is_right in _RIGHT.items():
        if name in wired.fields and not is_right(wired.fields[name]):
            return f"`{name}` is of a wrong type, or out of bounds"
    if wired.fields.get("if") and wired.event not in _WITH_A_TOOL:
        return "`if` is for the events of a tool"
    return ""


def _another_kind(fields: dict[str, object]) -> str:
    kind = fields.get("type")
    if kind is None:
        return "it has no `type`"
    if kind != _COMMAND:
        return f"its `type` is `{one_line(str(kind), _WORDS)}`"
    return "with `args` the whole command is the name of a program" if "args" in fields else ""


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_time(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isfinite(value) and value > 0


def _is_shell(value: object) -> bool:
    return value in _SHELLS


_RIGHT: dict[str, Callable[[object], bool]] = {
    "async": _is_switch,
    "asyncRewake": _is_switch,
    "if": _is_text,
    "once": _is_switch,
    "shell": _is_shell,
    "statusMessage": _is_text,
    "timeout": _is_time,
}
"""Where one of these is there and another, the client passes over the entry. null is another."""
