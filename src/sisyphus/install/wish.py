"""What a user wants of an installation."""

from __future__ import annotations

from dataclasses import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

HOOKS, COMMANDS, STATUSLINE, EXCLUDES = "hooks", "commands", "statusline", "excludes"
PARTS = (HOOKS, COMMANDS, STATUSLINE, EXCLUDES)


@dataclass(frozen=True)
class Wish:
    """Claude Code alone has parts: `parts` are put there, what is there of ours stays, and
    `without` goes. With `replace` files of ours are written anew where the user changed them.
    `is_final`: the user named the parts, and wants to hear of no other."""

    replace: bool = False
    parts: frozenset[str] = frozenset({HOOKS})
    without: frozenset[str] = frozenset()
    is_final: bool = False

    def replacing(self, agreed: bool) -> Wish:
        return replace(self, replace=agreed)

    def more(self, parts: Iterable[str]) -> Wish:
        return replace(self, parts=self.parts.union(parts))
