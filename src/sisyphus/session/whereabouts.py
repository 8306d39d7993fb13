"""Where the client keeps a session's transcript."""

from __future__ import annotations

import os

from sisyphus.paths import is_safe_id


def transcript_path(home: str, session: str) -> str:
    """The session's transcript in the client's folder `home`; "" where there is none yet."""
    projects = os.path.join(home, "projects")
    if not is_safe_id(session):
        return ""
    try:
        folders = os.listdir(projects)
    except OSError:
        return ""
    paths = (os.path.join(projects, folder, f"{session}.jsonl") for folder in folders)
    return next((path for path in paths if os.path.isfile(path)), "")
