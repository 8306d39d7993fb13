"""What is worth knowing about an installation for OpenCode beyond its files."""

from __future__ import annotations

import os
import shlex

from sisyphus.install import found, manifest, opencode, plan
from sisyphus.install.place import PROJECT, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.install.place import Place
    from sisyphus.install.plan import Plan

_RESTART = "Restart OpenCode: it reads plugins and commands when it starts."

_WAITS = (
    "Where there is a plugin, it waits at its start until it has run `npm install "
    "@opencode-ai/plugin` in every folder of its configuration. Without a network that takes "
    "73 s, at every start."
)
_DOUBLED = "The plugin is in {} too. It works once all the same; `{}` takes that one away."
_REMOVE = "sisyphus uninstall --client opencode"

OWN = {
    ".gitignore", "bun.lock", "bun.lockb", "node_modules", "package-lock.json", "package.json",
}  # fmt: skip
"""What OpenCode itself puts into every folder of its configuration."""


def of(done: Plan) -> list[str]:
    """Whole sentences for the user, in order."""
    notes = [_RESTART] if done.changes else []
    return notes + _of_installing(done) if done.verb == plan.INSTALL else notes


def _of_installing(done: Plan) -> list[str]:
    notes = []
    if done.changes and opencode.awaits_packages(done.place):
        notes.append(_WAITS)
    if done.changes and _is_in_git(done.place):
        notes.append(
            "The files show in `git status`: commit them for everybody, or name them in "
            ".git/info/exclude."
        )
    return [*notes, *(_DOUBLED.format(one, _removal(one)) for one in elsewhere(done.place))]


def _removal(folder: str) -> str:
    root, name = os.path.split(folder)
    return f"{_REMOVE} --project {shlex.quote(root)}" if name == ".opencode" else _REMOVE


def _is_in_git(place: Place) -> bool:
    in_project = place.scope == PROJECT
    return in_project and os.path.lexists(os.path.join(place.base, ".git"))


def elsewhere(place: Place) -> list[str]:
    """Other folders that give a client the plugin, too, where it gets it from this one."""
    places = opencode.users()
    if place.scope == USER:
        places += [opencode.of_project(os.path.dirname(folder)) for folder in _in_projects()]
    others = [one for one in dict.fromkeys(places) if one.folder != place.folder]
    return [one.folder for one in others if _has_plugin(one)]


def _in_projects() -> list[str]:
    entries = [e for e in manifest.entries() if e.get("scope") == PROJECT]
    return [folder for e in entries if isinstance(folder := e.get("folder"), str)]


def _has_plugin(place: Place) -> bool:
    try:
        return bool(found.of_ours(opencode.existing(place, opencode.PLUGINS), ".js"))
    except OSError:
        return False
