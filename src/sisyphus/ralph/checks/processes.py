"""The processes of a command: those of its session, and those that left it and descend from it.

Where there is no `/proc`, its process group. One that left the session and lost its parent has
made itself independent, and is left alone.
"""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WAIT = 0
ASK = signal.SIGTERM
FORCE = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows knows no other

_PROC = "/proc"
_PAUSE_SECONDS = 0.02
_ENDED = "ZX"  # waits for its parent to ask how it ended, in a container perhaps for ever


def end(
    leader: int,
    steps: Iterable[tuple[int, float]],
    proc: str = _PROC,
    system: str = os.name,
    *,
    descendants: bool = True,
) -> bool:
    """Ends a command that has a session of its own; whether nothing of it is left.

    `leader`: its first process, which need not run any more. `steps`: signals (`WAIT` = none), each
    with the seconds that it is given to work. Without `descendants` its session alone is meant.
    """
    found: _Family | _Group
    if os.path.exists(os.path.join(proc, "self", "stat")):
        found = _Family(leader, proc) if descendants else _Session(leader, proc)
    else:
        found = _Tree(leader) if system == "nt" else _Group(leader)
    return any(_step(found, number, seconds) for number, seconds in steps)


def _step(found: _Family | _Group, number: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    found.signal(number)
    while found.is_alive():
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_SECONDS)
        if number == FORCE:  # what was born meanwhile; who was asked may need it to clean up
            found.signal(number)
    return True


class _Group:
    """A process group."""

    __slots__ = ("_leader",)

    def __init__(self, leader: int) -> None:
        self._leader = leader

    def is_alive(self) -> bool:
        return self._reaches(WAIT)

    def signal(self, number: int) -> None:
        self._reaches(number)

    def _reaches(self, number: int) -> bool:
        try:
            os.killpg(self._leader, number)
        except OSError:
            return False
        return True


class _Tree(_Group):
    """A process and its children on Windows, which has no gentle way; nor can one look first."""

    __slots__ = ()

    def _reaches(self, number: int) -> bool:
        from subprocess import DEVNULL, call

        if number != WAIT:
            kill = ["taskkill", "/F", "/T", "/PID", str(self._leader)]
            call(kill, stdout=DEVNULL, stderr=DEVNULL)  # noqa: S603
        return False


class _Family:
    """A session and its descendants, as `/proc` shows them. Who was met once stays known."""

    __slots__ = ("_known", "_leader", "_proc")

    def __init__(self, leader: int, proc: str) -> None:
        self._leader = leader
        self._proc = proc
        self._known: dict[int, str] = {}  # number -> when it was started

    def is_alive(self) -> bool:
        return bool(self._members())

    def signal(self, number: int) -> None:
        for pid in self._members():
            try:
                os.kill(pid, number)
            except OSError:
                continue  # gone by itself, or another user's

    def _members(self) -> list[int]:
        table = {row.pid: row for row in _processes(self._proc)}
        children: dict[int, list[int]] = {}
        for row in table.values():
            children.setdefault(row.parent, []).append(row.pid)
        found: set[int] = set()
        waiting = [row.pid for row in table.values() if self._is_known(row)]
        while waiting:
            pid = waiting.pop()
            if pid not in found:
                found.add(pid)
                waiting += children.get(pid, ())
        self._known = {pid: table[pid].started for pid in found}
        return [pid for pid in found if table[pid].state not in _ENDED]

    def _is_known(self, row: _Process) -> bool:
        return row.session == self._leader or self._known.get(row.pid) == row.started


class _Session(_Family):
    """A session without those that left it."""

    __slots__ = ()

    def _members(self) -> list[int]:
        rows = _processes(self._proc)
        return [r.pid for r in rows if r.session == self._leader and r.state not in _ENDED]


class _Process:
    """What `/proc/PID/stat` says. `started` tells it from a later process of the same number."""

    __slots__ = ("parent", "pid", "session", "started", "state")

    def __init__(self, line: str) -> None:
        words = line.rpartition(")")[2].split()  # its name, before, may hold anything
        self.pid = int(line.partition(" ")[0])
        self.state, self.parent, self.session = words[0], int(words[1]), int(words[3])
        self.started = words[19]


def _processes(proc: str) -> Iterator[_Process]:
    for name in os.listdir(proc):
        if not name.isdigit():
            continue
        try:
            with open(os.path.join(proc, name, "stat"), encoding="utf-8", errors="replace") as file:
                yield _Process(file.read())
        except (OSError, ValueError, IndexError):
            continue  # gone meanwhile
