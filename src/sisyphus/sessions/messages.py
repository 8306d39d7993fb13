"""What several say about sessions."""

from __future__ import annotations

from sisyphus.ground.paths import display
from sisyphus.ground.text import one_line

WAY_OUT = "If you need something from the user, say <blocked>what you need</blocked>"
"""Tells the model how it may stop honestly, whatever makes it go on."""


def of_run(run: str, iteration: int, item: str) -> str:
    """Names a session by the iteration of a run that it is; 0 = it has no number yet. Their prompts
    begin alike."""
    number = f", iteration {iteration}" if iteration else ""
    return f"Run {run}{number}{f': {one_line(item)}' if item else ''}"


def short(session: str) -> str:
    """Returns the start of a session's id, which our commands accept too: eight characters, after
    a prefix that all ids of a client have."""
    prefix, mark, _ = session.partition("_")
    return session[: len(prefix + mark) + 8] if mark else session[:8]


def asks_permission(session: str, tool: str, project: str) -> str:
    """tool: its name, with what it asks for. project: its folder."""
    name = one_line(project.rpartition("/")[2])
    return f"Session {short(session)} in {name} asks for your permission to use {tool}"


def asks(session: str, question: str) -> str:
    return f"Session {short(session)} asks: {one_line(question)}"


def rests(session: str, why: str) -> str:
    return f"Session {short(session)} needs you: {one_line(why)}"


def failed(session: str, error: str) -> str:
    return f"Session {short(session)} stopped: its last turn failed: {one_line(error)}"


ANSWER_REST = "Your next prompt there makes it go on."

NO_PROJECT = "Your home folder is never a project, nor is a folder above it: go to a project."


def root(project: str) -> str:
    """Names the root when a session or command runs in another folder."""
    return f"The project is {display(project, '')}."
