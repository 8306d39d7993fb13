"""Decides what `install` and `uninstall` change. Nothing here reads or writes a file."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sisyphus.clients.claude_code import wiring
from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.setup import json_text, messages
from sisyphus.setup.json_text import Json
from sisyphus.setup.record import Additions
from sisyphus.text import fingerprint

Files = Mapping[str, bytes | None]
"""Path → content; None = there is no such file."""

_BLOCK = re.compile(rb"# sisyphus install\n(?:/.*\n)*# end of sisyphus install\n")


@dataclass(frozen=True)
class Site:
    """Where to install.

    project: "" = for the user, in all projects. settings, commands: the client's file and folder.
    ignore: git's list of files that only this checkout ignores; "" = none is needed.
    """

    home: str
    project: str
    settings: str
    commands: str
    ignore: str = ""

    def files(self, commands: Iterable[str], ours: Additions) -> list[str]:
        """Returns every file whose content matters here. commands: file names."""
        copies = [os.path.join(self.commands, name) for name in commands]
        paths = [self.settings, *copies, *ours.copies, self.ignore]
        return [path for path in dict.fromkeys(paths) if path]


@dataclass(frozen=True)
class Wish:
    """What `install` should leave there.

    hooks: event → groups. commands: file name → content. start: the words that start sisyphus.
    excludes: globs of rules that the client must not load. has_line: see `wiring.wire`.
    """

    hooks: Json
    commands: Mapping[str, bytes]
    start: str
    excludes: list[str]
    has_line: bool


@dataclass(frozen=True)
class Plan:
    """What a command will change.

    files: the new contents of those that change. entries: what changes in the settings, for people.
    notes: what is not done, and why. ours: what is ours afterwards.
    """

    files: Files
    entries: list[str]
    notes: list[str]
    ours: Additions


def to_install(site: Site, files: Files, wish: Wish, ours: Additions) -> Plan:
    """Plans to add what is missing. Raises `SisyphusError` if the settings cannot be edited."""
    old = _settings(site, files)
    new = wiring.wire(old, wish.hooks, wish.start, wish.excludes, has_line=wish.has_line)
    copies, notes = _copies(site, files, wish.commands, ours)
    if wish.excludes and not site.project:
        notes.append(messages.EXCLUDES)
    ours = Additions(
        is_new=ours.is_new or files[site.settings] is None,
        excludes=[
            *ours.excludes,
            *(g for g in wiring.excludes(new) if g not in wiring.excludes(old)),
        ],
        copies={path: fingerprint(data) for path, data in copies.items() if data is not None},
    )
    contents = copies | _ignore_file(site, files, ours)
    contents[site.settings] = json_text.dump(new, files[site.settings] or b"")
    return _plan(site, files, contents, old, new, notes, ours)


def to_uninstall(site: Site, files: Files, commands: Mapping[str, bytes], ours: Additions) -> Plan:
    """Plans to take out what is ours and still there. Raises `SisyphusError` if the settings cannot
    be edited.

    commands: those of this version, file name → content. Such a file is ours even if no record says
    so.
    """
    old = _settings(site, files)
    new = wiring.unwire(old, ours.excludes)
    shipped = {os.path.join(site.commands, name): data for name, data in commands.items()}
    contents: dict[str, bytes | None] = {}
    notes = []
    for path in dict.fromkeys([*shipped, *ours.copies]):
        data = files[path]
        if data is not None and (data == shipped.get(path) or _is_copy(path, data, ours)):
            contents[path] = None
        elif data is not None and path in ours.copies:
            notes.append(messages.edited_command(path))
    contents |= _ignore_file(site, files, Additions())
    is_empty = ours.is_new and not new
    contents[site.settings] = None if is_empty else json_text.dump(new, files[site.settings] or b"")
    return _plan(site, files, contents, old, new, notes, Additions())


def _plan(
    site: Site,
    files: Files,
    contents: Files,
    old: Json,
    new: Json,
    notes: list[str],
    ours: Additions,
) -> Plan:
    """Leaves out the files that do not change. The settings come last, so that everything that they
    name exists when they are written."""
    changed = {path: data for path, data in contents.items() if data != files[path]}
    if old == new and contents[site.settings] is not None:
        changed.pop(site.settings, None)
    entries = [messages.entry(*each) for each in wiring.differences(old, new).items()]
    if entries and not json_text.keeps_layout(files[site.settings] or b""):
        entries.append(messages.RESTYLED)
    return Plan(changed, entries, notes, ours)


def _settings(site: Site, files: Files) -> Json:
    try:
        settings = json_text.load(files[site.settings] or b"")
    except UnreadableError as error:
        raise SisyphusError(messages.unreadable(site.settings, str(error))) from error
    if problem := wiring.problem(settings):
        raise SisyphusError(messages.unreadable(site.settings, problem))
    return settings


def _ignore_file(site: Site, files: Files, ours: Additions) -> dict[str, bytes | None]:
    """Returns the new content of git's ignore file, if it changes. It hides what we added to a
    project from `git status`, and nothing of the user's."""
    if not site.ignore:
        return {}
    old = files[site.ignore] or b""
    hidden = [*([site.settings] if ours.is_new else []), *ours.copies]
    lines = "".join(f"/{os.path.relpath(path, site.project)}\n" for path in hidden)
    block = f"# sisyphus install\n{lines}# end of sisyphus install\n".encode() if lines else b""
    if block in old if block else not _BLOCK.search(old):
        return {}
    rest = _BLOCK.sub(b"", old)
    gap = b"\n" if block and rest and not rest.endswith(b"\n") else b""
    return {site.ignore: rest + gap + block or None}


def _copies(
    site: Site, files: Files, commands: Mapping[str, bytes], ours: Additions
) -> tuple[dict[str, bytes | None], list[str]]:
    """Returns the contents of the slash commands, None for one of ours that is no longer needed;
    and a note for each that would replace a file of the user's."""
    contents: dict[str, bytes | None] = {
        path: None for path in ours.copies if _is_copy(path, files[path], ours)
    }
    notes = []
    for name, content in commands.items():
        path = os.path.join(site.commands, name)
        if files[path] in (None, content) or _is_copy(path, files[path], ours):
            contents[path] = content
        else:
            notes.append(messages.own_command(path))
    return contents, notes


def _is_copy(path: str, data: bytes | None, ours: Additions) -> bool:
    """Tells whether a file is as we wrote it."""
    return data is not None and ours.copies.get(path) == fingerprint(data)
