"""The door's part for OpenCode: hears the plugin, answers it."""

from __future__ import annotations

import json

from sisyphus.clients import opencode_files
from sisyphus.clients.base import spelled
from sisyphus.opencode import payload, reply
from sisyphus.paths import our_home
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json
    from sisyphus.clients.base import Outcome
    from sisyphus.workspace import Workspace


def hear(raw: Json) -> Json:
    """The plugin's message as a payload of Claude Code's; what happened meanwhile is kept."""
    ours, told = our_home(), payload.Told(raw)
    found = payload.translate(raw, told, ours)
    try:
        _keep(told, ours)
    except Exception as error:  # noqa: BLE001  # the event itself is answered all the same
        debug.log(f"opencode: not kept: {type(error).__name__}: {error}")
    return found


def _keep(told: payload.Told, ours: str) -> None:
    session = told.session
    for speaker, said in ((told.speaker, told.lines), *told.others.items()):
        path = payload.transcript(ours, session, speaker)
        if path and said:
            opencode_files.append(path, opencode_files.records(said, session, speaker, told.cwd))
    if told.window and not told.speaker and payload.transcript(ours, session):
        from sisyphus.checkpoint import store

        store.note_reported(ours, session, told.window, client=payload.CLIENT)


class Answer:
    """Writes one reply, with what belongs to OpenCode alone."""

    __slots__ = ("_has_spoken", "_outcome", "_space", "_write")

    def __init__(self, outcome: Outcome, space: Workspace, write: Callable[[str], None]) -> None:
        self._outcome = outcome
        self._space = space
        self._write = write
        self._has_spoken = False

    def __call__(self, text: str) -> None:
        self._has_spoken = True
        extras = self._extras()
        own = {payload.CLIENT: extras} if extras else {}
        self._write(json.dumps({**spelled(json.loads(text)), **own}) + "\n")

    def end(self) -> None:
        """Where nothing was to be said in Claude Code's words."""
        extras = self._extras()
        if extras and not self._has_spoken:
            self._write(json.dumps({payload.CLIENT: extras}) + "\n")

    def _extras(self) -> Json:
        return reply.extras(self._outcome, self._space.settings)
