"""A hold at a Stop and at a start: what it has to know of its plan, and what it answers.

Loaded only where there is a hold: plans are heavy, and most sessions have none.
"""

from __future__ import annotations

from sisyphus.boulder import hold_messages, holds, ticks
from sisyphus.boulder.hold_messages import PlanFacts
from sisyphus.hook.outcome import Outcome
from sisyphus.loops import loops
from sisyphus.loops.loop import STUCK, SUCCESS, Hold
from sisyphus.sessions import command_names, ledger
from sisyphus.stop import notices
from sisyphus.stop.decide import BLOCK, PAUSE, StopFacts, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook


def at_start(hook: Hook) -> Outcome:
    """Tells the user of the holds that are over, and that this session will be held."""
    ended = holds.end_old(hook.store, hook.project, hook.now)
    news = [hold_messages.hold_is_over(each) for each in ended]
    own = loops.hold_of(hook.store, hook.session)
    if own and hook.event.source != "compact":
        news.append(hold_messages.hold_at_start(own, plan_facts(hook, own), _command(hook)))
    return Outcome(messages=news, notes=[*news])


def plan_facts(hook: Hook, hold: Hold) -> PlanFacts:
    """Reads what a hold has to know of its plan."""
    return holds.plan_facts(holds.plan_of(hook.store, hold))


def add(facts: StopFacts, plan: PlanFacts, rests: str) -> None:
    """Adds to the facts of a Stop what its hold knows. rests: why the session is let go until its
    next prompt; "" = it is not."""
    facts.is_kept, facts.why_kept = plan.is_complete, hold_messages.PLAN_COMPLETE
    facts.missing, facts.no_work = hold_messages.plan_open(plan), plan.no_work
    facts.rests = rests


def tell_of_no_work(hook: Hook, hold: Hold, plan: PlanFacts) -> Outcome:
    """Tells the user why a hold holds nobody: once, and again after it has held somebody."""
    name = f"no work for hold {hold.id}, {hold.counters.iteration}: {plan.no_work}"
    if not plan.no_work or not ledger.record_notice(hook, name):
        return Outcome()
    notice = notices.of_no_work(hook, hold, plan.no_work)
    return Outcome(messages=[hold_messages.hold_waits(plan, _command(hook))], exports=notice)


def answer(hook: Hook, hold: Hold, verdict: Verdict, plan: PlanFacts) -> Outcome:
    """Words what was decided for a hold."""
    if verdict.action == BLOCK:
        is_first = ledger.record_notice(hook, f"reason of hold {hold.id}")
        reason = hold_messages.hold_reason(plan, whole=is_first)
        return Outcome(messages=[hold_messages.held(hold, plan)], reason=reason)
    if verdict.action == PAUSE:
        message = hold_messages.hold_rests(verdict.why, is_stuck=verdict.status == STUCK)
    elif hold.result == SUCCESS:
        about = ticks.of_file(hook.store, hook.standing.plan)
        message = hold_messages.hold_complete(plan.name, about)
    else:
        message = hold_messages.hold_ended(hold)
    return Outcome(messages=[message])


def _command(hook: Hook) -> str:
    return command_names.typed(hook, "boulder-hold")
