"""Runs `sisyphus WORDS…` and gives itself a signal, KILL or STOP, before its Nth step: a statement
that the memory executes, the print, or a change of the file system below HOME.

    python dying.py KILL N hook stop < payload
"""

from __future__ import annotations

import _sqlite3
import os
import signal
import sys
from typing import Any

from sisyphus import entry

fate, fatal = signal.Signals[f"SIG{sys.argv[1]}"], int(sys.argv[2])
steps = 0
home = os.environ["HOME"]
real_connect = _sqlite3.connect


def step(*_: object) -> None:
    global steps  # noqa: PLW0603
    steps += 1
    if steps == fatal:
        os.kill(os.getpid(), fate)


def connect(*args: Any, **options: Any) -> Any:
    database = real_connect(*args, **options)
    database.set_trace_callback(step)
    return database


def watch(event: str, args: tuple[Any, ...]) -> None:
    is_change = event in ("os.rename", "os.remove", "os.mkdir")
    if (is_change or event == "open") and str(args[0]).startswith(home):
        step()


_sqlite3.connect = connect
sys.argv = ["sisyphus", *sys.argv[3:]]
write = sys.stdout.write


def heard_write(text: str) -> int:
    step()
    written = write(text)
    sys.stdout.flush()
    step()
    return written


sys.stdout.write = heard_write  # type: ignore[method-assign]
sys.addaudithook(watch)
entry.main()
