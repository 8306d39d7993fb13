"""Where Copilot CLI keeps its files, as measured on 1.0.102. On the quick path."""

from __future__ import annotations

import os

from sisyphus.ground import paths

HOME = "COPILOT_HOME"


def copilot_home() -> str:
    """Returns the user's folder of Copilot CLI: `$COPILOT_HOME`, else `~/.copilot`; "" if there is
    no home folder."""
    chosen = os.environ.get(HOME)
    if chosen:
        return os.path.abspath(chosen)
    own = paths.user_home()
    return os.path.join(own, ".copilot") if own else ""


def folder(project: str) -> str:
    """Returns the user's folder of Copilot CLI or, with a project, the one there. Both have the
    same names in them."""
    return os.path.join(project, ".github") if project else copilot_home()


def skill_file(project: str, name: str) -> str:
    """Returns the file of a skill, the user's or a project's."""
    return os.path.join(folder(project), "skills", name, "SKILL.md")


def transcript(session: str) -> str:
    """Returns the file of a session's events. Only some payloads name it."""
    return os.path.join(copilot_home(), "session-state", session, "events.jsonl")
