"""Commands that we run: in a process group of their own, so that nothing of them stays behind, and
what they print, as far as somebody reads it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

from sisyphus.errors import TooMuchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType
    from typing import Any

    Steps = Sequence[tuple[int, float]]

WAIT = 0
ASK = signal.SIGTERM
FORCE = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows knows no other

KEPT_BYTES = 1_000_000
"""Of what a command prints."""

_LEFT_OVER = ((WAIT, 0.25), (ASK, 2.0), (FORCE, 2.0))
"""What still runs beside a command that has ended may be about to end, such as the `tee` of
`> >(tee log)`. Signals (`WAIT` = none), each with the seconds that it is given to work."""

_TOO_LONG = ((ASK, 2.0), (FORCE, 2.0))
_AT_ONCE = ((FORCE, 0.2),)
_INTERRUPTED = ((ASK, 0.5), (FORCE, 0.5))
"""Claude Code 2.1.329 kills a hook about 1.5 s after it has asked it to end (measured)."""

_ENDING = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")
_SIGNALLED = 128  # as shells say it: 137 = killed by signal 9
_PAUSE_SECONDS = 0.02
_LET_GO_SECONDS = 0.5
_READ_BYTES = 65_536

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]"
)
# With those that turn the direction of writing, which show a line as what it is not.
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass
class Finished:
    """How a command ended."""

    code: int | None = None
    """Killed by signal N = 128 + N; None where we have ended it: its time was over, or
    `interrupted_by` names the signal that told us to end."""
    output: bytes = b""
    """The last `KEPT_BYTES` of what it printed, from the start of a line where some is left out."""
    seconds: float = 0.0
    interrupted_by: str = ""


def run(command: str, folder: str, seconds: float, environment: Mapping[str, str]) -> Finished:
    """Runs a command line by the system's shell in `folder`, for `seconds` at most.

    Its input is empty, and its errors are output. Where we are told to end meanwhile, it ends
    first. Raises `OSError` or `ValueError` where it cannot be started.
    """
    found = Finished()
    with interruptible() as signals:
        signals.are_held = True  # nothing that is being started may be left behind
        process = subprocess.Popen(  # noqa: S602  # the user's own command
            command, shell=True, cwd=folder, env=environment, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        steps: Steps = _INTERRUPTED
        started, printed = time.monotonic(), _Tail(process)
        try:
            signals.release()
            found.code = exit_code(process.wait(seconds))
            steps = _LEFT_OVER
        except subprocess.TimeoutExpired:
            steps = _TOO_LONG
        finally:
            signals.are_held = True
            found.seconds = time.monotonic() - started
            end_group(process.pid, steps, process)
            found.output = printed.end()
    if signals:
        found.interrupted_by = signals[0].name
    return found


def output(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> bytes:
    """What a program prints, whose full path is the first word. It reads nothing, and its errors
    are lost.

    Raises `OSError` where it cannot be started or fails, and `TooMuchError` where it takes longer
    or prints more than 64 MB; then it is ended, and with it what it started.
    """
    most = 64 * KEPT_BYTES
    process = subprocess.Popen(  # noqa: S603  # the path was found by us
        command, env=environment, start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )  # fmt: skip
    is_late = threading.Event()

    def end() -> None:
        is_late.set()
        end_group(process.pid, _AT_ONCE, process)

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        assert process.stdout is not None  # noqa: S101  # we asked for it
        with process.stdout as pipe:
            printed = pipe.read(most + 1)
        if len(printed) > most:
            raise TooMuchError(f"{command[0]} printed more than {most:,} bytes")
        code = process.wait()  # the timer runs still: it need not end because it closed its output
        if is_late.is_set():
            raise TooMuchError(f"{command[0]} took longer than {seconds:g} s")
    finally:
        timer.cancel()
        if process.poll() is None:
            end_group(process.pid, _AT_ONCE, process)
    if code != 0:
        raise OSError(f"{command[0]} ended with {code}")
    return printed


def exit_code(code: int) -> int:
    """As shells say it: who was killed by signal N has ended with 128 + N."""
    return _SIGNALLED - code if code < 0 else code


def end_group(leader: int, steps: Steps, own: subprocess.Popen[bytes] | None = None) -> bool:
    """Ends the process group of a command, whose first process need not run any more; whether
    nothing of it is left.

    `own`: the first process, if we have started it. It counts as long as nobody asked how it
    ended.
    """
    for number, seconds in steps:
        deadline = time.monotonic() + seconds
        is_left = _reaches(leader, number, own)
        while is_left and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
            is_left = _reaches(leader, WAIT, own)
        if not is_left or number == FORCE:  # one that nobody buries is dead all the same
            return True
    return False


def _reaches(leader: int, number: int, own: subprocess.Popen[bytes] | None) -> bool:
    """Whether a signal found somebody in the group."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(leader, number)
        elif number != WAIT and own is not None:  # Windows has no groups
            own.kill()
    except OSError:
        return False
    has_ended = own is not None and own.poll() is not None
    return not has_ended or (hasattr(os, "killpg") and _reaches(leader, WAIT, None))


