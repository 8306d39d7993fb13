"""Runs a program for what it prints, within a budget. Nothing of it outlives the call."""

from __future__ import annotations

import os
import time

from sisyphus.ralph.tree.bounds import TooMuchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ralph.tree.bounds import Budget

OUTPUT_BYTES = 64_000_000

_CHUNK = 1 << 20
_SIGKILL = 9  # the module `signal` costs a millisecond
_LAST_WAIT = 0.2
_PAUSE = 0.0005


def output(command: list[str], environment: dict[str, str], budget: Budget) -> bytes:
    """What `command`, whose first word is a full path, prints. It reads nothing; errors are lost.

    Raises `OSError` where it cannot be started or fails, and `TooMuchError` where it takes too
    long or prints more than `OUTPUT_BYTES`; then it is ended, and with it what it started.
    """
    run = spawned if hasattr(os, "posix_spawn") else by_subprocess
    return run(command, environment, budget)


def spawned(command: list[str], environment: dict[str, str], budget: Budget) -> bytes:
    """`output` without `subprocess`, whose import costs half of what git does."""
    drain, entrance = os.pipe()
    try:
        pid = _start(command, environment, entrance)
        try:
            printed = _read(drain, budget)
            code = _wait(pid, budget.deadline)
        except BaseException:
            _end(pid)
            raise
    finally:
        os.close(drain)
    if code != 0:
        raise OSError(f"{command[0]} ended with {code}")
    return printed


def _start(command: list[str], environment: dict[str, str], entrance: int) -> int:
    """Its process id, which is that of its process group too."""
    nothing = os.devnull
    try:
        return os.posix_spawn(
            command[0],
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, nothing, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, entrance, 1),
                (os.POSIX_SPAWN_OPEN, 2, nothing, os.O_WRONLY, 0),
            ],
            setpgroup=0,
        )
    finally:
        os.close(entrance)


def _read(drain: int, budget: Budget) -> bytes:
    import select

    chunks: list[bytes] = []
    size = 0
    while True:
        left = max(budget.deadline - time.monotonic(), 0)
        if not select.select([drain], [], [], left)[0]:
            budget.check()
            continue
        chunk = os.read(drain, _CHUNK)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
        if size > OUTPUT_BYTES:
            raise TooMuchError(f"it printed more than {OUTPUT_BYTES:,} bytes")


def _wait(pid: int, deadline: float) -> int:
    """Its exit code. It has closed its output, but need not end for that."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= deadline:
            raise TooMuchError("it did not end")
        time.sleep(_PAUSE)


def _end(pid: int) -> None:
    """Ends the process group. What hangs in the kernel is not waited for."""
    try:
        os.killpg(pid, _SIGKILL)
        _wait(pid, time.monotonic() + _LAST_WAIT)
    except (OSError, TooMuchError):
        return


def by_subprocess(command: list[str], environment: dict[str, str], budget: Budget) -> bytes:
    """`output` where there is no `posix_spawn`: on Windows, where git starts no children."""
    import subprocess

    try:
        return subprocess.run(  # noqa: S603  # the path was found by us
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=max(budget.deadline - time.monotonic(), 0),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            check=True,
        ).stdout
    except subprocess.TimeoutExpired as error:
        raise TooMuchError("it did not end") from error
    except subprocess.CalledProcessError as error:
        raise OSError(f"{command[0]} ended with {error.returncode}") from error
