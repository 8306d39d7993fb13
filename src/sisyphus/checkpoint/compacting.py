"""What is done ahead of a compaction."""

from __future__ import annotations

from sisyphus.checkpoint import make, survey, texts, watch
from sisyphus.checkpoint.size import fullness
from sisyphus.clients.base import Outcome
from sisyphus.errors import SisyphusError
from sisyphus.text import line, one_line
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint, Json
    from sisyphus.checkpoint.paper.situation import Situation
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

PROMPT_CHARACTERS = 4_000
"""Of a loop's prompt: the client cuts what it adds to its instructions at 10,000 characters."""


def compact(payload: Payload, space: Workspace) -> Outcome | None:
    """Writes a handoff, if there is any work, and says what the summary should keep."""
    found = survey.survey(space, payload.session, payload.transcript)
    if not (found.work.tool_calls or found.loop or found.plan):
        return None
    fill = watch.fill_of(fullness.look(space, payload.session, payload.transcript))
    entry, note = _write(space, found, fill)
    outcome = Outcome(notes=[note])
    outcome.keep = texts.keep(found.plan, entry, _prompt(found.loop))
    return outcome


def _write(space: Workspace, found: Situation, fill: make.Fill) -> tuple[Checkpoint, str]:
    """The checkpoint, {} where none can be written, and what the journal says."""
    is_in_run = run_id() != ""
    try:
        entry = make.write(space, found, occasion=make.COMPACTION, fill=fill, is_in_run=is_in_run)
    except (OSError, SisyphusError) as error:
        space.log(f"checkpoint: no handoff: {error}")
        return {}, f"no handoff could be written: {error}"
    return entry, f"handoff {line(entry.get('handoff_file', ''))} written"


def _prompt(loop: Json | None) -> str:
    told = str(loop.get("prompt") or loop.get("description") or "") if loop else ""
    return one_line(told, PROMPT_CHARACTERS)
