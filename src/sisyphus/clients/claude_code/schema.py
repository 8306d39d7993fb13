"""What Claude Code wants of a settings file, as measured on 2.1.329.

With a known key of another type, or one hook before a tool that it cannot load, it drops the whole
file: no hook of it runs, ours included. Any other hook that it cannot load it passes over alone,
and a permission rule likewise. Keys that it does not know do no harm. Values are not looked at: a
later version may know more of them.
"""

from collections.abc import Iterator
from typing import Any

from sisyphus.clients import json_files

Json = dict[str, Any]
Keys = tuple[str | int, ...]
"""The way to a value, from the top of the file."""

_NAMES: dict[type, str] = {
    bool: "true or false",
    str: "a text",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}

_TYPES: dict[type, str] = {
    bool: "alwaysThinkingEnabled autoMemoryEnabled disableAllHooks "
    "fastMode includeCoAuthoredBy includeGitInstructions prefersReducedMotion "
    "promptSuggestionEnabled respectGitignore showThinkingSummaries showTurnDuration "
    "spinnerTipsEnabled syntaxHighlightingDisabled terminalProgressBarEnabled verbose "
    "voiceEnabled",
    str: "advisorModel agent apiKeyHelper autoMemoryDirectory awsAuthRefresh awsCredentialExport "
    "language minimumVersion model otelHeadersHelper outputStyle plansDirectory",
    int: "cleanupPeriodDays feedbackSurveyRate",
    list: "availableModels claudeMdExcludes companyAnnouncements permissions.additionalDirectories "
    "permissions.allow permissions.ask permissions.deny",
    dict: "autoMode enabledPlugins env fileSuggestion modelOverrides permissions pluginConfigs "
    "sandbox spinnerVerbs statusLine worktree",
}
"""Type → the keys that must have it; each was tried with others. Keys that take more types than
one, such as `attribution`, or null too, are left out."""

_TEXTS = ("availableModels", "claudeMdExcludes", "companyAnnouncements")
"""The lists of which each item must be a text. A permission rule that is none goes alone."""

_GUARDS = ("PreToolUse", "PermissionRequest")
"""The events of which a hook may be what guards permissions: the client takes none of a file of
which it cannot load such a hook."""

_HOOK_TYPES = ("command", "prompt", "agent", "http", "mcp_tool")


def problem(text: str) -> str:
    """Returns why the client drops a settings file as a whole, with the line, in a clause; "" if it
    does not. text: its content, a JSON object."""
    settings = json_files.parse(text)
    for keys, what in (*_odd_values(settings), *_odd_hooks(settings)):
        name = ".".join(map(str, keys))
        return f'line {json_files.line_of(text, keys)}: "{name}" {what}'
    return ""


def _odd_values(settings: Json) -> Iterator[tuple[Keys, str]]:
    for wanted, names in _TYPES.items():
        for name in names.split():
            keys: Keys = tuple(name.split("."))
            found, value = _look_up(settings, keys)
            if found and not _is(value, wanted):
                yield keys, f"is {_NAMES[type(value)]}, not {_NAMES[wanted]}"
            elif found and name in _TEXTS:
                for n, each in enumerate(value):
                    if not isinstance(each, str):
                        yield (*keys, n), f"is {_NAMES[type(each)]}, not a text"


def _look_up(settings: Json, keys: Keys) -> tuple[bool, Any]:
    """Tells whether there is such a value, and returns it."""
    value: Any = settings
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return False, None
        value = value[key]
    return True, value


def _is(value: object, wanted: type) -> bool:
    if wanted is int:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, wanted)


def _odd_hooks(settings: Json) -> Iterator[tuple[Keys, str]]:
    events = settings.get("hooks")
    for event in _GUARDS:
        groups = events.get(event) if isinstance(events, dict) else None
        for n, group in enumerate(groups if isinstance(groups, list) else ()):
            keys = ("hooks", event, n)
            if what := _why_no_group(group):
                yield keys, what
                continue
            for m, hook in enumerate(group["hooks"]):
                if what := _why_no_hook(hook):
                    yield (*keys, "hooks", m), what


def _why_no_group(group: object) -> str:
    if not isinstance(group, dict):
        return f"is {_NAMES[type(group)]}, not an object"
    if not isinstance(group.get("matcher", ""), str):
        return 'has a "matcher" that is not a text'
    if not isinstance(group.get("hooks"), list):
        return 'has no list "hooks"'
    return ""


def _why_no_hook(hook: object) -> str:
    if not isinstance(hook, dict):
        return f"is {_NAMES[type(hook)]}, not an object"
    if hook.get("type") not in _HOOK_TYPES:
        return f'has no "type" that is one of {", ".join(_HOOK_TYPES)}'
    if hook["type"] == "command" and not isinstance(hook.get("command"), str):
        return 'has no text "command"'
    if not _is(hook.get("timeout", 0), int):
        return 'has a "timeout" that is not a number'
    return ""
