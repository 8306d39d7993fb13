"""Where a session's transcript is kept: by Claude Code, or by us where OpenCode is the client."""

from __future__ import annotations

import os

from sisyphus.paths import is_safe_id


def resume_command(home: str, session: str) -> str:
    """What goes on with the session in a terminal."""
    is_ours = os.path.isfile(os.path.join(home, ".sisyphus", "opencode", f"{session}.jsonl"))
    return f"opencode -s {session}" if is_ours else f"claude --resume {session}"


def transcript_path(home: str, session: str) -> str:
    """The session's transcript in the client's folder `home`; "" where there is none yet."""
    projects = os.path.join(home, "projects")
    if not is_safe_id(session):
        return ""
    kept = os.path.join(home, ".sisyphus", "opencode", f"{session}.jsonl")
    if os.path.isfile(kept):
        return kept
    try:
        folders = os.listdir(projects)
    except OSError:
        return ""
    paths = (os.path.join(projects, folder, f"{session}.jsonl") for folder in folders)
    return next((path for path in paths if os.path.isfile(path)), "")
