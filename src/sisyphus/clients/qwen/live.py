"""What a running Qwen Code says about itself: nothing. See `clients.base.Live`."""


def shows_dialog(process: str) -> bool | None:
    return None
