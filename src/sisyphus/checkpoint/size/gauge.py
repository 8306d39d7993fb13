"""How full the context is, from the end of the client's transcript."""

from __future__ import annotations

import os
import time

from sisyphus.errors import UnreadableError
from sisyphus.reading import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sisyphus._types import Json
    from sisyphus.workspace import Workspace

LATE_SECONDS, PAUSE_SECONDS = 0.15, 0.01

LEAST_TOKENS_A_PERCENT = 500
"""So many for each percent of the first level fill not even half of the smallest window that a
client can be given."""

_NEAR_BYTES = 65_536
ANSWER = b'"usage"'
"""A line of an answer holds it."""

_RESULT = b'"tool_result"'
_CUT = (b'"compact_boundary"', b'"isCompactSummary"')


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
    try:
        for line in _backwards(path):
            is_current = is_current or any(mark in line for mark in marks)
            found = _reading(line, since)
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


def _backwards(path: str) -> Iterator[bytes]:
    """The lines of a transcript, the last one first. Nearly always it is one of the last ones that
    tells, and what reads on costs an import."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = max(size - _NEAR_BYTES, 0)
        file.seek(start)
        first, *lines = file.read(size - start).split(b"\n")
    yield from reversed(lines)
    if not start:
        yield first
        return
    from sisyphus.state.jsonl import backwards

    yield from backwards(path, start + len(first))


def wait_for_results(path: str, calls: Sequence[str]) -> None:
    """Until the results of these calls are written down, or it is too late to wait."""
    deadline = time.monotonic() + LATE_SECONDS
    while calls and not _has_results(path, calls) and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)


def _has_results(path: str, calls: Sequence[str]) -> bool:
    """Whether they stand behind the last answer."""
    wanted = {call.encode("utf-8", "replace") for call in calls}
    try:
        for line in _backwards(path):
            if _RESULT in line:
                wanted = {call for call in wanted if call not in line}
            if not wanted or ANSWER in line:
                return not wanted
    except (UnreadableError, OSError, ValueError):
        return True
    return False


def _reading(line: bytes, since: str) -> Reading | None:
    """None where the line tells nothing."""
    is_cut = may_be_compaction(line)
    if not is_cut and ANSWER not in line:
        return None
    from sisyphus.transcript import context_tokens, parse

    record = parse(line)
    if is_cut and is_compaction(record):
        return Reading()
    tokens = 0 if record.get("isSidechain") else context_tokens(record)
    if not tokens:
        return None
    if since and str(record.get("timestamp")) < since:
        return Reading()
    return Reading(tokens, asked_model(record))


def may_be_compaction(line: bytes) -> bool:
    return any(mark in line for mark in _CUT)


def is_compaction(record: Json) -> bool:
    """Whether the line is that of a compaction, or that of its summary."""
    return bool(record.get("subtype") == "compact_boundary" or record.get("isCompactSummary"))


def asked_model(record: Json) -> str:
    """The model that an answer was asked of. Its name has the mark of the large window, `[1m]`, and
    that of the model that answered has not."""
    return str(record.get("requestedModel") or record["message"].get("model") or "")
