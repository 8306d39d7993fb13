"""What a Stop means for handoffs, and whom it is told outside the session."""

from __future__ import annotations

from sisyphus.errors import SisyphusError
from sisyphus.ralph import loop as lp
from sisyphus.ralph.telling import tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.arbiter.judge import Case
    from sisyphus.arbiter.situation import Verdict
    from sisyphus.ralph.loop import Loop


def checkpointed(case: Case) -> list[str]:
    """What the user is told where a full context let the session stop."""
    if case.rest is None:
        return []
    from sisyphus.checkpoint.texts import checkpointed as words

    return [words(case.rest.entry, case.rest.percent, case.space.client)]


def paused(case: Case, verdict: Verdict) -> list[str]:
    """A loop that got nowhere is handed over: whoever resumes it may be another session."""
    loop = case.loop
    if loop is None:
        return []
    tell(case.space, "pause", loop, verdict.why)
    if verdict.by != lp.BY_BREAKER or not case.space.settings.get("checkpoint.enabled"):
        return []
    from sisyphus.checkpoint import make, survey

    payload = case.payload
    try:
        entry = make.hand_over(
            case.space,
            payload.session,
            payload.transcript,
            occasion=make.BREAKER,
            reason=verdict.why,
            loop=survey.described(loop),
        )
    except (OSError, SisyphusError) as error:
        case.space.log(f"checkpoint: {error}")
        return []
    return [f"Handoff: {entry['handoff_file']}"]


def ended(case: Case) -> None:
    """Tells of the loops that ended here. Work that is done leaves nothing to hand over."""
    done = _done(case)
    for loop, why in done:
        tell(case.space, "completion", loop, why)
    for loop, limit in case.fallen:
        tell(case.space, "failure", loop, limit.why)
    if done and not case.turn.loops:
        _close(case)


def _done(case: Case) -> list[tuple[Loop, str]]:
    """The loops that kept their promise, and the plans that are complete."""
    earlier = [loop for loop, how in case.turn.ended if how == lp.SUCCESS]
    kept = dict.fromkeys([*earlier, *case.turn.kept])
    plans = [(loop, why) for loop, how, why in case.over if how == lp.SUCCESS]
    return [*((loop, f"promise {loop.completion_promise} kept") for loop in kept), *plans]


def _close(case: Case) -> None:
    from sisyphus.checkpoint import handoffs

    space, session = case.space, case.payload.session
    try:
        handoffs.close(space.ours, space.root, handoffs.of_session(session))
    except (OSError, SisyphusError) as error:
        space.log(f"checkpoint: {error}")
