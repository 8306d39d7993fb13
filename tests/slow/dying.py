"""Runs `sisyphus WORDS…` and kills itself before its Nth step.

A step is a statement that the store runs, the print, or a change of the file system below HOME.

    python dying.py N hook stop < payload
"""

from __future__ import annotations

import _sqlite3
import os
import signal
import sys
from typing import Any

from sisyphus import __main__

fatal = int(sys.argv[1])
steps = 0
home = os.environ["HOME"]
real_connect = _sqlite3.connect
real_write = sys.stdout.write


def step(*_: object) -> None:
    global steps  # noqa: PLW0603 (counted from three callbacks)
    steps += 1
    if steps == fatal:
        os.kill(os.getpid(), signal.SIGKILL)


def connect(*values: Any, **options: Any) -> Any:
    database = real_connect(*values, **options)
    database.set_trace_callback(step)
    return database


def watch(event: str, values: tuple[Any, ...]) -> None:
    is_change = event in ("os.rename", "os.remove", "os.mkdir", "open")
    if is_change and str(values[0]).startswith(home):
        step()


def write(text: str) -> int:
    step()
    written = real_write(text)
    sys.stdout.flush()
    step()
    return written


_sqlite3.connect = connect
sys.stdout.write = write  # type: ignore[method-assign]
sys.addaudithook(watch)
sys.argv = ["sisyphus", *sys.argv[2:]]
__main__.main()
