"""Permission dialogs that nobody sees: a process of its own waits, and looks whether one is still
open.

No event says that a dialog was answered. It counts as open until the next event of its session (or
subagent), until its process is gone, or until the client itself says that it waits for nobody.
"""

from __future__ import annotations

import json
import os
import sys
import time

from sisyphus import clients
from sisyphus.ground import processes
from sisyphus.ground.store import open_store
from sisyphus.hook.session import Session
from sisyphus.sessions import messages
from sisyphus.sessions.notify import Notice, run_and_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.hook.hook import Hook

OPEN_SECONDS = 10
"""A dialog that is open for so long is one that nobody has seen."""

KIND = "dialog"


def watch(hook: Hook) -> None:
    """Starts the process that tells the user's command of this dialog if nobody answers it."""
    request = {
        "command": hook.settings["notify.command"],
        "home": os.path.dirname(hook.store.path),
        "session": hook.session.n,
        "at": hook.now,
    }
    processes.start("sisyphus.sessions.dialog", request, clients.environment())


def is_open(session: Session) -> bool:
    """Tells whether a dialog that was noted may still be open."""
    if session.is_gone:
        return False
    return clients.native(session.client).shows_dialog(session.process) is not False


def _tell(request: dict[str, Any]) -> None:
    store = open_store(request["home"])
    session = Session.load(store, request["session"])
    store.close()
    is_same = session.dialog and session.dialog_at == request["at"]
    if is_same and is_open(session):
        text = messages.asks_permission(session.id, session.dialog, session.project)
        notice = Notice(KIND, "Permission needed", text, session.project, session.id)
        run_and_log(request["command"], notice)


if __name__ == "__main__":
    time.sleep(OPEN_SECONDS)
    _tell(json.load(sys.stdin))
