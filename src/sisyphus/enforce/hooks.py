"""What the events of a session mean for its enforcement. Stops are the arbiter's."""

from __future__ import annotations

from sisyphus.enforce import marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.workspace import Workspace

COMMAND = "enforce"


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """Tells the user that the session is enforced."""
    if payload.agent or not payload.session or payload.source == "compact":
        return None
    return _try(_begin, payload, space) if marks.may_be_on(space) else None


def _begin(_: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.clients.base import Outcome
    from sisyphus.enforce import answers, store

    return Outcome(messages=[answers.IS_ON]) if store.seems_on(space) else None


def on_user_prompt_submit(payload: Payload, space: Workspace) -> Outcome | None:
    """Answers our command; any other prompt is the user at work, who lifts his own stop."""
    if payload.agent or not payload.session:
        return None
    if COMMAND in payload.prompt and payload.prompt.lstrip().startswith("/"):
        from sisyphus.enforce import commands

        if answer := commands.answer(payload, space):
            return answer
    return _try(_hear, payload, space) if marks.may_be_on(space) else None


def _hear(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.enforce import activity, texts

    if payload.is_waking and f"[{texts.HEAD}]" in payload.prompt:
        return activity.woken(payload, space)
    return activity.heard(payload, space, is_users=not payload.is_machines)


def on_pre_compact(payload: Payload, space: Workspace) -> Outcome | None:
    """Who compacts is at work."""
    if payload.agent or not payload.session or not marks.may_be_on(space):
        return None
    return _try(_compact, payload, space)


def _compact(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.enforce import activity, store

    if not store.seems_on(space):
        return None
    return activity.heard(payload, space, is_users=False)


def on_session_end(payload: Payload, space: Workspace) -> Outcome | None:
    """Nobody waits any more for a session that has ended."""
    if payload.agent or not payload.session or not marks.may_be_on(space):
        return None
    return _try(_end, payload, space)


def _end(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.enforce import activity

    return activity.ended(payload, space)


def _try(
    handle: Callable[[Payload, Workspace], Outcome | None], payload: Payload, space: Workspace
) -> Outcome | None:
    from sisyphus.attempt import attempt

    return attempt(handle, payload, space, "enforcement's state")
