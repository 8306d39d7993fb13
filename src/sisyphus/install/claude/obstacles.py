"""What keeps us from editing a settings file for sure. Pure."""

from __future__ import annotations

import math

from sisyphus.clients.claude_code_setup import EXCLUDES, HOOKS, STATUSLINE
from sisyphus.install.claude.edits import is_hook_of_ours
from sisyphus.install.json_text import parse, position
from sisyphus.install.json_tree import doubled, member
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.install.claude.edits import Wanted
    from sisyphus.install.json_tree import Member, Node

    Obstacles = Iterator[tuple[int, str]]

_SHOWN = 60


def first(text: str, wanted: Wanted) -> str:
    """The first obstacle with its place; "" where there is none.

    Of a key that stands there twice the client reads the last; where we touch it, we refuse.
    """
    offset, what = next(_all(parse(text), wanted), (-1, ""))
    if offset < 0:
        return ""
    line, column = position(text, offset)
    return f"line {line}, column {column}: {what}"


def _all(root: Node, wanted: Wanted) -> Obstacles:
    """Offsets and what is wrong there."""
    for key in (HOOKS, STATUSLINE, EXCLUDES):
        yield from _twice(root, key)
    yield from _other_kind(root, EXCLUDES, "list", wanted.excludes)
    yield from _other_kind(root, HOOKS, "object", wanted.hooks)
    if wanted.statusline and (line := member(root, STATUSLINE)):
        yield from _without_bounds(line.node)
    held = member(root, HOOKS)
    for event in held.node.members if held else ():
        is_wanted = event.key in (wanted.hooks or {})
        if held and (is_wanted or _holds_ours(event.node)):
            yield from _twice(held.node, event.key)
            yield from _in_event(event, is_wanted=is_wanted)


def _in_event(event: Member, *, is_wanted: bool) -> Obstacles:
    if is_wanted and event.node.kind != "list":
        yield event.start, f'"{event.key}" holds no list'
    for group in event.node.items:
        if any(_is_ours(hook) for one in group.members for hook in one.node.items):
            yield from _twice(group, HOOKS)


def _holds_ours(event: Node) -> bool:
    hooks = (hook for group in event.items for one in group.members for hook in one.node.items)
    return any(_is_ours(hook) for hook in hooks)


def _is_ours(hook: Node) -> bool:
    return is_hook_of_ours(hook.value)


def _twice(node: Node, key: str) -> Obstacles:
    if second := doubled(node, key):
        yield second.start, f'the key "{one_line(key, _SHOWN)}" stands there twice'


def _without_bounds(node: Node) -> Obstacles:
    """Fields that the user added to a status line of ours are written again with it."""
    if isinstance(node.value, float) and math.isinf(node.value):
        yield node.start, f'a number in "{STATUSLINE}" that is too large to be written again'
    for inner in (*(one.node for one in node.members), *node.items):
        yield from _without_bounds(inner)


def _other_kind(root: Node, key: str, kind: str, wanted: object) -> Obstacles:
    held = member(root, key)
    if wanted and held and held.node.kind != kind:
        yield held.node.start, f'"{key}" holds no {kind}'
