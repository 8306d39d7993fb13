"""Starts a loop when the user types its command or the model calls it, moves it to the new session
after `/clear`, and resumes it when the user answers or the context starts empty."""

from __future__ import annotations

from sisyphus.ground.errors import UsageError
from sisyphus.ground.partial import partial
from sisyphus.ground.text import fingerprint
from sisyphus.hook.outcome import Outcome, Text, merge
from sisyphus.hook.session import Session
from sisyphus.loops import lifecycle, loops, messages, state_file
from sisyphus.loops.loop import BLOCKED, MAX_DEPTH, STUCK, Loop, Work
from sisyphus.ralph import arguments
from sisyphus.sessions import command_names, ledger, sessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.event import Command
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act, Export


def look_at_start(hook: Hook) -> Act | None:
    """Moves the loops of the session that `/clear` ended, takes up those that this session left
    behind, and looks for others that were. An empty context closes the breaker."""
    return partial(_start_session, hook)


def _start_session(hook: Hook) -> Outcome:
    outcomes = []
    before = sessions.before_clear(hook) if hook.event.source == "clear" else Session()
    moved = loops.live(hook.store, before) if before.n else []
    for loop in moved:
        lifecycle.move(hook.store, loop, hook.session)
    if moved:
        outcomes.append(Outcome(notes=["the loop of the cleared session continues in this one"]))
    taken = lifecycle.take_up(hook.store, loops.live(hook.store, hook.session))
    if taken:
        outcomes.append(Outcome(messages=[messages.taken_up(taken[-1])]))
    if hook.event.starts_empty:
        outcomes.append(_resume(hook, (STUCK,)))
    left = lifecycle.leave_behind(hook.store, hook.now)
    outcomes += [Outcome(notes=[f"loop {loop.id} was left behind"]) for loop in left]
    outcome = merge(outcomes)
    outcome.exports += [_export(hook)] if outcomes else []
    if hook.event.source == "startup" and not hook.standing.is_run:
        outcome.messages += _tell_of_left(hook)
    return outcome


def _tell_of_left(hook: Hook) -> list[str]:
    """Tells the user of a new session which loop waits in their project for its own."""
    left = loops.left_in(hook.store, hook.project)
    if not left:
        return []
    return [messages.still_left(left[-1], lifecycle.way_back(hook.store, left[-1]), len(left) - 1)]


def look_at_end(hook: Hook) -> Act | None:
    """Notes that the session leaves its loops behind; those of one that its user has deleted end,
    because nobody can resume it."""
    return partial(_end_session, hook)


def _end_session(hook: Hook) -> Outcome:
    if hook.event.source == "deleted":
        lifecycle.cancel_all(hook.store, hook.session, messages.SESSION_DELETED, hook.now)
    left = lifecycle.leave_behind(hook.store, hook.now)
    notes = [f"loop {loop.id} was left behind" for loop in left]
    is_changed = bool(left) or hook.event.source == "deleted"
    return Outcome(notes=notes, exports=[_export(hook)] if is_changed else [])


def look_at_prompt(hook: Hook) -> Act | None:
    """Starts or cancels a loop if the user typed the command; any other prompt of theirs resumes a
    blocked or stuck loop. Edits of a state file are applied first."""
    act = _look_at_text(hook)
    if any(state_file.find_edit(loop) for loop in loops.live(hook.store, hook.session)):
        return partial(_apply_edits, hook, act)
    return act


def _apply_edits(hook: Hook, act: Act | None) -> Outcome:
    """Applies edits of the session's state files, then does what the prompt asks for."""
    news = lifecycle.apply_edits(
        hook.store, hook.session, loops.live(hook.store, hook.session), hook.now
    )
    rest = [act()] if act else []
    return merge([Outcome(messages=news, notes=[*news], exports=[_export(hook)]), *rest])


def _look_at_text(hook: Hook) -> Act | None:
    command = hook.event.prompt.command
    if command and lifecycle.is_command(hook, command.name, lifecycle.START):
        return _start(hook, command, hook.event.prompt.id, by_model=False)
    if command and lifecycle.is_command(hook, command.name, lifecycle.CANCEL):
        is_ours = bool(command_names.own_name(hook, command.name))
        if is_ours and command.arguments.strip():
            note = f"refused /{command.name} {command.arguments.strip()}"
            return partial(Outcome, reason=messages.NO_ARGUMENTS, notes=[note])
        return partial(_cancel, hook, is_ours=is_ours)
    is_answer = hook.event.prompt.is_personal and not command
    if is_answer and hook.standing.loop in (BLOCKED, STUCK):
        return partial(_resume, hook, (BLOCKED, STUCK))
    return partial(_tell, hook)


