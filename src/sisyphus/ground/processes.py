"""Names other processes, and runs commands with limits.

What other processes are, Linux says in `/proc`. Where there is none, psutil is asked, by
`psutil_processes`; if that is missing, too, nobody can tell.
"""

from __future__ import annotations

import os

from sisyphus.ground import paths
from sisyphus.ground.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from subprocess import Popen
    from types import FrameType, ModuleType
    from typing import Any, BinaryIO

PROC = "/proc"
"""Where Linux says what processes there are."""

TIMED_OUT = 124
"""The exit code of a command that ran out of time, the same as `timeout` uses."""

TERMINATED = 143
"""Our own exit code after SIGTERM or SIGHUP, the same as shells use."""

MAX_OUTPUT = 64_000_000
"""The most bytes of output on the disk. A command that prints more loses what it has printed so
far."""

GRACE_SECONDS = 5.0
"""How long a process may take to end after SIGTERM, before it is killed."""

_GIT_SECONDS = 1.0
"""How long a git may take for that: it removes a few files."""

_STEP_SECONDS = 0.2
"""How often a running command's output is measured."""


def key(pid: int) -> str:
    """Returns a name of a process that no later one gets: "PID START". Returns the PID alone if
    nobody can tell, and "" if there is no such process, or it has ended and nobody has asked how:
    in a container there may be nobody who does."""
    fields = _stat(pid)
    if fields:
        return "" if fields[0] == "Z" else f"{pid} {fields[19]}"
    if not pid or _has_proc():
        return ""
    psutil = _psutil()
    return psutil.key(pid) if psutil else str(pid)


def is_alive(process: str) -> bool:
    """Tells whether a process is still running. process: its name by `key()`, which may be that of
    a time when nobody could tell more than its PID; "" = none."""
    if not process:
        return False
    pid = int(process.split(maxsplit=1)[0])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        pass
    return f"{key(pid)} ".startswith(f"{process} ")


def caller(name: str, steps: int) -> tuple[int, list[str]]:
    """Returns the nearest of the processes above us that is the program `name`, with its command
    line; (0, []) if none of the nearest `steps` is, or nobody can tell."""
    pid = os.getppid()
    for _ in range(steps):
        words = _words(pid)
        if os.path.basename(words[0]) == name:
            return pid, words
        pid = _parent(pid)
    return 0, []


def program(process: str) -> str:
    """Returns a path of the program that a process runs; "" if nobody can tell. That of Linux leads
    to it also if an update has replaced its file. process: its name by `key()`."""
    pid = int(process.partition(" ")[0])
    psutil = _psutil()
    return psutil.program(pid) if psutil else f"{PROC}/{pid}/exe" if _has_proc() else ""


def in_terminals(name: str, folder: str) -> dict[int, list[str]]:
    """Returns the user's processes that are the program `name`, read a terminal and work in a
    folder, each with its command line; {} if nobody can tell. psutil also gives those that belong
    to a terminal and read something else."""
    found = {}
    place = os.path.realpath(folder)
    for pid in _every():
        words = _words(pid)
        is_named = os.path.basename(words[0]) == name
        if is_named and _folder(pid) == place and _has_terminal(pid):
            found[pid] = words
    return found


def is_any_in(folder: str, name: str) -> bool:
    """Tells whether one of the user's processes that is the program `name` works in a folder. Says
    so of each folder if nobody can tell."""
    if not _has_proc() and not _psutil():
        return True
    place = os.path.realpath(folder)
    return any(
        _folder(pid) == place and os.path.basename(_words(pid)[0]) == name for pid in _every()
    )


def end(process: str) -> bool:
    """Ends a process that leads a group, and the group; tells whether it was still there. process:
    its name by `key()`; "" = none."""
    if not is_alive(process):
        return False
    end_group(int(process.partition(" ")[0]), lambda: is_alive(process))
    return True


