"""Where a session's transcript is kept: by Claude Code, or by us where OpenCode is the client."""

from __future__ import annotations

import os

from sisyphus.paths import is_safe_id

_END = ".jsonl"


def resume_command(home: str, session: str) -> str:
    """What goes on with the session in a terminal."""
    is_ours = os.path.isfile(os.path.join(home, ".sisyphus", "opencode", f"{session}.jsonl"))
    return f"opencode -s {session}" if is_ours else f"claude --resume {session}"


def resumable(home: str) -> set[str]:
    """The sessions whose transcript Claude Code still has: somebody may go on with each of them."""
    projects = os.path.join(home, "projects")
    names = (name for folder in _names(projects) for name in _names(os.path.join(projects, folder)))
    return {name.removesuffix(_END) for name in names if name.endswith(_END)}


def transcripts(home: str) -> dict[str, str]:
    """Session -> transcript of every session that has one, each as `transcript_path` finds it.
    Every folder is read once, however many there are."""
    kept, projects = os.path.join(home, ".sisyphus", "opencode"), os.path.join(home, "projects")
    folders = [kept, *(os.path.join(projects, folder) for folder in _names(projects))]
    found: dict[str, str] = {}
    for path in (path for folder in folders for path in _files(folder)):
        session = os.path.basename(path).removesuffix(_END)
        if path.endswith(_END) and is_safe_id(session):
            found.setdefault(session, path)
    return found


def transcript_path(home: str, session: str) -> str:
    """The session's transcript in the client's folder `home`; "" where there is none yet."""
    projects = os.path.join(home, "projects")
    if not is_safe_id(session):
        return ""
    kept = os.path.join(home, ".sisyphus", "opencode", f"{session}.jsonl")
    if os.path.isfile(kept):
        return kept
    paths = (os.path.join(projects, folder, f"{session}{_END}") for folder in _names(projects))
    return next((path for path in paths if os.path.isfile(path)), "")


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _files(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.is_file()]
    except OSError:
        return []
