"""What is known at one Stop, and what was decided. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.ralph.loop import Loop

ALLOW = "allowed"
END = "ended"  # the loop ends, the session may stop
PAUSE = "paused"  # the loop waits for the user, the session may stop
BLOCK = "blocked"

NO_LOOP = "no loop is active"

ASKING, CHECKPOINTED = "a question", "a checkpoint"
"""Why a Stop is let pass that the user hears of."""


class Situation:
    """What is known at one Stop. Facts that cost a look at files keep their defaults at first.

    `refusal`: why a promise that was made does not count. `stuck`: why the circuit breaker opened.
    `around`: the loops that wait for the current one, the outermost first. `blocks`: Stops blocked
    in a row without a tool call; at `cap` of them the client overrides, 0 = never. Of a loop that
    holds the session to a plan: `asks`, what the plan asks for, `rests`, why it asks for nothing
    now, and `over`, why the last one ended here. `full`: why a full context lets the session stop.
    `claim`: why an enforced session goes on; asked for where nothing else has an opinion.
    """

    __slots__ = (
        "around", "asks", "blocks", "cap", "claim", "excuses", "fault", "full", "is_asking",
        "is_enabled", "is_in_run", "is_subagent", "kept", "loop", "messages", "now", "over",
        "plans_only", "reason", "refusal", "rests", "stuck",
    )  # fmt: skip

    def __init__(
        self,
        *,
        is_subagent: bool = False,
        is_enabled: bool = True,
        plans_only: bool = False,
        is_in_run: bool = False,
    ) -> None:
        self.is_subagent = is_subagent
        self.is_enabled = is_enabled
        self.plans_only = plans_only
        self.is_in_run = is_in_run  # an iteration of a fresh-context run
        self.now = 0.0  # epoch seconds
        self.loop: Loop | None = None  # the current one, if there is one
        self.around: Sequence[Loop] = ()
        self.kept: Sequence[Loop] = ()  # loops whose promise was kept, and none began since
        self.reason = ""  # why the current loop's promise is not kept
        self.refusal = ""
        self.messages = 0  # in which it was looked for
        self.excuses: Sequence[str] = ()  # background work that is worth waiting for
        self.asks = self.rests = self.over = self.full = ""
        self.claim = self.stuck = ""
        self.fault = ""  # why nothing could be learnt of the loops
        self.blocks = self.cap = 0
        self.is_asking = False  # the model asked the user something


class Verdict:
    """`why` in plain words, for the journal. `by` of a pause, `outcome` of a loop that ends; `loop`
    is the one that is at its limit, which ends those that are nested in it, too."""

    __slots__ = ("action", "by", "loop", "outcome", "why")

    def __init__(
        self, action: str, why: str, *, outcome: str = "", by: str = "", loop: Loop | None = None
    ) -> None:
        self.action = action
        self.why = why
        self.outcome = outcome
        self.by = by
        self.loop = loop

    @property
    def text(self) -> str:
        return f"{self.action}: {self.why}"