def end_group(group: int, has_leader: Callable[[], bool]) -> None:
    """Ends a process group: SIGTERM and, when its leader has ended or GRACE_SECONDS are over,
    SIGKILL. If its leader leads a session, too, everything in that is killed: a client starts its
    tools in groups of their own. has_leader: tells whether the leader is still running."""
    import signal
    import time
    from contextlib import suppress

    with suppress(OSError):
        os.killpg(group, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_SECONDS
    while has_leader() and time.monotonic() < deadline:
        time.sleep(0.01)
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)
    for pid in _of_session(group):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def children() -> set[int]:
    """Returns our child processes; none if nobody can tell."""
    own = os.getpid()
    return {pid for pid in _every() if _parent(pid) == own}


def marked(mark: str) -> set[int]:
    """Returns the user's processes with a variable in their environment, without us and those above
    us; none if nobody can tell. mark: "NAME=VALUE"."""
    word = os.fsencode(mark)
    found = {pid for pid in _every() if word in _variables(pid)}
    pid = os.getpid() if found else 0
    while pid > 0:
        found.discard(pid)
        pid = _parent(pid)
    return found


def end_marked(mark: str) -> bool:
    """Kills the user's processes with a variable in their environment, see `marked`, and what they
    start meanwhile; tells whether there were any. git may remove its locks first."""
    import signal
    import time
    from contextlib import suppress

    deadline = time.monotonic() + GRACE_SECONDS
    is_there = _end_gits(mark)
    while (found := marked(mark)) and time.monotonic() < deadline:
        is_there = True
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    return is_there


