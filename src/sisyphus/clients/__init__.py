"""One module a client; `base.Client` says what each must offer."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Client

MODULES = {"claude": "claude_code", "opencode": "opencode"}
"""What `--client` names -> its module here."""

DEFAULT = "claude"


def client_named(name: str) -> Client:
    """The client's module; of a name that nobody knows, Claude Code's, whose contract others
    speak."""
    module = f"{__name__}.{MODULES.get(name, MODULES[DEFAULT])}"
    __import__(module)  # importlib would bring `warnings` along
    found: Client = sys.modules[module]
    return found
