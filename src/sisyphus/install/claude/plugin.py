"""The plugin of the same name: with it every event starts two of us."""

from __future__ import annotations

from sisyphus.clients import claude_code_files
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
    for path in claude_code_files.settings_paths(client_home(), root, root):
        plugins = (read_json(path) or {}).get("enabledPlugins")
        for name, value in plugins.items() if isinstance(plugins, dict) else ():
            if name.startswith("sisyphus@"):
                names[name] = path if value is True else ""
    return next((path for path in names.values() if path), "")
