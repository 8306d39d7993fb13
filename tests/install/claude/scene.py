"""An installation for Claude Code in real folders."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from sisyphus.install import actions
from sisyphus.install.claude import place as claude
from sisyphus.install.wish import PARTS, Wish

if TYPE_CHECKING:
    from sisyphus.install.place import Place
    from sisyphus.install.plan import Plan

ALL = Wish(parts=frozenset(PARTS))
MINE = {"type": "command", "command": "mine"}


def install(place: Place, wish: Wish = ALL) -> Plan:
    shown = actions.plan_install(place, wish)
    actions.install(shown, wish)
    return shown


def values(place: Place) -> dict[str, Any]:
    with open(claude.settings(place), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
        return found


def write(place: Place, settings: object, indent: int = 4) -> None:
    os.makedirs(place.folder, exist_ok=True)
    with open(claude.settings(place), "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=indent)
