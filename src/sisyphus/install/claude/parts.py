"""Which parts of ours are there already, and which could be."""

from __future__ import annotations

from dataclasses import dataclass

from sisyphus.clients.claude_code_setup import STATUSLINE as STATUSLINE_KEY
from sisyphus.install import edited, wiring
from sisyphus.install.claude import edits, slash_commands
from sisyphus.install.wish import COMMANDS, EXCLUDES, HOOKS, PARTS, STATUSLINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.install.claude.settings_file import SettingsFile
    from sisyphus.install.place import Place
    from sisyphus.install.wish import Wish


@dataclass(frozen=True)
class Parts:
    """`there`: before the installation; `wanted`: after it; `offered`: neither, and possible."""

    there: frozenset[str]
    wanted: frozenset[str]
    offered: tuple[str, ...]


def of(place: Place, file: SettingsFile, noted: Json, wish: Wish, patterns: list[str]) -> Parts:
    """`patterns`: the excludes that are missing."""
    there = frozenset(_there(place, file, noted))
    wanted = (there | wish.parts) - wish.without
    impossible = {
        STATUSLINE: STATUSLINE_KEY in file.values,
        EXCLUDES: not patterns,
        COMMANDS: bool(slash_commands.shared(place, noted)),
    }
    offered = (one for one in PARTS if one not in wanted | wish.without)
    return Parts(there, wanted, tuple(one for one in offered if not impossible.get(one)))


def _there(place: Place, file: SettingsFile, noted: Json) -> list[str]:
    values = file.values
    is_there = {
        HOOKS: any(wiring.entries(values)),
        COMMANDS: bool(slash_commands.there(place, noted)),
        STATUSLINE: edits.is_ours(values.get(STATUSLINE_KEY)),
        EXCLUDES: bool(edits.still_there(values, edited.added(noted, file.named))),
    }
    return [part for part, there in is_there.items() if there]
