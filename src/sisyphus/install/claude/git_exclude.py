"""`.git/info/exclude`: what only this user has in a project shows in no `git status`."""

from __future__ import annotations

import os
import stat

from sisyphus.errors import UnreadableError
from sisyphus.install import edited, found
from sisyphus.install.edited import Change, Original
from sisyphus.install.found import ABSENT, SHARED, Found
from sisyphus.install.plan import EDIT, REMOVE, WRITE, Step
from sisyphus.paths import is_inside
from sisyphus.reading import DOCUMENT_BYTES, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json

_WHOLE_FOLDER = (".claude", ".claude/*", ".claude/**")
_COMMAND = "/.claude/commands/"
_MARKED = (found.OURS, found.EDITED, found.NEWER)


def path(root: str) -> str:
    return os.path.join(root, ".git", "info", "exclude")


def can_be_used(root: str) -> bool:
    """A linked worktree has its folder elsewhere, and shares the file with others."""
    folder = os.path.dirname(path(root))
    return os.path.isdir(folder) and is_inside(folder, root) and _look(root) is not None


def to_install(root: str, paths: list[str], noted: Json) -> tuple[Step | None, Json]:
    """The step that hides these files, and what is to be noted; None where they are hidden."""
    before, file = _look(root), path(root)
    lines = _missing(root, paths)
    if before is None or not lines:
        return None, {}
    ours = lines_of_ours(root, noted)
    was = edited.original(noted, file, before.data) or _without(before, ours, _made(root, noted))
    added = tuple(dict.fromkeys([*ours, *lines]))
    after = _with(was.data or b"", added)
    is_there = before.kind != ABSENT
    row = edited.row(noted, file, Change(before.data if is_there else None, after, was, added))
    keep = (was.data,) if was.data is not None else ()
    return Step(file, EDIT if is_there else WRITE, before, after, _told(lines), keep), row


def to_uninstall(root: str, kept: set[str], noted: Json) -> Step | None:
    """The lines of files in `kept` stay: they are still this user's alone."""
    ours = lines_of_ours(root, noted)
    kept = {one for one in kept if os.path.lexists(one)}
    return _taken_out(root, [one for one in ours if root + one not in kept], noted)


def to_show(root: str, shared: set[str], noted: Json) -> Step | None:
    """The step after which git sees these files, which are for everybody from now on."""
    ours = lines_of_ours(root, noted)
    return _taken_out(root, [one for one in ours if root + one in shared], noted)


def to_hide_again(root: str, paths: list[str], noted: Json) -> Step | None:
    """The step that puts back the lines of ours that `to_show` took out, of these files."""
    before, file = _look(root), path(root)
    known, missing = edited.added(noted, file), _missing(root, paths)
    lines = [one for one in known if one in missing]
    if before is None or not lines or not can_be_used(root):
        return None
    there = lines_of_ours(root, noted)
    rest = _without(before, there, is_made=False).data or b""
    after = _with(rest, tuple(one for one in known if one in (*there, *lines)))
    return Step(file, WRITE if before.kind == ABSENT else EDIT, before, after, _told(lines))


def lines_of_ours(root: str, noted: Json) -> list[str]:
    """Those of the file that are noted; where none is, as in a project that was moved, those that
    name a command with our mark."""
    there = list(dict.fromkeys(_text(path(root)).splitlines()))
    known = set(edited.added(noted, path(root)))
    return [one for one in there if (one in known if known else _is_marked(root, one))]


def _is_marked(root: str, line: str) -> bool:
    name = line.removeprefix(_COMMAND)
    is_command = line.startswith(_COMMAND) and name.endswith(".md") and "/" not in name
    return is_command and "\0" not in name and found.look(root + line).kind in _MARKED


def _taken_out(root: str, lines: list[str], noted: Json) -> Step | None:
    before, file = _look(root), path(root)
    if before is None or not lines:
        return None
    known = edited.original(noted, file, before.data)
    is_all = len(lines) == len(lines_of_ours(root, noted))
    after = known if known and is_all else _without(before, lines, _made(root, noted))
    if after.data is None:
        return Step(file, REMOVE, before)
    return Step(file, EDIT, before, after.data, _told(lines)) if after.data != before.data else None


def _made(root: str, noted: Json) -> bool:
    """Whether the file was not there before us."""
    last = edited.last_original(noted, path(root))
    return last is not None and last.data is None


def _told(lines: list[str]) -> str:
    return f"{len(lines)} line{'s' * (len(lines) > 1)} of ours"


def _without(before: Found, lines: list[str], is_made: bool) -> Original:
    """Each of the lines goes once: a second one that says the same is the user's."""
    if before.kind == ABSENT:
        return Original(None)
    ours = {line.encode() for line in lines}
    kept = []
    for one in before.data.splitlines(keepends=True):
        if one.rstrip(b"\r\n") in ours:
            ours.remove(one.rstrip(b"\r\n"))
        else:
            kept.append(one)
    rest = b"".join(kept)
    return Original(None if is_made and not rest else rest)


def _missing(root: str, paths: list[str]) -> list[str]:
    ignored = {line.strip() for text in _lists(root) for line in text.splitlines()}
    lines = [f"/{os.path.relpath(one, root)}".replace(os.sep, "/") for one in paths]
    return [line for line in lines if not _is_ignored(line, ignored)]


def _with(data: bytes, lines: tuple[str, ...]) -> bytes:
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    return data + gap + "".join(f"{line}\n" for line in lines).encode()


def _look(root: str) -> Found | None:
    """The file; None where it is none that can be edited."""
    file = path(root)
    if not os.path.lexists(file):
        return Found(ABSENT)
    info = os.lstat(file)
    try:
        data = read_bytes(file, DOCUMENT_BYTES)
    except UnreadableError:
        return None
    is_file = stat.S_ISREG(info.st_mode)
    return Found(SHARED, "", data, stat.S_IMODE(info.st_mode)) if is_file else None


def _lists(root: str) -> list[str]:
    """The texts of the files in which git looks for what it is not to see."""
    above = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    places = (path(root), os.path.join(root, ".gitignore"), os.path.join(above, "git", "ignore"))
    return [_text(place) for place in places]


def _text(place: str) -> str:
    try:
        return read_bytes(place, DOCUMENT_BYTES).decode("utf-8", "replace")
    except UnreadableError:
        return ""


def _is_ignored(line: str, ignored: set[str]) -> bool:
    """Whether one of the usual spellings hides a file; a line too many does no harm."""
    names = {line.removeprefix("/"), os.path.dirname(line).removeprefix("/")}
    names.add(os.path.basename(line))
    names.update(_WHOLE_FOLDER)
    return any(
        f"{before}{name}{behind}" in ignored
        for name in names
        for before in ("", "/", "**/")
        for behind in ("", "/")
    )
