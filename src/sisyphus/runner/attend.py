"""A client at work: it is followed to its end, and what it does has its effects at once."""

from __future__ import annotations

import time

from sisyphus.runner import handed
from sisyphus.runner.client import failures, follow, launch
from sisyphus.runner.client.stream import Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.runner.client.child import Child
    from sisyphus.runner.desk import Desk


class Landed:
    """How a client ended. `failure`: why it failed; `interrupted`: the user ended it; `ended_at`
    in epoch seconds."""

    __slots__ = ("ended_at", "failure", "interrupted", "seen", "timed_out")

    def __init__(
        self,
        seen: Seen,
        failure: failures.Failure,
        ended_at: float,
        *,
        timed_out: bool = False,
        interrupted: bool = False,
    ) -> None:
        self.seen = seen
        self.failure = failure
        self.ended_at = ended_at
        self.timed_out = timed_out
        self.interrupted = interrupted

    @property
    def is_whole(self) -> bool:
        """Whether the client came to its own end after all."""
        return self.seen.has_ended and not self.seen.is_error and not self.seen.was_interrupted


def attend(desk: Desk, child: Child) -> Landed:
    """Follows a client to its end, one of an earlier runner from its beginning."""
    seen, watch = Seen(), _Watch(desk)
    output = launch.output(desk.run.in_flight)
    deadline = time.monotonic() + _seconds_left(desk)
    try:
        ended = follow.follow(
            child, seen, output, on_change=watch, deadline=deadline, stop=desk.interrupted
        )
    except KeyboardInterrupt:  # the user does not want to wait for its end
        child.end(gently=False)
        raise
    watch(seen)
    if ended.exit_code is None:
        ended.exit_code = launch.exit_code(desk.run.in_flight)
    return land(desk, seen, ended)


def land(desk: Desk, seen: Seen, ended: follow.Ended, at: float = 0.0) -> Landed:
    """`at`: when it ended, 0 = now."""
    now, timed_out = desk.now(), ended.timed_out
    errors = follow.errors_tail(launch.errors(desk.run.in_flight))
    told = _in_plain_words(seen) if ended.exit_code else seen
    failure = failures.classify(told, ended.exit_code, errors, now, timed_out=timed_out)
    return Landed(seen, failure, at or now, timed_out=timed_out, interrupted=ended.interrupted)


def _in_plain_words(seen: Seen) -> Seen:
    """A client that was not asked for a stream tells in a sentence why a request failed."""
    if seen.is_stream:
        return seen
    from sisyphus.runner.client import printed

    told = printed.seen_in("\n".join(seen.said).encode("utf-8", "replace"))
    return told if told.is_error else seen


def _seconds_left(desk: Desk) -> float:
    """Until the limit of the iteration, or that of the whole run."""
    run = desk.run
    now = desk.now()
    at_work = max(now - (run.began or now), 0.0)
    limits = [float(run.number("iteration_minutes")) * 60]
    if run.number("max_minutes"):
        limits.append(max(run.number("max_minutes") * 60 - run.worked_seconds, 1.0))
    left = [limit - at_work for limit in limits if limit]
    return max(min(left), 0.0) if left else 1e9


class _Watch:
    """What follows from each thing that the client does."""

    __slots__ = ("_desk", "_is_delivered")

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._is_delivered = not desk.run.in_flight.get("delivers")

    def __call__(self, seen: Seen) -> None:
        desk = self._desk
        if not self._is_delivered and (seen.said or seen.tool_calls or seen.spent):
            self._is_delivered = True
            delivered(desk)
        full = handed.filled(desk.space, seen.context, seen.model, seen.window)
        desk.screen.moved(desk.run, seen, full)


def delivered(desk: Desk) -> None:
    """The client answered, so it has read what the one before handed over."""
    run = desk.run
    found = run.context_checkpoint
    if found.get("active") and found.get("handoff_file") == run.in_flight.get("delivers"):
        run.context_checkpoint = {**found, "active": False}
        desk.save()
        handed.close(desk.space, str(found.get("session_id")), str(run.in_flight["session_id"]))