def _tell(hook: Hook) -> Outcome:
    """Tells the agent of the loops that were started outside of its session, with the prompt that
    makes it work again."""
    texts = []
    for loop in loops.live(hook.store, hook.session):
        if loop.counters.is_untold and loop.is_active:
            loop.counters.is_untold = False
            loops.save(hook.store, loop)
            texts += [messages.prompt(loop), messages.terms(loop)]
    return Outcome(texts)


def look_at_tools(hook: Hook) -> Act | None:
    """Starts a loop if the model calls the command as a skill."""
    for call in hook.event.calls:
        if call.command and lifecycle.is_command(hook, call.command.name, lifecycle.START):
            return _start(hook, call.command, call.id, by_model=True)
    return None


def _start(hook: Hook, command: Command, origin: str, *, by_model: bool) -> Act:
    if not hook.store.is_durable:
        return partial(_refuse, f"{hook.store.problem}.", by_model=by_model)
    if hook.standing.is_run:
        return partial(_refuse, messages.IN_RUN, by_model=by_model)
    if arguments.asks_for_help(command.arguments) and not by_model:
        return partial(Outcome, reason=messages.HELP, notes=["answered /ralph-loop --help"])
    try:
        request = arguments.parse(command.arguments, hook.event.cwd, by_model=by_model)
    except UsageError as error:
        return partial(_refuse, str(error), by_model=by_model)
    loop = lifecycle.new_loop(
        hook.project, request.prompt, request.options, hook.now, origin, by_model=by_model
    )
    cancel = f"/{command.name.removesuffix(lifecycle.START)}{lifecycle.CANCEL}"
    return partial(_start_loop, hook, loop, cancel)


def _start_loop(hook: Hook, loop: Loop, cancel: str) -> Outcome:
    """Starts the loop, and tells the model what ends it. cancel: the command that cancels it."""
    if loop.origin and loops.has_started(hook.store, frozenset([loop.origin])):
        return Outcome(notes=["another hook already started this loop"])
    if lifecycle.is_too_deep(hook.store, hook.session, loop):
        return _refuse(messages.too_deep(MAX_DEPTH), by_model=True)
    if lifecycle.lacks_plan(hook.store, hook.session, loop):
        return _refuse(messages.NEEDS_PLAN, by_model=loop.by_model)
    news = lifecycle.apply_edits(
        hook.store, hook.session, loops.live(hook.store, hook.session), hook.now
    )
    replaced = lifecycle.start(hook.store, hook.session, loop)
    ledger.add(hook, [messages.prompt(loop)])  # the command itself already shows it to the model
    news += [*([messages.cancelled(replaced)] if replaced else []), messages.started(loop, cancel)]
    notes = [f"loop {loop.id} started"]
    return Outcome([messages.terms(loop)], news, notes, exports=[_export(hook)])


def _refuse(problem: str, *, by_model: bool) -> Outcome:
    """Tells the model, or blocks the user's prompt and shows them the problem."""
    refusal = messages.refused(problem)
    if by_model:
        return Outcome([Text("loop", refusal, fingerprint(refusal))], notes=[refusal])
    return Outcome(reason=refusal, notes=[refusal])


def _cancel(hook: Hook, *, is_ours: bool) -> Outcome:
    """Answers our own command here, without the model. Another plugin's command also goes to the
    model. The hold of the session's plan ends, too."""
    cancelled: list[Work] = []
    cancelled += lifecycle.cancel_all(hook.store, hook.session, messages.BY_USER, hook.now)
    cancelled += lifecycle.cancel_hold(hook.store, hook.session, messages.BY_USER, hook.now)
    hook.session.stops.cancelled_at = hook.now  # what no hook has heard before this ends, too
    answer = messages.cancelled(cancelled)
    if is_ours:
        return Outcome(reason=answer, notes=[answer], exports=[_export(hook)])
    return Outcome(messages=[answer] if cancelled else [], notes=[answer], exports=[_export(hook)])


def _resume(hook: Hook, statuses: tuple[str, ...]) -> Outcome:
    """Resumes the session's loops that have one of these statuses."""
    news = []
    for loop in loops.live(hook.store, hook.session):
        if loop.status in statuses:
            lifecycle.resume(hook.store, hook.session, loop, hook.now)
            news.append(messages.resumed(loop))
    return Outcome(messages=news, notes=[*news], exports=[_export(hook)] if news else [])


def _export(hook: Hook) -> Export:
    return partial(lifecycle.export, hook.store, hook.session)
