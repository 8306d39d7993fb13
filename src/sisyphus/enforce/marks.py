"""What tells for one look at a file whether a project is enforced and when a session used a tool.

    projects/ID/enforce.json    there is none where enforcement was never switched on
    enforce/SESSION.tools       its mtime is the session's last tool call; 0 = none yet
    enforce/SESSION.waiter      who waits for the session to be idle long enough

Every tool call imports this module: while nothing is enforced that is all it costs.
"""

from __future__ import annotations

import os

from sisyphus.workspace import ENFORCEMENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Kept
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

KEPT: tuple[Kept, ...] = (
    {"path": "enforce/SESSION.tools", "kind": "marks of enforcement"},
    {"path": "enforce/SESSION.waiter", "kind": "marks of enforcement"},
    {"path": "projects/*/enforcements.jsonl.1", "kind": "old logs", "lock": ENFORCEMENT},
)

_NS = 1_000_000  # nanoseconds of a millisecond


def on_post_tool_use(payload: Payload, space: Workspace) -> None:
    """Notes that the main thread used a tool, where its session is enforced."""
    if payload.agent or not payload.session:
        return
    try:
        os.utime(tools_path(space.ours, payload.session))
    except FileNotFoundError:
        return


def state_path(space: Workspace) -> str:
    return space.project_file(ENFORCEMENT)


def may_be_on(space: Workspace) -> bool:
    """Whether there is anything to read."""
    return os.path.lexists(state_path(space))


def tools_path(ours: str, session: str) -> str:
    return os.path.join(ours, "enforce", f"{session}.tools")


def waiter_path(ours: str, session: str) -> str:
    return os.path.join(ours, "enforce", f"{session}.waiter")


def make(ours: str, session: str) -> None:
    """From now on the session's tool calls are noted; those that were, stay so."""
    from sisyphus.state.files import ensure_folder

    path = tools_path(ours, session)
    ensure_folder(os.path.dirname(path))
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return
    os.utime(path, (0, 0))  # to begin is no tool call


def used_at(ours: str, session: str) -> int:
    """When the session last used a tool, in milliseconds since the epoch; 0 = not known."""
    try:
        return max(os.stat(tools_path(ours, session)).st_mtime_ns // _NS, 0)
    except OSError:
        return 0


def remove(ours: str, session: str) -> None:
    """Nothing of the session is noted any more, and who waits for it leaves."""
    for path in (tools_path(ours, session), waiter_path(ours, session)):
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
