"""What went wrong of late, by our own debug log."""

from __future__ import annotations

import os
import time

from sisyphus.doctor.finding import Finding, count, ok, typed, warning
from sisyphus.errors import UnreadableError
from sisyphus.reading import open_regular
from sisyphus.state import debug
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case

CHECK = "debug.log"

_RECENT = 86_400
_WORDS = 240


def check(case: Case) -> Iterator[Finding]:
    """Its lines begin with the moment, in UTC, so that they compare as times do."""
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(case.space.now - _RECENT))
    recent = [line for line in _lines(debug.log_path()) if line[: len(since)] >= since]
    if not recent:
        yield ok(CHECK, "nothing within 24 h")
        return
    lines = count(len(recent), "line")
    told = one_line(recent[-1], _WORDS)
    path = typed(case.shown(debug.log_path()))
    hint = f"`tail {path}`; once that is mended, `rm {path}`"
    yield warning(CHECK, f"{lines} within 24 h, the last: {told}", hint)


def _lines(path: str) -> list[str]:
    """It is turned over at 1 MB."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - debug.ROTATE_BYTES, 0))
            data = file.read(debug.ROTATE_BYTES)
    except (UnreadableError, OSError):
        return []
    return data.decode("utf-8", "replace").splitlines()
