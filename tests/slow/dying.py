"""Runs `sisyphus WORDS…` and kills itself (-9) before its Nth step, a statement that the memory
executes or a change of the file system below HOME; N 0 = lives, and tells of how many there were.

    python dying.py N COUNT_FILE hook stop < payload
"""

from __future__ import annotations

import _sqlite3
import os
import signal
import sys
from typing import Any

from sisyphus import entry

fatal, count_file = int(sys.argv[1]), sys.argv[2]
steps = 0
home = os.environ["HOME"]
real_connect, real_exit = _sqlite3.connect, os._exit


def step(*_: object) -> None:
    global steps  # noqa: PLW0603
    steps += 1
    if steps == fatal:
        os.kill(os.getpid(), signal.SIGKILL)


def connect(*args: Any, **options: Any) -> Any:
    database = real_connect(*args, **options)
    database.set_trace_callback(step)
    return database


def watch(event: str, args: tuple[Any, ...]) -> None:
    is_change = event in ("os.rename", "os.remove", "os.mkdir")
    if (is_change or event == "open") and str(args[0]).startswith(home):
        step()


def leave(code: int) -> None:
    sys.stdout.flush()
    with open(count_file, "w", encoding="utf-8") as file:
        file.write(str(steps))
    real_exit(code)


_sqlite3.connect = connect
os._exit = leave  # type: ignore[assignment]
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