class Signals(list[signal.Signals]):
    """Those that told us to end. While they `are_held`, the block goes on."""

    are_held = False

    def release(self) -> None:
        """From here on the first one leaves the block; it may have come already."""
        self.are_held = bool(self)
        if self:
            raise _EndingSignal


@contextmanager
def interruptible() -> Iterator[Signals]:
    """Has a signal that tells us to end leave the block, so that what was begun in it is ended;
    then the signal takes effect. Where somebody handles it and goes on, the list names it.

    A signal that is ignored stays so. SIGCHLD alone does not: while it is ignored, a command that
    failed looks like one that succeeded.
    """
    before: dict[int, Any] = {}
    signals = Signals()

    def leave(number: int, _: FrameType | None) -> None:
        signals.append(signal.Signals(number))
        if not signals.are_held:
            signals.are_held = True  # a second one does not cut off what the first one ends
            raise _EndingSignal

    if threading.current_thread() is threading.main_thread():  # no other may do this
        for name in _ENDING:
            found = getattr(signal, name, None)  # which there are depends on the system
            if found is not None and signal.getsignal(found) not in (signal.SIG_IGN, None):
                before[found] = signal.signal(found, leave)
        child = getattr(signal, "SIGCHLD", None)
        if child is not None and signal.getsignal(child) == signal.SIG_IGN:
            before[child] = signal.signal(child, signal.SIG_DFL)
    try:
        yield signals
    except _EndingSignal:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if signals:
        signal.raise_signal(signals[0])


class _EndingSignal(BaseException):
    pass


class _Tail:
    """The end of what a process prints. All of it is read, so that no writer has to wait."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._kept = bytearray()
        self._size = 0
        self._pipe = process.stdout
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def end(self) -> bytes:
        """See `Finished`. A process that left the group may hold the pipe: it is not waited for."""
        self._reader.join(_LET_GO_SECONDS)
        kept = bytes(self._kept)[-KEPT_BYTES:]
        return kept if self._size <= KEPT_BYTES else kept.partition(b"\n")[2] or kept

    def _read(self) -> None:
        assert self._pipe is not None  # noqa: S101  # we asked for it
        with self._pipe as pipe:
            while chunk := os.read(pipe.fileno(), _READ_BYTES):
                self._kept += chunk
                self._size += len(chunk)
                if len(self._kept) > 2 * KEPT_BYTES:
                    del self._kept[:-KEPT_BYTES]


def plain(printed: bytes) -> str:
    """What a command printed, without escape sequences and control characters; of a line that was
    written over again and again, such as a progress bar, its last state."""
    text = _ESCAPE.sub("", printed.decode("utf-8", "replace"))
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", text)


def last_lines(text: str, characters: int) -> str:
    """The end of `text`, from the start of a line, in at most so many code points.

    Empty space at both ends does not count. Of a last line that is longer its end is kept.
    """
    text = text.rstrip()
    room = max(characters, 0)
    end = text[len(text) - room :] if room < len(text) else text
    if len(end) < len(text) and text[len(text) - room - 1] != "\n":
        end = end.partition("\n")[2] or end
    return end.lstrip("\n")
