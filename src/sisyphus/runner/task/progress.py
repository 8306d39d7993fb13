"""`progress.txt`: what became of each iteration, for people and for the next one.

The runner appends an entry an iteration; lines that the model adds stand in the entry above them.
"""

from __future__ import annotations

import os
import re
import time
from itertools import pairwise

from sisyphus.errors import UnreadableError
from sisyphus.masking import masked
from sisyphus.reading import open_regular
from sisyphus.state import debug
from sisyphus.text import cut_chars, harmless, one_line

ENTRY_CHARACTERS = 2_000
SAID_CHARACTERS = 600
TAIL_BYTES = 64_000

_HEADER = re.compile(r"^## Iteration [0-9]{1,9} \u2014 .*$", re.MULTILINE)


def entry(number: int, at: float, rows: list[tuple[str, str]]) -> str:
    """One entry; `at` in epoch seconds, `rows` are (label, text) of which empty ones are left out.

    Every text is brought onto one line, without keys and passwords: the file is one of the project.
    """
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
    told = [(label, one_line(masked(text), SAID_CHARACTERS)) for label, text in rows]
    lines = [f"- {label}: {text}" for label, text in told if text]
    return "\n".join([f"## Iteration {number} \u2014 {when}", "", *lines, ""])


def last_entries(text: str, number: int = 2) -> list[str]:
    """The last entries, oldest first, each with what stands below it; long ones are cut."""
    starts = [found.start() for found in _HEADER.finditer(text)][-number:]
    whole = [harmless(text[a:b]).strip() for a, b in pairwise([*starts, len(text)])]
    return [_cut(one) for one in whole]


def _cut(text: str) -> str:
    if len(text) <= ENTRY_CHARACTERS:
        return text
    return cut_chars(text, ENTRY_CHARACTERS).rstrip() + "\n[cut here]"


def read_last(path: str, number: int = 2) -> list[str]:
    return last_entries(_tail(path), number)


def append(path: str, text: str, *, once: bool = False) -> None:
    """Adds an entry; with `once`, one that stands there already, word for word, is left alone.

    What cannot be written is told in the debug log; a run goes on without it.
    """
    try:
        before = _tail(path)
        if once and text.strip() in before:
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        fd = os.open(path, debug.APPEND, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write((_gap(before) + text).encode("utf-8", "replace"))
    except OSError as error:
        debug.log(f"progress.txt is not written: {error}")


def _gap(before: str) -> str:
    if not before:
        return ""
    return "\n" if before.endswith("\n") else "\n\n"


def _tail(path: str) -> str:
    """The end of the file from a line's beginning; "" where it cannot be read."""
    try:
        with open_regular(path) as file:
            start = max(os.fstat(file.fileno()).st_size - TAIL_BYTES, 0)
            file.seek(start)
            data = file.read(TAIL_BYTES)
    except (UnreadableError, OSError):
        return ""
    whole = data if not start else data.partition(b"\n")[2]
    return whole.decode("utf-8", "replace").replace("\r\n", "\n")
