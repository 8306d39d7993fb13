"""JSON changed in place: every byte that is not of the change stays as it is.

What is added looks like what stands around it, and is taken out again without a trace. All
functions get and give the whole text. They raise `JsonTextError` for what is no JSON, and
`LookupError` where a path leads to nothing or to the wrong kind of thing.
"""

from __future__ import annotations

import json

from sisyphus.install import json_style as styles
from sisyphus.install.json_text import parse
from sisyphus.install.json_tree import Node, find, member

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Keys = Sequence[str | int]


def set_member(text: str, path: Keys, key: str, value: Any) -> str:
    """The text with this member in the object at `path`: at its end, or with this value where the
    key is. A value that is the same stays as it is written."""
    chain = _chain(text, path, "object")
    held = member(chain[-1], key)
    if held is None:
        return _added(text, chain, value, key)
    if json.dumps(held.node.value) == json.dumps(value):
        return text
    written = styles.of(text, chain).written(value, styles.indent(text, held.start))
    return text[: held.node.start] + written + text[held.end :]


def append_item(text: str, path: Keys, value: Any) -> str:
    """The text with this value at the end of the list at `path`."""
    return _added(text, _chain(text, path, "list"), value)


def remove(text: str, path: Keys) -> str:
    """The text without a member or an item, and without its comma and its line.

    A container that was empty gets its white space back.
    """
    if not path:
        raise LookupError("the whole text is no part of it")
    *above, last = path
    node = _chain(text, above, "object" if isinstance(last, str) else "list")[-1]
    held, number = styles.parts(node), _number(node, last)
    if number:
        return text[: held[number - 1].end] + text[held[number].end :]
    if len(held) > 1:
        return text[: held[0].start] + text[held[1].start :]
    return text[: node.start + 1] + _space_before(text, node) + text[node.end - 1 :]


def _added(text: str, chain: Sequence[Node], value: Any, key: str | None = None) -> str:
    """The text with a part more at the end of the last of the chain.

    In an empty container it stands before the white space, so that this is found again.
    """
    style, node = styles.of(text, chain), chain[-1]
    held = styles.parts(node)
    at = held[-1].end if held else node.start + 1
    part = style.name(key) + style.written(value, style.indent)
    if style.is_spread:
        part = style.newline + style.indent + part
    elif held:
        part = style.gap + part
    if held:
        part = "," + part
    elif style.is_spread:
        part += style.newline + styles.indent(text, node.start)
    return text[:at] + part + text[at:]


def _space_before(text: str, node: Node) -> str:
    """What stood in a container of one part before that was put there."""
    before = styles.lead(text, node, 0)
    behind = text[styles.parts(node)[0].end : node.end - 1]
    if "\n" in before:
        before = styles.newline(text) + styles.indent(text, node.start)
    return behind.removeprefix(before)


def _chain(text: str, path: Keys, kind: str) -> list[Node]:
    """The containers from the root to the one at `path`, which has to be of this kind."""
    root = parse(text)
    chain = [node for end in range(len(path) + 1) if (node := find(root, path[:end]))]
    if len(chain) <= len(path) or chain[-1].kind != kind:
        raise LookupError(f"no {kind} at {list(path)}")
    return chain


def _number(node: Node, step: str | int) -> int:
    """Which of its parts a key or an index names."""
    named: Sequence[str | int] = [one.key for one in node.members] or range(len(node.items))
    if step not in named:
        raise LookupError(f"no {step!r} to remove")
    return max(number for number, name in enumerate(named) if name == step)
