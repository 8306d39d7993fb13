"""May the session stop? Seven steps in one order; the first that has an opinion decides. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sisyphus.ralph.loop import Loop

ALLOW = "allowed"
END = "ended"  # the loop ends, the session may stop
PAUSE = "paused"  # the loop waits for the user, the session may stop
BLOCK = "blocked"

PLAN_MODE = "plan"


class Situation:
    """What is known at one Stop. Facts that cost reading a file keep their defaults at first."""

    __slots__ = (
        "blocks", "cap", "excuses", "is_enabled", "is_subagent", "kept", "loop", "mode", "reason",
    )  # fmt: skip

    def __init__(
        self, *, is_subagent: bool = False, is_enabled: bool = True, mode: str = ""
    ) -> None:
        self.is_subagent = is_subagent
        self.is_enabled = is_enabled
        self.mode = mode  # the client's permission mode
        self.loop: Loop | None = None  # the current one, if there is one
        self.kept: Sequence[Loop] = ()  # loops whose promise was kept, and none began since
        self.reason = ""  # why the current loop's promise is not kept
        self.excuses: Sequence[str] = ()  # background work that is worth waiting for
        self.blocks = 0  # Stops blocked in a row without a tool call
        self.cap = 0  # at so many the client overrides; 0 = never


class Verdict:
    """`why` in plain words, for the journal."""

    __slots__ = ("action", "why")

    def __init__(self, action: str, why: str) -> None:
        self.action = action
        self.why = why

    @property
    def text(self) -> str:
        return f"{self.action}: {self.why}"


def decide(situation: Situation) -> Verdict:
    """The first opinion wins; nobody having one, the session may stop."""
    for step in STEPS:
        verdict = step(situation)
        if verdict is not None:
            return verdict
    return Verdict(ALLOW, "no loop is active")


def not_ours(situation: Situation) -> Verdict | None:
    if situation.is_subagent:
        return Verdict(ALLOW, "a subagent stops freely")
    if not situation.is_enabled:
        return Verdict(ALLOW, "ralph is switched off")
    if situation.mode == PLAN_MODE:
        return Verdict(ALLOW, "plan mode waits for the user")
    return None


def loop_is_paused(situation: Situation) -> Verdict | None:
    """A loop that was cancelled has no file, so there is none here."""
    loop = situation.loop
    if loop is None or not loop.is_paused or situation.kept:
        return None
    return Verdict(ALLOW, f"the loop is paused ({loop.paused_by or 'by the user'})")


def promise_is_kept(situation: Situation) -> Verdict | None:
    if not situation.kept:
        return None
    promises = ", ".join(f"`{loop.completion_promise}`" for loop in situation.kept)
    return Verdict(END, f"promise {promises} kept")


def background_work(situation: Situation) -> Verdict | None:
    if situation.loop is None or not situation.excuses:
        return None
    return Verdict(ALLOW, f"background work is pending: {', '.join(situation.excuses)[:200]}")


def iteration_limit(situation: Situation) -> Verdict | None:
    loop = situation.loop
    if loop is None or not loop.is_at_limit:
        return None
    return Verdict(END, f"the limit of {loop.max_iterations} iterations is reached")


def host_cap(situation: Situation) -> Verdict | None:
    """Pauses before the client overrides: with a cap of 8 the 8th such Stop in a row is ours.

    A cap of 1 would leave no block at all; there the client's own override is put up with.
    """
    if situation.loop is None or not situation.cap:
        return None
    if situation.blocks + 1 < max(situation.cap, 2):
        return None
    return Verdict(PAUSE, f"{situation.blocks + 1} Stops in a row without a tool call")


def loop_goes_on(situation: Situation) -> Verdict | None:
    loop = situation.loop
    if loop is None:
        return None
    if loop.completion_promise is None:
        return Verdict(BLOCK, "the loop has no promise and goes on")
    return Verdict(BLOCK, f"promise `{loop.completion_promise}` not found ({situation.reason})")


STEPS: tuple[Callable[[Situation], Verdict | None], ...] = (
    # 1. sessions that are not to be held
    not_ours,
    # 2. the loop itself; a `--verify` command will have its say in `promise_is_kept`
    loop_is_paused,
    promise_is_kept,
    # 3. a full context, which will belong to checkpoints, stands here
    # 4. work that goes on without the session
    background_work,
    # 5. limits; those of minutes and tokens and the circuit breaker stand before the client's cap
    iteration_limit,
    host_cap,
    # 6. a question to the user (`--wait-for-user`) stands here
    # 7. reasons to go on; after the loop an enforced boulder, then completion words
    loop_goes_on,
)
"""One count of blocks serves them all."""
