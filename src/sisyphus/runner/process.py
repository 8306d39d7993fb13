"""A client's process: started without a terminal, read line by line, and ended with its children.

It has a session of its own, so that Ctrl-C reaches us alone. If we are killed, it lives on: whoever
resumes or cancels the run ends it by its name. That is why it does not begin before we have noted
its name: a shell waits in its place and, if we are killed before, ends.
"""

from __future__ import annotations

import os
import queue
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

_QUIET_SECONDS = 1.0
"""How long we wait for more output after the client has ended: a child of it may keep the pipe."""

_ERROR_BYTES = 8_000

_GATE = 'read -r go && exec "$@" < "/dev/fd/$0"'
"""Waits for a line on its stdin; then becomes the client, which reads the prompt from a file
descriptor."""


class ClientProcess:
    """A client, which begins at `go()`.

    name: "PID START". command: a shell command line, or words. prompt: what it gets on its stdin.
    Raises `OSError` if no process can be started. If that is no client, it ends with 126 or 127,
    as in a shell.
    """

    def __init__(
        self, command: str | list[str], folder: str, prompt: bytes, environ: Mapping[str, str]
    ) -> None:
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        with tempfile.TemporaryFile() as source:
            source.write(prompt)
            source.seek(0)
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GATE, str(source.fileno()), *words],
                cwd=folder,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
                pass_fds=[source.fileno()],
            )
        self.name = processes.key(self._process.pid)
        self._lines: queue.Queue[bytes] = queue.Queue(_WAITING_LINES)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._ended_at = 0.0

    def go(self) -> None:
        """Lets it begin."""
        assert self._process.stdin
        with suppress(BrokenPipeError), self._process.stdin as gate:
            gate.write(b"\n")

    def lines(self, seconds: float) -> Iterator[bytes]:
        """Yields the lines that come within `seconds`."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self.is_over:
            if not self._reader.is_alive() and self._lines.empty():
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(left)
                continue
            with suppress(queue.Empty):
                if line := self._lines.get(timeout=min(left, 0.05)):
                    yield line

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
        processes.end_group(self._process.pid, lambda: self._process.poll() is None)
        self._process.wait()

    def close(self) -> tuple[int, str]:
        """Ends what it has left behind; returns its exit code (below 0 = the signal that ended it)
        and the end of its stderr."""
        self.end()
        assert self._process.stdin
        self._process.stdin.close()
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
        self._lines.put(b"")  # wakes whoever waits for a line
