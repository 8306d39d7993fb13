"""Runs the user's command by the system's shell, with a limit of time. Not for the hook path."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time

from sisyphus.notify.environment import for_commands
from sisyphus.state import debug
from sisyphus.text import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen
    from typing import IO

    from sisyphus._types import Json

SECONDS = 30.0

_TAIL_BYTES = 8_000
_CHUNK = 65_536
_GRACE_SECONDS = 1.0
"""For the output that is still on its way, and between asking a command to end and ending it."""

_FORCE = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows knows no other


class Ending:
    """How a command ended. `exit_code` None: it was ended after its time, or never began
    (`problem`). `output`: the end of what it wrote; `seconds`: how long it took."""

    __slots__ = ("exit_code", "output", "problem", "seconds")

    def __init__(self, exit_code: int | None = None, problem: str = "") -> None:
        self.exit_code = exit_code
        self.problem = problem
        self.output = ""
        self.seconds = 0.0

    @property
    def words(self) -> str:
        return self.problem or f"exit code {self.exit_code}"

    @property
    def last_line(self) -> str:
        lines = self.output.split("\n")
        return next((text.strip() for text in reversed(lines) if text.strip()), "")

    def as_json(self) -> Json:
        return {
            "exit_code": self.exit_code,
            "problem": self.problem or None,
            "seconds": self.seconds,
            "output": self.output,
        }


def run(command: str, data: bytes, folder: str, seconds: float = SECONDS) -> Ending:
    """Runs `command` in `folder` with `data` on its stdin; raises nothing."""
    started = time.monotonic()
    try:
        with tempfile.TemporaryFile() as stdin:  # a pipe would wait for a command that reads none
            stdin.write(data)
            stdin.seek(0)
            ending = _follow(command, folder, stdin, seconds)
    except (OSError, ValueError) as error:
        ending = Ending(problem=f"it could not be started: {error}")
    ending.seconds = round(time.monotonic() - started, 1)
    return ending


def run_and_log(command: str, data: bytes, folder: str) -> None:
    """`run`, with a line in the debug log where it failed."""
    ending = run(command, data, folder)
    if ending.exit_code != 0:
        told = f": {ending.last_line}" if ending.last_line else ""
        debug.log(f"notify.command failed: {ending.words}{told}")


def _follow(command: str, folder: str, stdin: IO[bytes], seconds: float) -> Ending:
    """Waits for the command itself; what it left running in the background may go on."""
    tail = _Tail()
    try:
        process = _begin(command, folder, stdin, tail.entrance)
    finally:
        os.close(tail.entrance)
    try:
        ending = Ending(process.wait(seconds))
    except subprocess.TimeoutExpired:
        ending = Ending(problem=f"not done after {seconds:g} seconds, ended")
        _end(process)
    ending.output = tail.text()
    return ending


def _begin(command: str, folder: str, stdin: IO[bytes], output: int) -> Popen[bytes]:
    return subprocess.Popen(  # noqa: S602  # the user's own command
        command,
        shell=True,
        cwd=folder,
        env=for_commands(),
        stdin=stdin,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _end(process: Popen[bytes]) -> None:
    for number in (signal.SIGTERM, _FORCE):
        try:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, number)
            else:
                process.kill()
            process.wait(_GRACE_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            continue


class _Tail:
    """The end of what is written into `entrance`, read by a thread."""

    def __init__(self) -> None:
        self._drain, self.entrance = os.pipe()
        self._kept = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while chunk := os.read(self._drain, _CHUNK):
            self._kept = (self._kept + chunk)[-_TAIL_BYTES:]
        os.close(self._drain)

    def text(self) -> str:
        """What came until now. Who holds the pipe still, in the background, is not waited for."""
        self._thread.join(_GRACE_SECONDS)
        return harmless(self._kept.decode("utf-8", "replace")).strip()
