"""What becomes of the settings file."""

from __future__ import annotations

from sisyphus.clients.claude_code_setup import EXCLUDES, STATUSLINE
from sisyphus.errors import SisyphusError
from sisyphus.install import edited
from sisyphus.install.claude import edits, obstacles, settings_file
from sisyphus.install.edited import Original
from sisyphus.install.json_text import parse
from sisyphus.install.plan import EDIT, REMOVE, SAME, WRITE, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.install.claude.edits import Wanted
    from sisyphus.install.claude.settings_file import SettingsFile
    from sisyphus.install.edited import Change

MADE_HERE = "sisyphus made it"
CHANGED_SINCE = "changed since sisyphus wrote it: ours goes, all else stays as it is now"


def to_install(file: SettingsFile, wanted: Wanted, noted: Json) -> tuple[Step | None, Json]:
    """The step (None where there is nothing to write and nothing there), and what is to be noted of
    the file."""
    if edits.holds(file.values, wanted, edited.added(noted, file.named)):
        return (Step(file.path, SAME, file.before) if file.is_there else None), {}
    _refuse(file, wanted)
    was = _before(file, noted)
    if wanted == edits.Wanted():
        is_known = edited.original(noted, file.named, file.before.data)
        return _back(file, was, "" if is_known else CHANGED_SINCE), {}
    after = edits.put_in(settings_file.text_of(was.data), wanted).encode()
    before = file.before.data if file.is_there else None
    change = edited.Change(before, after, was, wanted.excludes)
    return _written(file, change, _told(wanted)), edited.row(noted, file.named, change)


def to_uninstall(file: SettingsFile, noted: Json) -> Step | None:
    """None where nothing of ours is there. Raises `SisyphusError`."""
    file.check_read()
    if not file.is_there:
        return None
    known = edited.original(noted, file.named, file.before.data)
    if known:
        file.check_writable()
        return _back(file, known)
    if _without_ours(file, noted) == file.before.data:
        return None
    _refuse(file, edits.Wanted())
    return _back(file, _before(file, noted), CHANGED_SINCE)


def _refuse(file: SettingsFile, wanted: Wanted) -> None:
    file.check_writable()
    if found := obstacles.first(file.text, wanted):
        raise SisyphusError(f"{file.named}, {found}. Mend it there, then run this again.")


def _told(wanted: Wanted) -> str:
    """What is ours in the file then."""
    hooks = wanted.hooks or {}
    count = sum(len(group["hooks"]) for groups in hooks.values() for group in groups)
    parts = [f"{count} hooks of {len(hooks)} events"] if hooks else []
    parts += [STATUSLINE] if wanted.statusline else []
    parts += [f"{len(wanted.excludes)} {EXCLUDES}"] if wanted.excludes else []
    return ", ".join(parts)


def _before(file: SettingsFile, noted: Json) -> Original:
    """The file without us: what was kept, or what is there now less ours."""
    if not file.is_there:
        return Original(None)
    known = edited.original(noted, file.named, file.before.data)
    if known:
        return known
    rest = _without_ours(file, noted)
    last = edited.last_original(noted, file.named)
    is_made = last is not None and last.data is None
    return Original(None if is_made and not parse(settings_file.text_of(rest)).value else rest)


def _without_ours(file: SettingsFile, noted: Json) -> bytes:
    last = edited.last_original(noted, file.named)
    held = parse(settings_file.text_of(last.data)).value if last else {}
    rest = edits.take_out(file.text, edited.added(noted, file.named), held)
    return file.before.data if rest == file.text else rest.encode()


def _written(file: SettingsFile, change: Change, why: str) -> Step:
    action = WRITE if change.before is None else EDIT
    contents = (change.before, change.was.data)
    keep = tuple(dict.fromkeys(data for data in contents if data is not None))
    return Step(file.path, action, file.before, change.after, why, keep)


def _back(file: SettingsFile, was: Original, why: str = "") -> Step:
    """What was there before us is there again; `why` where it is not that byte for byte."""
    keep = (file.before.data,) if why else ()
    if was.data is None:
        return Step(file.path, REMOVE, file.before, why=MADE_HERE)
    return Step(file.path, EDIT, file.before, was.data, why, keep)
