"""Our hooks in a file of a client: an object in which `hooks` holds event → groups, each a list of
hooks with a matcher. Claude Code's and Qwen Code's settings, Codex's `hooks.json` and Copilot
CLI's files of hooks have this form."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sisyphus.clients import entry, json_files
from sisyphus.clients.installation import Site

Json = dict[str, Any]


def problem(settings: Json, text: str = "") -> str:
    """Returns what keeps us from changing the hooks, a key of a wrong type; "" if nothing does.
    text: see `clients.base.Wiring`."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        return json_files.at_line(text, ["hooks"], '"hooks" is not an object')
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            what = f'"hooks" has an entry "{event}" that is not a list'
            return json_files.at_line(text, ["hooks", event], what)
    return ""


def add(settings: Json, hooks: Mapping[str, Any], start: str) -> None:
    """Adds the hooks that are missing, each in a group of its own, the last of its event, and takes
    out those of an earlier install that differ.

    hooks: event → groups, with commands as `entry.line` gives them. start: see
    `installation.Installation`.
    """
    missing = [
        (event, group.get("matcher", ""), _with_start(hook, start))
        for event, groups in hooks.items()
        for group in groups
        for hook in group["hooks"]
    ]

    def stays(event: str, matcher: str, hook: Json) -> bool:
        if not entry.is_ours(hook, "hook"):
            return True
        if (event, matcher, hook) not in missing:
            return False
        missing.remove((event, matcher, hook))
        return True

    _keep(settings, stays)
    for event, matcher, hook in missing:
        settings.setdefault("hooks", {}).setdefault(event, []).append(group_of(matcher, hook))


def calling(client: str, event: str, seconds: int = 10, **more: Any) -> list[Json]:
    """Returns the groups with our hook for an event, as `install` writes them for a client.

    event: our name of it. seconds: how long the client waits for the hook. more: other keys of it.
    """
    command = entry.line(event, "--client", client)
    return [{"hooks": [{"type": "command", "command": command, "timeout": seconds, **more}]}]


def group_of(matcher: str, hook: Json) -> Json:
    """Returns a group with one hook. matcher: "" = none."""
    return {"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}


def wire(settings: Json, site: Site, globs: Iterable[str] = ()) -> Json:
    """Returns the settings with our hooks and the defaults of the site; see `clients.base.Wiring`.
    globs: these settings leave out no rules."""
    new = with_ours(settings, site.hooks, site.start)
    return new | {key: value for key, value in site.defaults.items() if key not in new}


def with_ours(settings: Json, hooks: Mapping[str, Any], start: str) -> Json:
    """Returns the settings with our hooks, see `add`."""
    new = copy.deepcopy(settings)
    add(new, hooks, start)
    return new


def without_ours(settings: Json) -> Json:
    """Returns the settings without our hooks, and each group and event that is empty then."""
    new = copy.deepcopy(settings)
    _keep(new, lambda _event, _matcher, hook: not entry.is_ours(hook, "hook"))
    return new


def unwire(settings: Json, globs: Iterable[str], keys: Iterable[str]) -> Json:
    """Returns the same for a client in whose settings we have no globs and keys."""
    return without_ours(settings)


def has_ours(settings: Json) -> bool:
    """Tells whether these settings run our hooks."""
    return bool(ours(settings))


def ours(settings: Json) -> list[tuple[str, str, Json]]:
    """Returns the hooks of these settings that are ours, each with its event and its matcher."""
    return [each for each in every_hook(settings) if entry.is_ours(each[2], "hook")]


def installed(settings: Json, hooks: Json, starts: Iterable[str]) -> list[tuple[str, str, Json]]:
    """Returns those of our hooks in these settings that are as `install` writes them, each with its
    event and its matcher.

    hooks: event → groups, as for `add`. starts: the words that may start sisyphus. In other hooks
    of ours more may follow those, which a shell would run.
    """
    every = [
        (event, group.get("matcher", ""), _with_start(hook, start))
        for event, groups in hooks.items()
        for group in groups
        for hook in group["hooks"]
        for start in starts
    ]
    return [each for each in ours(settings) if each in every]


def every_hook(settings: Json) -> Iterator[tuple[str, str, Any]]:
    """Yields all hooks of these settings, each with its event and its matcher."""
    events = settings.get("hooks")
    for event, groups in events.items() if isinstance(events, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for hook in hooks if isinstance(hooks, list) else ():
                yield event, group.get("matcher", ""), hook


def starts(settings: Json) -> list[str]:
    """Returns the ways in which our hooks start us, in words of a shell."""
    return list(dict.fromkeys(entry.call(hook["command"])[0] for _, _, hook in ours(settings)))


def missing(every: Iterable[Json], hooks: Mapping[str, Any]) -> list[str]:
    """Returns the events of `hooks` of which a hook is in none of these settings."""
    wired = [(event, _event(hook)) for each in every for event, _, hook in ours(each)]
    events = [
        event
        for event, groups in hooks.items()
        for group in groups
        for hook in group["hooks"]
        if (event, _event(hook)) not in wired
    ]
    return list(dict.fromkeys(events))


def _event(hook: Json) -> str:
    return entry.call(hook["command"])[1]


def is_current(settings: Json, hooks: Mapping[str, Any]) -> bool:
    """Tells whether all our hooks are in these settings, as `install` writes them, whatever program
    they start."""
    is_whole = not missing([settings], hooks)
    return is_whole and not different(settings, hooks, starts(settings)[0])


def different(settings: Json, hooks: Mapping[str, Any], start: str) -> list[str]:
    """Returns the events in which these settings have other hooks of ours than `hooks`, started by
    `start`."""
    new = with_ours(settings, hooks, start)
    before, after = settings.get("hooks", {}), new.get("hooks", {})
    events = dict.fromkeys(event for event, _, _ in ours(settings))
    return [event for event in events if before[event] != after.get(event)]


def _with_start(hook: Json, start: str) -> Json:
    return {**hook, "command": entry.with_start(hook["command"], start)}


def _keep(settings: Json, stays: Callable[[str, str, Json], bool]) -> None:
    """Takes out the hooks that do not stay, and each group and event that is empty without them."""
    events = settings.get("hooks", {})
    for event, groups in list(events.items()):
        left = [each for group in groups for each in _rest(event, group, stays)]
        if left == groups:
            continue
        events[event] = left
        if not left:
            del events[event]
        if not events:
            del settings["hooks"]


def _rest(event: str, group: Any, stays: Callable[[str, str, Json], bool]) -> list[Any]:
    """Returns the group with the hooks that stay, in a list; an empty list if none does."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list):
        return [group]
    left = [hook for hook in hooks if stays(event, group.get("matcher", ""), hook)]
    if left == hooks:
        return [group]
    return [{**group, "hooks": left}] if left else []
