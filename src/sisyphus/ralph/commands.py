"""The slash commands about loops, answered where they are typed: no model request is spent."""

from __future__ import annotations

import re

from sisyphus import bare_commands
from sisyphus.clients.base import Outcome
from sisyphus.errors import SisyphusError
from sisyphus.ralph import actions, help_text, store
from sisyphus.ralph.invocations import PLUGINS
from sisyphus.text import line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

CANCEL, RESUME = "cancel-ralph", "ralph-resume"
USER = "the user"

_COMMAND = re.compile(
    rf"\s*/(?:({'|'.join(PLUGINS)}):)?"
    r"(cancel-ralph|list-ralph-loops|ralph-(?:stats|help|status|pause|resume))(?:\s+(.*))?",
    re.DOTALL,
)


def answer(payload: Payload, space: Workspace) -> Outcome | None:
    """The answer to a prompt that is one of our commands; None for any other prompt."""
    typed = _COMMAND.fullmatch(payload.prompt)
    if typed is None:
        return None
    plugin, command, more = typed[1] or "sisyphus", typed[2], (typed[3] or "").strip()
    is_sentence = more and command != RESUME  # that begins with the command's name
    if is_sentence or (not typed[1] and bare_commands.is_foreign(command, space)):
        return None
    if plugin != "sisyphus":
        return _cancel_with_another(command, space, payload.session)
    try:
        text, note = _do(command, space, payload.session)
    except SisyphusError as error:
        return Outcome(reason=str(error), notes=[line(f"/{command} changed nothing: {error}")])
    if command == RESUME:  # it goes on to the model: there is work to do
        return Outcome(messages=[text], notes=[note])
    return Outcome(reason=text, notes=[note])


def _cancel_with_another(command: str, space: Workspace, session: str) -> Outcome | None:
    """Another plugin's loop is held by us as well; its own command runs on to end it there."""
    if command != CANCEL:
        return None
    try:
        _, note = _change(CANCEL, space, session)
    except SisyphusError as error:
        if not store.has_loop(space.ours, session):
            return None
        return Outcome(messages=[f"The loop of sisyphus was not cancelled: {error}"])
    return Outcome(notes=[f"{note}, by another plugin's command"])


def _do(command: str, space: Workspace, session: str) -> tuple[str, str]:
    """What the user is told, and what the journal."""
    if command in _CHANGES:
        return _change(command, space, session)
    return _show(command, space, session), f"answered /{command}"


def _change(command: str, space: Workspace, session: str) -> tuple[str, str]:
    """A loop that began unseen by any hook is not found in the transcript after a `CANCEL`."""
    done, change = _CHANGES[command]
    if command == CANCEL and not store.has_loop(space.ours, session):
        actions.bury(space.ours, session, now=space.now)
    rows = change(space.ours, session, now=space.now, by=USER)
    loops = ", ".join(row["loop_id"] for row in rows)
    return actions.told(done, rows), f"{done} loop{'s' * (len(rows) > 1)} {loops}"


def _show(command: str, space: Workspace, session: str) -> str:
    from sisyphus.ralph import report

    if command == "ralph-help":
        return help_text.HELP
    if command == "ralph-stats":
        from sisyphus.ralph.past import stats

        return stats.stats_text(space.ours)
    rows = actions.list_loops(space.ours, space.now, space.settings.get("ralph.stale_hours"))
    if command == "ralph-status":
        rows = [row for row in rows if row["session_id"] == session]
    return report.listing(rows, space.now)


_CHANGES = {
    CANCEL: ("cancelled", actions.cancel),
    "ralph-pause": ("paused", actions.pause),
    RESUME: ("resumed", actions.resume),
}
