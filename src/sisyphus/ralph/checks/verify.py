"""Runs the command that must succeed before a promise counts. Nothing of it outlives the run."""

from __future__ import annotations

import os
import subprocess
import time

from sisyphus.ralph.checks import processes
from sisyphus.ralph.checks.caught import Caught
from sisyphus.ralph.checks.drain import Drain
from sisyphus.ralph.checks.last_lines import last_lines, plain
from sisyphus.ralph.checks.processes import ASK, FORCE, WAIT
from sisyphus.state import debug
from sisyphus.state.files import ensure_folder, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from signal import Signals
    from subprocess import Popen

MOST_SECONDS = 600
"""The client gives the whole hook 900."""

TAIL_CHARACTERS = 4_000
KEPT_CHARACTERS = 64_000

_LEFT_OVER = ((WAIT, 0.25), (ASK, 2.0), (FORCE, 2.0))
"""What still runs beside it may be about to end, such as the `tee` of `> >(tee log)`."""

_TOO_LONG = ((ASK, 2.0), (FORCE, 2.0))
_INTERRUPTED = ((ASK, 0.5), (FORCE, 0.5))
"""Claude Code 2.1.329 kills a hook about 1.5 s after it has asked it to end (measured)."""

_LONGEST_PAUSE = 0.05
_SIGNALLED = 128  # as shells say it: 137 = killed by signal 9

_FOR_HOOKS = (
    "CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR",
)  # fmt: skip
"""What the client tells a hook and not the model's shell. The command finds what it finds when the
model runs it: the tests of a plugin, say, are not led to ours."""


class Result:
    """How a command ended. `exit_code` is None where it did not end by itself, and where it was
    never run: `problem` says why, unless it was `timed_out`. Killed by signal N = 128 + N.
    `tail`: its last lines."""

    __slots__ = ("exit_code", "problem", "seconds", "tail", "timed_out")

    def __init__(self, exit_code: int | None = None, problem: str = "") -> None:
        self.exit_code = exit_code
        self.problem = problem
        self.timed_out = False
        self.seconds = 0.0
        self.tail = ""


def run(
    command: str, folder: str, seconds: float, keep: str = "", *, characters: int = TAIL_CHARACTERS
) -> Result:
    """Runs `command` by the system's shell in `folder`, for `seconds` at most; raises nothing.

    Its input is empty. Its output goes into `Result.tail`, at most `characters` of it, and more of
    it into the file `keep`. Where we are told to end meanwhile, it ends first.
    """
    if not os.path.isdir(folder):
        return Result(problem=f"there is no folder {folder}")
    with Caught() as signals:
        try:
            result, output = _run(command, folder, min(seconds, MOST_SECONDS), signals)
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or error
            return Result(problem=f"no process could be started: {reason}")
        text = plain(output)
        result.tail = last_lines(text, characters)
        _keep(keep, last_lines(text, KEPT_CHARACTERS))
    return result


def _run(command: str, folder: str, seconds: float, signals: list[Signals]) -> tuple[Result, bytes]:
    drain = Drain()
    try:
        process = subprocess.Popen(  # noqa: S602  # the user's own command
            command,
            shell=True,
            cwd=folder,
            env={name: v for name, v in os.environ.items() if name not in _FOR_HOOKS},
            stdin=subprocess.DEVNULL,
            stdout=drain.entrance,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    finally:
        os.close(drain.entrance)
    return _follow(process, seconds, signals), drain.end()


def _follow(process: Popen[bytes], seconds: float, signals: list[Signals]) -> Result:
    """Waits for the command and ends whatever is left of it."""
    started, pause = time.monotonic(), 0.001
    result = Result()
    while not (has_ended := _has_ended(process)) and not signals and result.seconds < seconds:
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
        result.seconds = time.monotonic() - started
    if signals:
        result.problem = f"interrupted by {signals[0].name}"
        processes.end(process.pid, _INTERRUPTED)
    else:
        result.timed_out = not has_ended
        processes.end(process.pid, _LEFT_OVER if has_ended else _TOO_LONG)
    code = process.poll()
    if code is not None and has_ended:
        result.exit_code = code if code >= 0 else _SIGNALLED - code
    return result


def _has_ended(process: Popen[bytes]) -> bool:
    """Does not reap it if possible: its number stays its own until its family has ended too."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _keep(path: str, text: str) -> None:
    if not path:
        return
    try:
        ensure_folder(os.path.dirname(path))
        write_text(path, text + "\n" if text else "")
    except OSError as error:
        debug.log(f"the output of a --verify command is not kept: {error}")
