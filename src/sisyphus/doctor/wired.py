"""Whether each hook is wired, once, as it is shipped, and by which file."""

from __future__ import annotations

import os

from sisyphus.doctor import opencode, shown, twice
from sisyphus.doctor.finding import OK, Finding, ok, problem, warning
from sisyphus.doctor.sources import MANAGED, PLUGIN
from sisyphus.install import wiring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case, Hook
    from sisyphus.doctor.shown import Key
    from sisyphus.install.wiring import Wired

CHECK, COMMAND = twice.CHECK, "command"
_CALLS = "post-tool-use"

_SAME = ("timeout", "async", "asyncRewake", "if", "once", "shell")
"""The fields of an entry that are as we ship them, or it is an old one."""


def check(case: Case) -> Iterator[Finding]:
    yield from _ignored(case)
    if not case.hooks:
        yield _none(case)
        return
    hooks = {key: [hook for hook in case.hooks if hook.key == key] for key in _keys(case)}
    earlier = _earlier(case)
    findings = [*_told_of_earlier(case, earlier), *_missing(case, hooks, earlier)]
    findings += [*_old(case, hooks), *_stray(case, earlier)]
    yield from findings
    beside = list(twice.check(case, hooks))
    if not findings and not case.ignored and all(one.state == OK for one in beside):
        where = shown.places(case, twice.answering(hooks))
        events = len({event for event, _ in hooks})
        yield ok(CHECK, f"{len(hooks)} hooks of {events} events, once each, by {where}")
    yield from beside


def _ignored(case: Case) -> Iterator[Finding]:
    together: dict[tuple[str, str], list[Hook]] = {}
    for hook in case.ignored:
        together.setdefault((shown.place(case, hook), hook.fault), []).append(hook)
    for (where, why), hooks in together.items():
        events = shown.events(hook.key for hook in hooks)
        text = f"the client ignores what {where} has for {events}: {why}"
        yield problem(CHECK, text, _again(hooks[0]))


def _none(case: Case) -> Finding:
    if opencode.plugins(case):
        return ok(CHECK, "Claude Code does not call sisyphus (OpenCode does)")
    return problem(
        CHECK,
        "no coding agent calls sisyphus",
        "`sisyphus install`, or `sisyphus install --client opencode`",
    )


def _keys(case: Case) -> dict[Key, Wired]:
    """Event and our word for it -> the entry that there should be."""
    return {(one.event, wiring.called_event(one.command)): one for one in case.wanted}


def _earlier(case: Case) -> list[Hook]:
    """The entries of earlier versions that follow tool calls, or those for an older client."""
    wanted = _keys(case)
    calls = [hook for hook in case.hooks if hook.name == _CALLS]
    return [
        hook
        for hook in calls
        if hook.key not in wanted or wiring.mentioned_event(hook.wired.command) != _CALLS
    ]


def _told_of_earlier(case: Case, earlier: list[Hook]) -> Iterator[Finding]:
    files: dict[str, list[Hook]] = {}
    for hook in earlier:
        files.setdefault(shown.place(case, hook), []).append(hook)
    for where, found in files.items():
        events = shown.events(hook.key for hook in found)
        text = f"{events} in {where} is the wiring of another version: more processes than needed"
        yield warning(CHECK, f"{text}, though each call counts once", _again(found[0]))


def _missing(case: Case, hooks: dict[Key, list[Hook]], earlier: list[Hook]) -> Iterator[Finding]:
    """Where an earlier wiring follows the tool calls, they are not missed."""
    left = {key: found for key, found in hooks.items() if not (earlier and key[1] == _CALLS)}
    names = [shown.event(key) for key, found in left.items() if not found]
    if names:
        text = f"not wired: {', '.join(names)}. The others are, by {shown.places(case, case.hooks)}"
        yield problem(CHECK, text, _again(case.hooks[0]))


def _again(hook: Hook) -> str:
    """What writes the entries of that file anew."""
    if hook.source.kind == PLUGIN:
        return "`claude plugin update sisyphus@sisyphus`"
    if hook.source.kind == MANAGED:
        return "Ask who looks after that file"
    return f"`sisyphus install{hook.source.scope}` again"


def _old(case: Case, hooks: dict[Key, list[Hook]]) -> Iterator[Finding]:
    """What is the same in one file is one finding."""
    wanted = _keys(case)
    together: dict[tuple[str, str], list[Hook]] = {}
    for key, hook in ((key, hook) for key, found in hooks.items() for hook in found):
        if told := difference(hook.wired, wanted[key]):
            together.setdefault((shown.place(case, hook), told), []).append(hook)
    for (where, told), found in together.items():
        events = shown.events(hook.key for hook in found)
        verb = "is" if len(found) == 1 else "are"
        text = f"{events} in {where} {verb} not as shipped now: {told}"
        yield warning(CHECK, text, _again(found[0]))


def difference(hook: Wired, wanted: Wired) -> str:
    """In what an entry is not as it is shipped; "" = in nothing that matters."""
    told = [] if hook.matcher == wanted.matcher else ["matcher"]
    told += [name for name in _SAME if _field(hook, name) != _field(wanted, name)]
    return ", ".join(told)


def _field(wired: Wired, name: str) -> object:
    """`false` and an empty text say no more than that it is not there."""
    return wired.fields.get(name) or None


def _stray(case: Case, earlier: list[Hook]) -> Iterator[Finding]:
    wanted = _keys(case)
    for hook in case.hooks:
        if hook.key not in wanted and hook not in earlier:
            text = f"{hook.wired.event} in {shown.place(case, hook)} calls `hook {hook.name}`"
            yield warning(CHECK, f"{text}, which is not for it", _again(hook))


def commands(case: Case) -> Iterator[Finding]:
    """Whether the client finds what it is told to start; where not, every event ends with 127."""
    programs: dict[str, Hook] = {}
    for hook in case.hooks:
        if hook.program:
            programs.setdefault(hook.program, hook)
    wrong = [(name, hook) for name, hook in programs.items() if not _is_found(case, name)]
    for name, hook in wrong:
        yield problem(COMMAND, _not_found(name, case.shown(hook.source.path)), _to_find(name, hook))
    if programs and not wrong:
        yield ok(COMMAND, " and ".join(f"{name} is there" for name in programs))


def _is_found(case: Case, name: str) -> bool:
    return not _is_relative(name) and case.programs.is_there(name)


def _is_relative(name: str) -> bool:
    return bool(os.path.dirname(name)) and not os.path.isabs(name)


def _not_found(name: str, where: str) -> str:
    if _is_relative(name):
        return f"{name}, which {where} calls, is another program in every folder"
    if os.path.isabs(name):
        return f"{name}, which {where} calls, is gone: every event ends with exit code 127"
    return f"`{name}`, which {where} calls, is not on the PATH: every event ends with exit code 127"


def _to_find(name: str, hook: Hook) -> str:
    if not os.path.dirname(name):
        return "`pipx ensurepath` or `uv tool update-shell`, then start the client from a new shell"
    return f"`sisyphus install{hook.source.scope}` writes the path of now"
