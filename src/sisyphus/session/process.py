"""Processes of this machine: which one it is, whether it lives, what stands above us.

Linux is read from /proc, elsewhere `ps` is asked. Windows tells nothing: there even the harmless
signal 0 would end a process.
"""

from __future__ import annotations

import os
import sys

from sisyphus.clients.claude_code import is_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json

PS_SECONDS = 2.0

_MOST_STEPS = 32
_STAT_BYTES = 4_096
_BOOT_CHARACTERS = 8
_MOST_PID = 2**32  # Windows counts so far
_ARGUMENTS_BYTES = 65_536


class Process:
    """`started` tells a process from a later one with the same pid; "" = unknown."""

    __slots__ = ("pid", "started")

    def __init__(self, pid: int, started: str = "") -> None:
        self.pid = pid
        self.started = started

    def is_same(self, other: Process) -> bool:
        """Whether both are certainly one process."""
        return bool(self.started) and (self.pid, self.started) == (other.pid, other.started)

    def may_be(self, other: Process) -> bool:
        """Whether nothing shows that they are two."""
        differ = self.started and other.started and self.started != other.started
        return self.pid == other.pid and not differ

    def as_json(self) -> Json:
        return {"pid": self.pid, "started": self.started}


class Ancestor:
    """A process above us. `name` is its program's, with or without the path."""

    __slots__ = ("name", "pid")

    def __init__(self, pid: int, name: str) -> None:
        self.pid = pid
        self.name = name

    @property
    def is_client(self) -> bool:
        """Whether it is the client's own program, or a script of it that an interpreter runs."""
        return is_program([self.name]) or is_program(self._words)

    @property
    def _words(self) -> list[str]:
        """Its command line; where `ps` tells it, words with spaces are torn."""
        if is_linux():
            return os.fsdecode(read_proc(f"{self.pid}/cmdline", _ARGUMENTS_BYTES)).split("\0")
        return (_ps("-o", "args=", "-p", str(self.pid)) or "").split() or [""]


def from_json(value: object) -> Process | None:
    """The process that a state file names, if it does."""
    if not isinstance(value, dict):
        return None
    pid, started = value.get("pid"), value.get("started")
    if type(pid) is not int or not 0 < pid < _MOST_PID or not isinstance(started, str):
        return None
    return Process(pid, started)


def identify(pid: int) -> Process:
    return Process(pid, _start(pid) or "")


def is_alive(process: Process) -> bool | None:
    """Whether this very process still runs; None = that cannot be told."""
    started = _start(process.pid)
    if started == "":
        return False
    return started == process.started if started and process.started else None


def ancestors() -> Iterator[Ancestor]:
    """The nearest first."""
    parents = {} if is_linux() else _parents()
    pid = os.getppid()
    for _ in range(_MOST_STEPS):
        name, parent = _on_linux(pid) if is_linux() else parents.get(pid, ("", 0))
        if not name:
            return
        yield Ancestor(pid, name)
        pid = parent


def _start(pid: int) -> str | None:
    """When a process began, in words of this machine; "" = it has ended, None = nobody knows."""
    if is_linux():
        return linux_start(pid)
    told = _ps("-o", "stat=", "-o", "lstart=", "-p", str(pid))
    if told is None:
        return None
    state, *moment = told.split() or ["Z"]
    return "" if state.startswith("Z") else " ".join(moment) or None


def _on_linux(pid: int) -> tuple[str, int]:
    """Name and parent; "" where there is no such process."""
    found = linux_stat(pid)
    return (found[0] or "?", int(found[2])) if found else ("", 0)


def _parents() -> dict[int, tuple[str, int]]:
    """Every process's name and parent, by pid."""
    found = {}
    for line in (_ps("-A", "-o", "pid=", "-o", "ppid=", "-o", "comm=") or "").splitlines():
        pid, parent, name = [*line.split(None, 2), "", "", ""][:3]
        if pid.isdecimal() and parent.isdecimal():
            found[int(pid)] = name.strip(), int(parent)
    return found


def _ps(*words: str) -> str | None:
    """What `ps` prints; None where it cannot be asked, or not like this."""
    if sys.platform == "win32":
        return None
    import subprocess

    same_everywhere = {**os.environ, "LC_ALL": "C", "TZ": "UTC0"}  # moments are compared as texts
    try:
        ran = subprocess.run(  # noqa: S603  # no shell, and no word of anybody's
            ["ps", *words],  # noqa: S607  # it is not in the same place everywhere
            capture_output=True,
            check=False,
            env=same_everywhere,
            stdin=subprocess.DEVNULL,
            timeout=PS_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return None if ran.stderr else ran.stdout.decode("utf-8", "replace")


def linux_start(pid: int) -> str | None:
    """When a process began and which run of the machine that was; "" = it has ended.

    None where that cannot be told.
    """
    found = linux_stat(pid)
    if found is None:
        return "" if is_linux() and os.path.exists("/proc/self/stat") else None
    if found[1] in "ZX":  # kept only until its parent asks how it ended
        return ""
    boot = read_proc("sys/kernel/random/boot_id", _BOOT_CHARACTERS)
    return f"{found[20]}-{os.fsdecode(boot)}"


def linux_stat(pid: int) -> list[str] | None:
    """Name, state, parent and so on as in proc(5), its number left out; None = no such process."""
    raw = read_proc(f"{pid}/stat", _STAT_BYTES)
    if not raw:
        return None
    head, _, rest = os.fsdecode(raw).rpartition(")")  # a name may hold anything, brackets too
    return [head.partition("(")[2], *rest.split()]


def read_proc(name: str, limit: int) -> bytes:
    """b"" where there is no such file, or no /proc."""
    if not is_linux():
        return b""
    try:
        fd = os.open(f"/proc/{name}", os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, limit)
    except OSError:  # the process ended meanwhile
        return b""
    finally:
        os.close(fd)


def is_linux() -> bool:
    return sys.platform == "linux"