def _end_gits(mark: str) -> bool:
    """Lets each git with a variable in its environment end; tells whether there was one."""
    import signal
    import time
    from contextlib import suppress

    gits = [pid for pid in marked(mark) if os.path.basename(_words(pid)[0]) == "git"]
    for pid in gits:
        with suppress(OSError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _GIT_SECONDS
    while any(map(key, gits)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(gits)


def is_below(process: str, leader: int, mark: str) -> bool:
    """Tells whether a process, named by `key()`, is in the session of a leader, or has left it and
    is marked as what that has started is. mark: "NAME=VALUE"."""
    pid = int(process.partition(" ")[0])
    try:
        return os.getsid(pid) == leader or os.fsencode(mark) in _variables(pid)
    except OSError:
        return False


def variables(pid: int) -> dict[str, str]:
    """Returns the environment with which a process began; {} if it has ended, is another user's, or
    nobody can tell."""
    entries = (os.fsdecode(entry).partition("=") for entry in _variables(pid))
    return {name: value for name, sign, value in entries if name and sign}


def _of_session(leader: int) -> list[int]:
    """Returns the processes in the session of a leader, who may have ended; none if nobody can
    tell."""
    return [pid for pid in _every() if _session(pid) == leader]


def _session(pid: int) -> int:
    """Returns the leader of a process's session; 0 if it has ended."""
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _has_proc() -> bool:
    return os.path.isdir(f"{PROC}/self")


def _psutil() -> ModuleType | None:
    """Returns what asks psutil; None if there is `/proc`, or no psutil."""
    if _has_proc():
        return None
    try:
        from sisyphus.ground import psutil_processes  # imported late: Linux does not need it
    except ImportError:
        return None
    return psutil_processes


def _every() -> list[int]:
    if _has_proc():
        return [int(name) for name in os.listdir(PROC) if name.isdecimal()]
    psutil = _psutil()
    return psutil.every() if psutil else []


def _words(pid: int) -> list[str]:
    """Returns the command line of a process; [""] if there is none."""
    try:
        with open(f"{PROC}/{pid}/cmdline", "rb") as file:
            line = file.read().removesuffix(b"\0")
            return [word.decode("utf-8", "replace") for word in line.split(b"\0")]
    except OSError:
        psutil = _psutil()
        return psutil.words(pid) if psutil else [""]


def _variables(pid: int) -> list[bytes]:
    """Returns the environment with which a process began; [] if it has ended, or is another
    user's."""
    try:
        with open(f"{PROC}/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        psutil = _psutil()
        return psutil.variables(pid) if psutil else []


def _folder(pid: int) -> str:
    """Returns the folder in which a process works, without links; "" if it has ended, or is another
    user's."""
    try:
        return os.readlink(f"{PROC}/{pid}/cwd")
    except OSError:
        psutil = _psutil()
        return psutil.folder(pid) if psutil else ""


def _has_terminal(pid: int) -> bool:
    """Tells whether a process reads a terminal; or, by psutil, belongs to one."""
    try:
        return os.readlink(f"{PROC}/{pid}/fd/0").startswith(("/dev/pts/", "/dev/tty"))
    except OSError:
        psutil = _psutil()
        return bool(psutil and psutil.has_terminal(pid))


def _parent(pid: int) -> int:
    """Returns the parent of a process; 0 if it has none, or has ended."""
    fields = _stat(pid)
    if fields:
        return int(fields[1])
    psutil = _psutil()
    return psutil.parent(pid) if psutil else 0


def _stat(pid: int) -> list[str]:
    """Returns what `/proc` says of a process, from its state on; [] if it says nothing."""
    try:
        with open(f"{PROC}/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


class CommandResult(Record):
    """The exit code of a command, and the end of what it printed.

    is_cut: it printed more than `output` has.
    """

    code: int
    output: str
    is_cut: bool = False

    @property
    def has_timed_out(self) -> bool:
        return self.code == TIMED_OUT


def run(
    command: str | list[str],
    folder: str,
    seconds: float,
    environ: Mapping[str, str] | None = None,
    tail: int = 1_000_000,
    stdin: bytes = b"",
    *,
    with_children: bool = False,
    with_errors: bool = False,
    with_grace: bool = False,
    in_memory: bool = False,
) -> CommandResult:
    """Runs a shell command line, or a list of words without a shell.

    After `seconds`, and on SIGTERM or SIGHUP, it kills the command and its children; a child that
    makes a session of its own (`setsid`) survives. The output goes to a file, because such a child
    would keep a pipe open.

    folder: where it runs. environ: its environment; None = ours. tail: how many bytes are kept of
    the end of the output. with_children: also wait for what it leaves in the background, and kill
    that after `seconds` too. with_errors: a list of words that fails has its stderr at the end of
    its output; else that is dropped. with_grace: it gets SIGTERM first, and may put its files in
    order. in_memory: its output is kept in memory, which is quicker: only for a command that leaves
    nothing behind, which might print for days. Raises `OSError` if the command cannot be started.
    """
    import signal
    import subprocess
    import time
    from contextlib import nullcontext, suppress

    is_shell = isinstance(command, str)
    deadline = time.monotonic() + seconds
    with (
        _scratch(in_memory=in_memory) as source,
        _scratch(in_memory=in_memory) as output,
        _scratch(in_memory=in_memory) if with_errors else nullcontext() as errors,
        OrderlyEnd() as end,
    ):
        source.write(stdin)
        source.seek(0)
        _append_only(output)
        if errors:
            _append_only(errors)
        process = subprocess.Popen(
            command,
            shell=is_shell,
            cwd=folder,
            env=environ,
            stdin=source,
            stdout=output,
            stderr=subprocess.STDOUT if is_shell else errors or subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            end.arm()
            code, is_cut = _wait(process, deadline, output, *filter(None, [errors]))
            while with_children and time.monotonic() < deadline and _is_group(process.pid):
                time.sleep(_STEP_SECONDS)
        finally:
            if process.returncode is None and with_grace:
                end_group(process.pid, lambda: _code(process, 0.0) is None)
            if process.returncode is None or (with_children and _is_group(process.pid)):
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                _reap(process, 0)
        text, excess = _end_of(output, tail)
        if code and errors:
            text += _end_of(errors, tail)[0]
        return CommandResult(code, text, is_cut=is_cut or excess > 0)


def _scratch(*, in_memory: bool) -> BinaryIO:
    """Returns a file without a name, in memory if the system has such files: to load `tempfile`
    costs a hook 4 ms."""
    if in_memory:
        try:
            return os.fdopen(os.memfd_create("sisyphus"), "w+b")
        except (AttributeError, OSError):
            pass
    import tempfile

    file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 (who asks for it closes it)
    return file


def _end_of(file: BinaryIO, tail: int) -> tuple[str, int]:
    """Returns the end of a file, and how many bytes stand before that."""
    excess = file.seek(0, os.SEEK_END) - tail
    file.seek(max(0, excess))
    return file.read().decode("utf-8", "replace"), excess


def _append_only(file: BinaryIO) -> None:
    """Makes every write go to the end of the file, even after the file was emptied."""
    import fcntl

    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_APPEND)


def _is_group(group: int) -> bool:
    """Tells whether a process of this group is still there."""
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _wait(process: Popen[bytes], deadline: float, *outputs: BinaryIO) -> tuple[int, bool]:
    """Waits for the end of a process; returns its exit code, and whether output was dropped."""
    import time

    is_cut = False
    while (left := deadline - time.monotonic()) > 0:
        code = _code(process, min(left, _STEP_SECONDS))
        if code is not None:
            return code, is_cut
        for output in outputs:
            if os.fstat(output.fileno()).st_size > MAX_OUTPUT:
                os.ftruncate(output.fileno(), 0)
                is_cut = True
    return TIMED_OUT, is_cut


def _code(process: Popen[bytes], seconds: float) -> int | None:
    """Returns the exit code of a process; None if it is still running after `seconds`. Linux wakes
    us when it ends; elsewhere Python asks for it every few milliseconds."""
    import select
    import subprocess

    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
    try:
        end = select.poll()
        end.register(descriptor, select.POLLIN)
        end.poll(seconds * 1000)
        return _reap(process, os.WNOHANG)
    finally:
        os.close(descriptor)


def _reap(process: Popen[bytes], options: int) -> int | None:
    """Returns the exit code of a process; None if it has none yet. `Popen.wait` takes a lock, which
    a signal that raises may leave locked for ever.

    options: of `os.waitpid`; 0 = wait for its end.
    """
    if process.returncode is None:
        try:
            pid, status = os.waitpid(process.pid, options)
        except ChildProcessError:  # somebody else has asked
            pid, status = process.pid, 0
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


def start(module: str, request: object, environment: dict[str, str]) -> None:
    """Starts one of our modules in a process of its own, which outlives us, and waits for nothing.
    Its output goes nowhere. Otherwise as `spawn`."""
    import subprocess

    process = spawn(module, request, environment, subprocess.DEVNULL)
    process.returncode = 0  # nobody will ask; otherwise Python warns that it is still running


def spawn(module: str, request: object, environment: dict[str, str], output: int) -> Popen[bytes]:
    """Starts one of our modules in a process and a session of its own. Its Python heeds no
    `PYTHONPATH`, which may lead into a project.

    request: a small value; the module reads it as JSON from stdin. environment: all its variables.
    output: for its stdout and its stderr, as `subprocess` takes it. Raises `OSError`.
    """
    import json
    import subprocess
    import sys

    process = subprocess.Popen(
        [sys.executable, "-E", "-P", "-m", module],
        cwd=paths.user_home() or os.sep,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdin
    process.stdin.write(json.dumps(request).encode())
    process.stdin.close()
    return process


class OrderlyEnd:
    """A `with` block in which SIGTERM and SIGHUP raise `SystemExit` once it is armed, so that the
    block can clean up what it has started. A client sends SIGTERM to a hook that takes too long.
    A handler that was there before hears of the signal, too."""

    __slots__ = ("_came", "_handlers", "_is_armed")

    def __enter__(self) -> OrderlyEnd:
        import signal
        import threading

        self._came = self._is_armed = False
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():  # only there Python allows it
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) != signal.SIG_IGN:
                    self._handlers[number] = signal.signal(number, self._exit)
        return self

    def arm(self) -> None:
        """Raises `SystemExit` at the next signal, or now if one has come."""
        self._is_armed = True
        if self._came:
            raise SystemExit(TERMINATED)

    def _exit(self, number: int, frame: FrameType | None) -> None:
        self._came = True
        before = self._handlers[number]
        if callable(before):
            before(number, frame)
        if self._is_armed:
            raise SystemExit(TERMINATED)

    def __exit__(self, *_: object) -> None:
        import signal

        for number, handler in self._handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
