"""Loops and holds as values: their options, and how far they are. What they have in common with
runs (`loops/runs.py`) is `Work`.

A session may have several loops that have not ended. The last is its current loop, and the earlier
ones wait for it. A hold has no session, no task and no promise. It holds every session that follows
its plan until the plan is complete (`boulder/holds.py`).
"""

from __future__ import annotations

import os

from sisyphus.ground.record import Record, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOOP, HOLD, RUN, WORKER = "loop", "hold", "run", "worker"
"""Kinds of work."""

ACTIVE, PAUSED, BLOCKED, STUCK, ENDED = "active", "paused", "blocked", "stuck", "ended"
"""Statuses. A loop blocks its session's Stops while it is active. PAUSED: by the user. BLOCKED:
the agent needs something from the user. STUCK: by the breaker, or at the client's limit of blocked
Stops."""

SUCCESS, CANCELLED, MAX_ITERATIONS, LIMIT = "success", "cancelled", "max_iterations", "limit"
FATAL_ERROR, UNUSABLE = "fatal_error", "error"
"""Results of work that has ended. FATAL_ERROR: of runs alone. UNUSABLE: its row in the database
could not be used any more."""

RESULTS = (SUCCESS, CANCELLED, MAX_ITERATIONS, LIMIT, FATAL_ERROR, UNUSABLE)

ABANDONED = "abandoned"
"""What `sessions.jsonl` says of a loop whose session is over. The loop has not ended."""

DEFAULT_ITERATIONS = 100
DEFAULT_MINUTES = 24 * 60
"""The default limits. A loop that nobody watches must end some day."""

UNBOUNDED_ITERATIONS = 20
"""The iteration limit of a loop without a promise, a check, a plan or a limit of its own."""

MAX_DEPTH = 5
"""The most loops that a session may have at once. Only the model nests loops in each other."""

PROMISE_CHARACTERS = 200
"""The longest promise. Each reply to a Stop repeats it, and a reply must fit into a pipe."""

MAX_JOBS = 8
"""The most workers of a run: an account's limits come earlier."""

_ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


class Options(Record):
    """What ends a piece of work, as its user asked for it; 0 = no limit, "" = nothing.

    verify: a shell command that must exit 0. verify_plan: the session's plan must be complete.
    wait_for_user: the agent may stop to ask a question.
    """

    promise: str = ""
    max_iterations: int = DEFAULT_ITERATIONS
    max_minutes: int = DEFAULT_MINUTES
    max_tokens: int = 0
    verify: str = ""
    verify_plan: bool = False
    wait_for_user: bool = False


class Counters(Record):
    """How far a piece of work is.

    iteration: the current one, from 1.
    tokens: used so far by the main agent.
    evidence: the files of its check → their digests at the start (`loops/check_files.py`).
    paused_at, paused_seconds: pauses, which do not count towards max_minutes. resumed_at: the end
    of the last one; 0 = there was none.
    is_untold: the agent has not heard of it: it was started outside of the session, and nothing was
    sent yet.
    foreign: keys that other programs added to its state file; we keep them.
    """

    iteration: int = 1
    tokens: int = 0
    evidence: dict[str, str] = field(default_factory=dict)
    paused_at: float = 0.0
    paused_seconds: float = 0.0
    resumed_at: float = 0.0
    is_untold: bool = False
    foreign: dict[str, Any] = field(default_factory=dict)


class Work(Record):
    """A piece of work: what loops, holds and runs have in common.

    prompt: the task; of a hold, a sentence for lists.
    result: one of the results above; "" = it has not ended.
    why: the result in words, or why it is paused.
    """

    id: str
    project: str
    prompt: str
    options: Options
    started_at: float
    counters: Counters = field(default_factory=Counters)
    status: str = ACTIVE
    result: str = ""
    why: str = ""
    ended_at: float | None = None

    worktree = ""
    """The folder of a run that works beside the project; "" = it works in the project."""

    kind, title = "", ""
    """Its kind, and what a sentence calls it."""

    session = 0
    """The number of the session that works at it, or did last; 0 = none."""

    by_model = False
    """The model started it, not the user."""

    @property
    def name(self) -> str:
        """Returns what a sentence begins with that is about it."""
        return f"{self.title} {self.id}"

    @property
    def owner(self) -> str:
        """Returns the id under which its iterations and transcripts are kept: of a worker that of
        its run."""
        return self.id

    @property
    def is_active(self) -> bool:
        return self.status == ACTIVE

    @property
    def task(self) -> str:
        """Returns the first line of the prompt that is not blank."""
        return next((line.strip() for line in self.prompt.splitlines() if line.strip()), "")

    def seconds(self, now: float) -> float:
        """Returns how long it has run, without its pauses."""
        end = self.counters.paused_at or self.ended_at or now
        return max(0.0, end - self.started_at - self.counters.paused_seconds)

    def limit(self, now: float, tokens: int = 0) -> tuple[str, str] | None:
        """Returns the result with which it ends at a limit, and why; None = it has reached none.
        tokens: used by all agents in it."""
        options = self.options
        if options.max_iterations and self.counters.iteration >= options.max_iterations:
            return MAX_ITERATIONS, f"iteration {self.counters.iteration} was the last"
        if options.max_minutes and self.seconds(now) >= options.max_minutes * 60:
            return LIMIT, f"its {options.max_minutes:,} minutes are up"
        if options.max_tokens and tokens >= options.max_tokens:
            return LIMIT, f"its {options.max_tokens:,} tokens are used up"
        return None

    def end(self, result: str, why: str, now: float) -> None:
        self.status, self.result, self.why, self.ended_at = ENDED, result, why, now

    def pause(self, status: str, why: str, now: float) -> None:
        self.status, self.why = status, why
        self.counters.paused_at = self.counters.paused_at or now

    def resume(self, now: float) -> None:
        """Makes it active again."""
        counters = self.counters
        if counters.paused_at:
            counters.paused_seconds += now - counters.paused_at
            counters.resumed_at = now
        counters.paused_at = 0.0
        self.status, self.why = ACTIVE, ""


class Loop(Work):
    """A loop of one session.

    session: the number of the session's row. origin: the client's id of the prompt, tool call or
    line that started it; "" = a command line. left_at: when we found that its session was over;
    None = it is not, as far as we know. file, stamp: its state file as last written; "" = it has
    none.
    """

    session: int = 0
    origin: str = ""
    left_at: float | None = None
    file: str = ""
    stamp: str = ""
    by_model: bool = False

    kind, title = LOOP, "Ralph loop"

    @property
    def is_stalled(self) -> bool:
        """Tells whether the model started it, and it is paused or stuck. What waits for it then
        decides, or the model could free a session from what its user set up."""
        return self.by_model and self.status in (PAUSED, STUCK)


class Hold(Work):
    """A hold of all sessions at a plan. plan: the number of the plan's row."""

    plan: int = 0

    kind, title = HOLD, "Hold"


def new_id() -> str:
    """Returns five random letters and digits: 900 million ids."""
    number = int.from_bytes(os.urandom(8))
    return "".join(_ID_CHARACTERS[number // 62**place % 62] for place in range(5))
