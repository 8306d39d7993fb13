"""What a running client says about itself, in `HOME/sessions/PID.json`."""

from __future__ import annotations

import json
import os

from sisyphus.ground import files, paths
from sisyphus.ground.errors import UnreadableError

VARIABLES = ("CLAUDE",)
HOME_VARIABLE = "CLAUDE_CONFIG_DIR"

_WAITING = "waiting"
"""Its status while a dialog is open (measured). The others are `busy` and `idle`."""


def shows_dialog(process: str) -> bool | None:
    """See `clients.base.Running`."""
    pid, home = process.partition(" ")[0], paths.client_home()
    if not pid or not home:
        return None
    try:
        state = json.loads(files.read(os.path.join(home, "sessions", f"{pid}.json")))
    except (UnreadableError, ValueError, RecursionError):
        return None
    status = state.get("status") if isinstance(state, dict) else None
    return status == _WAITING if isinstance(status, str) else None
