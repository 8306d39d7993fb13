"""Writes a handoff from what is known of a session, and notes it for whoever goes on."""

from __future__ import annotations

import os

from sisyphus.checkpoint import handoffs
from sisyphus.checkpoint.paper.situation import (
    BY_ASKING,
    BY_BREAKER,
    BY_COMPACTION,
    BY_CUT,
    BY_LEVEL,
)
from sisyphus.checkpoint.survey import survey
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Checkpoint, Json
    from sisyphus.checkpoint.paper.situation import Situation
    from sisyphus.clients.base import ToolCall
    from sisyphus.workspace import Workspace

LEVEL, COMPACTION, BREAKER, ASKED = BY_LEVEL, BY_COMPACTION, BY_BREAKER, BY_ASKING
CUT_SHORT = BY_CUT
"""Occasions."""


class Fill:
    """How full the context is: `percent` None = not known."""

    __slots__ = ("level", "percent", "tokens", "window")

    def __init__(
        self, level: str = "", percent: int | None = None, tokens: int = 0, window: int = 0
    ) -> None:
        self.level = level
        self.percent = percent
        self.tokens = tokens
        self.window = window


def hand_over(  # one a fact
    space: Workspace,
    session: str,
    transcript: str,
    *,
    occasion: str,
    fill: Fill | None = None,
    reason: str = "",
    lets_stop: bool = False,
    loop: Json | None = None,
    run: Json | None = None,
    late: Sequence[ToolCall] = (),
) -> Checkpoint:
    """The checkpoint, its handoff written and noted. `loop`: what is held, else looked up; `run`:
    the state of a fresh-context run; `late`: calls that the transcript may not tell of yet. Raises
    `OSError` and `SisyphusError`."""
    found = survey(space, session, transcript, loop=loop, run=run, late=late)
    in_a_run = run is not None or run_id() != ""
    return write(
        space,
        found,
        occasion=occasion,
        fill=fill,
        reason=reason,
        lets_stop=lets_stop,
        is_in_run=in_a_run,
    )


def write(  # one a fact
    space: Workspace,
    found: Situation,
    *,
    occasion: str,
    fill: Fill | None = None,
    reason: str = "",
    lets_stop: bool = False,
    is_in_run: bool = False,
) -> Checkpoint:
    """The checkpoint of what was found. `lets_stop`: the session is told to stop for it;
    `is_in_run`: it is left to the run that the session is an iteration of."""
    from sisyphus.checkpoint.paper import handoff, resume
    from sisyphus.masking import masked

    fill = fill or Fill()
    found.occasion, found.reason = occasion, reason
    found.level, found.percent = fill.level, fill.percent
    found.tokens, found.window = fill.tokens, fill.window
    name = handoff.file_name(space.now, _loop_id(found), found.session_id)
    path = handoff.write(space.root, space.ours, name, masked(handoff.render(found)))
    entry = _masked(resume.checkpoint(found, _shown(path, space.root)))
    if is_in_run:
        entry["in_run"] = True
    if lets_stop:
        entry["lets_stop"] = True
    if found.plan and found.plan["active_plan"]:
        entry["plan"] = found.plan["active_plan"]
    handoffs.add(space.ours, space.root, entry)
    _tell(space, entry, reason)
    return entry


def _masked(entry: Checkpoint) -> Checkpoint:
    """Without keys and passwords: it is given to others."""
    from sisyphus.masking import masked

    entry["resume_summary"] = masked(entry.get("resume_summary", ""))
    entry["current_todo_item"] = masked(entry.get("current_todo_item", ""))
    entry["next_step"] = masked(entry.get("next_step", ""))
    entry["task"] = masked(entry.get("task", ""))
    for file in entry.get("files_in_progress", []):
        file["description"] = masked(file["description"])
    return entry


def _loop_id(situation: Situation) -> str:
    return str((situation.loop or {}).get("loop_id") or "")


def _shown(path: str, root: str) -> str:
    """Relative to the project where it lies in it."""
    start = root.rstrip(os.sep) + os.sep
    return path.removeprefix(start).replace(os.sep, "/") if path.startswith(start) else path


def _tell(space: Workspace, entry: Checkpoint, reason: str) -> None:
    from sisyphus.notify.send import send

    told = ("session_id", "loop_id", "iteration", "task", "level", "handoff_file")
    facts = {name: entry.get(name) for name in told}
    percent = entry.get("percent_at_checkpoint")
    send(space, "checkpoint", percent=percent, reason=reason or None, **facts)
