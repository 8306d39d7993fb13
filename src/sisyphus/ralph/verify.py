"""Runs the command that must succeed before a promise counts. Nothing of it outlives the run."""

from __future__ import annotations

import os

from sisyphus import processes
from sisyphus.clients.claude_code import HOOK_VARIABLES
from sisyphus.processes import last_lines, plain
from sisyphus.state import debug
from sisyphus.state.files import ensure_folder, write_text

MOST_SECONDS = 600
"""The client gives the whole hook 900."""

TAIL_CHARACTERS = 4_000
KEPT_CHARACTERS = 64_000


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

    Its output goes into `Result.tail`, at most `characters` of it, and more of it into the file
    `keep`.
    """
    if not os.path.isdir(folder):
        return Result(problem=f"there is no folder {folder}")
    # It finds what it finds when the model runs it: a plugin's tests, say, are not led to ours.
    environment = {name: v for name, v in os.environ.items() if name not in HOOK_VARIABLES}
    try:
        ended = processes.run(command, folder, min(seconds, MOST_SECONDS), environment)
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        return Result(problem=f"no process could be started: {reason}")
    stopped = ended.interrupted_by
    result = Result(ended.code, f"interrupted by {stopped}" if stopped else "")
    result.timed_out = ended.code is None and not stopped
    result.seconds = ended.seconds
    text = plain(ended.output)
    result.tail = last_lines(text, characters)
    _keep(keep, last_lines(text, KEPT_CHARACTERS))
    return result


def _keep(path: str, text: str) -> None:
    if not path:
        return
    try:
        ensure_folder(os.path.dirname(path))
        write_text(path, text + "\n" if text else "")
    except OSError as error:
        debug.log(f"the output of a --verify command is not kept: {error}")
