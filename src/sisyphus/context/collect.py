"""Which documents of a project the model should be shown, and why not the others."""

from __future__ import annotations

import os
from io import StringIO

from sisyphus.clients import setup
from sisyphus.errors import UnreadableError
from sisyphus.reading import DOCUMENT_BYTES, read_text
from sisyphus.text import cut_chars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.workspace import Workspace

README_LINES = 500
TOTAL_CHARACTERS = 50_000
_NOTE_CHARACTERS = 200  # the note about a cut counts too


class Document:
    """A text to show. `shown` says how much of the file it is, "" for all of it."""

    __slots__ = ("name", "path", "shown", "text")

    def __init__(self, name: str, path: str, text: str, shown: str = "") -> None:
        self.name = name
        self.path = path
        self.text = text
        self.shown = shown


class Skipped(Exception):  # noqa: N818  # a verdict, not a fault
    """Why a document is not shown."""


def collect(space: Workspace) -> tuple[list[Document], dict[str, str]]:
    """The project's documents in the order of the block, and the reasons of those left out.

    AGENTS.md comes first to the limit of 50,000 characters: it is written for agents.
    """
    found: list[Document] = []
    skipped: dict[str, str] = {}
    room = TOTAL_CHARACTERS
    for find in (_agents, _readme):
        try:
            document = find(space, room)
        except Skipped as reason:
            skipped["AGENTS.md" if find is _agents else "README.md"] = str(reason)
        else:
            found.insert(0, document)
            room -= len(document.text)
    return found, skipped


def folder_readmes(space: Workspace, path: str) -> list[Document]:
    """The README.md of each folder from the one of `path` up to, not including, the root."""
    top = space.root.rstrip(os.sep)
    folder = os.path.dirname(os.path.realpath(path))
    found = []
    while folder.startswith(top + os.sep):
        name = os.path.relpath(os.path.join(folder, "README.md"), top).replace(os.sep, "/")
        try:
            found.append(_head(name, _read(space, name), TOTAL_CHARACTERS, README_LINES))
        except Skipped as reason:
            if str(reason) != "absent":
                space.log(f"{name}: {reason}")
        folder = os.path.dirname(folder)
    return found


def _agents(space: Workspace, room: int) -> Document:
    choice = space.settings.get("context.agents_md")
    if choice == "never":
        raise Skipped('context.agents_md is "never"')
    path, text = _read(space, "AGENTS.md")
    why = "" if choice == "always" else setup(space.client).why_agents_is_native(space)
    if why:
        raise Skipped(why)
    return _head("AGENTS.md", (path, text), room)


def _readme(space: Workspace, room: int) -> Document:
    path, text = _read(space, "README.md")
    if os.path.realpath(path) == os.path.realpath(os.path.join(space.root, "AGENTS.md")):
        raise Skipped("it is AGENTS.md by another name")
    if os.path.realpath(path) in setup(space.client).imported(space):
        raise Skipped("a CLAUDE.md loads it")
    return _head("README.md", (path, text), room, README_LINES)


def _read(space: Workspace, name: str) -> tuple[str, str]:
    path = os.path.join(space.root, name.replace("/", os.sep))
    if not os.path.lexists(path):
        raise Skipped("absent")
    try:
        text = read_text(path, DOCUMENT_BYTES, space.root)
    except UnreadableError as error:
        raise Skipped(str(error).removeprefix(f"{path}: ")) from error
    if not text.strip():
        raise Skipped("empty")
    return path, text


def _head(name: str, source: tuple[str, str], room: int, lines: int = 0) -> Document:
    """The start of a document, with a note where it was cut and where to read on."""
    path, whole = source
    every = StringIO(whole).readlines()  # as editors count: a form feed ends no line
    text = "".join(every[: lines or len(every)])
    if len(text) == len(whole) <= room:
        return Document(name, path, whole.rstrip())
    text = cut_chars(text, room - _NOTE_CHARACTERS)
    if not text.strip():
        raise Skipped(f"no room left in {TOTAL_CHARACTERS:,} characters")
    kept = len(StringIO(text).readlines())
    note = f"[{name} is cut after line {kept:,} of {len(every):,}: read the file for the rest.]"
    return Document(
        name, path, f"{text.rstrip()}\n\n{note}", f"first {kept:,} of {len(every):,} lines"
    )
