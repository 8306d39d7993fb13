"""What the user asked for in a record of the transcript. Pure."""

from __future__ import annotations

from sisyphus.bare_commands import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.transcript import Command, Record

_CHARACTERS = 20_000
_OURS = ("sisyphus:", "ralph-wiggum:", "ralph-wiggum-pro:", "ralph-loop:")
_BARE = NAMES - {"start-work"}
"""Whose `/start-work` it was is not recorded; somebody else's is work that was asked for."""


def asked(record: Record) -> str:
    """The user's own words; of a typed command what it asks for; "" for everything else."""
    if record.is_compaction or not record.is_prompt:
        return ""
    if record.command:
        return _command(record.command)
    return "\n".join(record.typed).strip()[:_CHARACTERS]


def _command(typed: Command) -> str:
    name, arguments = typed.name, typed.arguments.strip()[:_CHARACTERS]
    if name.startswith(_OURS) or name in _BARE:
        return _loop_prompt(arguments) if name.endswith("ralph-loop") else ""
    return "" if typed.is_clients or not name else f"/{name} {arguments}".rstrip()


def _loop_prompt(arguments: str) -> str:
    from sisyphus.errors import SisyphusError
    from sisyphus.ralph.arguments import parse

    try:
        return parse(arguments).prompt
    except SisyphusError:
        return arguments
