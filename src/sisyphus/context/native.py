"""What the client itself puts before the model, measured on Claude Code 2.1.329.

AGENTS.md is loaded by a built-in plugin, unless a CLAUDE.md that says anything stands in the
folder where the session began or in one above it (the one of the client's own folder does not
count). A CLAUDE.md loads what it imports with `@path`, and what that imports, from below that
same folder alone.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from sisyphus import client_settings, markdown
from sisyphus.errors import UnreadableError
from sisyphus.paths import ancestors, is_inside
from sisyphus.reading import DOCUMENT_BYTES, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

AGENTS_PLUGIN = "cc-plugin-agents-md@builtin"

_MEMORY_FILES = ("CLAUDE.md", os.path.join(".claude", "CLAUDE.md"), "CLAUDE.local.md")
_IMPORT_DEPTH = 4  # what a CLAUDE.md imports by way of three others is loaded, by four is not
_IMPORT_FILES = 100  # so that no project makes a session start slow
_IMPORT_NAMES = 1_000  # in one file, for the same reason

_FRONTMATTER = re.compile(r"\A---\n.*?^---\s*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IMPORT = re.compile(r"(?:^|[\s\0*_\[])@((?:\\ |[^\s\\*\]\0])+)")


def why_agents_is_native(space: Workspace) -> str:
    """The reason why the client loads AGENTS.md by itself; "" where it does not."""
    if space.client == "opencode":
        return "OpenCode loads it"
    if os.path.realpath(os.path.join(space.root, "AGENTS.md")) in imported(space):
        return "a CLAUDE.md loads it"
    if _plugin_is_off(space) or _memories(space):
        return ""
    return "Claude Code loads it where there is no CLAUDE.md"


def imported(space: Workspace) -> frozenset[str]:
    """The real paths of all CLAUDE.md files that count and of what they import."""
    found: set[str] = set()
    for path, text in _memories(space):
        _follow(path, text, space.cwd, found, _IMPORT_DEPTH)
    return frozenset(found)


def _follow(path: str, text: str, inside: str, found: set[str], depth: int) -> None:
    found.add(os.path.realpath(path))
    for name in _imports(text) if depth else []:
        target = os.path.join(os.path.dirname(path), os.path.expanduser(name))
        is_new = os.path.realpath(target) not in found and len(found) < _IMPORT_FILES
        if is_new and is_inside(target, inside):
            _follow(target, _said(target), inside, found, depth - 1)


def _imports(text: str) -> list[str]:
    found = _IMPORT.findall(markdown.read(text, hides_quotes=False).text)
    names = (name.partition("#")[0].replace("\\ ", " ").rstrip("_") for name in found)
    return list(dict.fromkeys(names))[:_IMPORT_NAMES]


@lru_cache(maxsize=1)  # asked for each document of one hook or command
def _memories(space: Workspace) -> list[tuple[str, str]]:
    """Path and text of each CLAUDE.md that the client loads at the start of the session."""
    own = os.path.realpath(space.home)
    excluded = client_settings.excludes(_client_settings(space))
    found = []
    for folder in ancestors(os.path.realpath(space.cwd)):
        for name in _MEMORY_FILES:
            path = os.path.join(folder, name)
            if not os.path.lexists(path) or os.path.realpath(os.path.dirname(path)) == own:
                continue
            if client_settings.is_excluded(path, excluded):
                continue
            text = _said(path)
            if text.strip():
                found.append((path, text))
    return found


def _said(path: str) -> str:
    """The text without frontmatter and comments; "" where the file cannot be read."""
    try:
        data = read_bytes(path, DOCUMENT_BYTES)
    except UnreadableError:
        return ""
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    # Comments end before the last mark of an end: searching on takes quadratic time.
    commented, end, rest = _FRONTMATTER.sub("", text).rpartition("-->")
    return _COMMENT.sub(" ", commented + end) + rest


def _plugin_is_off(space: Workspace) -> bool:
    off = False
    for found in _client_settings(space):
        plugins = found.get("enabledPlugins")
        if isinstance(plugins, dict) and AGENTS_PLUGIN in plugins:
            off = plugins[AGENTS_PLUGIN] is False
    return off


@lru_cache(maxsize=1)
def _client_settings(space: Workspace) -> list[Json]:
    return client_settings.load(space.home, space.cwd, space.root)
