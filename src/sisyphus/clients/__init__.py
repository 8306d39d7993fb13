"""The supported clients, one folder each, all with the same modules (see `base.py`). To add a
client, add its folder and its name here.
"""

from __future__ import annotations

import os
import sys

from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.partial import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sisyphus.clients.base import Headless, Native, Payload, Transcript, Trial, Wiring

CLAUDE_CODE, OPENCODE, CODEX, QWEN = "claude-code", "opencode", "codex", "qwen"
COPILOT = "copilot"
NAMES = (CLAUDE_CODE, OPENCODE, CODEX, QWEN, COPILOT)
DEFAULT = CLAUDE_CODE
HEADLESS = (CLAUDE_CODE, CODEX, COPILOT)
"""Those that a run can start."""

WHY_NO_RUN = {
    OPENCODE: (
        "when an account's limit is reached, `opencode run` asks again and again and prints "
        "nothing, so a run could not tell a limit from work"
    ),
}
"""Why another one cannot, if it has a mode without a terminal, in a clause. Measured with OpenCode
1.18.33."""

COMMAND_MARK = "\nauthor: sisyphus\n"
"""The line of frontmatter by which we know a slash command's file as ours."""

_OPENCODE_IDS = "ses_"
"""How OpenCode's ids of sessions start."""


def option(words: list[str]) -> str:
    """Returns NAME of the words `--client NAME` or `--client=NAME`, the default if they are
    missing. Raises `SisyphusError` if we do not support the client."""
    name = DEFAULT
    for number, word in enumerate(words):
        if word == "--client":
            name = "".join(words[number + 1 : number + 2])
        elif word.startswith("--client="):
            name = word.removeprefix("--client=")
    if name not in NAMES:
        raise SisyphusError(f"unknown client {name!r}; there are {', '.join(NAMES)}")
    return name


def of_id(session: str) -> str:
    """Returns the client whose id of a session this is."""
    if session.startswith(_OPENCODE_IDS):
        return OPENCODE
    return CODEX if _is_codex_id(session[:15]) else CLAUDE_CODE


def _is_codex_id(start: str) -> bool:
    """Tells whether an id that starts so is a UUID of version 7, as Codex's are. Claude Code's are
    of version 4. Without a regex: a quiet hook loads no `re`."""
    digits = start[:8] + start[9:13]
    return start[8:9] + start[13:] == "--7" and set(digits) <= set("0123456789abcdef")


def current_session() -> tuple[str, str]:
    """Returns the id of the session that this process runs in, and the client's process as
    "PID START"; each "" if unknown."""
    for name in NAMES:
        session, process = payload(name).current_session()
        if session or process:
            return session, process
    return "", ""


def environment() -> dict[str, str]:
    """Returns our environment without what clients set for their own children, and without our own
    variables."""
    modules = [payload(name) for name in NAMES]
    homes = {module.HOME_VARIABLE for module in modules}
    left_out = ("SISYPHUS_", *(start for module in modules for start in module.VARIABLES))
    return {
        name: value
        for name, value in os.environ.items()
        if name in homes or not name.startswith(left_out)
    }


def usage(client: str, transcript: str) -> tuple[int, int]:
    """Returns how many tokens the last answer of a session had in its context, and how many fit;
    (0, 0) if nothing was answered since the context was emptied, or the last answer is too far from
    the end. On the quick path: each client has a module that reads this alone."""
    found: tuple[int, int] = _module("usage", client).read(transcript)
    return found


def plan_folders(home: str, project: str) -> list[str]:
    """Returns the folders in which clients write the plans of their plan modes."""
    folders = (native(name).plans_folder(home, project) for name in NAMES)
    return [folder for folder in folders if folder]


def rules_left_out(client: str, home: str, project: str) -> list[str]:
    """Returns the globs (of absolute paths) of rules that a client's settings leave out."""
    settings = native(client).rules_left_out(home, project)
    return [glob for globs in settings.values() for glob in globs]


def transcript_folders(our_home: str) -> list[str]:
    """Returns the folders in which we write down the sessions of clients that do not. A file's name
    begins with the session's id and a dot."""
    return [f"{our_home}/{OPENCODE}"]


def _module(name: str, client: str) -> Any:
    path = f"sisyphus.clients.{client.replace('-', '_')}.{name}"
    __import__(path)  # `importlib` would load more than a quiet hook may
    return sys.modules[path]


payload: Callable[[str], Payload] = partial(_module, "payload")
"""Returns the module that reads a client's payloads and writes its replies."""

native: Callable[[str], Native] = partial(_module, "native")
"""Returns the module that knows which files a client loads without us."""

transcript: Callable[[str], Transcript] = partial(_module, "transcript")
"""Returns the module that reads a client's transcripts."""

wiring: Callable[[str], Wiring] = partial(_module, "wiring")
"""Returns the module that puts us into a client's folders, and looks how we are there."""

trial: Callable[[str], Trial] = partial(_module, "trial")
"""Returns the module that tries a client's wiring."""


def headless(client: str = DEFAULT) -> Headless:
    """Returns the module that runs a client without a terminal."""
    module: Headless = _module("headless", client)
    return module
