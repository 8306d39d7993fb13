"""Every sentence about holds that the model and the user read."""

from __future__ import annotations

from sisyphus.ground.record import Record
from sisyphus.ground.text import one_line, sentence
from sisyphus.loops import messages
from sisyphus.sessions.messages import WAY_OUT, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.plans import PlanRecord
    from sisyphus.loops.loop import Hold

HEADING = "[BOULDER HOLD]"

TURN_OFF = "`sisyphus boulder hold off`"

_CHECK_NEXT, _TICK_NEXT = "Make its check pass.", "Tick its box in the plan when it is done."

_NAME = 60
_TASK = 100
_SHORT_TASK = 60
_SHOWN = 5


class PlanFacts(Record):
    """What a hold has to know of its plan.

    progress: as "5 of 20 tasks". is_complete: all its tasks are done.
    no_work: why nobody can go on with it now; "" = somebody can. next_task: "" = none.
    has_check_next: it is to make a check pass. when_done: what the agent is to do with the plan
    when the task is done; "" = tick its box.
    """

    name: str
    progress: str
    is_complete: bool
    no_work: str
    next_task: str
    has_check_next: bool
    when_done: str = ""


def plan_name(record: PlanRecord) -> str:
    """Names a plan in sentences about its hold."""
    return f"the plan {one_line(record.name, _NAME)}"


def hold_reason(plan: PlanFacts, *, whole: bool) -> str:
    """Returns the reason of a Stop that a hold blocks.

    The context keeps all of them, so only the first one is written in full (`whole`).
    """
    name = one_line(plan.name, _NAME)
    if not whole:
        task = f"Next: {one_line(plan.next_task, _SHORT_TASK)}"
        return "\n".join((HEADING, f"{name}: {plan.progress}. {task}", WAY_OUT))
    return "\n\n".join(
        (
            HEADING,
            f"The plan {name} is not complete: {plan.progress}. Continue with it.",
            f"Next task: {one_line(plan.next_task, _TASK)}",
            f"{_CHECK_NEXT if plan.has_check_next else plan.when_done or _TICK_NEXT}\n{WAY_OUT}",
        )
    )


def held(hold: Hold, plan: PlanFacts) -> str:
    """Tells the user that a hold has blocked a Stop."""
    return f"Hold of the plan: {plan.progress}, {messages.iteration(hold)}"


def hold_started(
    hold: Hold,
    plan: PlanFacts,
    sessions: list[tuple[str, str]],
    replaced: Hold | None,
    typed: str = "",
) -> str:
    """Tells the user what the hold does, whom it holds now, and how it ends. typed: see
    `turn_off`."""
    limits = messages.limits(hold)
    when = f", or after {limits}" if limits else ""
    asks = "ask you a question or " if hold.options.wait_for_user else ""
    lines = [
        f"Hold {hold.id} started: {hold.task} ({plan.progress})",
        "Each session that follows the plan must go on until the plan is complete; when all that "
        f"is left is blocked, it may stop. It may also {asks}say that it needs you, and then stop "
        "until your next prompt.",
        f"The hold ends when the plan is complete{when}, counted over all its sessions. To end it "
        f"now, {turn_off(typed)}.",
        at_the_plan(sessions),
    ]
    lines += [messages.begins(hold)] if sessions else []
    if replaced:
        lines.insert(0, hold_replaced(replaced))
    return "\n".join(lines)


def not_trusted(number: int) -> str:
    """Says that a hold runs not all checks of its plan."""
    what = (
        "1 check is not trusted and does"
        if number == 1
        else f"{number} checks are not trusted and do"
    )
    return f"{what} not run: `sisyphus boulder checks --trust`."


def no_time(number: int) -> str:
    """Says that checks of a plan could not run to their end at a Stop."""
    what = "1 check" if number == 1 else f"{number} checks"
    return f"{what} of the plan found no time at this Stop, and proves nothing."


def turn_off(typed: str) -> str:
    """Tells the user how to end a hold. typed: our slash command as their session knows it; "" =
    they are in no session."""
    return f"{f'type {typed} off, or ' if typed else ''}run {TURN_OFF} in a terminal"


def hold_replaced(hold: Hold) -> str:
    return f"Hold {hold.id} was replaced at iteration {hold.counters.iteration}."


def at_the_plan(sessions: list[tuple[str, str]]) -> str:
    """Says who follows the plan of a hold. sessions: each id, with what it needs from its user, or
    ""."""
    if not sessions:
        return "No session follows the plan now. Those that start with it are held."
    needs = {id: f" (needs you: {one_line(why)})" if why else "" for id, why in sessions}
    names = [f"{short(id)}{need}" for id, need in needs.items()]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"Sessions at the plan now: {', '.join(names[:_SHOWN])}{more}."


def hold_state(hold: Hold) -> str:
    """Says how a hold is, on one line."""
    return f"Hold {hold.id}: {messages.state(hold)}: {hold.task}"


def way_out(hold: Hold, plan: PlanFacts, typed: str) -> str:
    """Says what ends a hold. typed: see `turn_off`."""
    limits = messages.limits(hold)
    when = f" or after {limits}" if limits else ""
    return f"{plan.progress}. It ends with the plan{when}. To end it now, {turn_off(typed)}."


def hold_at_start(hold: Hold, plan: PlanFacts, typed: str) -> str:
    """Tells the user of a session that starts that it will be held. typed: see `turn_off`."""
    if not hold.is_active:
        return messages.paused(hold)
    if plan.no_work:
        return hold_waits(plan, typed)
    return (
        f"This session must go on until the plan is complete ({messages.iteration(hold)}). To end "
        f"that, {turn_off(typed)}."
    )


def hold_waits(plan: PlanFacts, typed: str) -> str:
    """Tells the user that nobody is held for now. typed: see `turn_off`."""
    why = f"{plan.no_work[:1].upper()}{plan.no_work[1:]}"
    return f"{why}, so its hold lets sessions stop. To end it, {turn_off(typed)}."


def has_no_work(hold: Hold, plan: PlanFacts) -> str:
    """Says for lists that a hold holds nobody for now."""
    return f"Hold {hold.id} has no work: {plan.no_work}"


WHAT_GIVES_WORK = f"It goes on when the plan has work again. {TURN_OFF} ends it."
NO_HOLD = "No hold is on here."


def hold_complete(name: str, ticks: str) -> str:
    """ticks: what stands behind the ticks of the plan, "" = nobody knows."""
    what = f"The hold of the plan {one_line(name, _NAME)} has ended."
    return f"[BOULDER HOLD COMPLETE]\n\n{what}{f' Its ticks: {ticks}.' if ticks else ''}"


def hold_ended(hold: Hold) -> str:
    why = f"{hold.why[:1].upper()}{hold.why[1:]}"
    return f"[BOULDER HOLD ENDED]\n\n{why}. The plan is not complete."


def hold_is_over(hold: Hold) -> str:
    """Tells the user of a hold that ended while none of its sessions ran."""
    return f"Hold {hold.id} has ended: {hold.why}. ({hold.task})"


def hold_rests(why: str, *, is_stuck: bool) -> str:
    """Tells the user that one session may stop, though the hold goes on. is_stuck: the agent did
    not ask for it."""
    what = "The hold of the plan lets this session stop" if is_stuck else "The agent needs you"
    return f"{what}: {sentence(why)} Your next prompt makes it go on with the plan."


PLAN_COMPLETE = "the plan is complete"


def plan_open(plan: PlanFacts) -> str:
    """Says why a hold does not end, for the journal."""
    return f"the plan is not complete: {plan.progress}"
