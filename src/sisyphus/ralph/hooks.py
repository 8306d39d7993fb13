"""What the events of a session mean for its loops. Stops are the arbiter's."""

from __future__ import annotations

from sisyphus.clients.base import SKILL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.clients.base import Outcome, Payload, ToolCall
    from sisyphus.workspace import Workspace

COMMAND = "ralph"  # in the name of each of our commands


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """Notes what a later Stop must know: whose lines these are, and what the model forgot."""
    if payload.is_subagent or not payload.session or payload.source == "startup":
        return None
    return _try(_come, payload, space)


def _come(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.ralph import sittings

    if payload.source == "fork":
        sittings.forked(payload, space)
    if payload.source == "resume":
        return sittings.resumed(payload, space)
    if payload.source == "compact":
        return sittings.compacted(payload, space)
    if payload.source == "clear":
        from sisyphus.ralph import rebind

        return rebind.rebind(payload, space)
    return None


def on_session_end(payload: Payload, space: Workspace) -> Outcome | None:
    """Logs the loops of a client that is gone; after `/clear` it goes on in another session."""
    if payload.is_subagent or not payload.session or _goes_on(payload):
        return None
    return _try(_leave, payload, space)


def _goes_on(payload: Payload) -> bool:
    from sisyphus.session.client_process import CONTINUES

    return payload.reason in CONTINUES


def _leave(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.ralph import store

    if not store.has_loop(space.ours, payload.session):
        return None
    from sisyphus.ralph import sittings

    return sittings.left(payload, space)


def on_stop_failure(payload: Payload, space: Workspace) -> Outcome | None:
    """A turn failed. It is no iteration; what goes away by waiting is waited for."""
    if payload.is_subagent or not payload.session:
        return None
    return _try(_fail, payload, space)


def _fail(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.ralph import store

    if not store.has_loop(space.ours, payload.session) or not space.settings.get("ralph.enabled"):
        return None
    from sisyphus.ralph import sittings

    return sittings.failed(payload, space)


def on_user_prompt_submit(payload: Payload, space: Workspace) -> Outcome | None:
    """Answers our commands, starts the loop that the prompt asks for, goes on with a paused one."""
    if payload.is_subagent or not payload.session or payload.is_machines:
        return None
    from sisyphus.ralph import store

    is_command = COMMAND in payload.prompt and payload.prompt.lstrip().startswith("/")
    if not is_command and not store.has_loop(space.ours, payload.session):
        return None
    if not space.settings.get("ralph.enabled"):
        return None
    return _try(_command if is_command else _speech, payload, space)


def _command(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus import bare_commands
    from sisyphus.ralph import begin, commands, invocations

    start = invocations.submitted(payload.prompt, payload.prompt_id)
    if start and bare_commands.is_ours(start.command, space):
        return begin.by_user(payload, space, start)
    return commands.answer(payload, space) or _speech(payload, space)


def _speech(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.ralph import store

    if not store.has_loop(space.ours, payload.session):
        return None
    from sisyphus.ralph import sittings

    return sittings.heard_user(payload, space)


def on_post_tool_use(payload: Payload, space: Workspace) -> Outcome | None:
    """Notes a loop that the model has started: at the next Stop its line may not be written."""
    skills = [call for call in payload.calls if call.kind == SKILL and not call.failed]
    if not skills or payload.is_subagent or not payload.session:
        return None
    if not space.settings.get("ralph.enabled"):
        return None
    return _try(lambda payload, space: _use(skills, payload, space), payload, space)


def _use(skills: list[ToolCall], payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.bare_commands import is_ours
    from sisyphus.clients.base import merge
    from sisyphus.ralph import begin, invocations

    starts = [invocations.used(call.input, call.id) for call in skills]
    ours = [start for start in starts if start and is_ours(start.command, space)]
    return merge([begin.by_model(payload, space, start) for start in ours]) if ours else None


def _try(
    handle: Callable[[Payload, Workspace], Outcome | None], payload: Payload, space: Workspace
) -> Outcome | None:
    from sisyphus.attempt import attempt

    return attempt(handle, payload, space, "the loop's state")
