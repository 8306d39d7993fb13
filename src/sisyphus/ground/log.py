"""The debug log, `HOME/.sisyphus/logs/debug.log`: what hooks must not print."""

import os
import time

from sisyphus.ground import files, paths

MAX_BYTES = 1_000_000
"""The size from which the log is moved to `debug.log.1`, in place of the one there."""


def write(text: str) -> None:
    """Appends an entry. If `text` has several lines, all but the first are indented, so that none
    can look like an entry. Ignores a log that cannot be written."""
    lines = "\n  ".join(text.splitlines())
    entry = f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {lines}\n"
    try:
        path = os.path.join(_our_home(), "logs", "debug.log")
        files.make_folder(os.path.dirname(path))
        if os.path.exists(path) and os.path.getsize(path) > MAX_BYTES:
            os.replace(path, f"{path}.1")
        with files.open_private(path, os.O_APPEND) as file:
            file.write(entry.encode("utf-8", "backslashreplace"))
    except OSError:
        pass


def _our_home() -> str:
    try:
        project = paths.project_of(os.getcwd())
    except OSError:  # the folder was deleted
        project = ""
    return paths.our_home(project)


def failure(what: str, error: BaseException) -> str:
    """Logs an error with its traceback; returns the error in one line."""
    import traceback

    summary = f"{what}: {type(error).__name__}: {error}"
    write(summary + "\n" + "".join(traceback.format_exception(error)).rstrip())
    return summary
