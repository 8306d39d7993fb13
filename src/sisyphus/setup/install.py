"""Decides what `install` and `uninstall` change. Nothing here reads or writes a file."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from sisyphus import clients
from sisyphus.clients import hook_files, hook_groups
from sisyphus.clients.installation import Site
from sisyphus.ground.errors import SisyphusError, UnreadableError
from sisyphus.ground.record import Record
from sisyphus.ground.text import fingerprint
from sisyphus.setup import json_text, messages
from sisyphus.setup.json_text import Json
from sisyphus.setup.record import Additions

Files = Mapping[str, bytes | None]
"""Path → content; None = there is no such file."""


class Plan(Record, frozen=True):
    """What a command will change.

    files: the new contents of those that change. entries: what changes in the settings, for people.
    notes: what is not done, and why. ours: what is ours afterwards.
    """

    files: Files
    entries: list[str]
    notes: list[str]
    ours: Additions


class UneditableError(SisyphusError):
    """A client's file cannot be edited, so nothing of it is. what: the file, and why. mend: what to
    do about it."""

    def __init__(self, what: str, mend: str) -> None:
        super().__init__(f"{what} {messages.DECLINED} {mend}")
        self.what, self.mend = what, mend


def files_of(site: Site, ours: Additions) -> list[str]:
    """Returns every file whose content matters here."""
    paths = [site.settings, *site.copies, *ours.copies, site.ignore]
    return [path for path in dict.fromkeys(paths) if path]


def to_install(
    site: Site, files: Files, ours: Additions, globs: list[str], *, is_shared: bool = False
) -> Plan:
    """Plans to add what is missing. globs: of rules that the client is to leave out. is_shared: for
    everybody who has the project. Raises `UneditableError` if the settings cannot be edited."""
    wiring = clients.wiring(site.client)
    old = _settings(site, files)
    if why := wiring.dropped(json_text.text(files.get(site.settings) or b"")):
        raise UneditableError(*messages.dropped(site.settings, site.client, why))
    new = wiring.wire(old, site, globs)
    copies, notes = _copies(site, files, ours)
    if globs and not site.project:
        notes.append(messages.left_out_rules(site.client))
    data = files.get(site.settings)
    text = json_text.dump(new, data or b"") if site.settings else b""
    ours = Additions(
        is_new=ours.is_new or (bool(site.settings) and data is None),
        excludes=[
            *ours.excludes,
            *(glob for glob in _left_out(site, new) if glob not in _left_out(site, old)),
        ],
        keys=list(dict.fromkeys([*ours.keys, *(key for key in site.defaults if key not in old)])),
        copies={path: fingerprint(data) for path, data in copies.items() if data is not None},
        original=ours.original if new == old else _original(data, old, ours),
        written=ours.written if new == old else fingerprint(text),
    )
    added = [*([site.settings] if ours.is_new else []), *ours.copies]
    contents = copies | _ignore_file(site, files, _others(site, files) if is_shared else added)
    if site.settings:
        contents[site.settings] = text
    return _plan(site, files, contents, old, new, notes, ours)


def _left_out(site: Site, settings: Json) -> list[str]:
    """Returns the globs of rules that these settings leave out."""
    name = clients.native(site.client).RULES_SETTING
    globs: list[str] = settings.get(name, []) if name else []
    return globs


def _original(data: bytes | None, old: Json, ours: Additions) -> str:
    """Returns the text that uninstall gives back if nobody writes the settings until then; "" = it
    takes out what is ours."""
    if ours.written:
        return ours.original if _is_as_written(data, ours) else ""
    return "" if hook_groups.has_ours(old) else (data or b"").decode("utf-8", "surrogateescape")


def _is_as_written(data: bytes | None, ours: Additions) -> bool:
    return data is not None and fingerprint(data) == ours.written


def to_uninstall(site: Site, files: Files, ours: Additions, *, is_shared: bool = False) -> Plan:
    """Plans to take out what is ours and still there. is_shared: for everybody who has the project.
    Raises `UneditableError` if the settings cannot be edited.

    A file with the content that this version installs is ours even if no record says so.
    """
    old = _settings(site, files)
    new = clients.wiring(site.client).unwire(old, ours.excludes, ours.keys)
    contents: dict[str, bytes | None] = {}
    notes = []
    for path in dict.fromkeys([*site.copies, *ours.copies]):
        data = files[path]
        if data is not None and (data == site.copies.get(path) or _is_copy(path, data, ours)):
            contents[path] = None
        elif data is not None and path in ours.copies:
            notes.append(messages.edited_command(path))
        elif _is_unknown(site, path, data, ours):
            notes.append(messages.unknown_plugin(path))
    contents |= _ignore_file(site, files, _others(site, files) if is_shared else [])
    if site.settings:
        data = files[site.settings]
        is_empty = ours.is_new and not new
        text = json_text.dump(new, data or b"")
        if ours.original and _is_as_written(data, ours):
            text = ours.original.encode("utf-8", "surrogateescape")
        contents[site.settings] = None if is_empty else text
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
    if old == new and contents.get(site.settings) is not None:
        changed.pop(site.settings, None)
    entries = [messages.entry(*each) for each in _differences(old, new)]
    if entries and not json_text.keeps_layout(files[site.settings] or b""):
        entries.append(messages.RESTYLED)
    return Plan(changed, entries, notes, ours)


def _differences(old: Json, new: Json) -> Iterator[tuple[str, list[str]]]:
    """Yields each key that differs, with the names of what differs in it: the members of an object,
    or the command that it has; the items of a list."""
    for key in old | new:
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if command := _command(after) or _command(before):
            yield key, [command]
        elif isinstance(before or after, dict):
            one, two = before or {}, after or {}
            yield key, [name for name in one | two if one.get(name) != two.get(name)]
        elif isinstance(before or after, list):
            one, two = before or [], after or []
            yield key, [each for each in one + two if each not in one or each not in two]
        else:
            yield key, [str(after or before)]


def _command(value: object) -> str:
    command = value.get("command") if isinstance(value, dict) else None
    return command if isinstance(command, str) else ""


def _settings(site: Site, files: Files) -> Json:
    if not site.settings:
        return {}
    data = files[site.settings] or b""
    try:
        settings = json_text.load(data)
    except UnreadableError as error:
        raise UneditableError(*messages.unreadable(site.settings, str(error))) from error
    if problem := clients.wiring(site.client).problem(settings, json_text.text(data)):
        raise UneditableError(*messages.unreadable(site.settings, problem))
    return settings


def _ignore_file(site: Site, files: Files, hidden: Iterable[str]) -> dict[str, bytes | None]:
    """Returns the new content of git's ignore file, if it changes.

    hidden: what it keeps from `git status`: files that we added to a project for the user alone,
    and nothing of the user's.
    """
    if not site.ignore:
        return {}
    old, found = files[site.ignore] or b"", _block(site)
    title = hook_files.exclude_title(site.client)
    lines = "".join(f"/{os.path.relpath(path, site.project)}\n" for path in hidden)
    block = os.fsencode(f"{title}\n{lines}# end of sisyphus install\n") if lines else b""
    if block in old if block else not found.search(old):
        return {}
    rest = found.sub(b"", old)
    gap = b"\n" if block and rest and not rest.endswith(b"\n") else b""
    return {site.ignore: rest + gap + block or None}


def _others(site: Site, files: Files) -> list[str]:
    """Returns the files that git's ignore file hides for us, without those that are installed for
    everybody: Claude Code has local settings beside those of the project."""
    found = _block(site).search(files.get(site.ignore) or b"")
    lines = os.fsdecode(found[1]).split("\n")[:-1] if found else []
    hidden = [os.path.join(site.project, line[1:]) for line in lines]
    return [path for path in hidden if path not in (site.settings, *site.copies)]


def _block(site: Site) -> re.Pattern[bytes]:
    """Returns what matches our lines in git's ignore file."""
    title = re.escape(hook_files.exclude_title(site.client).encode())
    return re.compile(title + rb"\n((?:/.*\n)*)# end of sisyphus install\n")


def _copies(site: Site, files: Files, ours: Additions) -> tuple[dict[str, bytes | None], list[str]]:
    """Returns the contents of the copies, None for one of ours that is no longer needed; and a note
    for each that would replace a file of the user's."""
    contents: dict[str, bytes | None] = {
        path: None for path in ours.copies if _is_copy(path, files[path], ours)
    }
    notes = []
    for path, content in site.copies.items():
        data = files[path]
        if (
            data in (None, content)
            or _is_copy(path, data, ours)
            or _is_unknown(site, path, data, ours)
        ):
            contents[path] = content
        else:
            notes.append(messages.own_command(path))
    return contents, notes


def _is_unknown(site: Site, path: str, data: bytes | None, ours: Additions) -> bool:
    """Tells whether a file is ours, of any version, of which no record exists any more."""
    return path not in ours.copies and bool(site.mark) and (data or b"").startswith(site.mark)


def _is_copy(path: str, data: bytes | None, ours: Additions) -> bool:
    """Tells whether a file is as we wrote it."""
    return data is not None and ours.copies.get(path) == fingerprint(data)
