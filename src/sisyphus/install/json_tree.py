"""What a JSON text holds, and where each of it stands."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the offsets between which it stands. Of double keys, `value` has the last."""

    kind: str  # "object", "list", "text", "number" or "literal"
    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()  # in order, with those of double keys
    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A key, which stands between `start` and `key_end`, and its value."""

    key: str
    start: int
    key_end: int
    node: Node

    @property
    def end(self) -> int:
        return self.node.end


def find(node: Node, path: Sequence[str | int]) -> Node | None:
    """What stands at a path of keys and indices; of double keys the last, as the client reads."""
    found: Node | None = node
    for step in path:
        if found is None:
            return None
        if isinstance(step, str):
            held = member(found, step)
            found = held.node if held else None
        else:
            found = found.items[step] if 0 <= step < len(found.items) else None
    return found


def member(node: Node, key: str) -> Member | None:
    """The member of this key that counts: the last."""
    return next((one for one in reversed(node.members) if one.key == key), None)


def doubled(node: Node, key: str) -> Member | None:
    """The second member of this key in an object, not below it; None where it stands there once."""
    alike = [one for one in node.members if one.key == key]
    return alike[1] if len(alike) > 1 else None
