"""The environment of the user's command.

What the client sets for its own children is left out, `CLAUDE_CONFIG_DIR` alone is passed on: there
are tokens among it, and a client that the command starts is another session. So is `SISYPHUS_RUN`,
which marks the client of a fresh-context run.
"""

from __future__ import annotations

import os

from sisyphus.workspace import RUN_VARIABLE

_CLIENTS = "CLAUDE"
_KEPT = "CLAUDE_CONFIG_DIR"


def for_commands() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if _is_passed_on(name)}


def _is_passed_on(name: str) -> bool:
    return name == _KEPT or not (name.startswith(_CLIENTS) or name == RUN_VARIABLE)
