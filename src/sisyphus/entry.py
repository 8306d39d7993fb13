"""The front door. `hook EVENT` and `statusline` are for programs and must be quick; all else is
for people."""

from __future__ import annotations

import gc
import os
import sys

INTERRUPTED = 130

_FOR_PEOPLE = ("--help", "-h")


def main() -> None:
    words = sys.argv[1:]
    if len(words) > 1 and words[0] == "hook" and words[1] not in _FOR_PEOPLE:
        # A process of some milliseconds leaves no garbage worth collecting; looking costs 5 %.
        gc.disable()
        from sisyphus.hook.run import run

        # Everything is written and flushed by now; taking the interpreter down in order would
        # cost another 8 % of a quiet hook (measured, CPython 3.11).
        os._exit(run(words[1], words[2:]))
    if words[:1] == ["statusline"] and not any(word in _FOR_PEOPLE for word in words):
        gc.disable()
        from sisyphus.hook.statusline import run as run_statusline

        os._exit(run_statusline())
    try:
        from sisyphus.cli.app import run_app
    except KeyboardInterrupt:  # what people wait for is loaded in 0.2 s, and some do not wait
        sys.exit(INTERRUPTED)
    sys.exit(run_app())
