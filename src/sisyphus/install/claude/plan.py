"""What an installation for Claude Code, or its removal, would do."""

from __future__ import annotations

import os

from sisyphus.install import edited, folders, manifest, own_files, script
from sisyphus.install.claude import (
    edits,
    excludes,
    git_exclude,
    notes,
    parts,
    settings_file,
    settings_step,
    slash_commands,
    versions,
    wanted,
)
from sisyphus.install.claude import place as where
from sisyphus.install.place import LOCAL, PROJECT, USER
from sisyphus.install.plan import INSTALL, KEEP, REMOVE, SKIP, UNINSTALL, WRITE, Plan
from sisyphus.install.wish import COMMANDS, HOOKS
from sisyphus.programs import Programs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.install.claude.parts import Parts
    from sisyphus.install.claude.settings_file import SettingsFile
    from sisyphus.install.place import Place
    from sisyphus.install.plan import Step
    from sisyphus.install.wish import Wish


def to_install(place: Place, wish: Wish, noted: Json) -> Plan:
    """Raises `SisyphusError` where that cannot be done, and `OSError`."""
    file, patterns = settings_file.read(place), excludes.found(place)
    held = parts.of(place, file, noted, wish, patterns)
    if (held.wanted | wish.without) - {COMMANDS}:
        file.check_read()
    called, said = script.called(place.scope)
    kept = edits.still_there(file.values, edited.added(noted, file.named))
    version = (
        versions.installed(Programs(notes.project_of(place))) if HOOKS in held.wanted else None
    )
    settings = wanted.settings(place, file.values, held.wanted, called, [*kept, *patterns], version)
    step, row = settings_step.to_install(file, settings, noted)
    steps = [step] if step else []
    steps += _commands(place, held, noted, replace=wish.replace)
    hidden, git_row = _hidden(place, steps, noted)
    hidden += _for_all(place, steps)
    make = folders.missing(os.path.dirname(step.path) for step in steps if step.action == WRITE)
    rows = {file.named: row, git_exclude.path(place.base): git_row}
    return Plan(
        INSTALL,
        place,
        (*steps, *hidden),
        make=make,
        notes=(
            *said,
            *notes.of_installing(place, file, held, settings, called),
            *notes.of_version(version),
            *notes.of_wish(place, wish, settings),
        ),
        record=_record(noted, rows),
        parts=tuple(sorted(held.wanted)),
        offers=() if wish.is_final else held.offered,
        twice_by=notes.plugin_in(place) if HOOKS in held.wanted else "",
    )


def _commands(place: Place, held: Parts, noted: Json, *, replace: bool) -> list[Step]:
    if COMMANDS in held.wanted:
        return slash_commands.to_install(place, noted, replace=replace)
    return slash_commands.to_uninstall(place, noted) if COMMANDS in held.there else []


def _hidden(place: Place, steps: list[Step], noted: Json) -> tuple[list[Step], Json]:
    """What keeps new files of the user's own out of a project's `git status`."""
    new = [step.path for step in steps if step.action == WRITE]
    if place.scope != LOCAL or not new or not git_exclude.can_be_used(place.base):
        return [], {}
    step, row = git_exclude.to_install(place.base, new, noted)
    return [step] if step else [], row


def _for_all(place: Place, steps: list[Step]) -> list[Step]:
    """What this user alone had of a project until now is no longer hidden."""
    if place.scope != PROJECT:
        return []
    shared = {step.path for step in steps if step.action not in (REMOVE, SKIP)}
    step = git_exclude.to_show(place.base, shared, manifest.noted(where.of_local(place.base)))
    return [step] if step else []


def _record(noted: Json, rows: dict[str, Json]) -> Json:
    older = noted.get("edited")
    known = older if isinstance(older, dict) else {}
    return {"edited": {**known, **{path: row for path, row in rows.items() if row}}}


def to_uninstall(place: Place, noted: Json) -> Plan:
    """Raises `SisyphusError` where that cannot be done, and `OSError`."""
    file = settings_file.read(place)
    settings = settings_step.to_uninstall(file, noted)
    steps = [settings] if settings else []
    steps += slash_commands.to_uninstall(place, noted)
    steps += _shown_again(place, file, steps, noted)
    steps += _hidden_again(place) if steps or noted else []
    lists = [git_exclude.path(place.base)] if place.scope != USER else []
    steps += _left_over([file.path, *lists], steps)
    drop, left = folders.emptied(noted.get("folders", ()), _gone(steps))
    told = notes.of_removing(place, file, steps, noted)
    return Plan(UNINSTALL, place, tuple(steps), drop=drop, left=left, notes=tuple(told))


def _shown_again(place: Place, file: SettingsFile, steps: list[Step], noted: Json) -> list[Step]:
    if place.scope != LOCAL:
        return []
    kept = {step.path for step in steps if step.action == KEEP}
    kept |= {file.named} - _gone(steps)
    step = git_exclude.to_uninstall(place.base, kept, noted)
    return [step] if step else []


def _hidden_again(place: Place) -> list[Step]:
    """What this user alone has of a project from now on."""
    if place.scope != PROJECT:
        return []
    alone = slash_commands.of_user_alone(place)
    known = manifest.noted(where.of_local(place.base))
    step = git_exclude.to_hide_again(place.base, alone, known)
    return [step] if step else []


def _left_over(paths: list[str], steps: list[Step]) -> list[Step]:
    """By a run that was killed, beside the files of others that an installation writes; where one
    is written again, that takes it away."""
    written = {step.path for step in steps if step.after is not None}
    return own_files.beside([path for path in paths if path not in written])


def _gone(steps: list[Step]) -> set[str]:
    return {step.path for step in steps if step.action == REMOVE}
