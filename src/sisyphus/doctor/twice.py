"""Entries of several files for one event: which of them answers, and which stays silent.

Of the user's own entries, a project's, its local ones and a plugin's the first answer (as
`--scope` in a command names them). The others start, see that, and end.
"""

from __future__ import annotations

from sisyphus.doctor import shown
from sisyphus.doctor.finding import Finding, ok, problem, warning
from sisyphus.doctor.sources import LOCAL, MANAGED, PLUGIN, PROJECT, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sisyphus.doctor.case import Case, Hook
    from sisyphus.doctor.shown import Key

    Rows = dict[Key, list[Hook]]

CHECK = "wiring"

_RANKS = (USER, PROJECT, LOCAL, PLUGIN)


def check(case: Case, hooks: Rows) -> Iterator[Finding]:
    """`hooks`: event -> the entries for it. What the same files do is one finding."""
    answers = {key: _answering(found) for key, found in hooks.items()}
    equal = {key: found for key, found in answers.items() if _is_run_once(found)}
    yield from _gathered(case, _several(equal), _equal)
    others = {key: found for key, found in answers.items() if key not in equal}
    yield from _gathered(case, _several(others), _both)
    silent = {key: [one for one in hooks[key] if one not in answers[key]] for key in hooks}
    yield from _gathered(case, silent, _silent)


def answering(hooks: Rows) -> list[Hook]:
    """Those that are not silent, of all events."""
    return [hook for found in hooks.values() for hook in _answering(found)]


def _answering(hooks: list[Hook]) -> list[Hook]:
    """Nobody stays silent for an organisation's entry, nor for a plugin's."""
    ranked = [hook for hook in hooks if hook.source.kind != MANAGED]
    first = min(map(_rank, ranked), default=0)
    return [hook for hook in hooks if hook.source.kind == MANAGED or _rank(hook) == first]


def _rank(hook: Hook) -> int:
    is_plugins = hook.source.kind == PLUGIN
    return _RANKS.index(PLUGIN if is_plugins else hook.scope or USER)


def _is_run_once(hooks: list[Hook]) -> bool:
    """Claude Code 2.1.329 runs equal commands of settings once; a plugin's come on top."""
    is_one = len({hook.wired.command for hook in hooks}) == 1
    return is_one and not any(hook.source.kind == PLUGIN for hook in hooks)


def _several(hooks: Rows) -> Rows:
    return {key: found for key, found in hooks.items() if len(found) > 1}


def _gathered(
    case: Case, hooks: Rows, finding: Callable[[str, str, list[Hook]], Finding]
) -> Iterator[Finding]:
    together: dict[str, list[Key]] = {}
    for key, found in hooks.items():
        if found:
            together.setdefault(shown.places(case, found), []).append(key)
    for where, keys in together.items():
        yield finding(where, shown.events(keys), hooks[keys[0]])


def _equal(where: str, events: str, _: list[Hook]) -> Finding:
    text = f"wired more than once, by {where}: {events}"
    return warning(CHECK, text, "The client runs equal commands once; one is enough")


def _both(where: str, events: str, hooks: list[Hook]) -> Finding:
    return problem(CHECK, f"run more than once, by {where}: {events}", _remedy(hooks))


def _silent(where: str, events: str, hooks: list[Hook]) -> Finding:
    if any(hook.source.kind == PLUGIN for hook in hooks):
        text = f"also by {where}, which stays silent, at the price of a process: {events}"
        return warning(CHECK, text, "Keep one: `claude plugin uninstall sisyphus@sisyphus`")
    return ok(CHECK, f"also by {where}, which stays silent")


def _remedy(hooks: list[Hook]) -> str:
    kinds = {hook.source.kind for hook in hooks}
    others = sorted(kinds & {PROJECT, LOCAL})
    if USER in kinds and others:
        return f"`sisyphus install --scope {others[0]}` again: it stays silent then"
    return "Take one of them out"
