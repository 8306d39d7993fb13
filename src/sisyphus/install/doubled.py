"""Which settings files call us, while the client's plugin does so as well.

A project's file is a stranger's, and a session waits for us as it begins.
"""

from __future__ import annotations

import json

from sisyphus.clients import claude_code_files
from sisyphus.errors import UnreadableError
from sisyphus.install import removal, wiring
from sisyphus.paths import display
from sisyphus.plain import one_line
from sisyphus.reading import DOCUMENT_BYTES, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.workspace import Workspace

WARNING = (
    "sisyphus is wired twice, as a plugin and by {files}: the plugin stays silent, at the "
    "price of a second process at every event. Take one away: `{uninstall}` in a terminal, or "
    "`claude plugin uninstall sisyphus@sisyphus`."
)
_NAME = "sisyphus"


def warning(space: Workspace) -> str:
    """What to tell the user; "" where no settings file of this session calls us."""
    paths = claude_code_files.settings_paths(space.home, space.cwd, space.root)
    found = [path for path in paths if _calls_us(path)]
    if not found:
        return ""
    files = " and ".join(one_line(display(path, space.root)) for path in found)
    return WARNING.format(files=files, uninstall=removal.command(found[0], space.home))


def _calls_us(path: str) -> bool:
    try:
        data = read_bytes(path, DOCUMENT_BYTES)
        settings = json.loads(data) if _NAME.encode() in data else {}
    except (UnreadableError, ValueError, RecursionError):
        return False
    entries = wiring.commands(settings) if isinstance(settings, dict) else ()
    return any(_NAME in one.command and wiring.called_event(one.command) for one in entries)
