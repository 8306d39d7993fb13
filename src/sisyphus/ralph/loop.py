"""A ralph loop and what may become of it. Pure: the clock is passed in."""

from __future__ import annotations

import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.ralph.arguments import Invocation
    from sisyphus.ralph.invocations import Start

ACTIVE, PAUSED = "active", "paused"
BY_HOST_CAP = "host cap"

SUCCESS, MAX_ITERATIONS, CANCELLED = "success", "max_iterations", "cancelled"
"""How a loop ends, in the words of the session log."""

VERSION = 1
DESCRIPTION_CHARACTERS = 60

_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z"


class Loop:
    """One loop that has not ended. `iteration` is 1 from the start; `max_iterations` 0 = no end.

    `prompt_known` says whether the model's context holds the prompt. Fields of other versions wait
    in `extra`.
    """

    __slots__ = (
        "by_model", "completion_promise", "depth", "extra", "iteration", "loop_id",
        "max_iterations", "options", "origin", "paused_by", "project", "prompt", "prompt_known",
        "session_id", "started_at", "status",
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
        self.status = ACTIVE
        self.paused_by = ""
        self.origin = ""
        self.by_model = False
        self.depth = 0  # how many loops wait for this one
        self.prompt_known = True
        self.options: Json = {}
        self.extra: Json = {}

    @property
    def description(self) -> str:
        """The prompt on one short line."""
        line = " ".join(self.prompt[:1_000].split())
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

    def is_same_task(self, other: Loop) -> bool:
        mine = (self.prompt, self.completion_promise)
        return mine == (other.prompt, other.completion_promise)

    def advance(self) -> None:
        self.iteration += 1

    def pause(self, by: str) -> None:
        self.status, self.paused_by = PAUSED, by

    def resume(self) -> None:
        self.status, self.paused_by = ACTIVE, ""


def begin(start: Start, asked: Invocation, *, session: str, loop_id: str, now: float) -> Loop:
    """The loop that an invocation starts. `now` in epoch seconds stands in for a missing time."""
    loop = Loop(session, loop_id, asked.prompt)
    loop.completion_promise = asked.completion_promise
    loop.max_iterations = asked.max_iterations
    loop.started_at = start.at if re.fullmatch(_ISO, start.at) else iso(now)
    loop.origin = start.name
    loop.by_model = start.by_model
    loop.options = dict(asked.options)
    return loop


def iso(epoch: float) -> str:
    """Times as transcripts spell them, UTC with milliseconds, so that texts compare as times do."""
    seconds, milliseconds = divmod(int(epoch * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{milliseconds:03d}Z"


def is_before(at: str, moment: str) -> bool:
    """Whether the time `at` of a line lies before `moment`; a line without a time does."""
    return not re.fullmatch(_ISO, at) or at < moment
