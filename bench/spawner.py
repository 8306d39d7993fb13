"""Starts commands that it reads from stdin, one a line, and prints what each one cost.

Runs as `python -I -S` and imports next to nothing: a child's peak memory, as the kernel counts
it, begins with that of the process that started it, and this one must stay below them all.
"""

import posix
import sys
import time

FAILED = 127


def run(stdin: str, stdout: str, *command: str) -> str:
    """Exit code, nanoseconds from before the start to after the end, microseconds of CPU time,
    peak memory in KB (on macOS in bytes)."""
    actions = (
        (posix.POSIX_SPAWN_OPEN, 0, stdin, posix.O_RDONLY, 0),
        (posix.POSIX_SPAWN_OPEN, 1, stdout, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC, 0o600),
    )
    started = time.perf_counter_ns()
    child = posix.posix_spawn(command[0], command, posix.environ, file_actions=actions)
    _, status, usage = posix.wait4(child, 0)
    took = time.perf_counter_ns() - started
    code = posix.WEXITSTATUS(status) if posix.WIFEXITED(status) else FAILED
    cpu = round((usage.ru_utime + usage.ru_stime) * 1e6)
    return f"{code} {took} {cpu} {usage.ru_maxrss}"


for line in sys.stdin:
    print(run(*line.rstrip("\n").split("\t")), flush=True)
