"""Our folder: whose it is, who may read and write it, and whether there is room."""

from __future__ import annotations

import os
import shutil
import stat

from sisyphus.doctor.finding import Finding, ok, problem, typed, warning
from sisyphus.paths import ancestors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

CHECK, RIGHTS, SPACE = "folder", "rights", "space"

LITTLE_BYTES, NO_BYTES = 50_000_000, 1_000_000
MOST_FILES = 20_000

_GB = 1e9

_OTHERS = 0o077
_OTHERS_WRITE = 0o022
_OF_THE_USER = {"config.toml"}
"""Written by hand, with the rights that the user's editor gives; nobody else may change it."""


def check(case: Case) -> Iterator[Finding]:
    ours = case.space.ours
    shown, as_typed = case.shown(ours), typed(case.shown(ours))
    if os.path.islink(ours) and not os.path.exists(ours):
        yield problem(CHECK, f"{shown} is a link to nowhere", f"`rm {as_typed}`")
        return
    if not os.path.lexists(ours):
        yield _to_be_made(case)
        return
    if not os.path.isdir(ours):
        yield problem(
            CHECK, f"{shown} is no folder", f"Move it away: `mv {as_typed} {as_typed}.old`"
        )
        return
    link = f", a link to {os.path.realpath(ours)}" if os.path.islink(ours) else ""
    if os.access(ours, os.W_OK | os.X_OK):
        yield ok(CHECK, f"{shown}{link}")
    else:
        yield problem(CHECK, f"{shown}{link} is not writable for you", _take(shown))


def _to_be_made(case: Case) -> Finding:
    above = _nearest(case.space.ours)
    if os.access(above, os.W_OK | os.X_OK):
        return ok(CHECK, f"{case.shown(case.space.ours)} is made by the first hook")
    shown = case.shown(above)
    text = f"{shown} is not writable for you, so nothing can be kept"
    return problem(CHECK, text, _take(shown))


def rights(case: Case) -> Iterator[Finding]:
    """Every file of ours is for its user alone."""
    found = list(_entries(case.space.ours))
    foreign = [path for path, info in found if not _is_mine(info)]
    if foreign:
        shown = case.shown(case.space.ours)
        text = f"{_files(len(foreign))} not yours, {case.shown(foreign[0])} first"
        yield problem(RIGHTS, text, _take(shown))
    wide = [(path, info) for path, info in found if _is_mine(info) and _excess(path, info)]
    if wide:
        yield _too_wide(case, wide)
    elif not foreign and found:
        yield ok(RIGHTS, "for you alone")


def _too_wide(case: Case, wide: list[tuple[str, os.stat_result]]) -> Finding:
    written = any(_excess(path, info) & _OTHERS_WRITE for path, info in wide)
    judge = problem if written else warning
    what = "written" if written else "read"
    return judge(
        RIGHTS,
        f"{_files(len(wide))} open to be {what} by others, {case.shown(wide[0][0])} first",
        "`sisyphus doctor --fix`",
        lambda: _narrow(wide),
    )


def _narrow(wide: list[tuple[str, os.stat_result]]) -> str:
    for path, info in wide:
        if stat.S_ISLNK(os.lstat(path).st_mode):
            continue
        os.chmod(path, stat.S_IMODE(info.st_mode) & ~_excess(path, info))
    return f"took the rights of others from {_files(len(wide), verb=False)}"


def _files(count: int, *, verb: bool = True) -> str:
    name = "file or folder" if count == 1 else "files and folders"
    is_are = "is" if count == 1 else "are"
    return f"{count:,} {name}{f' {is_are}' if verb else ''}"


def _excess(path: str, info: os.stat_result) -> int:
    """The rights of others that a file of ours should not have."""
    too_much = _OTHERS_WRITE if os.path.basename(path) in _OF_THE_USER else _OTHERS
    return stat.S_IMODE(info.st_mode) & too_much


def _is_mine(info: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or info.st_uid == os.getuid()


def _entries(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """The folder and what is in it, links aside; 20,000 at most. Windows has no such rights."""
    if os.name == "nt" or not os.path.isdir(top):
        return
    yield top, os.stat(top)
    for count, path in enumerate(below(top)):
        if count >= MOST_FILES:
            return
        info = os.lstat(path)
        if not stat.S_ISLNK(info.st_mode):
            yield path, info


def below(top: str) -> Iterator[str]:
    """The paths of everything below a folder; links are not followed."""
    for above, folders, names in os.walk(top):
        for name in sorted((*folders, *names)):
            yield os.path.join(above, name)


def space(case: Case) -> Iterator[Finding]:
    yield judge_space(shutil.disk_usage(_nearest(case.space.ours)).free)


def judge_space(free: int) -> Finding:
    text = f"{free / 1e9:,.1f} GB free" if free > _GB else f"{free / 1e6:,.0f} MB free"
    if free < NO_BYTES:
        return problem(SPACE, f"{text}: nothing can be kept", "Make room on that disk")
    if free < LITTLE_BYTES:
        return warning(SPACE, text, "Make room on that disk; `sisyphus purge` removes what is old")
    return ok(SPACE, text)


def _nearest(path: str) -> str:
    return next(folder for folder in ancestors(path) if os.path.isdir(folder))


def _take(shown: str) -> str:
    return f'`sudo chown -R "$(id -un)" {typed(shown)}`'
