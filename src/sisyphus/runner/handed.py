"""Handoffs between iterations: those that the client's hooks wrote, and those that we write."""

from __future__ import annotations

from sisyphus.checkpoint import handoffs, make
from sisyphus.checkpoint.paper import resume
from sisyphus.checkpoint.size import levels
from sisyphus.checkpoint.size.fullness import weigh
from sisyphus.checkpoint.size.gauge import Reading
from sisyphus.errors import SisyphusError
from sisyphus.session.transcripts import transcript_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint, Json
    from sisyphus.workspace import Workspace

LEVEL, COMPACTION = make.LEVEL, make.COMPACTION
CUT_SHORT, BREAKER = make.CUT_SHORT, make.BREAKER


class Filled:
    """How full a context was at most: `percent` of `window` tokens; `level` is "L0" to "L3"."""

    __slots__ = ("is_checkpoint", "level", "percent", "tokens", "window")

    def __init__(self, percent: int, level: int, tokens: int, window: int) -> None:
        self.percent = percent
        self.level = levels.name(level)
        self.is_checkpoint = level >= levels.CHECKPOINT
        self.tokens = tokens
        self.window = window


def filled(space: Workspace, tokens: int, model: str, window: int) -> Filled:
    """`window`: as the client told it, 0 = it did not."""
    found = weigh(space, Reading(tokens, model), {"window": window})
    return Filled(int(found.percent), found.level if tokens else 0, tokens, found.window)


def open_of(space: Workspace, session: str) -> Checkpoint | None:
    """The handoff that the session's hooks wrote and that nobody was given yet."""
    return handoffs.open_of(space.ours, space.root, session)


def close(space: Workspace, session: str, by: str) -> None:
    """The session `by` was given what this one handed over."""
    if session:
        wanted = handoffs.of_session(session)
        handoffs.close(space.ours, space.root, wanted, handoffs.DELIVERED, by)


def finish(space: Workspace, session: str) -> None:
    """All work is done, so that what the session handed over is for nobody."""
    if session:
        handoffs.close(space.ours, space.root, handoffs.of_session(session))


def finish_run(space: Workspace, loop_id: str) -> None:
    """Nobody takes up what any iteration of that run handed over."""

    def is_of_run(entry: Checkpoint) -> bool:
        return entry.get("in_run") is True and entry.get("loop_id") == loop_id

    if loop_id:
        handoffs.close(space.ours, space.root, is_of_run)


def write(  # one a fact
    space: Workspace,
    session: str,
    *,
    occasion: str,
    reason: str = "",
    full: Filled | None = None,
    run: Json | None = None,
) -> Checkpoint | None:
    """A handoff from the session's transcript; None where none can be written."""
    fill = (
        make.Fill(full.level, full.percent, full.tokens, full.window)
        if full and full.tokens
        else None
    )
    path = transcript_path(space.home, session)
    try:
        return make.hand_over(
            space, session, path, occasion=occasion, fill=fill, reason=reason, run=run
        )
    except (OSError, SisyphusError) as error:
        space.log(f"no handoff of {session}: {error}")
        return None


def block(entry: Checkpoint) -> str:
    """What the next client is told of it."""
    return resume.block(entry)
