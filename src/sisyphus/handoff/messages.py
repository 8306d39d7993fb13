"""What the model reads about a full context and a handoff, besides the document itself, and what
several say about them."""

from __future__ import annotations

import time

from sisyphus.ground.paths import display
from sisyphus.ground.text import fingerprint, one_line
from sisyphus.hook.outcome import Text
from sisyphus.loops import messages as loop_messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.size import Size
    from sisyphus.handoff.handoffs import Handoff
    from sisyphus.loops.loop import Work
    from sisyphus.sessions.usage import Usage

CONTEXT, COMPACTION, BY_USER, CUT_OFF, STUCK = "context", "compaction", "user", "cut off", "stuck"
"""Why a handoff is written: the context is full, the client is about to compact it, the user asked
for it, the session ended in the middle of its work, or the breaker lets it stop."""

LEVELS = ("L0", "L1", "L2", "L3")
_NAMES = ("Normal", "Warning", "Checkpoint", "Emergency")


# ---------------------------------------------------------------- for the model


def warning(usage: Usage, now: float, size: Size | None = None) -> Text:
    """Tells the model that its context fills up. now: makes a later warning a new text. size: of
    the plan's next task; None = it is not known."""
    percent = usage.percent
    body = (
        f"CCS_WARNING|L1|{percent}|Context at {percent}%\n"
        f"The context is {percent} % full. Finish what you have begun before you begin something "
        "large, and give large searches to subagents."
    )
    if size and (misfit := why_not_begun(size, 100 - percent)):
        body += f"\n{misfit}"
    return Text("handoff", body, fingerprint(f"{body} {now}"))


def too_large(usage: Usage, misfit: str, now: float) -> Text:
    """Tells the model that the next item of its plan does not fit into what is left. misfit: see
    `why_not_begun`. now: makes a later one a new text."""
    body = (
        f"The context is {usage.percent} % full. {misfit} `sisyphus handoff` writes a handoff. If "
        "you have begun it already, go on."
    )
    return Text("handoff", body, fingerprint(f"{body} {now}"))


def checkpoint(
    usage: Usage, level: int, handoff: Handoff, *, ends: bool, commits: bool, iteration: int
) -> Text:
    """Tells the model where its handoff is, and what to do now.

    ends: the session ends at this checkpoint. commits: the user wants unfinished work committed.
    iteration: of the loop; 0 = none.
    """
    percent, name = usage.percent, LEVELS[level]
    file = display(handoff.file, handoff.project)
    lines = [
        f"CCS_CHECKPOINT_TRIGGERED|{name}|{percent}|{file}",
        f"The context is {percent} % full. A handoff has been written: {file}",
    ]
    add = "what was in progress, what was decided and why, what did not work"
    if ends:
        lines.append(
            "Complete the current edit, in at most 60 seconds. Then read the handoff, add what it "
            f"lacks ({add}), and stop: a session with an empty context goes on from there."
        )
    else:
        lines.append(
            f"Read it and add what you would have to know after a compaction ({add}). Then go on "
            "with the task."
        )
    if commits:
        during = f" iter {iteration}" if iteration else ""
        lines.append(
            f"Commit what is unfinished as `ralph: checkpoint{during} ({name} at {percent}%)`."
        )
    body = "\n".join(lines)
    return Text("handoff", body, fingerprint(body))


def resume(handoff: Handoff) -> Text:
    return Text("handoff", handoff.resume, fingerprint(f"{handoff.file} {handoff.resume}"))


# ---------------------------------------------------------------- for the document


def heading(
    session: str,
    loop: Work | None,
    usage: Usage,
    level: int,
    why: str,
    now: float,
    before: Handoff | None,
) -> str:
    """Returns the title of a document and what is known of the occasion. before: the handoff from
    which the session went on, or that it wrote before."""
    rows = [
        ("Written", time.strftime("%Y-%m-%d %H:%M", time.localtime(now))),
        ("Session", session),
        ("Loop", _whose(loop) if loop else ""),
        ("Context", f"{usage.percent} % ({LEVELS[level]})" if usage.tokens else ""),
        ("Why", occasion(usage.percent, level, why)),
        ("Earlier handoff", place(before) if before else ""),
    ]
    lines = [f"- **{name}**: {one_line(value)}" for name, value in rows if value]
    return "# Handoff\n\n" + "\n".join(lines)


def _whose(loop: Work) -> str:
    """Names a loop, and its iteration: of a worker, the one at its item."""
    worker = f", worker {loop.id.rpartition('-')[2]}" if loop.id != loop.owner else ""
    return f"{loop.owner}{worker}, {loop_messages.iteration(loop)}"


def occasion(percent: int, level: int, why: str) -> str:
    """Returns why there is a handoff, in a sentence."""
    if why == COMPACTION:
        return "The client was about to compact the context of the session."
    if why == BY_USER:
        return "The user asked for it."
    if why == CUT_OFF:
        return "The session ended in the middle of its work."
    if why == STUCK:
        return "The work no longer moved on: no change, or the same error, several times in a row."
    return f"The context of the session was {percent} % full ({LEVELS[level]})."


# ---------------------------------------------------------------- for the user


def place(handoff: Handoff) -> str:
    return display(handoff.file, handoff.project)


def level_name(level: int) -> str:
    return f"{LEVELS[level]} ({_NAMES[level]})"


def why_not_begun(size: Size, left: int) -> str:
    """Says that an item needs more than is left of the context; "" = it fits. left: in percent."""
    needs = f"The next item needs about {size.least} to {size.most} % of a context"
    if size.must_be_split:
        return f"{needs}: split it before you begin it."
    is_too_large = size.estimate > left
    return f"{needs}, and {left} % is left: checkpoint before you begin it." * is_too_large


NOT_WRITTEN = "No handoff could be written: neither the project nor our own folder lets us."
