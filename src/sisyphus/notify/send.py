"""Tells the user's own command what happened, and waits for nothing.

The command is run by a process of its own (`sisyphus notify run`), which survives us: neither a
hook nor a run is delayed by a command that hangs, and the client's pipes are not held open by it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen

    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

CHECKPOINT, PAUSE, COMPLETION, FAILURE = "checkpoint", "pause", "completion", "failure"
EVENTS = (CHECKPOINT, PAUSE, COMPLETION, FAILURE)

_MOST_BYTES = 16_000
"""A pipe holds that much everywhere (macOS: 16 KB), so that writing never waits for a reader."""

_started: list[Popen[bytes]] = []


def send(space: Workspace, event: str, **facts: object) -> None:
    """Starts the command of the setting `notify.command` with one JSON object on its stdin.

    `event`: checkpoint, pause, completion or failure. `facts`: session_id, loop_id, iteration,
    task, level, percent, handoff_file, reason; those that are absent are null. Nothing is waited
    for, and nothing is raised: what fails is told in the debug log.
    """
    if not space.settings.get("notify.command"):
        return
    from sisyphus.notify.words import message

    try:
        _start(space.ours, message(event, space.root, space.now, facts))
    except Exception as error:  # noqa: BLE001  # nobody is stopped by a notifier
        space.log(f"notify: {event}: {type(error).__name__}: {error}")


def _start(ours: str, told: Json) -> None:
    import json

    from sisyphus.state.files import ensure_folder

    data = json.dumps(told, ensure_ascii=False).encode()
    if len(data) > _MOST_BYTES:
        raise ValueError(f"a message of {len(data):,} bytes")
    ensure_folder(ours)
    process = _begin(ours)
    _started[:] = [*(one for one in _started if one.poll() is None), process]
    if process.stdin:
        process.stdin.write(data)
        process.stdin.close()


def _begin(ours: str) -> Popen[bytes]:
    """Ourselves, in a session of our own; -P: nothing that lies in the folder is imported."""
    import subprocess
    import sys

    from sisyphus.notify.environment import for_commands

    return subprocess.Popen(
        [sys.executable, "-P", "-m", "sisyphus", "notify", "run"],
        cwd=ours,
        env=for_commands(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
