"""The slash command, answered where it is typed: no model request is spent."""

from __future__ import annotations

import os

from sisyphus import bare_commands
from sisyphus.clients.base import Outcome
from sisyphus.enforce import actions, answers
from sisyphus.errors import SisyphusError
from sisyphus.session.client_process import SESSION_VARIABLES
from sisyphus.text import harmless, line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

OURS, SHORT = "/sisyphus:enforce", "/enforce"
USAGE = "say /sisyphus:enforce on, off, stop, status or log."
LAST = 20
"""Lines of the log that are shown."""


def answer(payload: Payload, space: Workspace) -> Outcome | None:
    """The answer to a prompt that is our command; None for any other prompt."""
    name, *words = payload.prompt.split(maxsplit=1) or [""]
    word = words[0].strip() if words else "status"
    if name not in (OURS, SHORT) or (name == SHORT and word not in _DO):
        return None  # a command of somebody else, or a sentence
    if name == SHORT and bare_commands.is_foreign(name[1:], space):
        return None
    try:
        text = _do(word, space, payload.session)
    except (SisyphusError, OSError) as error:
        note = line(f"/enforce changed nothing: {error}")
        return Outcome(harmless(str(error)), notes=[note])
    return Outcome(text, notes=[_EFFECTS.get(word, "answered /enforce")])


def _do(word: str, space: Workspace, session: str) -> str:
    """A client that runs in the shell of another one was started by the model there."""
    if word in ("on", "off", "stop") and os.environ.get(SESSION_VARIABLES[1]):
        raise SisyphusError(answers.REFUSED)
    return _DO[word](space, session) if word in _DO else USAGE


def _on(space: Workspace, session: str) -> str:
    return answers.began(actions.on(space, session))


def _off(space: Workspace, session: str) -> str:
    actions.off(space, session)
    return answers.OFF


def _stop(space: Workspace, session: str) -> str:
    actions.stop(space, session)
    return answers.STOPPED


def _status(space: Workspace, session: str) -> str:
    from sisyphus.enforce import report

    return report.status_text(actions.status(space, session), space.now)


def _log(space: Workspace, _: str) -> str:
    from sisyphus.enforce import log, report

    return report.log_text(log.read(space, LAST))


_EFFECTS = {
    "on": "enforcement switched on",
    "off": "enforcement switched off",
    "stop": "enforcement stopped until the next prompt",
}
_DO = {"on": _on, "off": _off, "stop": _stop, "status": _status, "log": _log}
