"""Which Claude Code is installed, and what of our wiring that one understands."""

from __future__ import annotations

import os
import re
import subprocess

from sisyphus.clients.claude_code import BATCH, CLIENT_EVENTS
from sisyphus.clients.claude_code_setup import HOOKS, TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.programs import Programs

LEAST_BATCH_VERSION = (2, 1, 329)
"""The client in which PostToolBatch was measured: one event for all tool calls of an answer. Older
ones may have it, too; nobody looked, so they get an event a call."""

NAME = "claude"
PLACES = (NAME, "~/.claude/local/claude")
"""Where a shell finds it, and where its own installer puts it."""

SECONDS = 5.0
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")

Version = tuple[int, int, int]


def installed(programs: Programs) -> Version | None:
    """None where there is no client that says its version: it may be installed later."""
    ways = (programs.which(os.path.expanduser(place)) for place in PLACES)
    path = next(filter(None, ways), "")
    if not path:
        return None
    try:
        said = subprocess.run(  # noqa: S603  # the user's own client, by its whole path
            [path, "--version"], cwd=os.sep, env={**os.environ, "PATH": programs.path},
            stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return parse(said.stdout.decode("utf-8", "replace"))


def parse(text: str) -> Version | None:
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def has_batches(version: Version | None) -> bool:
    """An unknown one is taken for a new one."""
    return version is None or version >= LEAST_BATCH_VERSION


def hooks_for(version: Version | None, shipped: Json) -> Json:
    """Our `hooks.json` for this client: for an older one with an event a call instead of a batch,
    in its place."""
    if has_batches(version):
        return shipped
    hooks = {
        CLIENT_EVENTS["post-tool-use"] if event == BATCH else event: (
            [{"matcher": TOOLS, **group} for group in groups] if event == BATCH else groups
        )
        for event, groups in shipped[HOOKS].items()
    }
    return {**shipped, HOOKS: hooks}
