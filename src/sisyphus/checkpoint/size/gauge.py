"""How full the context is, from the end of the client's transcript."""

from __future__ import annotations

import time

from sisyphus import transcript as ts
from sisyphus.clients import files_of
from sisyphus.errors import UnreadableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.clients import Files
    from sisyphus.workspace import Workspace

LATE_SECONDS, PAUSE_SECONDS = 0.15, 0.01

LEAST_TOKENS_A_PERCENT = 500
"""So many for each percent of the first level fill not even half of the smallest window that a
client can be given."""


class Reading:
    """`tokens` in the context by the last answer of the main thread, and the `model` that gave it.

    `tokens` 0 = nothing was answered yet, or not since the last compaction. `is_current`: the
    answer is the one that called the tools that were asked for. `is_readable`: else `tokens` tell
    nothing.
    """

    __slots__ = ("is_current", "is_readable", "model", "tokens")

    def __init__(
        self,
        tokens: int = 0,
        model: str = "",
        *,
        is_current: bool = True,
        is_readable: bool = True,
    ) -> None:
        self.is_readable = is_readable
        self.tokens = tokens
        self.model = model
        self.is_current = is_current


def read(path: str, calls: Sequence[str] = (), since: str = "") -> Reading:
    """Looks at the last lines alone, however long the file is; raises nothing.

    `calls`: ids of tool calls of the answer that should be the last one. Claude Code 2.1.329 writes
    a line about 100 ms late, so that a quick tool's hook sees the answer before it. Answers
    of before the time `since` were forgotten in a compaction, whose own line may be late as well.
    """
    marks = [call.encode("utf-8", "replace") for call in calls]
    is_current = not marks
    client = files_of(path)
    try:
        for line in ts.backwards(path):
            is_current = is_current or any(mark in line for mark in marks)
            found = _reading(line, since, client)
            if found is not None:
                found.is_current = is_current
                return found
    except (UnreadableError, OSError, ValueError):
        return Reading(is_readable=False)
    return Reading(is_current=is_current)


def least_tokens(space: Workspace, known: Json) -> int:
    """Fewer reach no level. Of a window that the user set, or another client has, any may."""
    is_told = space.settings.get("checkpoint.window") or known.get("client")
    return 0 if is_told else LEAST_TOKENS_A_PERCENT * int(space.settings.get("checkpoint.l1"))


def wait_for_results(path: str, calls: Sequence[str]) -> None:
    """Until the results of these calls are written down, or it is too late to wait."""
    deadline = time.monotonic() + LATE_SECONDS
    while calls and not _has_results(path, calls) and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)


def _has_results(path: str, calls: Sequence[str]) -> bool:
    """Whether they stand behind the last answer."""
    wanted = {call.encode("utf-8", "replace") for call in calls}
    marks = files_of(path).MARKS
    (result,), (answer,) = marks[ts.RESULT], marks[ts.ANSWER]
    try:
        for line in ts.backwards(path):
            if result in line:
                wanted = {call for call in wanted if call not in line}
            if not wanted or answer in line:
                return not wanted
    except (UnreadableError, OSError, ValueError):
        return True
    return False


def _reading(line: bytes, since: str, client: Files) -> Reading | None:
    """None where the line tells nothing."""
    marks = (*client.MARKS[ts.ANSWER], *client.MARKS[ts.COMPACTION])
    record = client.read_record(line) if any(mark in line for mark in marks) else None
    if record is None:
        return None
    if record.is_compaction:
        return Reading()
    if record.is_subagents or not record.context:
        return None
    if since and record.at and record.at < since:
        return Reading()
    return Reading(record.context, record.model)
