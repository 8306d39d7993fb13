"""Tells a session how full its context is, once for each level, and passes its work on."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.ground import files, log
from sisyphus.ground.partial import partial
from sisyphus.ground.text import fingerprint
from sisyphus.handoff import handoffs, messages
from sisyphus.handoff.handoffs import GIVEN
from sisyphus.hook.event import EDIT, WRITE
from sisyphus.hook.outcome import Outcome
from sisyphus.hook.session import Session
from sisyphus.sessions import ledger, sessions, usage
from sisyphus.sessions.usage import WARNING, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.boulder.plans import PlanRecord
    from sisyphus.boulder.size import Size
    from sisyphus.handoff.handoffs import Handoff
    from sisyphus.handoff.writing import Draft
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act


def look_at_context(hook: Hook) -> Act | None:
    """Acts at a new level of the context, or notes that it has fallen."""
    used = usage.of_event(hook)
    level = used.level(hook.settings)
    if not used.tokens:  # unknown; a context that starts anew has no level
        return None
    if level < hook.session.level:
        return partial(_note, hook, level)
    if level == hook.session.level:
        return None
    if level == WARNING or not _has_work(hook):
        return partial(_warn, hook, used, level, _size_of_next(hook))
    made = _draft(hook, used, level, messages.CONTEXT)
    if made is None:
        return partial(_say_unwritten, hook, used, level)
    return partial(_checkpoint, hook, used, level, made)


def look_at_next_item(hook: Hook) -> Act | None:
    """Tells a session that the next task of its plan does not fit into what is left of its context,
    when its user lets it go on."""
    used = _usage_at_known_level(hook, 0)
    if used is None:
        return None
    from sisyphus.boulder import which  # imported late: most contexts are less than half full

    plan = which.followed_now(hook.store, hook.session, hook.now)
    item = plan.next_task if plan else ""
    misfit = _misfit(item, used)
    return partial(_say_misfit, hook, used, item, misfit) if misfit else None


def look_at_ticked_item(hook: Hook) -> Act | None:
    """Tells it the same when a tool has ticked the task before. A warning at L1 says it, too."""
    used = _usage_at_known_level(hook, WARNING)
    if used is None or not _may_tick(hook):
        return None
    from sisyphus.boulder import plans, size

    assert size  # loaded now, for the act
    plan = plans.of_session(hook.store, hook.session)
    return partial(_say_next_misfit, hook, used, plan) if plan else None


def _usage_at_known_level(hook: Hook, most: int) -> Usage | None:
    """Returns how full the context is; None = its level is above `most` or is new, or nobody
    knows."""
    used = usage.of_event(hook)
    level = used.level(hook.settings)
    return used if used.tokens and level <= most and level == hook.session.level else None


def _may_tick(hook: Hook) -> bool:
    """Tells whether a tool has changed a plan, or the model's todos, so that the plan's own act
    comes before ours."""
    from sisyphus.boulder import find

    calls = hook.event.calls
    has_todos = any(call.todos is not None for call in calls)
    return has_todos or bool(find.changed_by(calls, hook.standing.plan))


def look_at_compaction(hook: Hook) -> Act | None:
    """Writes a handoff for the context that comes after the compaction."""
    return _hand_over(hook, messages.COMPACTION) if _has_work(hook) else None


def look_at_breaker(hook: Hook) -> Act | None:
    """Writes a handoff of work that no longer moves on, for whoever takes it up."""
    is_on = hook.settings["handoff.enabled"] and hook.store.is_durable
    return _hand_over(hook, messages.STUCK) if is_on else None


def _hand_over(hook: Hook, why: str) -> Act:
    used = usage.of_event(hook)
    made = _draft(hook, used, used.level(hook.settings), why)
    return partial(_keep, hook, made) if made else partial(Outcome, [], [messages.NOT_WRITTEN])


def look_at_start(hook: Hook) -> Act | None:
    """Gives the session its own open handoff, that of the session that `/clear` ended or, at a
    startup, the newest one that a session which is over left behind. One whose work has ended is
    closed instead."""
    waiting = _waiting(hook)
    first = next((each for each in waiting if not handoffs.has_ended(hook.store, each)), None)
    if first is None:
        return partial(_resume, hook, waiting, None) if waiting else None
    from sisyphus.handoff import writing  # imported late: most starts get none

    return partial(_resume, hook, waiting, writing.renew(hook.store, first, hook.now))


def look_at_permission(hook: Hook) -> Act | None:
    """Allows edits of the session's own handoffs that nobody has got, if the user has accepted
    edits: the client asks for each one below `.claude/`."""
    (call,) = hook.event.calls
    handoff = handoffs.find(hook.store, call.path)
    is_own = (
        handoff is not None
        and handoff.session == hook.session.n
        and handoff.state != GIVEN
        and not hook.event.agent
        and call.action in (EDIT, WRITE)
        and files.is_single(call.path)
    )
    return partial(_allow, hook, call.path) if is_own else None


def _has_work(hook: Hook) -> bool:
    """Tells whether there is something to hand over: a loop, a hold, a run or an open plan."""
    standing = hook.standing
    has_loop = bool(standing.loop or standing.hold) or standing.is_run
    return has_loop or standing.plan_state == "active"


def _draft(hook: Hook, used: Usage, level: int, why: str) -> Draft | None:
    """Returns the session's handoff; None if nothing can be written."""
    from sisyphus.handoff import writing  # imported late: most levels are never reached

    session = hook.session
    session.project, session.transcript = hook.project, hook.event.transcript
    try:
        return writing.draft(hook.store, session, used, level, why, hook.now)
    except OSError as error:
        log.failure("handoff", error)
        return None


def _note(hook: Hook, level: int) -> Outcome:
    hook.session.level = level
    return Outcome()


