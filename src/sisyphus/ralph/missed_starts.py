"""Finds a loop that started while no hook ran: its command is in the transcript."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.clients.transcript_records import Reading, TranscriptLine
from sisyphus.ground import files
from sisyphus.ground.errors import UsageError
from sisyphus.ground.record import Record
from sisyphus.ground.text import fingerprint
from sisyphus.hook.stops import Stops
from sisyphus.loops import lifecycle, loops, messages
from sisyphus.loops.loop import MAX_DEPTH, Loop
from sisyphus.ralph import promise
from sisyphus.sessions import ledger, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.hook.event import Command
    from sisyphus.hook.hook import Hook

BYTES = 1_000_000
"""The most that we search, from the end of a transcript."""


class Unheard(Record):
    """A loop that has not started yet.

    live: the ids of the session's loops, which will wait for it. done: of those, the ones whose
    promise the agent said before this one began. earlier_tokens: used since the last Stop, but
    before it began.
    """

    loop: Loop
    live: tuple[str, ...]
    done: tuple[str, ...]
    earlier_tokens: int


def find(hook: Hook) -> Unheard | None:
    """Returns the loop of the last such command since the last Stop; None if there is none, or if
    it already started a loop.

    Commands older than the session's last loop or than a cancel do not count, nor do those in a
    fork, which copies its parent's lines, those of the agent, and calls that we refused. A user's
    line may be pasted or piped text, so it may do no more than a command of the model. Raises
    `UsageError`.
    """
    path = hook.event.transcript
    if not files.tail_contains(path, lifecycle.START.encode(), BYTES):
        return None
    if hook.session.fork:
        return None
    before = hook.session.stops
    since = max(before.cancelled_at, _latest(hook))
    read = clients.transcript(hook.event.client).read
    records = read(path, offset=before.offset, since=since, limit=BYTES).records
    for place, command, ids in _starts(hook, records, before):
        line = records[place]
        if _is_old(line, since, before) or loops.has_started(hook.store, ids):
            return None
        started_at = min(line.at or before.at or hook.now, hook.now)
        is_typed, origin = bool(line.command), min(ids, default="")
        try:
            loop = _new_loop(hook, command, started_at, origin, is_typed=is_typed)
        except UsageError as error:
            if is_typed or not _was_refused(hook, error):
                raise
        else:
            return _nested(hook, loop, records[:place]) if loop else None
    return None


def _latest(hook: Hook) -> float:
    """Returns when a loop of the session last began or ended; 0 = it has had none."""
    began = [loop.started_at for loop in loops.live(hook.store, hook.session)]
    return max([loops.latest_end(hook.store, hook.session), *began])


def _starts(
    hook: Hook, records: list[TranscriptLine], before: Stops
) -> Iterator[tuple[int, Command, frozenset[str]]]:
    """Yields the commands that start a loop, the last first, back to where the user has cancelled;
    each with the place of its line and the client's ids of it."""
    for place in reversed(range(len(records))):
        line = records[place]
        if line.command and not before.is_of_agent(line.command):
            if lifecycle.is_command(hook, line.command.name, lifecycle.CANCEL):
                return
            if lifecycle.is_command(hook, line.command.name, lifecycle.START):
                yield place, line.command, line.ids
        for use in reversed(line.calls):
            if use.command and lifecycle.is_command(hook, use.command.name, lifecycle.START):
                yield place, use.command, line.ids | {use.id}


def _is_old(line: TranscriptLine, since: float, before: Stops) -> bool:
    """Tells whether a line may be older than the session's loops. since: when one last began or
    ended.

    Every client notes the times. A line without one, as of a test's fixture, is of this turn if no
    loop has begun or ended since the last Stop: what was written before that Stop is not read.
    """
    return line.at <= since if line.at else before.at < since


def _was_refused(hook: Hook, error: UsageError) -> bool:
    """Tells whether a hook has told the model this already, so it heard the call."""
    refusal = fingerprint(messages.refused(str(error)))
    return refusal in ledger.hashes(hook.store, hook.session)


def _new_loop(
    hook: Hook, command: Command, started_at: float, origin: str, *, is_typed: bool
) -> Loop | None:
    """Returns the loop that a command asks for; None if a hook has heard it, under an id that the
    transcript does not have. A user's may have what the model's may not. Raises `UsageError`."""
    from sisyphus.ralph import arguments  # imported late: most Stops find no command

    heard = arguments.parse(command.arguments, hook.event.cwd, by_model=not is_typed)
    for each in loops.live(hook.store, hook.session):
        if (each.prompt, each.options.promise) == (heard.prompt, heard.options.promise):
            return None
    request = arguments.parse(command.arguments, hook.event.cwd, by_model=True)
    loop = lifecycle.new_loop(
        hook.project, request.prompt, request.options, started_at, origin, by_model=True
    )
    if lifecycle.is_too_deep(hook.store, hook.session, loop):
        raise UsageError(messages.too_deep(MAX_DEPTH))
    if lifecycle.lacks_plan(hook.store, hook.session, loop):
        raise UsageError(messages.NEEDS_PLAN)
    return loop


def _nested(hook: Hook, loop: Loop, records: list[TranscriptLine]) -> Unheard:
    """Returns the loop with what the agent did for the others before it began.

    records: those since the last Stop and before the command.
    """
    live = tuple(each.id for each in loops.live(hook.store, hook.session))
    outer = loops.current(hook.store, hook.session)
    if outer is None:
        return Unheard(loop, live, (), 0)
    is_done, tokens = work_before(outer, records)
    return Unheard(loop, live, (outer.id,) if is_done else (), tokens)


def work_before(outer: Loop, records: list[TranscriptLine]) -> tuple[bool, int]:
    """Tells whether a loop was done before the next one began, and how many tokens were used.

    records: those since the last Stop and before the next loop. One with a check or a plan is not
    done: its Stop has to look at them. Nor is one that the agent has not heard of.
    """
    work = turns.from_reading(Reading(records), None, outer.started_at)
    options = outer.options
    may_be = options.promise and not (options.verify or options.verify_plan)
    is_heard = not outer.counters.is_untold
    is_done = bool(may_be) and is_heard and promise.is_said(work.texts, options.promise)
    return is_done, work.tokens
