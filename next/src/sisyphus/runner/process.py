"""A client's process: started without a terminal, read line by line, and ended with its children.

It has a session of its own, so that Ctrl-C reaches us alone. If we are killed, it lives on: whoever
resumes the run ends it by its name.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from sisyphus import processes

MAX_LINE = 64_000_000
"""The longest line that is read whole, in bytes: a client may report an image in one."""

_WAITING_LINES = 1_000
"""How many lines may wait for us. A client that prints faster has to wait."""

_GRACE_SECONDS = 5.0
"""How long a client may take to end after SIGTERM, before it is killed."""

_QUIET_SECONDS = 1.0
"""How long we wait for more output after the client has ended: a child of it may keep the pipe."""

_ERROR_BYTES = 8_000


class ClientProcess:
    """A running client.

    name: "PID START". command: a shell command line, or words. prompt: what it gets on its stdin.
    Raises `OSError` if it cannot be started.
    """

    def __init__(
        self, command: str | list[str], folder: str, prompt: bytes, environ: Mapping[str, str]
    ) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        with tempfile.TemporaryFile() as source:
            source.write(prompt)
            source.seek(0)
            self._process = subprocess.Popen(
                command,
                shell=isinstance(command, str),
                cwd=folder,
                env=environ,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
            )
        self.name = processes.key(self._process.pid)
        self._lines: queue.Queue[bytes] = queue.Queue(_WAITING_LINES)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._ended_at = 0.0

    def lines(self, seconds: float) -> Iterator[bytes]:
        """Yields the lines that come within `seconds`."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self.is_over:
            with suppress(queue.Empty):
                yield self._lines.get(timeout=min(left, 0.05))

    @property
    def is_over(self) -> bool:
        """Tells whether it has ended, and all that it printed was read."""
        if self._process.poll() is None or not self._lines.empty():
            return False
        now = time.monotonic()
        self._ended_at = self._ended_at or now
        return not self._reader.is_alive() or now - self._ended_at > _QUIET_SECONDS

    def end(self) -> None:
        """Ends it, and what it started."""
        end_group(self._process.pid, lambda: self._process.poll() is None)
        self._process.wait()

    def close(self) -> tuple[int, str]:
        """Ends what it has left behind; returns its exit code (below 0 = the signal that ended it)
        and the end of its stderr."""
        self.end()
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _ERROR_BYTES))
        errors = self._errors.read().decode("utf-8", "replace")
        self._errors.close()
        return self._process.returncode, errors

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as output:
            while line := output.readline(MAX_LINE):
                self._lines.put(line)


def end_process(name: str) -> bool:
    """Ends a client that an earlier runner has started, by its name; tells whether it was still
    there."""
    if not name or not processes.is_alive(name):
        return False
    end_group(int(name.partition(" ")[0]), lambda: processes.is_alive(name))
    return True


def end_group(group: int, is_alive: object) -> None:
    """Ends a process group: SIGTERM, then SIGKILL."""
    assert callable(is_alive)
    with suppress(OSError):
        os.killpg(group, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE_SECONDS
    while is_alive() and time.monotonic() < deadline:
        time.sleep(0.02)
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)
