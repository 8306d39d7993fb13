"""The supported clients, one folder each, all with the same modules (see `base.py`). To add a
client, add its folder and its name here.
"""

from __future__ import annotations

import os
import sys

from sisyphus.ground.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.clients.base import (
        Checkup,
        Headless,
        Native,
        Payload,
        Running,
        Transcript,
        Trial,
        Usage,
        Wiring,
    )

CLAUDE_CODE, OPENCODE, CODEX, QWEN = "claude-code", "opencode", "codex", "qwen"
NAMES = (CLAUDE_CODE, OPENCODE, CODEX, QWEN)
DEFAULT = CLAUDE_CODE
HEADLESS = (CLAUDE_CODE, CODEX)
"""Those that can be run without a terminal."""

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
    modules = [running(name) for name in NAMES]
    homes = {module.HOME_VARIABLE for module in modules}
    left_out = ("SISYPHUS_", *(start for module in modules for start in module.VARIABLES))
    return {
        name: value
        for name, value in os.environ.items()
        if name in homes or not name.startswith(left_out)
    }


def payload(client: str) -> Payload:
    """Returns the module that reads a client's payloads and writes its replies."""
    module: Payload = _module(client, "payload")
    return module


def usage(client: str) -> Usage:
    """Returns the module that knows how full a session's context is."""
    module: Usage = _module(client, "usage")
    return module


def native(client: str) -> Native:
    """Returns the module that knows which files a client loads without us."""
    module: Native = _module(client, "native")
    return module


def plan_folders(home: str, project: str) -> list[str]:
    """Returns the folders in which clients write the plans of their plan modes."""
    folders = (native(name).plans_folder(home, project) for name in NAMES)
    return [folder for folder in folders if folder]


def transcript_folders(our_home: str) -> list[str]:
    """Returns the folders in which we write down the sessions of clients that do not. A file's name
    begins with the session's id and a dot."""
    return [f"{our_home}/{OPENCODE}"]


def running(client: str) -> Running:
    """Returns the module that asks a running client what it does."""
    module: Running = _module(client, "running")
    return module


def transcript(client: str) -> Transcript:
    """Returns the module that reads a client's transcripts."""
    module: Transcript = _module(client, "transcript")
    return module


def wiring(client: str) -> Wiring:
    """Returns the module that puts us into a client's folders."""
    module: Wiring = _module(client, "wiring")
    return module


def checkup(client: str) -> Checkup:
    """Returns the module that looks at a client's wiring."""
    module: Checkup = _module(client, "checkup")
    return module


def trial(client: str) -> Trial:
    """Returns the module that tries a client's wiring."""
    module: Trial = _module(client, "trial")
    return module


def headless(client: str = DEFAULT) -> Headless:
    """Returns the module that runs a client without a terminal."""
    module: Headless = _module(client, "headless")
    return module


def _module(client: str, name: str) -> Any:
    path = f"sisyphus.clients.{client.replace('-', '_')}.{name}"
    __import__(path)  # `importlib` would load more than a quiet hook may
    return sys.modules[path]
