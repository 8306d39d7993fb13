"""Runs the user's own command (the setting `notify.command`) when something needs them or ends.

The command runs in a process of its own, so a hook never waits for it. What happened arrives as
variables and as JSON on its stdin. None of it becomes part of the command line.
"""

from __future__ import annotations

import json
import sys

from sisyphus import clients
from sisyphus.ground import log, paths, processes
from sisyphus.ground.masking import mask
from sisyphus.ground.processes import CommandResult
from sisyphus.ground.record import Record, asdict
from sisyphus.ground.text import one_line

SECONDS = 10
"""How long the command and its children may run."""

_TITLE, _TEXT = 200, 1_000
"""The longest title and text, in characters."""


class Notice(Record):
    """What happened.

    kind: one word for programs. title: for people, without a word of the project or the model.
    text: the same in a sentence. project: its root. session, loop: their ids; "" = none.
    iteration: of the loop; 0 = none.
    """

    kind: str
    title: str
    text: str
    project: str
    session: str = ""
    loop: str = ""
    iteration: int = 0


def send(command: str, notice: Notice) -> None:
    """Starts the command, and waits for nothing. Raises `OSError`."""
    request = {"command": command, "notice": asdict(notice)}
    processes.start("sisyphus.sessions.notify", request, clients.environment())


def run(command: str, notice: Notice, seconds: float = SECONDS) -> CommandResult:
    """Runs the command in the user's home, and waits for it and its children, at most `seconds`.
    Raises `OSError` if it cannot be started."""
    values = asdict(notice)
    values["title"] = one_line(mask(notice.title), _TITLE)
    values["text"] = one_line(mask(notice.text), _TEXT)
    variables = {f"SISYPHUS_{name.upper()}": str(value or "") for name, value in values.items()}
    return processes.run(
        command,
        paths.user_home() or "/",
        seconds,
        {**clients.environment(), **variables},
        tail=10_000,
        stdin=json.dumps(values).encode() + b"\n",
        with_children=True,
    )


def run_and_log(command: str, notice: Notice) -> None:
    """Does the same for a process that nobody watches: the log says if it failed."""
    try:
        done = run(command, notice)
    except OSError as error:
        log.write(f"notify.command could not be run: {error}")
        return
    if done.code:
        how = f"was killed after {SECONDS} s" if done.has_timed_out else f"exited {done.code}"
        last = one_line(done.output.strip().rpartition("\n")[2])
        log.write(f"notify.command {how}: {last}" if last else f"notify.command {how}")


if __name__ == "__main__":
    request = json.load(sys.stdin)
    run_and_log(request["command"], Notice(**request["notice"]))
