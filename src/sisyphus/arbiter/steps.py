"""May the session stop? Seven steps in one order; the first that has an opinion decides. Pure."""

from __future__ import annotations

from sisyphus.arbiter.situation import (
    ALLOW,
    ASKING,
    BLOCK,
    CHECKPOINTED,
    END,
    NO_LOOP,
    PAUSE,
    Situation,
    Verdict,
)
from sisyphus.ralph import loop as lp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sisyphus.ralph.loop import Loop


def decide(situation: Situation) -> Verdict:
    """The first opinion wins; nobody having one, the session may stop."""
    return opinion(situation) or Verdict(ALLOW, NO_LOOP)


def opinion(situation: Situation) -> Verdict | None:
    """That of the first step that has one."""
    for step in STEPS:
        verdict = step(situation)
        if verdict is not None:
            return verdict
    return None


def not_ours(situation: Situation) -> Verdict | None:
    if situation.is_subagent:
        return Verdict(ALLOW, "a subagent stops freely")
    if situation.plans_only:
        return Verdict(ALLOW, "plan mode waits for the user")
    if situation.is_in_run:
        return Verdict(ALLOW, "a fresh-context run decides what comes next")
    return None


def ralph_is_off(situation: Situation) -> Verdict | None:
    """No loop holds anybody then; what else may is no loop."""
    if situation.is_enabled or situation.claim:
        return None
    return Verdict(ALLOW, "ralph is switched off")


def loop_is_paused(situation: Situation) -> Verdict | None:
    """A loop that was cancelled has no file, so there is none here."""
    loop = situation.loop
    if loop is None or not loop.is_paused or situation.kept:
        return None
    return Verdict(ALLOW, f"the loop is paused ({loop.paused_by or lp.BY_USER})")


def promise_is_kept(situation: Situation) -> Verdict | None:
    """Where another loop waited for the one that ended, that one is judged next."""
    if not situation.kept or (situation.loop and not situation.loop.is_paused):
        return None
    promises = ", ".join(f"`{loop.completion_promise}`" for loop in situation.kept)
    return Verdict(END, f"promise {promises} kept", outcome=lp.SUCCESS)


def plan_is_left(situation: Situation) -> Verdict | None:
    """Where another loop goes on, or another plan holds the session, that one is judged."""
    if situation.loop or not situation.over:
        return None
    return Verdict(END, situation.over)


def context_is_full(situation: Situation) -> Verdict | None:
    """Nothing is asked of a model that has no room left for it."""
    if situation.loop is None or not situation.full:
        return None
    return Verdict(ALLOW, situation.full, by=CHECKPOINTED)


def background_work(situation: Situation) -> Verdict | None:
    if situation.loop is None or not situation.excuses:
        return None
    return Verdict(ALLOW, f"background work is pending: {', '.join(situation.excuses)[:200]}")


def plan_rests(situation: Situation) -> Verdict | None:
    """A plan without a task that can be worked on; it costs no iteration."""
    if situation.loop is None or not situation.rests:
        return None
    return Verdict(ALLOW, situation.rests)


def iteration_limit(situation: Situation) -> Verdict | None:
    loop = situation.loop
    if loop is None or not loop.is_at_limit:
        return None
    why = f"the limit of {loop.max_iterations} iterations is reached"
    return Verdict(END, why, outcome=lp.MAX_ITERATIONS, loop=loop)


def time_limit(situation: Situation) -> Verdict | None:
    for loop in _outermost_first(situation):
        if 0 < loop.max_minutes <= loop.minutes(situation.now):
            why = f"the limit of {loop.max_minutes:,} minutes is reached"
            return Verdict(END, why, outcome=lp.LIMIT, loop=loop)
    return None


def token_limit(situation: Situation) -> Verdict | None:
    for loop in _outermost_first(situation):
        if 0 < loop.max_tokens <= loop.tokens:
            why = f"the limit of {loop.max_tokens:,} tokens is reached ({loop.tokens:,} spent)"
            return Verdict(END, why, outcome=lp.LIMIT, loop=loop)
    return None


def _outermost_first(situation: Situation) -> Sequence[Loop]:
    """The time and the tokens of a loop are those of the loops that are nested in it, too; but no
    limit of a plan ends a loop that the user started himself."""
    if situation.loop is None:
        return ()
    loops = [*situation.around, situation.loop]
    is_users_own = any(not (loop.by_model or loop.plan) for loop in loops)
    return [loop for loop in loops if not (loop.plan and is_users_own)]


def breaker_is_open(situation: Situation) -> Verdict | None:
    if situation.loop is None or not situation.stuck:
        return None
    return Verdict(PAUSE, f"the circuit breaker opened: {situation.stuck}", by=lp.BY_BREAKER)


def host_cap(situation: Situation) -> Verdict | None:
    """Pauses before the client overrides: with a cap of 8 the 8th such Stop in a row is ours.

    A cap of 1 would leave no block at all; there the client's own override is put up with.
    """
    if situation.loop is None or not situation.cap:
        return None
    if situation.blocks + 1 < max(situation.cap, 2):
        return None
    why = f"{situation.blocks + 1} Stops in a row without a tool call"
    return Verdict(PAUSE, why, by=lp.BY_HOST_CAP)


def user_is_asked(situation: Situation) -> Verdict | None:
    loop = situation.loop
    if loop is None or not situation.is_asking:
        return None
    if not all(held.options.get("wait_for_user") for held in [*situation.around, loop]):
        return None  # a loop that the model nested does not let the user's out
    return Verdict(ALLOW, "the model asked the user; the loop waits for the answer", by=ASKING)


def loop_goes_on(situation: Situation) -> Verdict | None:
    loop = situation.loop
    if loop is None:
        return None
    if situation.refusal:
        return Verdict(BLOCK, situation.refusal)
    if situation.asks:
        return Verdict(BLOCK, situation.asks)
    if loop.completion_promise is None:
        return Verdict(BLOCK, "the loop has no promise and goes on")
    return Verdict(BLOCK, f"promise `{loop.completion_promise}` not found {_where(situation)}")


def completion_is_claimed(situation: Situation) -> Verdict | None:
    """Or whatever else an enforced session is told to go on for."""
    return Verdict(BLOCK, situation.claim) if situation.claim else None


def _where(situation: Situation) -> str:
    count = situation.messages
    if count == 0:
        return f"({situation.reason})"
    messages = f"the last {count} messages" if count > 1 else "the last message"
    return f"in {messages} ({situation.reason})"


STEPS: tuple[Callable[[Situation], Verdict | None], ...] = (
    # 1. sessions that are not to be held
    not_ours,
    ralph_is_off,
    # 2. the loop itself
    loop_is_paused,
    promise_is_kept,
    plan_is_left,
    # 3. a full context
    context_is_full,
    # 4. work that goes on without the session, or not at all
    background_work,
    plan_rests,
    # 5. limits, the circuit breaker, the client's cap
    iteration_limit,
    time_limit,
    token_limit,
    breaker_is_open,
    host_cap,
    # 6. a question to the user
    user_is_asked,
    # 7. reasons to go on: a loop, an enforced boulder (a loop as well), then completion words
    loop_goes_on,
    completion_is_claimed,
)
"""One count of blocks serves them all."""
