"""A client's process: started without a terminal, read line by line, and ended with its children.

It has a session of its own, so that Ctrl-C reaches us alone. If we are killed, it lives on: whoever
resumes or cancels the run ends it by its name. That is why it does not begin before we have noted
its name: a shell waits in its place and, if we are killed before, ends.

What a client leaves behind where its group and its session do not reach are orphans: processes that
have called `setsid`, and daemons. They have the mark of the run in their environment. One that has
taken it out becomes a child of ours when its parent ends, because we adopt orphans while the client
runs. Adoption needs Linux. The mark is found where other processes' environments can be read: macOS
hides those of its own programs.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress

from sisyphus.ground import processes

MAX_LINE = 16_000_000
"""The longest line that is read whole, in bytes: a client may report some images in one. What it
says in JSON takes up to 30 times as much in our memory."""

_WAITING_BYTES = 4_000_000
"""How much may wait for us. A client that prints faster has to wait."""

_LINE_BYTES = 100
"""About what a line takes besides its text."""

_QUIET_SECONDS = 1.0
"""How long we wait for more output after the client has ended: a child of it may keep the pipe."""

_ERROR_BYTES = 8_000
_CHUNK = 64_000

_GATE = 'read -r go && exec "$@" < "/dev/fd/$0"'
"""Waits for a line on its stdin; then becomes the client, which reads the prompt from a file
descriptor."""


_SET_ADOPTION, _GET_ADOPTION = 36, 37
"""`PR_SET_CHILD_SUBREAPER` and `PR_GET_CHILD_SUBREAPER` of `prctl`."""

_REAP_SECONDS = 5.0
"""How often we ask whether an orphan has ended. Until then it is a zombie."""

_END_SECONDS = 2.0
"""How long we go on killing what is there. Something may start processes as fast as we find
them."""


class ClientProcess:
    """A client, which begins at `go()`.

    name: "PID START". command: a shell command line, or words. prompt: what it gets on its stdin.
    environ: all its variables, without `mark`. mark: "NAME=VALUE", one more variable, by which what
    it leaves behind is found; "" = a new one. Raises `OSError` if no process can be started. If
    that is no client, it ends with 126 or 127, as in a shell.
    """

    def __init__(
        self,
        command: str | list[str],
        folder: str,
        prompt: bytes,
        environ: Mapping[str, str],
        mark: str = "",
    ) -> None:
        words = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        mark = mark or f"_SISYPHUS_CLIENT={secrets.token_hex(8)}"
        name, _, value = mark.partition("=")
        with tempfile.TemporaryFile() as source:
            source.write(prompt)
            source.seek(0)
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GATE, str(source.fileno()), *words],
                cwd=folder,
                env={**environ, name: value},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=[source.fileno()],
            )
        self.name = processes.key(self._process.pid)
        self._orphans = _Orphans(mark, self._process.pid)
        self._lines = _Lines()
        self._errors = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._error_reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()
        self._error_reader.start()
        self._ended_at = 0.0

    @property
    def pid(self) -> int:
        return self._process.pid

    def go(self) -> None:
        """Lets it begin."""
        assert self._process.stdin
        with suppress(BrokenPipeError), self._process.stdin as gate:
            gate.write(b"\n")

    def lines(self, seconds: float) -> Iterator[bytes]:
        """Yields the lines that come within `seconds`."""
        deadline = time.monotonic() + seconds
        self._orphans.reap()
        while (left := deadline - time.monotonic()) > 0 and not self.is_over:
            if not self._reader.is_alive() and self._lines.is_empty:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(left)
            elif line := self._lines.get(min(left, 0.05)):
                yield line

    @property
    def is_over(self) -> bool:
        """Tells whether it has ended, and all that it printed was read."""
        if self._process.poll() is None or not self._lines.is_empty:
            return False
        now = time.monotonic()
        self._ended_at = self._ended_at or now
        return not self._reader.is_alive() or now - self._ended_at > _QUIET_SECONDS

    def end(self) -> None:
        """Ends it, and what it started."""
        processes.end_group(self._process.pid, lambda: self._process.poll() is None)
        self._process.wait()
        self._orphans.end()

    def close(self) -> tuple[int, str]:
        """Ends what it has left behind; returns its exit code (below 0 = the signal that ended it)
        and the end of its stderr."""
        self.end()
        assert self._process.stdin
        self._process.stdin.close()
        self._lines.close()
        self._error_reader.join(_QUIET_SECONDS)
        return self._process.returncode, self._errors.decode("utf-8", "replace")

    def _read(self) -> None:
        assert self._process.stdout
        is_rest = False
        with self._process.stdout as output:
            while line := output.readline(MAX_LINE):
                self._lines.put(b" " + line if is_rest else line)  # a rest is no line of a report
                is_rest = not line.endswith(b"\n")

    def _read_errors(self) -> None:
        """Keeps the end of its stderr: the rest is nowhere, and fills no disk."""
        assert self._process.stderr
        with self._process.stderr as errors:
            while data := os.read(errors.fileno(), _CHUNK):
                self._errors = (self._errors + data)[-_ERROR_BYTES:]


class _Lines:
    """The lines that wait for us. Whoever puts one waits until there is room for it."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._is_closed = False
        self._changed = threading.Condition()

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    def put(self, line: bytes) -> None:
        size = len(line) + _LINE_BYTES
        with self._changed:
            self._changed.wait_for(lambda: self._has_room(size))
            if not self._is_closed:
                self._waiting.append(line)
                self._bytes += size
                self._changed.notify_all()

    def get(self, seconds: float) -> bytes:
        """Returns the next line, or b"" if none comes within `seconds`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._waiting, seconds):
                return b""
            line = self._waiting.popleft()
            self._bytes -= len(line) + _LINE_BYTES
            self._changed.notify_all()
            return line

    def close(self) -> None:
        """Forgets what waits, and what is still put there."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._bytes = 0
            self._changed.notify_all()

    def _has_room(self, size: int) -> bool:
        """Tells whether a line fits. One that alone is too long fits if nothing else waits."""
        is_first = not self._waiting
        return self._is_closed or is_first or self._bytes + size <= _WAITING_BYTES


