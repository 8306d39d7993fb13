"""What a running OpenCode says about itself: nothing. See `clients.base.Running`."""

from sisyphus.clients.opencode.payload import PROCESS, SESSION

VARIABLES = (SESSION, PROCESS)
HOME_VARIABLE = ""


def shows_dialog(process: str) -> bool | None:
    """The plugin reports no dialogs: OpenCode's own server answers them."""
    return None
