"""The handoff document, and the file that it becomes.

Behind the facts come the sections that the model fills in (`sections.py`).
"""

from __future__ import annotations

import os
import time

from sisyphus.checkpoint.paper import document, facts, heading, plan_section, sections
from sisyphus.checkpoint.paper.marks import text
from sisyphus.checkpoint.paper.next_step import next_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.checkpoint.paper.situation import Situation

CHARACTERS = 20_000

_MOST = ((50, 50), (30, 20), (10, 10), (3, 3))
"""Changed files and todos that are named: fewer where the document would become too long."""

_SESSION_CHARACTERS = 8


def render(s: Situation) -> str:
    """The whole document, in about `CHARACTERS` at most."""
    found = ""
    for files, todos in _MOST:
        found = "\n\n".join(_parts(s, files, todos)) + "\n"
        if len(found) <= CHARACTERS:
            break
    return found


def _parts(s: Situation, files: int, todos: int) -> Iterator[str]:
    yield f"# Handoff: {text(facts.task(s)) or 'work in progress'}"
    yield heading.render(s)
    for name, body in _sections(s, files, todos):
        if body:
            yield f"## {name}"
            yield body
    yield sections.render(s.notes)


def _sections(s: Situation, files: int, todos: int) -> Iterator[tuple[str, str]]:
    yield "In Progress", document.progress(s)
    yield "Plan", plan_section.render(s)
    yield "Todos", document.todos(s, todos)
    yield "Files In Progress", document.in_progress(s)
    yield (
        "Files Changed",
        document.changed(s, files) or "No file of the project was seen to change.",
    )
    yield "Last Failure", document.failure(s)
    yield "Verified", document.verified(s)
    yield "Said Last", document.said(s)
    yield "Next Step", text(next_step(s)) or "The user has said nothing of what comes next."


def file_name(now: float, loop_id: str, session_id: str) -> str:
    """`2026-01-07-1145-abc12.md`, by the clock of this machine (`now` in epoch seconds)."""
    owner = _safe(loop_id) or _safe(session_id[:_SESSION_CHARACTERS]) or "manual"
    return f"{time.strftime('%Y-%m-%d-%H%M', time.localtime(now))}-{owner}.md"


def write(root: str, ours: str, name: str, text: str) -> str:
    """Puts a handoff below the project, else below our own folder; returns its full path.

    Where there is a file of that name it becomes `NAME-2.md`, and so on. Raises `OSError`.
    """
    from sisyphus.checkpoint.paper.handoff_file import put, put_in_project
    from sisyphus.paths import project_id
    from sisyphus.state import debug

    try:
        return put_in_project(root, name, text)
    except (OSError, ValueError) as error:
        debug.log(f"the handoff does not go into {root}: {error}")
    return put(os.path.join(ours, "projects", project_id(root), "handoffs"), name, text)


def _safe(name: str) -> str:
    from sisyphus.paths import is_safe_id

    return name.lstrip(".-") if is_safe_id(name) else ""
