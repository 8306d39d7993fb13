"""A few modules a client: a quick one for its hooks (`base.Client`), NAME_files for what it writes
down (`Files`), NAME_setup for what it loads and can hold (`Setup`), and NAME_run where runs can
start it (`running.Program`)."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Protocol

    from sisyphus._types import Json
    from sisyphus.clients.base import Client
    from sisyphus.clients.running import Program
    from sisyphus.transcript import Call, Record
    from sisyphus.workspace import Workspace

    class Files(Protocol):
        """What a client writes down of its sessions.

        `home` is Claude Code's own folder, in which ours lies.
        """

        MARKS: dict[str, tuple[bytes, ...]]

        def read_record(self, line: bytes) -> Record | None:
            """What a line of a transcript tells; None where it tells nothing. Raises nothing."""

        def call(self, name: str, tool: str, given: object) -> Call:
            """A tool call, named as its result will name it."""

        def is_bulk(self, line: bytes) -> bool:
            """Whether a line holds but what a tool has read or found, which may be megabytes."""

        def uuid_mark(self, uuid: str) -> bytes:
            """What every copy of the line holds that has this uuid."""

        def command_mark(self, name: str) -> bytes:
            """What the line holds in which the user typed this command."""

        def transcript_path(self, home: str, session: str) -> str:
            """Of this session; "" where there is none."""

        def transcripts(self, home: str) -> Iterator[os.DirEntry[str]]:
            """The transcripts of all sessions."""

        def subagents(self, path: str) -> Iterator[tuple[str, str]]:
            """Name and path of the transcripts of a session's subagents."""

        def resume_command(self, session: str) -> str:
            """What goes on with the session in a terminal."""

    class Setup(Protocol):
        """How a client is set up, and what of a project it loads itself."""

        def why_agents_is_native(self, space: Workspace) -> str:
            """The reason why it loads AGENTS.md by itself; "" where it does not."""

        def imported(self, space: Workspace) -> frozenset[str]:
            """The real paths of what it loads at the start, and of what that imports."""

        def compaction(self, space: Workspace) -> Json:
            """What its settings say of its compaction, as `capacity` needs to know it."""

        def capacity(
            self, model: str, tokens: int, known: Json, setting: int = 0, reported: int = 0
        ) -> tuple[int, int]:
            """How many tokens of a context can be used, and at how many the client compacts by
            itself, or goes on no more; 0 = at none.

            `tokens`: what is in it; `setting`: the window that the user named, `reported`: that the
            client did; 0 = none.
            """


CLAUDE, OPENCODE = "claude", "opencode"
MODULES = {OPENCODE: "opencode", CLAUDE: "claude_code"}
"""What `--client` names -> its module here. Those whose transcripts lie with us come first."""

DEFAULT = CLAUDE
_OF_OPENCODE = os.path.join("", ".sisyphus", OPENCODE, "")


def client_named(name: str) -> Client:
    """The client's module; of a name that nobody knows, Claude Code's, whose contract others
    speak."""
    found: Client = _module(name, "")
    return found


def all_clients() -> list[Client]:
    return [client_named(name) for name in MODULES]


def files(name: str) -> Files:
    """What a client writes down."""
    found: Files = _module(name, "_files")
    return found


def setup(name: str) -> Setup:
    """What a client loads and can hold."""
    found: Setup = _module(name, "_setup")
    return found


def program() -> Program:
    """The client that a fresh-context run starts."""
    found: Program = _module(DEFAULT, "_run")
    return found


def files_of(transcript: str) -> Files:
    """That of the client whose session is written down there."""
    return files(OPENCODE if _OF_OPENCODE in transcript else CLAUDE)


def all_files() -> list[Files]:
    return [files(name) for name in MODULES]


def _module(name: str, end: str) -> Any:
    module = f"{__name__}.{MODULES.get(name, MODULES[DEFAULT])}{end}"
    __import__(module)  # importlib would bring `warnings` along
    return sys.modules[module]
