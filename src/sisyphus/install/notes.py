"""What is worth knowing about an installation beyond its files."""

from __future__ import annotations

import os

from sisyphus.install import found, manifest, opencode, plan
from sisyphus.plain import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.install.opencode import Place
    from sisyphus.install.plan import Plan

_RESTART = "Restart OpenCode: it reads plugins and commands when it starts."

_WAITS = (
    "Where there is a plugin, it waits at its start until it has run `npm install "
    "@opencode-ai/plugin` in every folder of its configuration. Without a network that takes "
    "73 s, at every start."
)
_DOUBLED = (
    "The plugin is in {} too. It works once all the same; `sisyphus uninstall` takes one away."
)

_OWN = {
    ".gitignore", "bun.lock", "bun.lockb", "node_modules", "package-lock.json", "package.json",
}  # fmt: skip
"""What OpenCode itself puts into every folder of its configuration."""

_NAMED = 10


def of(done: Plan) -> list[str]:
    """Whole sentences for the user, in order."""
    own = _of_installing(done) if done.verb == plan.INSTALL else _of_removing(done)
    return [*done.notes, *own]


def _of_installing(done: Plan) -> list[str]:
    notes = [_RESTART] if done.changes else []
    if done.changes and opencode.awaits_packages(done.place):
        notes.append(_WAITS)
    if done.changes and _is_in_git(done.place):
        notes.append(
            "The files show in `git status`: commit them for everybody, or name them in "
            ".git/info/exclude."
        )
    return [*notes, *(_DOUBLED.format(folder) for folder in elsewhere(done.place))]


def _of_removing(done: Plan) -> list[str]:
    notes = [_RESTART] if done.changes else []
    notes += [_what_is_left(folder, names) for folder, names in done.left]
    if not done.changes:
        others = [f for f in manifest.folders(opencode.NAME) if f != done.place.folder]
        if others:
            notes.append(f"It is installed in {_listed(others)}.")
    return notes


def _what_is_left(folder: str, names: tuple[str, ...]) -> str:
    whose = " (OpenCode's own)" if _OWN.issuperset(names) else ""
    return f"{folder} stays, for what is in it{whose}: {_listed(names)}."


def _listed(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(one_line(name) for name in names[:_NAMED]) + more


def _is_in_git(place: Place) -> bool:
    in_project = place.scope == opencode.PROJECT
    return in_project and os.path.lexists(os.path.join(place.base, ".git"))


def elsewhere(place: Place) -> list[str]:
    """Other folders that give a client the plugin, too, where it gets it from this one."""
    places = opencode.users()
    if place.scope == opencode.USER:
        places += [opencode.of_project(os.path.dirname(folder)) for folder in _in_projects()]
    others = [one for one in dict.fromkeys(places) if one.folder != place.folder]
    return [one.folder for one in others if _has_plugin(one)]


def _in_projects() -> list[str]:
    entries = [e for e in manifest.entries() if e.get("scope") == opencode.PROJECT]
    return [folder for e in entries if isinstance(folder := e.get("folder"), str)]


def _has_plugin(place: Place) -> bool:
    try:
        return bool(found.of_ours(opencode.existing(place, opencode.PLUGINS), ".js"))
    except OSError:
        return False
