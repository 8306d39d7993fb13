"""Whole processes, measured from outside: how long they took and how much memory they had."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import IO

_MACOS_COUNTS_BYTES = 1024 if sys.platform == "darwin" else 1


class Sample(NamedTuple):
    code: int
    milliseconds: float
    cpu_milliseconds: float
    peak_mb: float


class Stopwatch:
    """Runs commands in one environment and folder, one after the other."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("spawner.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=dict(environment),
        )
        self._orders = _piped(self._process.stdin)
        self._results = _piped(self._process.stdout)
        self.output = folder / "stdout"

    def __enter__(self) -> Stopwatch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._process.communicate()

    def run(self, command: Sequence[str], stdin: str = "/dev/null") -> Sample:
        """One process from start to end; its stdout is in `output`."""
        words = [stdin, str(self.output), *command]
        self._orders.write("\t".join(words) + "\n")
        self._orders.flush()
        code, nanoseconds, cpu, peak = map(int, self._results.readline().split())
        return Sample(code, nanoseconds / 1e6, cpu / 1e3, peak / 1024 / _MACOS_COUNTS_BYTES)


def _piped(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise AssertionError("a pipe was asked for")
    return stream
