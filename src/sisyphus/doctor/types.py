"""The types of the keys of a settings file, where a wrong one costs the whole file. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

_TYPES: dict[str, type] = {
    "alwaysThinkingEnabled": bool,
    "apiKeyHelper": str,
    "attribution": dict,
    "awsAuthRefresh": str,
    "claudeMdExcludes": list,
    "cleanupPeriodDays": int,
    "companyAnnouncements": list,
    "disableAllHooks": bool,
    "enabledPlugins": dict,
    "env": dict,
    "includeCoAuthoredBy": bool,
    "language": str,
    "model": str,
    "outputStyle": str,
    "permissions": dict,
    "permissions.allow": list,
    "permissions.ask": list,
    "permissions.deny": list,
    "permissions.defaultMode": str,
    "sandbox": dict,
    "sandbox.enabled": bool,
    "spinnerTipsEnabled": bool,
    "statusLine": dict,
    "statusLine.command": str,
    "statusLine.type": str,
}
"""Where one of these is there and of another type (null is one), Claude Code 2.1.329 drops the
whole file. It knows more such keys."""


def wrong(values: Json) -> str:
    """The first key of a wrong type; "" = there is none."""
    return next((key for key, right in _TYPES.items() if not _is_of(values, key, right)), "")


def _is_of(value: Json, key: str, right: type) -> bool:
    """Whether a key, or one in an object (`a.b`), is of its type or not there."""
    above, _, name = key.rpartition(".")
    holder = value.get(above) if above else value
    if not isinstance(holder, dict) or name not in holder:
        return True
    return _is_whole(holder[name]) if right is int else isinstance(holder[name], right)


def _is_whole(value: object) -> bool:
    """To JavaScript 30.0 is 30; `true` is no number."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)
