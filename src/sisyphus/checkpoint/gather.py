"""What people are shown of a session's context."""

from __future__ import annotations

from sisyphus.checkpoint import in_run, make, survey
from sisyphus.checkpoint.outlook import complexity
from sisyphus.checkpoint.outlook.table import ContextFacts
from sisyphus.checkpoint.size import fullness, levels
from sisyphus.errors import SisyphusError
from sisyphus.session.transcripts import transcript_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.checkpoint.paper.situation import Situation
    from sisyphus.checkpoint.size.fullness import Fullness
    from sisyphus.workspace import Workspace

NO_SESSION = "no session is known here: name one with --session-id, or run this in one"
NO_TRANSCRIPT = "the client has written no transcript of this session yet"
NO_ANSWER = "the model has not answered yet, or not since the last compaction"


def facts(space: Workspace, session: str) -> ContextFacts:
    """What is known of the session's context; of an unknown one why that is nothing."""
    found = ContextFacts(session)
    path = transcript_path(space.home, session)
    if not path:
        found.why_nothing = NO_TRANSCRIPT if session else NO_SESSION
        return found
    full = fullness.look(space, session, path)
    situation = survey.survey(space, session, path)
    _add_item(found, situation, in_run.read_state(space.root))
    if full.tokens:
        add_size(found, full)
        found.points = situation.work.points
    else:
        found.why_nothing = NO_ANSWER
    return found


def add_size(found: ContextFacts, full: Fullness) -> None:
    found.percent = int(full.percent)
    found.level = levels.name(full.level)
    found.tokens, found.window = full.tokens, full.window
    limits = full.thresholds
    found.l1, found.l2, found.l3 = int(limits.l1), int(limits.l2), int(limits.l3)
    found.l2_tokens = int(limits.l2 * full.window / 100)


def _add_item(found: ContextFacts, situation: Situation, run: Json) -> None:
    from sisyphus.checkpoint.paper.facts import current_item

    found.item = current_item(situation)
    history, costs = run.get("context_history"), run.get("item_costs")
    found.history = [row for row in _list(history) if isinstance(row, dict)]
    found.costs = [cost for row in _list(costs) if (cost := _cost(row))]
    if found.item:
        found.estimate = complexity.refine(complexity.estimate(found.item), found.costs)


def checkpoint_now(space: Workspace, session: str) -> Json:
    """A checkpoint because somebody asked for it; raises `SisyphusError`."""
    path = transcript_path(space.home, session)
    if not path:
        raise SisyphusError(f"{NO_TRANSCRIPT if session else NO_SESSION}.")
    full = fullness.look(space, session, path)
    percent = int(full.percent) if full.tokens else None
    fill = make.Fill("", percent, full.tokens, full.window)
    return {**make.hand_over(space, session, path, occasion=make.ASKED, fill=fill)}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _cost(row: object) -> tuple[str, float] | None:
    if not isinstance(row, dict):
        return None
    name, percent = row.get("complexity"), row.get("percent")
    if isinstance(name, str) and isinstance(percent, (int, float)):
        return name, float(percent)
    return None