def _is_new(hook: Hook, level: int) -> bool:
    """Notes a level; tells whether no other hook has done so."""
    is_new = hook.session.level < level
    hook.session.level = max(level, hook.session.level)
    return is_new


def _size_of_next(hook: Hook) -> Size | None:
    """Returns the size of the next task of the session's plan; None = it has none. A run has begun
    its item."""
    if not _has_work(hook) or hook.standing.is_run:
        return None
    from sisyphus.boulder import size, which

    plan = which.followed_now(hook.store, hook.session, hook.now)
    return size.of(plan.next_task) if plan and plan.next_task else None


def _warn(hook: Hook, used: Usage, level: int, size: Size | None = None) -> Outcome:
    """Informs the user and, if there is work that must not be lost, the model. size: of the plan's
    next task; None = it is not known."""
    if not _is_new(hook, level):
        return Outcome()
    texts = [messages.warning(used, hook.now, size)] if _has_work(hook) else []
    note = f"level {level}: the context is {used.percent} % full"
    return Outcome(texts, [_filling(used)], [note])


def _say_next_misfit(hook: Hook, used: Usage, before: PlanRecord) -> Outcome:
    """Acts when the plan has been brought up to date. before: as it was."""
    from sisyphus.boulder import plans

    now = plans.of_session(hook.store, hook.session)
    if now is None or now.path != before.path or now.next_task == before.next_task:
        return Outcome()
    return _say_misfit(hook, used, now.next_task, _misfit(now.next_task, used))


def _misfit(item: str, used: Usage) -> str:
    """Returns why an item does not fit into what is left of a context; "" = it does, or there is
    none."""
    from sisyphus.boulder import size

    return messages.why_not_begun(size.of(item), 100 - used.percent) if item else ""


def _say_misfit(hook: Hook, used: Usage, item: str, misfit: str) -> Outcome:
    """Tells the user and the model, once for each item of a context. misfit: "" = there is none."""
    if not misfit or not ledger.record_notice(hook, fingerprint(f"does not fit: {item}")):
        return Outcome()
    text = messages.too_large(used, misfit, hook.now)
    note = f"the next item does not fit into what is left: {used.percent} % are used"
    return Outcome([text], [f"{_filling(used)} {misfit}"], [note])


def _filling(used: Usage) -> str:
    return f"Context: {used.percent} % of {used.window:,} tokens are used."


def _say_unwritten(hook: Hook, used: Usage, level: int) -> Outcome:
    if not _is_new(hook, level):
        return Outcome()
    news = f"{_filling(used)} {messages.NOT_WRITTEN}"
    return Outcome([messages.warning(used, hook.now)], [news])


def _checkpoint(hook: Hook, used: Usage, level: int, made: Draft) -> Outcome:
    if not _is_new(hook, level):
        return Outcome()
    outcome = _keep(hook, made)
    ends = hook.standing.is_run or bool(hook.settings["handoff.ends_session"])
    text = messages.checkpoint(
        used, level, made.handoff, ends=ends, commits=hook.settings["handoff.wip_commit"],
        iteration=_iteration(hook),
    )  # fmt: skip
    outcome.texts.append(text)
    place = messages.place(made.handoff)
    then = " The session ends when the agent has completed it." if ends else ""
    outcome.messages.append(f"{_filling(used)} A handoff was written: {place}.{then}")
    return outcome


def _iteration(hook: Hook) -> int:
    from sisyphus.loops import loops

    loop = loops.run_of(hook.store, hook.session) or loops.current(hook.store, hook.session)
    return loop.counters.iteration if loop else 0


def _keep(hook: Hook, made: Draft) -> Outcome:
    from sisyphus.handoff import writing

    made.handoff.session = hook.session.n
    handoffs.insert(hook.store, made.handoff)
    note = f"wrote the handoff {messages.place(made.handoff)}"
    return Outcome(notes=[note], exports=[partial(writing.write, made)])


def _resume(hook: Hook, waiting: list[Handoff], first: Handoff | None) -> Outcome:
    """Gives the session the first of the handoffs that wait, and closes those whose work has ended.
    first: as it is now; None = the work of all has."""
    for each in waiting:
        if handoffs.has_ended(hook.store, each):
            handoffs.close(hook.store, each)
            first = None if first and first.file == each.file else first
    if first is None or not handoffs.give(hook.store, first, hook.session.n):
        return Outcome()
    news = [f"This session goes on from the handoff {messages.place(first)}."]
    return Outcome([messages.resume(first)], news, [*news])


def _waiting(hook: Hook) -> list[Handoff]:
    """Returns the handoffs that this start may get, the best first."""
    store, source = hook.store, hook.event.source
    if own := handoffs.open_of(store, hook.session):
        return [own]
    given = handoffs.given_to_the_gone(store, hook.project, hook.now)
    unused = [each for each in given if _is_unused(hook, each)]
    if source == "clear":
        before = sessions.before_clear(hook)
        own = handoffs.open_of(store, before)
        return [own] if own else [each for each in unused if each.taker == before.n]
    if source == "startup" and not hook.standing.is_run:  # a run's prompt has its own
        left = handoffs.left_in(store, hook.project, hook.session)
        return sorted([*left, *unused], key=lambda each: -each.at)
    return [each for each in unused if each.session == hook.session.n]


def _is_unused(hook: Hook, handoff: Handoff) -> bool:
    """Tells whether the model has answered nothing in the session that got a handoff: it was
    started and left."""
    taker = Session.load(hook.store, handoff.taker)
    return taker.n > 0 and not clients.usage(taker.client, taker.transcript)[0]


def _allow(hook: Hook, path: str) -> Outcome:
    hook.session.dialog = ""
    return Outcome(notes=[f"allowed: the handoff {path}"], allows=True)
