"""A ralph loop and what may become of it. Pure: the clock is passed in."""

from __future__ import annotations

from sisyphus.times import epoch, is_time, iso

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.ralph.arguments import Invocation
    from sisyphus.ralph.invocations import Start

ACTIVE, PAUSED = "active", "paused"
BY_HOST_CAP, BY_BREAKER, BY_USER, BY_STALENESS = "host cap", "breaker", "user", "stale"

SUCCESS, MAX_ITERATIONS, CANCELLED = "success", "max_iterations", "cancelled"
ABANDONED, LIMIT, STUCK, ERROR = "abandoned", "limit", "stuck", "error"
ARCHIVED = "archived"
"""How a loop ends, in the words of the session log. `ARCHIVED`: nobody saw its end, and the user
put it with those that are over."""

WAKES = "resume_after_limit"

PLAN = "plan"
"""An option that nobody gives: the arbiter alone makes such a loop."""

MAX_MINUTES = 1_440
"""Where none is given; 0 = unlimited, only if said."""

VERSION = 1
DESCRIPTION_CHARACTERS = 60


class Loop:
    """One loop that has not ended. `iteration` is 1 from the start; `max_iterations` 0 = no end.

    `prompt_known` says whether the model's context holds the prompt. `paused_at` is in epoch
    seconds, 0 while it is active; `paused_seconds` is how long it was paused before. `tokens` were
    spent since it began, by subagents too. `breaker`, `signs` (of progress at the Stop before),
    `waiting` (for the account's limit) and `verified` (the last check of the promise) belong to
    the modules that know them. Fields of other versions wait in `extra`.
    """

    __slots__ = (
        "breaker", "by_model", "completion_promise", "depth", "extra", "iteration", "loop_id",
        "max_iterations", "options", "origin", "paused_at", "paused_by", "paused_seconds",
        "project", "prompt", "prompt_known", "session_id", "signs", "started_at", "status",
        "tokens", "turned_at", "verified", "waiting",
    )  # fmt: skip

    def __init__(self, session_id: str, loop_id: str, prompt: str) -> None:
        self.session_id = session_id
        self.loop_id = loop_id
        self.prompt = prompt
        self.project = ""
        self.completion_promise: str | None = None
        self.max_iterations = 0
        self.iteration = 1
        self.started_at = ""
        self.turned_at = ""  # when it last came to a Stop and its iteration began, "" = not yet
        self.status = ACTIVE
        self.paused_by = ""
        self.paused_at = 0
        self.paused_seconds = 0
        self.tokens = 0
        self.origin = ""
        self.by_model = False
        self.depth = 0  # how many loops wait for this one
        self.prompt_known = True
        self.options: Json = {}
        self.breaker: Json = {}
        self.signs: Json = {}
        self.waiting: Json = {}
        self.verified: Json = {}
        self.extra: Json = {}

    @property
    def description(self) -> str:
        """The prompt on one short line."""
        start = "".join(c if c.isprintable() else " " for c in self.prompt[:1_000])
        line = " ".join(start.split())
        return (
            line if len(line) <= DESCRIPTION_CHARACTERS else line[:DESCRIPTION_CHARACTERS] + "..."
        )

    @property
    def progress(self) -> str:
        limit = f"of {self.max_iterations}" if self.max_iterations else "without a limit"
        return f"iteration {self.iteration} {limit}"

    @property
    def is_paused(self) -> bool:
        return self.status == PAUSED

    @property
    def is_at_limit(self) -> bool:
        """Whether the Stop of this iteration is the last one."""
        return 0 < self.max_iterations <= self.iteration

    @property
    def has_checks(self) -> bool:
        """Whether its promise must be more than said."""
        return any(map(self.options.get, ("verify", "verify_plan", "verify_checklist")))

    @property
    def plan(self) -> str:
        """The plan that the session is held to, "" for any other loop. Such a loop has no promise,
        and lies around all others."""
        value = self.options.get(PLAN)
        return value if isinstance(value, str) else ""

    @property
    def max_minutes(self) -> int:
        return self._number("max_minutes", MAX_MINUTES)

    @property
    def max_tokens(self) -> int:
        return self._number("max_tokens", 0)

    def minutes(self, now: float) -> float:
        """How long the loop has been at work: since it began, without its pauses; 0 = unknown."""
        began = epoch(self.started_at)
        if not began:
            return 0.0
        paused = self.paused_seconds + (max(now - self.paused_at, 0) if self.paused_at else 0)
        return max(now - began - paused, 0) / 60

    def _number(self, option: str, default: int) -> int:
        value = self.options.get(option, default)
        return value if type(value) is int and value >= 0 else default

    def is_same_task(self, other: Loop) -> bool:
        mine = (self.prompt, self.completion_promise)
        return mine == (other.prompt, other.completion_promise)

    def advance(self) -> None:
        self.iteration += 1

    def pause(self, by: str, now: float) -> None:
        """Of a loop that is paused already only the reason changes."""
        since = self.paused_at if self.is_paused else 0
        self.status, self.paused_by, self.paused_at = PAUSED, by, since or int(now)

    def resume(self, now: float) -> None:
        if self.paused_at:
            self.paused_seconds += max(int(now) - self.paused_at, 0)
        self.status, self.paused_by, self.paused_at = ACTIVE, "", 0


def pause(loops: Sequence[Loop], by: str, now: float) -> None:
    """Pauses the current one of a session's loops; meanwhile no clock of the others runs either."""
    for loop in loops[:-1]:
        loop.paused_at = loop.paused_at or int(now)
    loops[-1].pause(by, now)


def resume(loops: Sequence[Loop], now: float) -> None:
    """The current one goes on, whoever paused it; and so do the others' clocks."""
    for loop in loops[:-1]:
        if not loop.is_paused:
            loop.resume(now)
    loops[-1].resume(now)


def staying(loops: Sequence[Loop], now: float) -> list[Loop]:
    """Those of a session's loops that one of the user's own does not replace, but nests in. Their
    clocks run again if a pause of what it replaces had stopped them."""
    found = [loop for loop in loops if loop.plan]
    for loop in found:
        if not loop.is_paused:
            loop.resume(now)
    return found


def end_wait(loops: Sequence[Loop], now: float) -> None:
    """The session works again: the time in which its account's limit held it was no work."""
    since = loops[-1].waiting.get("since")
    loops[-1].waiting = {}
    if isinstance(since, (int, float)):
        stand_still(loops, now - since)


def stand_still(loops: Sequence[Loop], seconds: float) -> None:
    """For so long nothing could work. A pause counts that time itself."""
    for loop in loops:
        if not loop.paused_at:
            loop.paused_seconds += max(int(seconds), 0)


def waits_since(waiting: Json, now: float) -> float:
    """Since when the account's limit holds a loop, `now` = it does not."""
    since = waiting.get("since")
    return since if isinstance(since, (int, float)) and 0 < since < now else now


def rest(loops: Sequence[Loop], since: float) -> None:
    """Nothing has worked since then; for loops that end now."""
    for loop in loops:
        loop.paused_at = int(min(loop.paused_at or since, since))


def begin(start: Start, asked: Invocation, *, session: str, loop_id: str, now: float) -> Loop:
    """The loop that an invocation starts. `now` in epoch seconds stands in for a missing time."""

    loop = Loop(session, loop_id, asked.prompt)
    loop.completion_promise = asked.completion_promise
    loop.max_iterations = asked.max_iterations
    loop.started_at = start.at if is_time(start.at) else iso(now)
    loop.origin = start.name
    loop.by_model = start.by_model
    loop.options = dict(asked.options)
    return loop
