"""The boulder's slash commands, answered where they are typed: no model request is spent."""

from __future__ import annotations

import re

from sisyphus.boulder import actions, messages
from sisyphus.contract import Outcome
from sisyphus.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.contract import Payload
    from sisyphus.workspace import Workspace

_COMMAND = re.compile(
    r"\s*/(?:sisyphus:)?(boulder-status|boulder-clear|boulder-switch|start-work)(?:\s+(.*))?",
    re.DOTALL,
)
_TAKE_A_NAME = ("boulder-switch", "start-work")


def answer(payload: Payload, space: Workspace) -> Outcome | None:
    """The answer to a prompt that is one of our commands; None for any other prompt.

    `start-work` alone goes on to the model when it succeeds: there is work to start.
    """
    typed = _COMMAND.fullmatch(payload.prompt)
    if typed is None:
        return None
    argument = (typed[2] or "").strip()
    if argument and typed[1] not in _TAKE_A_NAME:
        return None  # a sentence that begins with the command's name
    name = argument.strip("\"'")
    notes = [f"answered /{typed[1]}"]
    try:
        if typed[1] == "start-work":
            return _start_work(space, name, payload.session)
        return Outcome(reason=_do(typed[1], space, name, payload.session), notes=notes)
    except SisyphusError as error:
        return Outcome(reason=str(error), notes=notes)


def _do(command: str, space: Workspace, name: str, session: str) -> str:
    if command == "boulder-switch":
        return messages.started(actions.switch(space, name, session))
    if command == "boulder-clear":
        return messages.cleared(actions.clear(space))
    return messages.status_text(actions.status(space))


def _start_work(space: Workspace, name: str, session: str) -> Outcome:
    from sisyphus.boulder.look import Look

    status = actions.start(space, name, session)
    look = Look(status["active_plan"] or "", status["project_root"] or "")
    told = messages.piece(look.path, messages.continuation(look))
    return Outcome(pieces=[told], messages=[messages.enabled(look)], notes=["answered /start-work"])
