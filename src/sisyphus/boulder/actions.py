"""What an agent did that matters to its ticks, by what its session has recorded."""

from __future__ import annotations

from sisyphus.ground.record import Record
from sisyphus.hook.event import EDIT, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.clients.transcript_records import TranscriptLine


class Action(Record, is_frequent=True):
    """An agent edited a file, or ran a command line.

    at, ended_at: when it began and ended; 0 = unknown. id: of the call. path: the file, "" = none.
    line: the command line. folder: where that runs, "" = unknown. is_over: its result is known.
    is_error: it failed. output: what it printed.
    """

    at: float
    id: str = ""
    path: str = ""
    line: str = ""
    folder: str = ""
    is_over: bool = False
    is_error: bool = False
    output: str = ""
    ended_at: float = 0.0

    @property
    def is_change(self) -> bool:
        return bool(self.path) and not self.is_error


def of_records(records: Sequence[TranscriptLine]) -> list[Action]:
    """Returns the edits and the command lines of a session's main agent, in order."""
    actions: list[Action] = []
    running: dict[str, list[Action]] = {}
    for record in records:
        for call in record.calls:
            path = call.target if call.action in (EDIT, WRITE) else ""
            if path or call.shell:
                action = Action(call.at or record.at, call.id, path, call.shell, call.folder)
                actions.append(action)
                running.setdefault(call.id, []).append(action)
        for result in record.results:
            for action in running.get(result.id, ()):
                action.is_over, action.is_error = True, result.is_error
                action.output, action.ended_at = result.text, record.at
                if result.is_refused or result.goes_on:
                    action.line = ""  # it did not run, or nobody hears how it ends
    if all(action.at for action in actions):
        actions.sort(key=lambda action: action.at)  # a client may write a call down at its end
    return actions
