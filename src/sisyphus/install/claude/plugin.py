"""The plugin of the same name: with it every event starts two of us."""

from __future__ import annotations

from sisyphus.clients.claude_code import settings_paths
from sisyphus.clients.claude_code_setup import plugins
from sisyphus.paths import client_home
from sisyphus.state.files import read_json

INSTALL = (
    'claude plugin marketplace add "$(sisyphus plugin-path)" && '
    "claude plugin install sisyphus@sisyphus"
)
UNINSTALL = "claude plugin uninstall sisyphus@sisyphus"


def enabled_in(root: str) -> str:
    """The settings file that switches the plugin on for the project at `root`; "" = none."""
    names: dict[str, str] = {}
    for path in settings_paths(client_home(), root, root):
        for name, value in plugins(read_json(path) or {}).items():
            if name.startswith("sisyphus@"):
                names[name] = path if value is True else ""
    return next((path for path in names.values() if path), "")
