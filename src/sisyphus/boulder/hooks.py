"""The handlers of the boulder. A quiet event must cost next to nothing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.contract import Outcome, Payload
    from sisyphus.workspace import Workspace

WRITERS = ("Write", "Edit", "MultiEdit")


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """The plan of the project goes on in this session."""
    if payload.agent or not space.settings.get("boulder.enabled"):
        return None
    from sisyphus.boulder import watch
    from sisyphus.errors import SisyphusError

    greet = payload.source != "compact"  # then only the model has forgotten, not the user
    try:
        return watch.begin_session(space, payload.session, greet=greet)
    except (OSError, SisyphusError) as error:
        space.log(f"boulder not written: {error}")
        return watch.continue_without_state(space)


def on_user_prompt_submit(payload: Payload, space: Workspace) -> Outcome | None:
    """Answers the boulder's slash commands; else notices what changed between two turns."""
    if payload.agent or not space.settings.get("boulder.enabled"):
        return None
    if payload.prompt.lstrip().startswith("/"):
        from sisyphus.boulder.commands import answer

        if outcome := answer(payload, space):
            return outcome
    return _notice(payload, space)


def on_post_tool_use(payload: Payload, space: Workspace) -> Outcome | None:
    """A plan file that was written begins a boulder or moves it on."""
    if payload.tool not in WRITERS or not payload.tool_path.endswith(".md"):
        return None
    if not space.settings.get("boulder.enabled"):
        return None
    from sisyphus.boulder.watch import edited

    outcome = edited(space, payload.session, payload.tool_path)
    if outcome and payload.agent:
        outcome.pieces.clear()  # a subagent's context is not the one that knows of the plan
    return outcome


def on_stop(payload: Payload, space: Workspace) -> Outcome | None:
    """Notices what changed in this turn by other means than the client's tools."""
    if payload.is_subagent or not space.settings.get("boulder.enabled"):
        return None
    return _notice(payload, space)


def on_session_end(payload: Payload, space: Workspace) -> Outcome | None:
    """The record learns that this session is over."""
    if payload.session and not payload.agent and space.settings.get("boulder.enabled"):
        from sisyphus.boulder.watch import end_session

        end_session(space, payload.session)
    return None


def _notice(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.boulder.watch import notice

    return notice(space, payload.session)
