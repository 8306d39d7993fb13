"""The line that a session's status line showed last, kept as long as nothing that it shows has
changed.

A client asks for the line every half minute in each terminal that is open, day and night. What the
line says comes from the database, the settings, the plan's file and the client's own numbers. If
none of these has changed, it is printed again without opening the database.
"""

from __future__ import annotations

import os

from sisyphus.ground import files, paths, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sisyphus.hook.event import StatusLineInput

_CHARACTERS = 100_000
"""The most that is read of a file. A whole one has a thousand."""

FOLDER = "statusline"
"""Below our folder; a file for each session."""

LASTING, BRIEF = 3600, 60
"""How many seconds a line is kept. BRIEF: one that tells of a run or of enforcement, which also
change with time, or one of a session that follows no plan: any file may become one."""


def path(our_home: str, client: str, session: str) -> str:
    """Returns the file of a session's line; "" if it has none: without a home or a session."""
    return os.path.join(our_home, FOLDER, f"{client}-{session}") if our_home and session else ""


def key(our_home: str, project: str, status: StatusLineInput, environ: Mapping[str, str]) -> str:
    """Returns a text that changes with everything that a status line shows but its plan: where it
    comes from and when that was written last."""
    database = os.path.join(our_home, paths.DATABASE)
    looked_at = (*settings.files_of(our_home, project), __file__)  # with an update of sisyphus, too
    stamps = [*map(_written_at, (database, f"{database}-wal")), *map(files.stamp, looked_at)]
    ours = sorted(each for each in environ.items() if each[0].startswith("SISYPHUS_"))
    return repr((status.folder, project, status.tokens, status.window, ours, stamps))


def _written_at(path: str) -> tuple[int, int]:
    """Returns what changes with each write to a file, but not when SQLite opens it."""
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def load(file: str, key: str, now: float) -> str | None:
    """Returns the line that was kept; None if it may be another one by now. key: see `key`."""
    try:
        with open(file, encoding="utf-8") as source:
            kept, plan, stamp, made, seconds, line = source.read(_CHARACTERS).split("\n")
        is_fresh = 0 <= now - float(made) <= int(seconds)  # the clock may have been set back
    except (OSError, ValueError):
        return None
    return line if is_fresh and kept == key and files.stamp(plan) == stamp else None


def save(file: str, key: str, plan: str, line: str, time: tuple[float, int]) -> None:
    """Keeps a line. plan: the file of the plan that it shows; "" = none. time: when the line was
    made, and for how many seconds it is kept. Where nothing can be written, the next line is made
    anew."""
    text = "\n".join((key, plan, files.stamp(plan), *map(str, time), line))
    try:
        os.makedirs(os.path.dirname(file), 0o700, exist_ok=True)
        files.replace(file, text.encode(), 0o600)
    except (OSError, ValueError):  # also half a surrogate pair in a name
        pass
