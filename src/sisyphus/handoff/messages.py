"""Every sentence about a full context and about handoffs that the model and the user read, besides
those of the document itself (`document.py`)."""

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
    from sisyphus.loops.loops import Loop
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
    loop: Loop | None,
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
        ("Loop", f"{loop.id}, {loop_messages.iteration(loop)}" if loop else ""),
        ("Context", f"{usage.percent} % ({LEVELS[level]})" if usage.tokens else ""),
        ("Why", occasion(usage.percent, level, why)),
        ("Earlier handoff", place(before) if before else ""),
    ]
    lines = [f"- **{name}**: {one_line(value)}" for name, value in rows if value]
    return "# Handoff\n\n" + "\n".join(lines)


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


def progress(name: str, tasks: str) -> str:
    return f"Plan {one_line(name, 60)}: {tasks}"


# ---------------------------------------------------------------- for the user


def is_filling(usage: Usage) -> str:
    return f"Context: {usage.percent} % of {usage.window:,} tokens are used."


def written(usage: Usage, handoff: Handoff, *, ends: bool) -> str:
    then = " The session ends when the agent has completed it." if ends else ""
    return f"{is_filling(usage)} A handoff was written: {place(handoff)}.{then}"


def unwritten(usage: Usage) -> str:
    return f"{is_filling(usage)} {NOT_WRITTEN}"


def written_now(usage: Usage, handoff: Handoff, iteration: int, *, is_on: bool) -> list[str]:
    """Returns the answer to `sisyphus handoff`. iteration: of the loop; 0 = none. is_on: sessions
    get handoffs."""
    rows = [
        f"Iteration: {iteration}" if iteration else "",
        f"Context: {usage.percent} %" if usage.tokens else "Context: unknown",
        f"Handoff: {place(handoff)}",
        "The next session that starts here gets it, or this one after /clear or a compaction."
        if is_on
        else "No session gets it by itself: `handoff.enabled` is false.",
    ]
    return [row for row in rows if row]


def given(handoff: Handoff) -> str:
    return f"This session goes on from the handoff {place(handoff)}."


def place(handoff: Handoff) -> str:
    return display(handoff.file, handoff.project)


def level_name(level: int) -> str:
    return f"{LEVELS[level]} ({_NAMES[level]})"


def recommendation(
    level: int, next_percent: int, why_none: str, misfit: str, *, is_open: bool
) -> str:
    """Says what to do at a level.

    next_percent: at which a handoff is written; 0 = none will be. why_none: a sentence about that.
    misfit: why the next item must not be begun yet, by `why_not_begun`; "" = it fits. is_open:
    the session has an open handoff.
    """
    if level > 1 and is_open:
        return "The context is nearly full: type /clear, and go on from the handoff."
    if level > 1:
        return f"The context is nearly full: finish what is in progress. {why_none}"
    if misfit:
        way = "type /clear, and go on from the handoff" if is_open else _CHECKPOINT
        way = f" To checkpoint, {way}." * ("checkpoint" in misfit)
        return f"{'Finish what is in progress. ' if level else ''}{misfit}{way}"
    then = f"A handoff is written at {next_percent} %." if next_percent else why_none
    return f"{'Finish what is in progress' if level else 'Safe to continue'}. {then}"


def why_not_begun(size: Size, left: int) -> str:
    """Says that an item needs more than is left of the context; "" = it fits. left: in percent."""
    needs = f"The next item needs about {size.least} to {size.most} % of a context"
    if size.must_be_split:
        return f"{needs}: split it before you begin it."
    is_too_large = size.estimate > left
    return f"{needs}, and {left} % is left: checkpoint before you begin it." * is_too_large


def complexity(size: Size) -> str:
    """Says how large an item is."""
    return f"{size.name} (about {size.least} to {size.most} % of a context)"


def iterations_left(count: int) -> str:
    return f"Iterations Left: about {count} like those of this run"


_CHECKPOINT = "run `sisyphus handoff` and type /clear"
UNKNOWN = "How full the context is is not known: no answer of the model was found."
SWITCHED_OFF = "No handoff will be written: the settings say so."
NO_WORK = (
    "No handoff will be written: the session has no loop and no open plan. `sisyphus handoff` "
    "writes one."
)
NOT_OPEN = "No handoff is open; `sisyphus handoff` writes one."
NOT_WRITTEN = "No handoff could be written: neither the project nor our own folder lets us."
NO_SESSION = "No session of this project yet. Start one, then ask again."
