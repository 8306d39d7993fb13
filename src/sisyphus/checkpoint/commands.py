"""The slash commands about the context, answered where they are typed."""

from __future__ import annotations

import re

from sisyphus import bare_commands
from sisyphus.clients.base import Outcome
from sisyphus.errors import SisyphusError
from sisyphus.text import harmless, line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

_COMMAND = re.compile(r"\s*/(sisyphus:)?(ralph-context|ralph-checkpoint)(?:\s+(.*))?", re.DOTALL)
_FORECAST = "--forecast"


def answer(payload: Payload, space: Workspace) -> Outcome | None:
    """The answer to a prompt that is one of our commands; None for any other prompt."""
    typed = _COMMAND.fullmatch(payload.prompt)
    if typed is None:
        return None
    command, option = typed[2], (typed[3] or "").strip()
    if option not in ("", _FORECAST):
        return None
    if not typed[1] and bare_commands.is_foreign(command, space):
        return None
    try:
        text, note = _do(command, space, payload.session, forecast=bool(option))
    except SisyphusError as error:
        text, note = str(error), f"/{command} changed nothing: {error}"
    return Outcome(reason=harmless(text), notes=[line(note)])


def _do(command: str, space: Workspace, session: str, *, forecast: bool) -> tuple[str, str]:
    """What the user is told, and what the journal."""
    from sisyphus.checkpoint import gather
    from sisyphus.checkpoint.outlook import table

    if command == "ralph-context":
        text = table.view(gather.facts(space, session), forecast=forecast)
        return text, "answered /ralph-context"
    entry = gather.checkpoint_now(space, session)
    return made(entry), f"handoff {entry['handoff_file']} written"


def made(entry: Json) -> str:
    """What a person reads of a checkpoint that he asked for."""
    percent = entry.get("percent_at_checkpoint")
    rows = [
        f"Iteration: {entry['iteration']}" if entry.get("iteration") else "",
        f"Context: {percent}%" if percent else "",
        f"Handoff: {entry['handoff_file']}",
    ]
    known = "\n".join(row for row in rows if row)
    return f"Checkpoint written.\n{known}\nThe next session of this project goes on from it."