# ---------------------------------------------------------------- what it leaves behind


class _Orphans:
    """The orphans of a client that has just been started and has not begun. Adopts them until
    `end()`.

    mark: "NAME=VALUE", a variable in the environment of the client. client: its process.
    """

    def __init__(self, mark: str, client: int) -> None:
        self._mark = mark
        self._others = {client, *processes.children()}
        is_first = os.getpid() != 1 and not _adopts()
        self._is_adopting = is_first and _adopt(is_on=True)
        is_alone = not any(processes.key(pid) for pid in self._others - {client})
        self._has_all = self._is_adopting and is_alone
        """All that we adopt is the client's: no process that we have started before leaves
        any."""
        self._reaped_at = time.monotonic()

    def reap(self) -> None:
        """Asks now and then which orphans have ended."""
        if self._is_adopting and time.monotonic() - self._reaped_at > _REAP_SECONDS:
            self._reap()
            self._reaped_at = time.monotonic()

    def end(self) -> None:
        """Kills the orphans, and what they start meanwhile."""
        deadline = time.monotonic() + _END_SECONDS
        while (left := self._left()) and time.monotonic() < deadline:
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
            self._reap()
        self._reap()
        if self._is_adopting:
            _adopt(is_on=False)
            self._is_adopting = self._has_all = False

    def _left(self) -> set[int]:
        adopted = self._adopted() if self._has_all else set()
        return processes.marked(self._mark) | {pid for pid in adopted if processes.key(pid)}

    def _adopted(self) -> set[int]:
        return processes.children() - self._others

    def _reap(self) -> None:
        for pid in self._adopted() if self._is_adopting else ():
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)


def _adopts() -> bool:
    """Tells whether orphans below us become our children already."""
    with suppress(ImportError, AttributeError, OSError):
        import ctypes  # some builds of Python have none

        answer = ctypes.c_int(0)
        ctypes.CDLL(None).prctl(_GET_ADOPTION, ctypes.byref(answer), 0, 0, 0)
        return answer.value != 0
    return False


def _adopt(*, is_on: bool) -> bool:
    """Makes the orphans below us our children, or those of whoever comes next above us; tells
    whether it could."""
    with suppress(ImportError, AttributeError, OSError):
        import ctypes

        return int(ctypes.CDLL(None).prctl(_SET_ADOPTION, int(is_on), 0, 0, 0)) == 0
    return False
