"""The words that start the client. Pure."""

from __future__ import annotations

import os

from sisyphus.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OURS = {
    "--print": "the client is run without a terminal anyhow",
    "--output-format": "the client's own report of its work is read as `stream-json`",
    "--input-format": "the prompt is given as text",
    "--session-id": "every iteration is a session of its own",
    "--resume": "every iteration starts with an empty context",
    "--continue": "every iteration starts with an empty context",
    "--from-pr": "every iteration starts with an empty context",
    "--fork-session": "every iteration starts with an empty context",
    "--no-session-persistence": "the hooks read the session's transcript",
    "--bg": "an iteration ends when the client ends",
    "--background": "an iteration ends when the client ends",
    "--worktree": "the work is done in the project itself",
    "--tmux": "the client is run without a terminal anyhow",
    "--cloud": "the client has to work on this machine",
    "--desktop": "the client has to work without a window",
    "--help": "the client would do no work",
    "--version": "the client would do no work",
    "--": "the prompt comes from PROMPT.md",
}
_SHORT = {
    "-p": "--print", "-r": "--resume", "-c": "--continue", "-h": "--help", "-v": "--version",
    "-w": "--worktree",
}  # fmt: skip


def client_argv(program: str, session_id: str, flags: Sequence[str] = ()) -> list[str]:
    """Runs the client on the prompt that its input holds. `flags`: the user's own for it.

    Raises `SisyphusError` for one that takes from the run what it stands on.
    """
    for flag in flags:
        name = flag.partition("=")[0]
        reason = _OURS.get(_SHORT.get(name[:2], name) if name[:2] in _SHORT else name)
        if reason:
            raise SisyphusError(
                f"the client's flag {name} cannot be given: {reason}. Leave it out."
            )
    report = ["-p", "--output-format", "stream-json", "--verbose"]
    return [program, *report, "--session-id", session_id, *flags]


def custom_argv(command: str, system: str = os.name) -> list[str]:
    """Runs a command line of the user's by the system's shell."""
    if system == "nt":
        return [os.environ.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c", command]
    return ["/bin/sh", "-c", command]
