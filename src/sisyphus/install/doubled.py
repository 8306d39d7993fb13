"""Which settings files call us while the client's plugin does so as well, and which do it in the
way of an earlier sisyphus: for each tool call, and for all calls of an answer once more.

Nothing is counted twice then, but each process costs time. A project's file is a stranger's, and a
session waits for us as it begins.
"""

from __future__ import annotations

import json
import os

from sisyphus.clients import claude_code
from sisyphus.clients.base import EARLIER
from sisyphus.clients.claude_code import BATCH, CLIENT_EVENTS
from sisyphus.errors import UnreadableError
from sisyphus.install import removal, wiring
from sisyphus.paths import display
from sisyphus.reading import DOCUMENT_BYTES, read_bytes
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sisyphus.install.wiring import Wired
    from sisyphus.workspace import Workspace

WARNING = (
    "sisyphus is wired twice, as a plugin and by {files}: the plugin stays silent, at the "
    "price of a second process at every event. Take one away: `{uninstall}` in a terminal, or "
    "`claude plugin uninstall sisyphus@sisyphus`."
)
EARLIER_WIRING = (
    "The hooks in {files} are those of an earlier sisyphus, which start a process for each tool "
    "call. `{install}` in a terminal replaces them: one process for all calls of an answer."
)
_NAME = "sisyphus"
_CALLS = "post-tool-use"
_BOTH = {BATCH, CLIENT_EVENTS[_CALLS]}
_ALL_SCOPES = "user"
_UPDATE = "claude plugin update sisyphus@sisyphus"


def warning(space: Workspace) -> str:
    """What to tell the user; "" where no settings file of this session calls us."""
    paths = claude_code.settings_paths(space.home, space.cwd, space.root)
    found = [path for path in paths if _calls_us(path)]
    if not found:
        return ""
    files = " and ".join(one_line(display(path, space.root)) for path in found)
    return WARNING.format(files=files, uninstall=removal.command(found[0], space.home))


def earlier(space: Workspace) -> str:
    """What to tell the user of the entries of the scope that this hook is of; "" = nothing."""
    root = claude_code.plugin_folder()
    if root:
        path = os.path.join(root, "hooks.json")
        files, install = [path] if is_earlier(_entries(path)) else [], _UPDATE
    else:
        paths = claude_code.settings_paths(space.home, space.cwd, space.root)
        entries = {path: _of_scope(_entries(path), space.scope) for path in paths}
        together = is_earlier(one for found in entries.values() for one in found)
        files = [path for path, found in entries.items() if together and is_about_calls(found)]
        whose = "" if space.scope == _ALL_SCOPES else f" --scope {space.scope}"
        install = f"sisyphus install{whose}"
    shown = " and ".join(one_line(display(path, space.root)) for path in files)
    return EARLIER_WIRING.format(files=shown, install=install) if files else ""


def is_earlier(entries: Iterable[Wired]) -> bool:
    """Whether these follow tool calls by names of earlier versions, or one by one and all at once.
    One by one alone is what `install` wires for an older client."""
    found = list(entries)
    events = {one.event for one in found if is_about_calls([one])}
    return any(wiring.called_event(one.command) in EARLIER for one in found) or events >= _BOTH


def is_about_calls(entries: Iterable[Wired]) -> bool:
    names = [wiring.called_event(one.command) for one in entries]
    return any(EARLIER.get(name, name) == _CALLS for name in names)


def _of_scope(entries: list[Wired], scope: str) -> list[Wired]:
    return [one for one in entries if (wiring.scope(one.command) or _ALL_SCOPES) == scope]


def _calls_us(path: str) -> bool:
    return bool(_entries(path))


def _entries(path: str) -> list[Wired]:
    """Our entries in a settings file."""
    try:
        data = read_bytes(path, DOCUMENT_BYTES)
        settings = json.loads(data) if _NAME.encode() in data else {}
    except (UnreadableError, ValueError, RecursionError):
        return []
    entries = wiring.commands(settings) if isinstance(settings, dict) else ()
    ours = (one for one in entries if _NAME in one.command)
    return [one for one in ours if wiring.called_event(one.command)]
