"""What a running Codex says about itself: nothing. See `clients.base.Running`."""

VARIABLES = ("CODEX_",)
HOME_VARIABLE = "CODEX_HOME"


def shows_dialog(process: str) -> bool | None:
    """Its processes tell no session: one of them may serve all terminals."""
    return None
