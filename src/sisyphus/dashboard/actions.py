"""What the buttons do. Each returns a sentence for the user, and raises `SisyphusError` where it
cannot be done."""

from __future__ import annotations

import time
from collections.abc import Mapping

from sisyphus import work
from sisyphus.dashboard.page import Desk, NotThereError
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.paths import display
from sisyphus.ground.store import Store
from sisyphus.ground.text import units
from sisyphus.hook.session import Session
from sisyphus.loops import lifecycle, loops, messages, user_actions
from sisyphus.loops.loop import BLOCKED, PAUSED, RUN, Loop, Work
from sisyphus.loops.runs import Run
from sisyphus.runner import fix_plan
from sisyphus.runner import messages as runner_messages
from sisyphus.sessions import ledger

ANSWER_UNITS = 8_000
"""The longest answer: one reply to a hook has to carry it whole."""

Fields = Mapping[str, str]

_WORKS_ON = "Its agent works on until it stops the next time, and is not made to go on then."
"""What follows where the agent of a loop works: a loop decides only when its agent stops."""

_ANSWER_LATER = (
    "Answer when the run has stopped: the agent works on the plan now. If you pause the run, it "
    "stops after this iteration."
)


def act(desk: Desk, id: str, action: str, fields: Fields) -> str:
    """Does something to a loop, hold or run. fields: what the form says."""
    loop = loops.find(desk.store, id)
    if loop is None:
        raise NotThereError(messages.unknown_loop(id))
    if action not in _ACTIONS:
        raise NotThereError("There is no such action.")
    return _ACTIONS[action](desk, loop, fields)


def possible(store: Store, loop: Work) -> list[str]:
    """Returns the actions that a loop can take now, in the order of their buttons."""
    if loop.ended_at is not None:
        return ["delete"]
    is_left = user_actions.is_left(store, loop)
    if loop.is_active:
        return ["cancel"] if is_left else ["pause", "cancel"]
    at_work = isinstance(loop, Run) and loop.is_at_work
    goes_on = at_work if loop.kind == RUN else not is_left or loop.status == PAUSED
    return ["resume", "cancel"] if goes_on else ["cancel"]


def can_answer(loop: Work) -> bool:
    """Tells whether a loop or run takes an answer now. Where a run does, its blocked items say for
    what."""
    if loop.ended_at is not None:
        return False
    if isinstance(loop, Run):
        return bool(loop.state.blocked and loop.state.plan) and not loop.is_at_work
    return isinstance(loop, Loop) and loop.status == BLOCKED


def why_not_yet(run: Run) -> str:
    """Says when the blocked items of a run can be answered; "" = now, or never."""
    return _ANSWER_LATER if run.is_at_work and run.ended_at is None else ""


def most_characters(loop: Work) -> int:
    """Returns how long an answer may be."""
    return fix_plan.ANSWER_CHARACTERS if loop.kind == RUN else ANSWER_UNITS


def _pause(desk: Desk, loop: Work, fields: Fields) -> str:
    paused = user_actions.pause(desk.store, loop)
    said = messages.paused(paused), user_actions.stops_soon(paused), _works_on(desk, loop)
    return " ".join(filter(None, said))


def _resume(desk: Desk, loop: Work, fields: Fields) -> str:
    if loop.is_active:
        raise SisyphusError(messages.not_paused(loop))
    resumed, _ = user_actions.resume(desk.store, loop)
    if user_actions.is_left(desk.store, resumed):
        return messages.resumed_left(resumed, lifecycle.way_back(desk.store, resumed))
    return f"{messages.resumed(resumed)} {messages.begins(resumed)}".rstrip()


def _cancel(desk: Desk, loop: Work, fields: Fields) -> str:
    works_on = _works_on(desk, loop)
    told = messages.cancelled([user_actions.cancel(desk.store, loop)])
    return f"{told}\n{works_on}" if works_on else told


def _works_on(desk: Desk, loop: Work) -> str:
    """Says what the agent of a loop or hold does that was active until now; "" = it does nothing,
    as far as we know. loop: as it was before."""
    is_working = work.of(desk.store, loop, time.time()).is_working
    return _WORKS_ON if is_working and loop.kind != RUN else ""


def _delete(desk: Desk, loop: Work, fields: Fields) -> str:
    user_actions.delete(desk.store, [loop])
    return messages.deleted([loop])


# ---------------------------------------------------------------- answers


def _answer(desk: Desk, loop: Work, fields: Fields) -> str:
    """Gives the agent what it needs, and lets it go on."""
    text = fields.get("answer", "").replace("\r\n", "\n").strip()  # forms send CRLF
    if loop.ended_at is not None:
        raise SisyphusError(messages.has_ended(loop))
    if loop.kind != RUN and not can_answer(loop):
        raise SisyphusError(messages.no_answer_needed(loop))
    if not text:
        raise SisyphusError(messages.EMPTY_ANSWER)
    most = most_characters(loop)
    if units(text) > most:
        raise SisyphusError(messages.long_answer(most))
    if isinstance(loop, Run):
        return _answer_run(desk.store, loop, fields.get("item", ""), text)
    return _answer_loop(desk.store, loop, text)


def _answer_loop(store: Store, loop: Work, text: str) -> str:
    """Puts the answer into the session's queue; a loop whose session is over waits for that."""
    owner, is_left = user_actions.owner_id(store, loop), user_actions.is_left(store, loop)
    answer = messages.answer(loop, text, time.time())
    if not is_left:
        user_actions.resume(store, loop)
    with store.write():
        ledger.enqueue(store, Session.load(store, loop.session), answer)
    return messages.answered_left(loop, owner) if is_left else messages.answered(owner)


def _answer_run(store: Store, run: Run, item: str, text: str) -> str:
    """Writes the answer below the blocked item. item: "" = the only one."""
    if why := why_not_yet(run):
        raise SisyphusError(why)
    blocked = list(run.state.blocked)
    item = item or (blocked[0] if len(blocked) == 1 else "")
    if item not in blocked or not run.state.plan:
        raise SisyphusError(runner_messages.not_to_answer(run))
    try:
        written = fix_plan.answer(run.state.plan, run.folder, item, text)
    except (SisyphusError, OSError) as error:
        plan = display(run.state.plan, run.folder)
        why = getattr(error, "strerror", None) or str(error)
        raise SisyphusError(runner_messages.plan_not_changed(plan, why)) from error
    with store.write():
        if fresh := loops.find_run(store, run.id):
            fresh.state.answers.setdefault(item, []).append(written)
            loops.save(store, fresh)
    return runner_messages.answered(run, item)


_ACTIONS = {
    "pause": _pause, "resume": _resume, "cancel": _cancel, "delete": _delete, "answer": _answer,
}  # fmt: skip
