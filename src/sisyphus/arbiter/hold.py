"""Holds a session to the enforced plan that it works on.

The hold is a loop without a promise: limits, breaker, pauses and history are a loop's. It ends with
the plan, with the enforcement, or where the user gives the session another plan; what else the
session turns to makes no difference. It lies around whatever loop starts later.
"""

from __future__ import annotations

from sisyphus.ralph import loop as lp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.arbiter.judge import Case
    from sisyphus.arbiter.situation import Situation
    from sisyphus.boulder.enforcement import Enforced, Standing
    from sisyphus.boulder.store import Plans
    from sisyphus.ralph.loop import Loop
    from sisyphus.ralph.memory import Memory

NO_MORE = "its plan is enforced no more"
ELSEWHERE = "the session works on another plan"
SWITCHED_OFF = "the boulder is switched off"

ROOT = "plan_root"
"""The option that says which project's plan it is; that of a linked worktree may be another's."""


def origin(asked: Enforced) -> str:
    """The name under which a session remembers that it was held."""
    return f"boulder {asked.path} {asked.since}"


def may_begin(asked: Enforced, memory: Memory) -> bool:
    """Whether it never began in this session, whatever its plan was called then."""
    return not any(_is_of(asked, name) for name in memory.starts)


def _is_of(asked: Enforced, name: str) -> bool:
    return name.startswith("boulder ") and name.endswith(f" {asked.since}")


def attend(case: Case) -> None:
    """Ends the holds that are over, and begins one where the session has no loop left. A loop that
    has just kept its promise may stop; what comes after it begins at the next Stop."""
    loops = case.turn.loops
    is_concerned = not loops or any(loop.plan for loop in loops)
    if not is_concerned or not case.space.settings.get("boulder.enabled"):
        return
    for loop in [loop for loop in loops if loop.plan]:
        if end := _end(loop, case):
            loops.remove(loop)
            case.over.append((loop, *end))
    if not loops and not case.turn.kept:
        from sisyphus.arbiter import hold_start

        hold_start.begin(case)


def describe(case: Case, situation: Situation) -> None:
    """What the plan of the current loop asks for, where it has one."""
    situation.over = case.over[-1][2] if case.over else ""
    situation.rests = situation.asks = ""
    loop = case.loop
    if loop is None or not loop.plan:
        return
    if not case.space.settings.get("boulder.enabled"):
        situation.rests = SWITCHED_OFF
        return
    from sisyphus.arbiter import hold_words as words

    plan = standing(case, loop)
    situation.rests, situation.asks = words.rests(plan), words.asks(plan)


def standing(case: Case, loop: Loop) -> Standing:
    """How the plan of a hold stands; it is read once a Stop."""
    from sisyphus.boulder import enforcement

    if loop.plan not in case.plans:
        case.plans[loop.plan] = enforcement.standing(case.space.home, loop.plan, _root(loop))
    return case.plans[loop.plan]


def _end(loop: Loop, case: Case) -> tuple[str, str] | None:
    """Its outcome and why, where the hold is over. A plan that is complete has no record any more,
    so an enforcement that is gone may have come to its end."""
    plans = _plans(loop, case)
    asked = _asked(loop, plans) if plans else None
    if plans and asked:
        if _is_released(asked, plans, case):
            return lp.CANCELLED, ELSEWHERE
        _follow(loop, asked, case.held.memory)
        if loop is not case.turn.loops[-1]:
            return None
    elif plans and _waits(loop, plans, case):
        return None
    elif not _is_ours(loop, case.held.memory):
        return lp.CANCELLED, NO_MORE
    plan = standing(case, loop)
    if plan.state == "complete":
        from sisyphus.arbiter import hold_words as words

        return lp.SUCCESS, words.rests(plan)
    return None if asked else (lp.CANCELLED, NO_MORE)


def _plans(loop: Loop, case: Case) -> Plans | None:
    from sisyphus.boulder.record import is_path
    from sisyphus.boulder.store import read_plans

    root = _root(loop)
    return read_plans(case.space.home, root) if is_path(root) else None


def _asked(loop: Loop, plans: Plans) -> Enforced | None:
    """The enforcement that the hold stands for: its plan may have been moved."""
    from sisyphus.boulder.enforcement import enforced

    mine = plans.records.get(loop.plan)
    found = (enforced(record) for record in (mine, *plans.records.values()) if record)
    return next((one for one in found if one and _is_of(one, loop.origin)), None)


def _waits(loop: Loop, plans: Plans, case: Case) -> bool:
    """Whether another plan lies where the enforced one lay, which may come back."""
    from functools import partial

    from sisyphus.boulder import enforcement

    if not enforcement.is_parked(plans, partial(_is_of, name=loop.origin)):
        return False
    case.plans[loop.plan] = enforcement.away(loop.plan, _root(loop))
    return True


def _is_released(asked: Enforced, plans: Plans, case: Case) -> bool:
    """Where the user gave the session another plan. If he comes back, it is held again."""
    if not asked.released:
        return False
    from sisyphus.boulder.enforcement import is_released
    from sisyphus.session.client_process import session_before

    session, memory = case.payload.session, case.held.memory
    if not is_released(asked, plans, session, session_before(case.space.ours, session)):
        return False
    memory.starts = [name for name in memory.starts if not _is_of(asked, name)]
    return True


def _follow(loop: Loop, asked: Enforced, memory: Memory) -> None:
    """The plan may have been moved."""
    loop.options[lp.PLAN] = asked.path
    loop.origin = origin(asked)
    memory.learn({*memory.starts, loop.origin})


def _is_ours(loop: Loop, memory: Memory) -> bool:
    """Whether the file of the loop still says what we wrote."""
    return loop.origin in memory.starts and loop.origin.startswith(f"boulder {loop.plan} ")


def _root(loop: Loop) -> str:
    root = loop.options.get(ROOT)
    return root if isinstance(root, str) else loop.project
