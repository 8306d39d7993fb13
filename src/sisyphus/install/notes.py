"""What is worth knowing about an installation beyond its files."""

from __future__ import annotations

import os

from sisyphus.install import manifest, opencode, opencode_notes, plan
from sisyphus.install.claude import notes as claude_notes
from sisyphus.install.place import USER
from sisyphus.paths import client_home, display, our_home
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.install.plan import Plan

_NAMED = 10


def of(done: Plan, *, is_done: bool = True) -> list[str]:
    """Whole sentences for the user, in order; not `is_done`: it is only shown."""
    own = opencode_notes.of(done) if _is_opencode(done) else claude_notes.of(done, is_done=is_done)
    left = [_what_is_left(done, folder, names) for folder, names in done.left]
    others = [*_of_the_other_client(done), *_installed_elsewhere(done)]
    return [*done.notes, *own, *left, *_of_memory(done), *others]


def _is_opencode(done: Plan) -> bool:
    return done.place.client == opencode.NAME


def _what_is_left(done: Plan, folder: str, names: tuple[str, ...]) -> str:
    is_clients = _is_opencode(done) and opencode_notes.OWN.issuperset(names)
    whose = " (OpenCode's own)" if is_clients else ""
    return f"{folder} stays, for what is in it{whose}: {_listed(names)}."


def _of_memory(done: Plan) -> list[str]:
    """What no removal of the wiring takes along."""
    if done.verb == plan.INSTALL or done.place.scope != USER or not done.changes:
        return []
    paths = (our_home(), os.path.join(client_home(), ".boulder.json"))
    kept = ", ".join(display(path, path) for path in paths)
    return [f"What it remembers stays: {kept}, and in projects .claude/handoffs."]


def _of_the_other_client(done: Plan) -> list[str]:
    """Claude Code is meant where the user names none."""
    is_wired = opencode.NAME in (done.place.client, *manifest.clients())
    if is_wired or done.verb == plan.UNINSTALL or not done.changes or not opencode.is_here():
        return []
    return ["OpenCode is here too: `sisyphus install --client opencode`."]


def _installed_elsewhere(done: Plan) -> list[str]:
    """For who looks in the wrong place."""
    if done.verb == plan.INSTALL or done.changes:
        return []
    others = [f for f in manifest.folders(done.place.client) if f != done.place.folder]
    notes = [f"It is installed in {_listed(list(dict.fromkeys(others)))}."] if others else []
    if not _is_opencode(done) and opencode.NAME in manifest.clients():
        notes.append("It is installed for OpenCode: `sisyphus uninstall --client opencode`.")
    return notes


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(one_line(name) for name in names[:_NAMED]) + more
