"""Our part of a settings file's text: put in, taken out, looked for. Pure.

Hooks of others, and the order of all keys, stay as they are: ours are groups of their own behind
theirs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from sisyphus.clients.claude_code_setup import EXCLUDES, HOOKS, STATUSLINE
from sisyphus.install import wiring
from sisyphus.install.json_edit import append_item, remove, set_member
from sisyphus.install.json_text import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sized

    from sisyphus._types import Json

    Keys = tuple[str | int, ...]


@dataclass(frozen=True)
class Wanted:
    """`hooks`: event -> groups, as in the client's settings. None and () = no such part."""

    hooks: Json | None = None
    statusline: Json | None = None
    excludes: tuple[str, ...] = ()


def put_in(text: str, wanted: Wanted) -> str:
    """`text` holds nothing of ours, and nothing that is in the way (`obstacles.py`)."""
    if wanted.hooks:
        text = _with_hooks(text, wanted.hooks)
    if wanted.statusline:
        text = set_member(text, (), STATUSLINE, wanted.statusline)
    if wanted.excludes and EXCLUDES not in parse(text).value:
        return set_member(text, (), EXCLUDES, list(wanted.excludes))
    for pattern in wanted.excludes:
        text = append_item(text, (EXCLUDES,), pattern)
    return text


def _with_hooks(text: str, hooks: Json) -> str:
    there = parse(text).value.get(HOOKS)
    if there is None:
        return set_member(text, (), HOOKS, hooks)
    for event, groups in hooks.items():
        if event not in there:
            text = set_member(text, (HOOKS,), event, groups)
            continue
        for group in groups:
            text = append_item(text, (HOOKS, event), group)
    return text


def take_out(text: str, added: list[str], held: Json) -> str:
    """`added`: the patterns among the excludes that are ours; `held`: settings before we came, so
    far as they are known: what was empty in them is left empty."""
    values = parse(text).value
    paths = _in_hooks(values, held)
    if is_ours(values.get(STATUSLINE)):
        paths.append((STATUSLINE,))
    paths += _in_excludes(values, added, held)
    for path in reversed(paths):
        text = remove(text, path)
    return text


def _in_hooks(values: Json, held: Json) -> list[Keys]:
    hooks, kept = _object(values.get(HOOKS)), _object(held.get(HOOKS))
    paths: list[Keys] = []
    for event, groups in hooks.items():
        inner = _in_event(event, groups)
        paths += inner if event in kept else _whole((HOOKS, event), inner, groups)
    return paths if HOOKS in held else _whole((HOOKS,), paths, hooks)


def _in_event(event: str, groups: object) -> list[Keys]:
    paths: list[Keys] = []
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        entries = _object(group).get(HOOKS)
        hooks = entries if isinstance(entries, list) else []
        ours = [index for index, entry in enumerate(hooks) if is_hook_of_ours(entry)]
        path: Keys = (HOOKS, event, number)
        is_whole = bool(ours) and len(ours) == len(hooks)
        paths += [path] if is_whole else [(*path, HOOKS, index) for index in ours]
    return paths


def _whole(path: Keys, inner: list[Keys], held: Sized) -> list[Keys]:
    """The path itself where `inner` are all things that are held there."""
    direct = [one for one in inner if len(one) == len(path) + 1]
    return [path] if direct and len(direct) == len(held) else inner


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def is_hook_of_ours(entry: object) -> bool:
    command = _object(entry).get("command")
    return isinstance(command, str) and bool(wiring.called_event(command))


def is_ours(statusline: object) -> bool:
    command = _object(statusline).get("command")
    return isinstance(command, str) and wiring.is_statusline(command)


def _in_excludes(values: Json, added: list[str], held: Json) -> list[Keys]:
    there = values.get(EXCLUDES)
    if not isinstance(there, list):
        return []
    paths: list[Keys] = [(EXCLUDES, n) for n, pattern in enumerate(there) if pattern in added]
    return paths if EXCLUDES in held else _whole((EXCLUDES,), paths, there)


def holds(values: Json, wanted: Wanted, added: list[str]) -> bool:
    """Whether what is ours in these settings is exactly this."""
    line, there = values.get(STATUSLINE), values.get(EXCLUDES)
    patterns = {one for one in there if isinstance(one, str)} if isinstance(there, list) else set()
    return (
        (line if is_ours(line) else None) == wanted.statusline
        and patterns.issuperset(wanted.excludes)
        and patterns.intersection(added).issubset(wanted.excludes)
        and _entries(values) == _entries({HOOKS: wanted.hooks})
    )


def _entries(settings: Json) -> list[tuple[str, str, str]]:
    """In any order: the client runs them at once."""
    found = wiring.entries(settings)
    return sorted((one.event, one.matcher, json.dumps(one.fields, sort_keys=True)) for one in found)


def still_there(values: Json, added: list[str]) -> list[str]:
    """Those of our patterns that nobody has taken out."""
    there = values.get(EXCLUDES)
    return [one for one in added if one in there] if isinstance(there, list) else []
