"""Claude Code takes sisyphus as a plugin, by its own command."""

from __future__ import annotations

NAME = "claude"

INSTALL = (
    'claude plugin marketplace add "$(sisyphus plugin-path)" && '
    "claude plugin install sisyphus@sisyphus"
)
UNINSTALL = "claude plugin uninstall sisyphus@sisyphus"


def instead_of(verb: str) -> str:
    """What to do where `sisyphus install` or `uninstall` is asked for this client."""
    command = INSTALL if verb == "install" else UNINSTALL
    return f"Claude Code takes sisyphus as a plugin, by a command of its own. Run: {command}"
