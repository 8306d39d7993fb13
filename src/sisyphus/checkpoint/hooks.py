"""What the events of a session mean for its context. A quiet event must cost next to nothing."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.clients.base import Outcome, Payload
    from sisyphus.workspace import Workspace

_HANDOFFS = ".claude/handoffs/"

COMMANDS = ("ralph-context", "ralph-checkpoint")


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """Gives a handoff that waits to whoever goes on with the work."""
    _note_window(payload, space)
    if not payload.session or not _is_concerned(payload, space) or _is_off(payload, space):
        return None
    return _try(_begin, payload, space)


def _is_concerned(payload: Payload, space: Workspace) -> bool:
    """Whether something is known of this session's context, or the project has handoffs."""
    told = os.path.join(space.ours, "checkpoint", f"{payload.session}.json")
    return os.path.exists(told) or payload.source == "compact" or _has_handoffs(space)


def _has_handoffs(space: Workspace) -> bool:
    return os.path.exists(space.project_file("handoffs.json"))


def _begin(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.checkpoint import resuming

    return resuming.begin(payload, space)


def on_post_tool_use(payload: Payload, space: Workspace) -> Outcome | None:
    """After a tool call, or a batch of them: tells the model of a level that it has reached."""
    if payload.agent or not payload.session or not payload.transcript:
        return None
    return _look(payload, space)


def on_user_prompt_submit(payload: Payload, space: Workspace) -> Outcome | None:
    """Answers the slash commands about the context; else looks at what the last turn has added."""
    if payload.agent or not payload.session or payload.is_machines:
        return None
    is_command = payload.prompt.lstrip().startswith("/") and any(
        name in payload.prompt for name in COMMANDS
    )
    if is_command and not _is_off(payload, space):
        from sisyphus.checkpoint import commands

        return _try(commands.answer, payload, space)
    return _look(payload, space)


def _note_window(payload: Payload, space: Workspace) -> None:
    """Keeps how much the model's context holds, where the client says so."""
    if payload.window and payload.session and not payload.agent:
        from sisyphus.checkpoint import store

        store.note_reported(space.ours, payload.session, payload.window, client=payload.client)


def _look(payload: Payload, space: Workspace) -> Outcome | None:
    """Most looks end at two small files: the session's own and the end of its transcript."""
    _note_window(payload, space)
    from sisyphus.checkpoint import store
    from sisyphus.checkpoint.size import gauge

    known = store.glance(space.ours, payload.session)
    told = store.number(known, "told")
    found = gauge.read(payload.transcript, payload.call_ids, store.cut(known))
    is_late = payload.is_batch and not found.is_current
    stamp = store.circumstances(space.settings, found.model)
    is_quiet = store.is_quiet(known, found.tokens, stamp, is_late=is_late)
    is_little = is_quiet or found.tokens < gauge.least_tokens(space, known)
    if not found.is_readable or (is_little and not told):
        return None
    if not space.settings.get("checkpoint.enabled"):
        return None
    from sisyphus.checkpoint import watch

    return _try(
        lambda payload, space: watch.look(payload, space, found, wait=is_late),
        payload,
        space,
    )


def on_pre_compact(payload: Payload, space: Workspace) -> Outcome | None:
    """What the model is about to forget is handed over, and the summary is told what to keep."""
    if not os.path.exists(payload.transcript) or _is_off(payload, space):
        return None
    return _try(_compact, payload, space)


def _compact(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.checkpoint import compacting

    return compacting.compact(payload, space)


def on_session_end(payload: Payload, space: Workspace) -> Outcome | None:
    """A handoff that the session has gone beyond is renewed, or closed where all is done."""
    if not payload.session or not _has_handoffs(space) or _is_off(payload, space):
        return None
    return _try(_end, payload, space)


def _end(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.checkpoint import closing

    return closing.end(payload, space)


def _is_off(payload: Payload, space: Workspace) -> bool:
    if payload.agent or not payload.session:
        return True
    return not space.settings.get("checkpoint.enabled")


def _try(
    handle: Callable[[Payload, Workspace], Outcome | None], payload: Payload, space: Workspace
) -> Outcome | None:
    from sisyphus.attempt import attempt

    return attempt(handle, payload, space, "the context's state")


def owned(payload: Payload, space: Workspace) -> list[str]:
    """The session's handoff that nobody was given yet, where it lies in the project."""
    from sisyphus.checkpoint import handoffs

    if not space.settings.get("checkpoint.enabled"):
        return []
    entry = handoffs.open_of(space.ours, space.root, payload.session)
    place = str(entry.get("handoff_file", "")) if entry else ""
    return [os.path.join(space.root, place)] if place.startswith(_HANDOFFS) else []
