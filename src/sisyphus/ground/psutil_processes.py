"""Answers what `processes` asks about other processes where there is no `/proc`, as on macOS. It
needs psutil: importing this raises `ImportError` if that is missing."""

from __future__ import annotations

import os

import psutil


def every() -> list[int]:
    """Returns all processes but the system's own, whose number means us where a group is asked."""
    return [pid for pid in psutil.pids() if pid]


def key(pid: int) -> str:
    """Returns "PID NUMBER", a name that no later process gets; "" if there is no such process, or
    it is a zombie.

    The number is psutil's hash of the PID and its start, which another version of psutil may make
    otherwise: then the process counts as ended. `create_time()` changes in a process that runs
    while the clock is set."""
    try:
        process = psutil.Process(pid)
        is_zombie = process.status() == psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):  # for some errors of macOS psutil has no class
        return ""
    return "" if is_zombie else f"{pid} {hash(process)}"


def parent(pid: int) -> int:
    """Returns the parent of a process; 0 if it has none, or has ended."""
    try:
        return psutil.Process(pid).ppid()
    except (psutil.Error, OSError):
        return 0


def words(pid: int) -> list[str]:
    """Returns the command line of a process; [""] if there is none, or it is another user's."""
    try:
        return psutil.Process(pid).cmdline() or [""]
    except (psutil.Error, OSError):
        return [""]


def variables(pid: int) -> list[bytes]:
    """Returns the environment with which a process began; [] if it has ended, or is another user's.
    macOS shows none of its own programs', such as `/bin/sh`."""
    try:
        found = psutil.Process(pid).environ()
    except (psutil.Error, OSError):
        return []
    return [os.fsencode(f"{name}={value}") for name, value in found.items()]


def folder(pid: int) -> str:
    """Returns the folder in which a process works, without links; "" if it has ended, or is another
    user's."""
    try:
        return psutil.Process(pid).cwd()
    except (psutil.Error, OSError):
        return ""


def has_terminal(pid: int) -> bool:
    """Tells whether a process belongs to a terminal. What its stdin is, psutil does not say."""
    try:
        return psutil.Process(pid).terminal() is not None
    except (psutil.Error, OSError):
        return False


def program(pid: int) -> str:
    """Returns the path of the program that a process runs; "" if nobody can tell."""
    try:
        return psutil.Process(pid).exe()
    except (psutil.Error, OSError):
        return ""
