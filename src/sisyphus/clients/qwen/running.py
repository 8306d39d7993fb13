"""What a running Qwen Code says about itself: nothing. See `clients.base.Running`."""

VARIABLES = ("QWEN_",)
HOME_VARIABLE = "QWEN_HOME"


def shows_dialog(process: str) -> bool | None:
    return None
