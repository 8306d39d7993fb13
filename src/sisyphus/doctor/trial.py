"""Commands that are tried: with a time limit, nothing on stdin but what is given, and a folder of
the client's own that is gone afterwards."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from statistics import median

from sisyphus.doctor.pipes import heard

SECONDS = 5.0
"""For one process: a `node` that is read from a cold disk takes two."""

HOOK_SECONDS = 10.0
"""So long the client waits for most of our hooks."""

_TURNS = 5
_XDG = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
_OF_A_SESSION = ("CLAUDE", "SISYPHUS")


@dataclass(frozen=True)
class Tried:
    """`code`: None where it did not end in time, or could not be started."""

    code: int | None
    output: str = ""
    error: str = ""


class Trials:
    """How commands are run on this machine. `path`: the PATH for them; "" = as it is."""

    def __init__(self, path: str = "") -> None:
        self._path = path

    def run(
        self,
        words: list[str],
        stdin: str = "",
        environment: dict[str, str] | None = None,
        folder: str = os.sep,
        seconds: float = SECONDS,
    ) -> Tried:
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(  # noqa: S603  # programs that the user wired or installed
                words, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder,
                env=self._led(environment, folder),
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return Tried(None, error=error.strerror or str(error))
        with process:
            try:
                output, told = heard(process, stdin.encode(), seconds)
            except subprocess.TimeoutExpired:
                _end(process)
                return Tried(None, error=f"it did not end within {seconds:g} s")
            except BaseException:
                _end(process)
                raise
        return Tried(process.returncode, _text(output), _text(told))

    def version(self, program: str) -> Tried:
        """What `--version` says. OpenCode makes its folders for that: they go with ours, unless a
        version manager in front of it finds nothing then. It is not asked in the project, whose
        files may tell it what to start."""
        with tempfile.TemporaryDirectory(prefix="sisyphus-doctor-") as home:
            elsewhere = {**environment(home), **dict.fromkeys(_XDG, home)}
            tried = self.run([program, "--version"], "", elsewhere, home)
        return tried if tried.code == 0 else self.run([program, "--version"])

    def _led(self, environment: dict[str, str] | None, folder: str) -> dict[str, str]:
        """By our PATH, and not by the folder where we are."""
        led = os.environ if environment is None else environment
        return {**led, "PATH": self._path or led.get("PATH", os.defpath), "PWD": folder}

    def as_hook(self, command: str, stdin: str, home: str) -> Tried:
        """Runs a command as the client does, with `home` in the place of its own folder."""
        return self.run(["/bin/sh", "-c", command], stdin, environment(home), home, HOOK_SECONDS)

    def milliseconds(self, command: str, stdin: str = "") -> float | None:
        """The median of a few runs through `/bin/sh -c`; None where it fails."""
        with tempfile.TemporaryDirectory(prefix="sisyphus-doctor-") as home:
            if self.as_hook(command, stdin, home).code != 0:
                return None
            return median(self._timed(command, stdin, home) for _ in range(_TURNS))

    def bare_milliseconds(self) -> float | None:
        """The same for a Python that does nothing."""
        return self.milliseconds(f"{shlex.quote(sys.executable)} -I -c pass")

    def _timed(self, command: str, stdin: str, home: str) -> float:
        started = time.perf_counter()
        self.as_hook(command, stdin, home)
        return (time.perf_counter() - started) * 1_000


def _end(process: subprocess.Popen[bytes]) -> None:
    """With whatever it has started: that may hold its output, where itself is gone already."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):  # Windows has no groups
        process.kill()


def environment(home: str) -> dict[str, str]:
    """Ours, but for what belongs to a session. HOME stays: version managers and Python's own
    `--user` packages are found by it."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_OF_A_SESSION)}
    return {**kept, "CLAUDE_CONFIG_DIR": home}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
