"""A client's folders as they are on disk, and what an installation makes of them."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from sisyphus.install import actions, marks, opencode
from sisyphus.install.wish import PARTS, Wish

if TYPE_CHECKING:
    from sisyphus.install.place import Place
    from sisyphus.install.plan import Plan

Tree = dict[str, tuple[str, int, bytes]]

JS = "const SISYPHUS = 1\n"
MD = "---\ndescription: x\n---\n\nBody\n"


def tree(folder: Path) -> Tree:
    """Path -> kind, rights and content of everything below a folder, links not followed."""
    return {str(path.relative_to(folder)): _seen(path) for path in sorted(_below(folder))}


def _below(folder: Path) -> list[Path]:
    walk = os.walk(folder)
    return [Path(above, name) for above, folders, files in walk for name in (*folders, *files)]


def _seen(path: Path) -> tuple[str, int, bytes]:
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        return "link", 0, os.fsencode(path.readlink())
    content = path.read_bytes() if stat.S_ISREG(info.st_mode) else b""
    return "file" if stat.S_ISREG(info.st_mode) else "other", stat.S_IMODE(info.st_mode), content


def ours(version: str = "0.0.1", text: str = MD) -> bytes:
    """A file that an older sisyphus wrote."""
    return marks.marked(text, version)


def installed(place: Place, *, replace: bool = False) -> Plan:
    wish = Wish(replace, frozenset(PARTS))
    wanted = actions.plan_install(place, wish)
    actions.install(wanted, wish)
    return wanted


def uninstalled(place: Place) -> Plan:
    wanted = actions.plan_uninstall(place)
    actions.uninstall(wanted)
    return wanted


def in_project(project: Path) -> Place:
    return opencode.of_project(str(project))


def did(plan: Plan) -> dict[str, str]:
    """Path below the client's folder -> what was done."""
    folder = plan.place.folder
    return {os.path.relpath(step.path, folder): step.action for step in plan.steps}
