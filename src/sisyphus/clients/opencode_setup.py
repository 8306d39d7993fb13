"""How OpenCode is set up: what it loads itself, how much it can hold."""

from __future__ import annotations

from sisyphus.clients import claude_code_setup as claude

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

imported = claude.imported


def why_agents_is_native(space: Workspace) -> str:  # noqa: ARG001  # as all clients have it
    return "OpenCode loads it"


def compaction(space: Workspace) -> Json:  # noqa: ARG001
    """What it names is what can be used: its compaction is left out of that."""
    return {}


def capacity(
    model: str,  # noqa: ARG001
    tokens: int,  # noqa: ARG001
    known: Json,  # noqa: ARG001
    setting: int = 0,
    reported: int = 0,
) -> tuple[int, int]:
    return setting if setting >= claude.LEAST else reported or claude.SMALL, 0
