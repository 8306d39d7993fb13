"""What the scripted model says to OpenCode, with OpenCode's tools by their names."""

from __future__ import annotations

from dataclasses import dataclass

from e2e.script import Tool, Turn


@dataclass(frozen=True)
class Unfinished(Turn):
    """Says its text and then nothing more, until the client hangs up."""


def read(path: object) -> Tool:
    return Tool("read", {"filePath": str(path)})


def write(path: object, text: str) -> Tool:
    return Tool("write", {"filePath": str(path), "content": text})


def edit(path: object, old: str, new: str) -> Tool:
    return Tool("edit", {"filePath": str(path), "oldString": old, "newString": new})


def bash(command: str) -> Tool:
    return Tool("bash", {"command": command, "description": "scripted"})


def task(prompt: str) -> Tool:
    """A subagent that the model waits for."""
    asked = {"description": "scripted", "prompt": prompt, "subagent_type": "general"}
    return Tool("task", asked)


def todos(**statuses: str) -> Tool:
    """The whole list of todos; a name is a todo, its value the status."""
    items = [
        {"content": content, "status": status, "priority": "medium"}
        for content, status in statuses.items()
    ]
    return Tool("todowrite", {"todos": items})
