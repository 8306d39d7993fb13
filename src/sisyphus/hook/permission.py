"""Lets the agent write our own files without asking, where the user accepts edits already.

Claude Code refuses the model every Edit and Write below `.claude/` in all modes but
bypassPermissions, whatever the settings allow: a question an edit in the terminal, a denial in
print mode (2.1.329, measured). So a plan in `.claude/PLAN.md` would never move. We answer for the
files that the session works by, and for nothing else: a project may be a stranger's, and a path
comes from the model.
"""

from __future__ import annotations

import os
import stat
import sys

from sisyphus.clients.base import EDIT, WRITE, Outcome
from sisyphus.paths import ancestors, display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

OWNERS = (
    "sisyphus.boulder.hooks", "sisyphus.runner.hooks", "sisyphus.checkpoint.hooks",
)  # fmt: skip
"""The features whose `owned(payload, space)` names files that the session works by."""


def on_permission_request(payload: Payload, space: Workspace) -> Outcome | None:
    """Allows a call that writes one of our own files; None leaves it to the client."""
    if not payload.accepts_edits or not payload.session or not payload.calls:
        return None
    [call] = payload.calls
    may_be = call.kind in (EDIT, WRITE) and call.path.endswith(".md")
    if not may_be or not space.settings.get("permissions.own_files"):
        return None
    path = _in_project(call.path, space.root)
    if not path or path not in _owned(payload, space):
        return None
    outcome = Outcome(notes=[f"allowed {call.tool} of {display(path, space.root)}"])
    outcome.allows = True
    return outcome


def _in_project(path: str, root: str) -> str:
    """The path from `root` on of an ordinary file of that project, which has one name and no link
    on its way; "" for any other. The project itself may be reached by a link.

    The client refuses to write through a link that takes the file's place later.
    """
    for folder in reversed(list(ancestors(os.path.dirname(path)))):
        if os.path.realpath(folder) == root:
            inside = os.path.relpath(path, folder)
            return os.path.join(root, inside) if _is_ordinary(root, inside.split(os.sep)) else ""
    return ""


def _is_ordinary(root: str, parts: list[str]) -> bool:
    at = root
    try:
        for name in parts[:-1]:
            at = os.path.join(at, name)
            if not stat.S_ISDIR(os.lstat(at).st_mode):
                return False
        found = os.lstat(os.path.join(at, parts[-1]))
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def _owned(payload: Payload, space: Workspace) -> set[str]:
    """What the features name. One that fails names nothing."""
    found: set[str] = set()
    for name in OWNERS:
        try:
            __import__(name)
            found.update(sys.modules[name].owned(payload, space))
        except Exception as error:  # noqa: BLE001  # then the client asks, as it would without us
            space.log(f"{payload.event}: {name}: {type(error).__name__}: {error}")
    return found
