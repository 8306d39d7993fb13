"""The client's process. It outlives us, and is found again by another process of ours.

It has a session of its own and files for its input and output, so that neither a terminal that is
closed nor our own end takes anything from it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time

from sisyphus import processes
from sisyphus.numbers import count
from sisyphus.processes import ASK, FORCE, WAIT, exit_code
from sisyphus.reading import open_regular
from sisyphus.session import process
from sisyphus.state.files import ensure_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.session.process import Process

UNKNOWN_EXIT = -1_000
"""It has ended, and nobody can tell how: it was not our own child."""

GRACE_SECONDS = 5.0
"""Claude Code 2.1.329 ends 0.1 s after SIGINT (measured), and then runs its SessionEnd hooks."""

_FORCED = ((ASK, 2.0), (FORCE, 2.0))
_LEFT_OVER = ((WAIT, 0.25), *_FORCED)
"""What still runs beside it may be about to end, such as the `tee` of `> >(tee log)`."""

_PAUSE_SECONDS = 0.01
_ASK_SECONDS = 0.5  # `ps` costs more than a look at /proc
_FLAGS = os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0)


class Child:
    """`process` identifies it. `offset`: where its own output begins in the file."""

    __slots__ = ("_handle", "_is_clear", "_own", "offset", "process")

    def __init__(
        self, found: Process, offset: int = 0, own: subprocess.Popen[bytes] | None = None
    ) -> None:
        self.process = found
        self.offset = offset
        self._own = own
        self._is_clear = False
        self._handle = _open(found.pid)

    @classmethod
    def start(  # what a process is made of
        cls,
        argv: Sequence[str],
        *,
        folder: str,
        prompt: str,
        output: str,
        errors: str,
        environment: dict[str, str],
    ) -> Child:
        """Starts `argv` in `folder`; the other three are files.

        `prompt` is its input. What it prints is appended to `output`, what it complains of is all
        that `errors` holds. Raises `OSError` (see `failures.of_start`), and `UnreadableError` for
        a prompt that is no regular file.
        """
        program = shutil.which(argv[0], path=environment.get("PATH")) or argv[0]
        for path in (output, errors):
            ensure_folder(os.path.dirname(path))
        with (
            open_regular(prompt) as stdin,
            os.fdopen(os.open(output, _FLAGS | os.O_APPEND, 0o600), "ab") as stdout,
            os.fdopen(os.open(errors, _FLAGS | os.O_TRUNC, 0o600), "wb") as stderr,
        ):
            offset = os.fstat(stdout.fileno()).st_size
            own = subprocess.Popen(  # noqa: S603  # the user's own client
                [program, *argv[1:]],
                cwd=folder,
                env=environment,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        return cls(process.identify(own.pid), offset, own)

    @classmethod
    def attach(cls, value: object) -> Child | None:
        """The child that `as_json` told of; None where it is gone, or cannot be known again."""
        found = process.from_json(value)
        if found is None or not isinstance(value, dict):
            return None
        child = cls(found, count(value.get("offset")) or 0)
        if process.is_alive(found):
            return child
        child.release()
        return None

    def as_json(self) -> Json:
        return {**self.process.as_json(), "offset": self.offset}

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def kill(self) -> str:
        """What a user ends it by: its group, for our shell, which leads that, would die alone."""
        return f"kill -TERM -{self.pid}" if os.name != "nt" else f"taskkill /T /PID {self.pid}"

    def poll(self) -> int | None:
        """None while it runs, then its exit code, 128 + N where signal N ended it, or
        `UNKNOWN_EXIT`."""
        if self._own is None:
            return UNKNOWN_EXIT if process.is_alive(self.process) is False else None
        code = self._own.poll()
        return exit_code(code) if code is not None else None

    def wait(self, seconds: float) -> int | None:
        """`poll`, as soon as it has ended or the time is over."""
        if self._handle is not None:
            _sleep_until_end(self._handle, seconds)
            return self.poll()
        end = time.monotonic() + seconds
        while (code := self.poll()) is None and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, _PAUSE_SECONDS if self._own else _ASK_SECONDS))
        return code

    def interrupt(self) -> None:
        """What Ctrl-C does in a terminal: its group is asked to come to an end.

        The commands of its tools are not asked: Claude Code 2.1.329, whose command was, ended
        without a `result` (measured).
        """
        if self.poll() is None and hasattr(os, "killpg"):
            try:
                os.killpg(self.pid, signal.SIGINT)
            except OSError:
                return  # gone meanwhile

    def end(self, *, gently: bool = True) -> bool:
        """Ends it and its group; whether nothing of that is left. Takes up to 9 s.

        Of one that has ended: what it left behind in its group.
        """
        if self.poll() is not None:
            return self._clear()
        if gently:
            self.interrupt()
            self.wait(GRACE_SECONDS)
        is_gone = processes.end_group(self.pid, _FORCED, self._own)
        self.wait(_FORCED[-1][1])
        self._is_clear = True
        return is_gone

    def _clear(self) -> bool:
        """Ends what was left running in its group, such as a client whose shell was killed."""
        if not self._is_clear and hasattr(os, "killpg"):
            self._is_clear = True
            try:
                os.killpg(self.pid, WAIT)
            except OSError:
                return True
            return processes.end_group(self.pid, _LEFT_OVER, self._own)
        return True

    def release(self) -> None:
        """Nobody is going to wait for it any more."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _open(pid: int) -> int | None:
    """What becomes readable at the process's end; None where the system has no such thing."""
    opened = getattr(os, "pidfd_open", None)
    if opened is None:
        return None
    try:
        return int(opened(pid))
    except OSError:
        return None


def _sleep_until_end(handle: int, seconds: float) -> None:
    import select

    ended = select.poll()  # knows no highest file number
    ended.register(handle, select.POLLIN)
    ended.poll(max(seconds, 0.0) * 1_000)
