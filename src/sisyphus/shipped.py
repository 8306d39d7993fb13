"""Files that come with sisyphus: the Claude Code plugin, in a wheel and in a checkout."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError


def plugin_folder() -> str:
    """The folder with `.claude-plugin/` and `hooks.json`: in the package, else the checkout."""
    package = os.path.dirname(os.path.abspath(__file__))
    checkout = os.path.dirname(os.path.dirname(package))
    for folder in (os.path.join(package, "plugin"), checkout):
        if os.path.isfile(os.path.join(folder, ".claude-plugin", "plugin.json")):
            return folder
    raise SisyphusError(f"no plugin in {package}. Install sisyphus again.")
