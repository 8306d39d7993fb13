"""What an installation for OpenCode, or its removal, would do."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError
from sisyphus.install import folders, found, opencode, own_files
from sisyphus.install.plan import INSTALL, REMOVE, SKIP, UNINSTALL, WRITE, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.install.found import Found
    from sisyphus.install.place import Place
    from sisyphus.install.wish import Wish


def to_install(place: Place, wish: Wish) -> Plan:
    """Raises `SisyphusError` where that cannot be done, and `OSError`."""
    plugin, files, notes = opencode.wanted(place)
    taken = opencode.taken(place)
    steps = own_files.to_install(files, ours(place), taken, replace=wish.replace)
    for step in steps:
        if step.path == plugin and step.action == SKIP:
            raise SisyphusError(
                f"{plugin} is in the way: {step.why}. Move it away, then try again."
            )
    make = folders.missing(os.path.dirname(step.path) for step in steps if step.action == WRITE)
    return Plan(INSTALL, place, tuple(steps), make=make, notes=tuple(notes))


def to_uninstall(place: Place, noted: Json) -> Plan:
    """`noted`: what the manifest says of this place. Raises `OSError`."""
    there = opencode.existing(place, opencode.PLUGINS + opencode.COMMANDS)
    steps = own_files.to_uninstall(ours(place), own_files.left_over(there))
    gone = {step.path for step in steps if step.action == REMOVE}
    drop, left = folders.emptied(noted.get("folders", ()), gone)
    return Plan(UNINSTALL, place, tuple(steps), drop=drop, left=left)


def ours(place: Place) -> dict[str, Found]:
    """Path -> what it is, for every file with our mark in the folders that the client reads."""
    plugins = opencode.existing(place, opencode.PLUGINS)
    commands = opencode.existing(place, opencode.COMMANDS)
    return {**found.of_ours(plugins, ".js"), **found.of_ours(commands, ".md")}
