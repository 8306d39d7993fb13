"""Files of ours that cannot be used, and what killed processes left."""

from __future__ import annotations

import os
import stat

from sisyphus.doctor.finding import Finding, count, ok, typed, warning
from sisyphus.doctor.folder import MOST_FILES, below
from sisyphus.errors import UnreadableError
from sisyphus.memory import memory_path
from sisyphus.paths import INSTALLS
from sisyphus.reading import read_head
from sisyphus.session.process import identify, is_alive
from sisyphus.state.files import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

FILES, REMAINS = "state files", "leftovers"

OLD_SECONDS = 3_600
"""A writer is done in milliseconds; what has waited for an hour waits for nobody."""

_CORRUPT = ".corrupt-"
DATABASE = memory_path("")
_VERSION = 1
_MOST_READ = 2_000
_READ_BYTES = 50_000_000
_TOKEN_BYTES = 200
_FOLDERS = ("checkpoint", "enforce", "projects", "ralph")
_NAMES = (".boulder.json", INSTALLS)
"""Where state of ours is. What lies elsewhere is another's, or (`replaced/`) a copy of it."""

_PID_DIGITS = 10

_MENDED_BY = {
    ".boulder.json": "`sisyphus boulder start` follows the plan again",
    "plans.json": "`sisyphus boulder start` follows the plan again",
    "boulder.json": "`sisyphus boulder start` follows the plan again",
    "ralph-loop": "`sisyphus ralph start` begins the loop again",
    "enforce.json": "`sisyphus enforce on` switches it on again",
    INSTALLS: "`sisyphus install` again",
}
"""What a file that was set aside held -> what makes it anew. All else is made anew by itself."""


def states(case: Case) -> Iterator[Finding]:
    paths = _paths(case)
    every = [*paths, *_in_project(case.space.root)]
    findings = [_aside(case, path) for path in every if _is_aside(path)]
    findings += _unusable(case, paths)
    yield from findings or [ok(FILES, "all of them can be read")]


def _is_aside(path: str) -> bool:
    """The memory tells of its own."""
    name = os.path.basename(path)
    return _CORRUPT in name and not name.startswith(DATABASE)


def _aside(case: Case, path: str) -> Finding:
    shown, name = case.shown(path), os.path.basename(path).partition(_CORRUPT)[0]
    mended = next((hint for known, hint in _MENDED_BY.items() if name.startswith(known)), "")
    again = f"{mended}; " if mended else "Nothing needs it any more; "
    return warning(FILES, f"{shown} was unreadable and set aside", f"{again}`rm {typed(shown)}`")


def _unusable(case: Case, paths: list[str]) -> list[Finding]:
    """Those of a newer sisyphus, and those that the next writer will set aside."""
    newer, broken = [], []
    for path in _affordable([path for path in paths if _is_state(case, path)]):
        value = read_json(path)
        if value is None:
            broken.append(path)
        elif _is_newer(value.get("version")):
            newer.append(path)
    found = []
    if newer:
        first = case.shown(newer[0])
        text = f"{count(len(newer), 'file')} of a newer sisyphus, {first} first: left alone"
        found.append(warning(FILES, text, "Install that version again, or a newer one"))
    if broken:
        text = f"{count(len(broken), 'file')} unreadable, {case.shown(broken[0])} first"
        found.append(warning(FILES, text, "The next hook sets it aside and begins anew"))
    return found


def _is_state(case: Case, path: str) -> bool:
    above, name = os.path.split(os.path.relpath(path, case.space.ours))
    is_ours = above.split(os.sep)[0] in _FOLDERS or name in _NAMES
    return is_ours and name.endswith(".json")


def _is_newer(version: object) -> bool:
    return type(version) is int and version > _VERSION


def _affordable(paths: list[str]) -> Iterator[str]:
    """As many as can be read in a moment."""
    left = _READ_BYTES
    for path in paths[:_MOST_READ]:
        left -= _size(path)
        if left < 0:
            return
        yield path


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _paths(case: Case) -> list[str]:
    """What is in our folder, and the one file of ours beside it."""
    try:
        beside = [name for name in os.listdir(case.space.home) if name.startswith(".boulder.json")]
    except OSError:
        beside = []
    paths = [os.path.join(case.space.home, name) for name in sorted(beside)]
    for path in below(case.space.ours):
        paths.append(path)
        if len(paths) > MOST_FILES:
            break
    return paths


def _in_project(root: str) -> list[str]:
    """The files in the folders in which a project may have some of ours."""
    paths = []
    for folder in (os.path.join(root, ".claude"), os.path.join(root, "docs", "kord")):
        try:
            paths += [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
        except OSError:
            continue
    return paths


def remains(case: Case) -> Iterator[Finding]:
    now = case.space.now
    paths = _paths(case)
    old = [path for path in paths if path.endswith(".tmp") and _is_old_file(path, now)]
    old += [path for path in paths if path.endswith(".waiter") and _waits_for_nobody(path, now)]
    if not old:
        yield ok(REMAINS, "none")
        return
    text = f"{count(len(old), 'file')} of processes that were killed, {case.shown(old[0])} first"
    yield warning(REMAINS, text, "`sisyphus doctor --fix` removes them", lambda: _remove(old, now))


def _is_old_file(path: str, now: float) -> bool:
    try:
        info = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(info.st_mode) and now - info.st_mtime > OLD_SECONDS


def _waits_for_nobody(path: str, now: float) -> bool:
    """Whether the process that wrote its pid there has ended, or is another one by now."""
    if not _is_old_file(path, now):
        return False
    try:
        pid = read_head(path, _TOKEN_BYTES).partition(b"-")[0]
    except UnreadableError:
        return False
    return pid.isdigit() and len(pid) <= _PID_DIGITS and not _is_running(int(pid))


def _is_running(pid: int) -> bool:
    """Or may be: where processes cannot be looked at, each runs."""
    return is_alive(identify(pid)) is not False


def _remove(paths: list[str], now: float) -> str:
    """Raises the first `OSError` once all others are gone."""
    gone, kept = 0, list[OSError]()
    for path in paths:
        if not _is_old_file(path, now):
            continue
        try:
            os.unlink(path)
        except OSError as error:
            kept.append(error)
        else:
            gone += 1
    if kept:
        raise kept[0]
    return f"removed {count(gone, 'leftover')}"
