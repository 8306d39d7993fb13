"""At Stop: gathers what is known, lets the steps decide, carries the verdict out."""

from __future__ import annotations

import os
import time

from sisyphus import state
from sisyphus.arbiter import background, steps
from sisyphus.arbiter.situation import ALLOW, Situation
from sisyphus.clients import client_named
from sisyphus.clients.base import Outcome, merge
from sisyphus.errors import SisyphusError
from sisyphus.ralph import store, watch
from sisyphus.session import client_process
from sisyphus.workspace import ENFORCEMENT, run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.arbiter.gates import Checked, Refusal
    from sisyphus.clients.base import Payload
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.memory import Memory
    from sisyphus.ralph.turn import Turn
    from sisyphus.workspace import Workspace

NOTE_BYTES = 256_000
"""So much of a transcript is rather read again at the next Stop than noted as read."""


def on_stop(payload: Payload, space: Workspace) -> Outcome | None:
    """Blocks, or lets the session stop; the journal learns why."""
    situation = Situation(
        is_subagent=payload.is_subagent,
        is_enabled=bool(space.settings.get("ralph.enabled")),
        plans_only=payload.plans_only,
        is_in_run=run_id() != "",
    )
    verdict = steps.not_ours(situation)
    if verdict:
        return Outcome(notes=[verdict.text])
    if not payload.session:
        return None
    return _enforce(payload, space, situation, _loops(payload, space, situation))


def _loops(payload: Payload, space: Workspace, situation: Situation) -> Outcome:
    """What the session's loops and enforced plans say."""
    if not situation.is_enabled:
        return Outcome(notes=[steps.decide(situation).text])
    news: list[str] = []
    try:
        if client_named(space.client).HAS_PROCESS:
            client_process.bind(space.ours, payload.session)
        memory = store.glance(space.ours, payload.session)
        news = _tell(payload, space) if memory.news else []
        if _is_quiet(payload, space, memory):
            outcome = Outcome(notes=[steps.decide(situation).text])
        else:
            outcome = _hold(payload, space, situation)
    except (OSError, SisyphusError) as error:
        space.log(f"stop: {error}")
        outcome = Outcome(notes=[f"{ALLOW}: the loop's state cannot be used: {error}"])
        situation.fault = str(error)
    outcome.messages[:0] = news
    return outcome


def _enforce(payload: Payload, space: Workspace, situation: Situation, outcome: Outcome) -> Outcome:
    """Continuous enforcement comes last; a project that has none costs one look at a path."""
    if situation.fault or not os.path.lexists(space.project_file(ENFORCEMENT)):
        return outcome
    try:
        return _ask_enforcement(payload, space, situation, outcome)
    except Exception as error:  # noqa: BLE001  # what the loops say stands
        space.log(f"stop: enforcement: {type(error).__name__}: {error}")
        outcome.notes.append(f"enforcement's state cannot be used: {error}")
        return outcome


def _ask_enforcement(
    payload: Payload, space: Workspace, situation: Situation, outcome: Outcome
) -> Outcome:
    from sisyphus.enforce import store as records

    try:
        if not records.is_on(space):
            return outcome
    except records.SetAsideError as error:
        return merge([outcome, error.outcome])
    from sisyphus.arbiter import claim

    return claim.weigh(payload, space, situation, outcome)


def _tell(payload: Payload, space: Workspace) -> list[str]:
    """What a command did to the session's loops since the last Stop: told once."""
    with store.LoopStore(space.ours, payload.session) as held:
        news = _taken(held)
        held.save_memory()
    return news


def _taken(held: store.LoopStore) -> list[str]:
    """The caller saves."""
    news, held.memory.news = held.memory.news, []
    return news


def _is_quiet(payload: Payload, space: Workspace, memory: Memory) -> bool:
    """Whether no loop is active and none began: the common case, and a cheap one."""
    if store.has_loop(space.ours, payload.session):
        return False
    offset = memory.offset_in(payload.transcript)
    found, end = watch.first_start(payload.transcript, offset, space)
    if found is not None or _is_asked_for(payload, space, memory):
        return False
    tasks = _pending(payload)
    if abs(end - offset) > NOTE_BYTES or not memory.tasks.keys() >= set(tasks):
        with store.LoopStore(space.ours, payload.session) as held:
            held.memory.transcript, held.memory.offset = payload.transcript, end
            held.memory.tasks = dict.fromkeys(tasks, background.BEFORE_LOOP)
            held.save_memory()
    return True


def _is_asked_for(payload: Payload, space: Workspace, memory: Memory) -> bool:
    """Whether an enforced plan may hold the session from this Stop on."""
    from sisyphus.boulder import enforcement

    asked = enforcement.asked_for(space, payload.session)
    if asked is None:
        return False
    from sisyphus.arbiter import hold

    return hold.may_begin(asked, memory)


def _hold(payload: Payload, space: Workspace, situation: Situation) -> Outcome:
    """A command that checks a promise runs for minutes, so it runs outside the lock. What became of
    the loops is looked at anew behind it, and what the user did to them meanwhile is told."""
    from sisyphus.arbiter import gates, judge

    checked: Checked = {}
    ids: dict[str, str] = {}
    faults: list[str] = []
    while True:
        with store.LoopStore(space.ours, payload.session) as held:
            held.faults[:0] = faults
            case = judge.Case(payload, space, held, ids)
            wanted, refusal = _settle(case.turn, payload, space, checked)
            if wanted is None:
                news = _taken(held)
                outcome = judge.judge(case, situation, refusal)
                outcome.messages[:0] = news
                return outcome
            faults = held.faults
        before = time.time()
        result = gates.check(wanted, space)
        if result is None:
            situation.fault = "another hook checks the promise"
            return Outcome(notes=[f"{ALLOW}: {situation.fault}"])
        checked[wanted.loop_id] = result
        state.lock_deadline = None  # it counted from the start of this hook
        space.now += time.time() - before


def _settle(
    turn: Turn, payload: Payload, space: Workspace, checked: Checked
) -> tuple[Loop | None, Refusal | None]:
    if not turn.kept:
        return None, None
    from sisyphus.arbiter import gates

    return gates.settle(turn, space, payload.session, checked)


def _pending(payload: Payload) -> list[str]:
    return background.pending([*payload.background, *payload.crons])
