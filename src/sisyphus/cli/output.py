"""What people read: plain text on stdout, JSON where they ask for it."""

from __future__ import annotations

import json
import os
from typing import Annotated

import typer

from sisyphus.errors import SisyphusError
from sisyphus.plain import sound
from sisyphus.workspace import Workspace

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Project = Annotated[
    str,
    typer.Option(
        "--project", metavar="DIR", help="The project to look at.", show_default="current folder"
    ),
]


def workspace(project: str) -> Workspace:
    """The project of the folder that was named, else of the current one."""
    try:
        folder = os.path.abspath(project)
    except FileNotFoundError as error:
        raise SisyphusError("the current folder is gone. Change to one that exists.") from error
    if not os.path.isdir(folder):
        raise SisyphusError(f"no such folder: {folder}. Name an existing one with --project.")
    return Workspace(folder)


def print_json(value: object) -> None:
    typer.echo(sound(json.dumps(value, indent=2, ensure_ascii=False)))


def heading(text: str) -> str:
    return styled(text, bold=True)


def faint(text: str) -> str:
    return styled(text, dim=True)


def styled(text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    """For a terminal that wants it (https://no-color.org); `typer.echo` strips it elsewhere."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return typer.style(text, fg=fg, bold=bold or None, dim=dim or None)
