"""What people read: plain text on stdout, JSON where they ask for it."""

from __future__ import annotations

import json
import os
import sys
from math import isfinite
from typing import TYPE_CHECKING, Annotated

import typer

from sisyphus.bare_commands import respelled
from sisyphus.clients.base import PREFIX
from sisyphus.errors import MemoryOffError, SisyphusError
from sisyphus.memory import look_at, open_memory
from sisyphus.paths import client_home, our_home
from sisyphus.text import sound
from sisyphus.workspace import Workspace

if TYPE_CHECKING:
    from sisyphus.memory import Memory

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Project = Annotated[
    str,
    typer.Option(
        "--project", metavar="DIR", help="The project to look at.", show_default="current folder"
    ),
]


def workspace(project: str, *, may_be_gone: bool = False) -> Workspace:
    """The project of the folder that was named, else of the current one.

    With `may_be_gone` a folder that was deleted is the project that it was.
    """
    try:
        folder = os.path.abspath(project)
    except FileNotFoundError as error:
        raise SisyphusError("the current folder is gone. Change to one that exists.") from error
    if os.path.isdir(folder):
        return Workspace(folder)
    if not may_be_gone or os.path.lexists(folder):
        raise SisyphusError(f"no such folder: {folder}. Name an existing one with --project.")
    return Workspace(folder, root=os.path.realpath(folder))


def working_memory(*, only_looks: bool = False) -> Memory:
    """The memory, for a command that is about nothing else. Raises `MemoryOffError`."""
    memory = look_at(our_home()) if only_looks else open_memory(our_home())
    if memory.problem:
        raise MemoryOffError(f"{memory.problem}. `sisyphus doctor` says more.")
    return memory


def is_unicode() -> bool:
    """Whether stdout can spell every character."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def say(text: str) -> None:
    """Prints `text`, with `?` for what stdout has no character for."""
    encoding = sys.stdout.encoding or "utf-8"
    typer.echo(as_typed(text).encode(encoding, "replace").decode(encoding))


def as_typed(text: str) -> str:
    """The text with our slash commands as they are called in the client here."""
    if PREFIX not in text:
        return text
    try:
        folder = os.getcwd()
    except FileNotFoundError:  # it is gone: the user's own commands are not
        folder = client_home()
    return respelled(text, Workspace(folder))


def json_text(value: object, indent: int | None = 2) -> str:
    """JSON on several lines, with `indent` None on one; null for a number that JSON has not."""
    is_plain = not is_unicode()
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=is_plain, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=indent, ensure_ascii=is_plain)
    return sound(text)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def print_json(value: object) -> None:
    typer.echo(json_text(value))


def heading(text: str) -> str:
    return styled(text, bold=True)


def faint(text: str) -> str:
    return styled(text, dim=True)


def styled(text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
    """For a terminal that wants it (https://no-color.org); `typer.echo` strips it elsewhere."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return typer.style(text, fg=fg, bold=bold or None, dim=dim or None)
