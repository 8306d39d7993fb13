"""Which command takes our hooks out of a settings file of Claude Code."""

from __future__ import annotations

import os

from sisyphus.clients.claude_code import LOCAL_SETTINGS


def command(settings: str, home: str) -> str:
    """`home` is the client's own folder."""
    if os.path.dirname(settings) == home:
        return "sisyphus uninstall"
    scope = "local" if os.path.basename(settings) == LOCAL_SETTINGS else "project"
    return f"sisyphus uninstall --scope {scope}"
