"""Tells which slash commands are ours.

The client gives us what the user typed. A command of the plugin has its prefix. A short name may be
anybody's: it is ours if the client would run the file that `sisyphus install` wrote.
"""

from __future__ import annotations

from sisyphus import clients
from sisyphus.ground import files
from sisyphus.ground.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook

PREFIX = "sisyphus:"


def typed(hook: Hook, name: str) -> str:
    """Returns how the user types our command `name` in the hook's session."""
    own = f"{PREFIX}{name}" if hook.event.is_from_plugin else name
    return clients.native(hook.event.client).COMMAND_SIGN + own


def may_be_ours(hook: Hook, name: str) -> bool:
    """Tells whether a command is ours, or one of another plugin that we would take up."""
    return "ralph" in name or bool(own_name(hook, name))


def own_name(hook: Hook, name: str) -> str:
    """Returns a command's name without the prefix of our plugin; "" if it is not our command."""
    return own_name_in(hook.event.client, hook.home, hook.project, name)


def own_name_in(client: str, home: str, project: str, name: str) -> str:
    """Returns the same where there is no hook, because the database cannot be used."""
    if ":" in name:
        return name.removeprefix(PREFIX) if name.startswith(PREFIX) else ""
    native = clients.native(client)
    try:
        text = files.read(native.command_file(home, project, name))
    except UnreadableError:
        return ""
    return name if clients.COMMAND_MARK in text else ""
