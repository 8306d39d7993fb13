"""The hooks that `sisyphus doctor --live` takes of the user's files, where clients are alike."""

from collections.abc import Callable, Iterable
from typing import Any

from sisyphus.clients import hook_groups, installer
from sisyphus.clients.installation import Installation
from sisyphus.clients.wired import Wired
from sisyphus.ground.record import Record, field

Json = dict[str, Any]
Hooks = list[tuple[str, str, Json]]
"""Hooks, each with its event and its matcher."""


class TrialHooks(Record, frozen=True):
    """What is tried of files with hooks. groups: event → groups. files: those with hooks that are
    taken. left_out: as in `trial_folder.WiringCopy`."""

    groups: dict[str, list[Json]] = field(default_factory=dict)
    files: list[Wired] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def mend(self, client: str, found: Iterable[Wired]) -> str:
        """Returns what the user can do where the client does not call us. found: the files that
        wire us."""
        scopes = [each.scope for each in (*self.files, *found)]
        return installer.mend("", client, [*scopes, installer.USER][0])


def take(files: Iterable[Wired], hooks_of: Callable[[Wired], Hooks]) -> TrialHooks:
    """Takes hooks out of files. hooks_of: returns those of a file that may run here."""
    tried = TrialHooks()
    for file in files:
        hooks = hooks_of(file)
        for event, matcher, hook in hooks:
            tried.groups.setdefault(event, []).append(hook_groups.group_of(matcher, hook))
        if hooks:
            tried.files.append(file)
        if others := len([*hook_groups.every_hook(file.content)]) - len(hooks):
            tried.left_out.append(f"{others} hooks in {file.name}, which are not ours.")
    return tried


def ours_in(file: Wired, hooks: Json, place: Installation) -> Hooks:
    """Returns those of our hooks in a file that may run here: of a project only those that
    `install` writes. hooks: event → groups, as it does."""
    if file.scope == installer.USER:
        return hook_groups.ours(file.content)
    return hook_groups.installed(file.content, hooks, (place.start, installer.NAME))
