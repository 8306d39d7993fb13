"""What the user's own command (`notify.command`) is told of a Stop: what ended, what needs them."""

from __future__ import annotations

from sisyphus.ground.partial import partial
from sisyphus.loops.loop import SUCCESS, Work
from sisyphus.sessions import messages as session_messages
from sisyphus.stop import messages
from sisyphus.stop.decide import BLOCK, END, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Export

COMPLETION, ENDED, PAUSED, BLOCKED, QUESTION, NO_WORK, CHECKPOINT, STANDSTILL = (
    "completion", "ended", "paused", "blocked", "question", "no_work", "checkpoint", "standstill",
)  # fmt: skip
"""Kinds of notices. ENDED: a limit ended it. PAUSED: by the breaker, or at the client's limit.
BLOCKED: the agent needs something from the user. NO_WORK: nobody can go on with a hold's plan.
CHECKPOINT: the session has ended with a handoff. STANDSTILL: the agent plans, or waits
for background work, and nothing wakes it."""


def of_verdict(hook: Hook, loop: Work, verdict: Verdict) -> list[Export]:
    """Returns what to run after a Stop that a loop or hold decided."""
    if verdict.action == BLOCK:
        return []
    if verdict.action == END:
        return of_end(hook, loop)
    kind = BLOCKED if verdict.status == BLOCKED else PAUSED
    return _send(hook, kind, messages.what_happened(loop, verdict.why), loop)


def of_end(hook: Hook, loop: Work) -> list[Export]:
    """Returns what to run for a loop or hold that has ended."""
    kind = COMPLETION if loop.result == SUCCESS else ENDED
    return _send(hook, kind, messages.what_happened(loop, loop.why), loop)


def of_no_work(hook: Hook, hold: Work, why: str) -> list[Export]:
    return _send(hook, NO_WORK, messages.what_happened(hold, why), hold)


def of_checkpoint(hook: Hook, loop: Work, text: str) -> list[Export]:
    """Returns what to run for a session that has ended with a handoff."""
    return _send(hook, CHECKPOINT, text, loop)


def of_standstill(hook: Hook, loop: Work | None, text: str) -> list[Export]:
    """Returns what to run for a session that may stop though its work stands."""
    return _send(hook, STANDSTILL, text, loop)


def of_rest(hook: Hook, why: str) -> list[Export]:
    """Returns what to run for a session that needs its user, under enforcement."""
    return _send(hook, BLOCKED, session_messages.rests(hook.event.session, why))


def of_limit(hook: Hook, text: str) -> list[Export]:
    """Returns what to run for a session that enforcement gives up."""
    return _send(hook, ENDED, text, title=messages.ENFORCEMENT_ENDED)


def of_question(hook: Hook, question: str) -> list[Export]:
    return _send(hook, QUESTION, session_messages.asks(hook.event.session, question))


def _send(
    hook: Hook, kind: str, text: str, loop: Work | None = None, title: str = ""
) -> list[Export]:
    command = hook.settings["notify.command"]
    if not command:
        return []
    from sisyphus.sessions.notify import Notice, send

    title = title or messages.notice_title(kind, loop)
    notice = Notice(kind, title, text, hook.project, hook.event.session)
    if loop:
        notice.loop, notice.iteration = loop.id, loop.counters.iteration
    return [partial(send, command, notice)]
