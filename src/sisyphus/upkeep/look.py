"""Looks for what may go: regular files below our own folder; links are not followed."""

from __future__ import annotations

import os
import stat

from sisyphus.paths import is_safe_id
from sisyphus.upkeep import kept
from sisyphus.upkeep.kept import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Tell = Callable[[int], object]

TELL_EVERY = 500
"""Files between two looks at the clock, or two words about how far we are."""

_NOBODY = ("", "")
_OLD_LOGS = ("debug.log.1",)
_OLD_ENFORCEMENTS = "enforcements.jsonl.1"


def every_file(ours: str, tell: Tell = bool) -> list[File]:
    """What ever goes, as it is now. `tell` hears how many files were looked at, and may raise."""
    found: list[File] = []
    for file in _all(ours):
        found.append(file)
        if not len(found) % TELL_EVERY:
            tell(len(found))
    return found


def _all(ours: str) -> Iterator[File]:
    for folder in kept.FOLDERS:
        yield from _of_table(ours, folder)
    yield from _subagents(ours)
    yield from _named(ours, "logs", kept.LOGS, _OLD_LOGS.__contains__)
    yield from _named(ours, "replaced", kept.REPLACED, bool)
    for project in _folders(ours, "projects"):
        yield from _of_project(ours, f"projects/{project}")


def _of_table(ours: str, folder: str) -> Iterator[File]:
    for name, path, found in _files(ours, folder):
        if said := kept.read(folder, name):
            guarded = os.path.join(ours, said.guarded) if said.guarded else ""
            yield File(path, said.kind, said.owner, guarded, found)


def _subagents(ours: str) -> Iterator[File]:
    """opencode/SESSION/subagents/agent-ID.jsonl"""
    for session in filter(is_safe_id, _folders(ours, "opencode")):
        owner = (kept.SESSION, session)
        for name, path, found in _files(ours, f"opencode/{session}/subagents"):
            if name.startswith("agent-") and name.endswith(".jsonl"):
                yield File(path, kept.OPENCODE, owner, "", found)


def _of_project(ours: str, folder: str) -> Iterator[File]:
    for name, path, found in _files(ours, folder):
        if name == "handoffs.json":
            yield File(path, kept.HANDOFFS, _NOBODY, path, found)
        elif name == _OLD_ENFORCEMENTS:
            beside = os.path.join(os.path.dirname(path), "enforce.json")
            yield File(path, kept.LOGS, _NOBODY, beside, found)
        elif ".corrupt-" in name:
            yield File(path, kept.CORRUPT, _NOBODY, "", found)
    yield from _named(ours, f"{folder}/handoffs", kept.HANDOFFS, lambda name: name.endswith(".md"))


def _named(
    ours: str, folder: str, kind: str, takes: Callable[[str], object], guarded: str = ""
) -> Iterator[File]:
    lock = os.path.join(ours, folder, guarded) if guarded else ""
    for name, path, found in _files(ours, folder):
        if takes(name):
            yield File(path, kind, _NOBODY, lock, found)


def _files(ours: str, folder: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """Name, path and state of each regular file in one of our folders."""
    if not _is_real(ours, folder):
        return
    try:
        with os.scandir(os.path.join(ours, folder)) as entries:
            for entry in entries:
                found = _state(entry)
                if found and stat.S_ISREG(found.st_mode):
                    yield entry.name, entry.path, found
    except OSError:
        return


def _state(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # gone meanwhile
        return None


def _folders(ours: str, folder: str) -> list[str]:
    if not _is_real(ours, folder):
        return []
    try:
        with os.scandir(os.path.join(ours, folder)) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _is_real(ours: str, folder: str) -> bool:
    """Whether no part of the way is a link: what lies behind one is not ours."""
    path = ours
    for part in folder.split("/"):
        path = os.path.join(path, part)
        try:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                return False
        except OSError:
            return False
    return True
