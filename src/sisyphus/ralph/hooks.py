"""What session starts, prompts and skill calls mean for loops. Stops are the arbiter's."""

from __future__ import annotations

from sisyphus.contract import Outcome
from sisyphus.errors import SisyphusError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.contract import Payload
    from sisyphus.ralph.invocations import Start
    from sisyphus.workspace import Workspace

COMMAND = ":ralph-loop"
SKILL = "Skill"
MACHINE = "<task-notification>"


def on_session_start(payload: Payload, space: Workspace) -> Outcome | None:
    """Notes what a later Stop must know: whose lines these are, and what the model forgot."""
    if payload.is_subagent or not payload.session:
        return None
    try:
        if payload.source in ("fork", "resume"):
            return _note_past(payload, space)
        if payload.source == "compact":
            return _note_compaction(payload, space)
    except (OSError, SisyphusError) as error:
        return _failed(space, error)
    return None


def on_user_prompt_submit(payload: Payload, space: Workspace) -> Outcome | None:
    """Starts the loop that the prompt asks for; goes on with one that the client's cap paused."""
    if payload.is_subagent or not payload.session or payload.prompt.startswith(MACHINE):
        return None
    from sisyphus.ralph import store

    start = _submitted(payload) if COMMAND in payload.prompt else None
    if start is None and not store.has_loop(space.ours, payload.session):
        return None
    if not space.settings.get("ralph.enabled"):
        return None
    try:
        return _start(payload, space, start) if start else _hear_user(payload, space)
    except (OSError, SisyphusError) as error:
        return _failed(space, error)


def on_post_tool_use(payload: Payload, space: Workspace) -> Outcome | None:
    """Notes a loop that the model has started: at the next Stop its line may not be written."""
    if payload.tool != SKILL or payload.is_subagent or not payload.session:
        return None
    start = _used(payload)
    if start is None or not space.settings.get("ralph.enabled"):
        return None
    try:
        return _nest(payload, space, start)
    except (OSError, SisyphusError) as error:
        return _failed(space, error)


def _note_past(payload: Payload, space: Workspace) -> Outcome | None:
    """A fork's older lines are its parent's; a resumed session may have a past without us."""
    from sisyphus.ralph import store
    from sisyphus.ralph.loop import iso

    if not store.glance(space.ours, payload.session).is_new:
        return None
    with store.LoopStore(space.ours, payload.session) as held:
        if payload.source == "fork":
            held.memory.forked_at = iso(space.now)
        else:
            held.memory.met_at = iso(space.now)
        held.save_memory()
    return None


def _note_compaction(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.ralph import store

    if not store.has_loop(space.ours, payload.session):
        return None
    with store.LoopStore(space.ours, payload.session) as held:
        for loop in held.loops:
            loop.prompt_known = False
        held.save(held.loops)
    return Outcome(notes=["compacted: the loop's prompt goes out again with the next block"])


def _submitted(payload: Payload) -> Start | None:
    from sisyphus.ralph import invocations

    return invocations.submitted(payload.prompt, payload.prompt_id)


def _used(payload: Payload) -> Start | None:
    from sisyphus.ralph import invocations

    return invocations.used(payload.tool_input, payload.tool_use_id)


def _nest(payload: Payload, space: Workspace, start: Start) -> Outcome:
    """What was said before is read at Stop, and belongs to the loops that were there before."""
    from sisyphus.ralph import adopt, events, store, texts, turn, watch

    with store.LoopStore(space.ours, payload.session) as held:
        known = turn.Known([*held.memory.starts, *(loop.origin for loop in held.loops)])
        nested = turn.follow(
            held.loops,
            [events.Event(events.STARTED, start=start)],
            lambda asked: adopt.adopt(asked, payload.session, space),
            known,
        )
        held.memory.learn(known.starts)
        if nested.begun and not held.loops:
            held.memory.begin_anew(payload.transcript, watch.size(payload.transcript))
        elif nested.begun:
            held.memory.forget_tasks()
        held.save(nested.loops)
    left = [name for loop in nested.begun for name in adopt.not_done(loop)]
    messages = [texts.refused(reason) for reason in nested.refused]
    return Outcome(
        messages=[*messages, *([texts.not_done(left)] if left else [])],
        notes=[*held.faults, *nested.notes],
    )


def _start(payload: Payload, space: Workspace, start: Start) -> Outcome:
    """The user's new loop replaces what he has. What he typed wrongly is told before any work."""
    from sisyphus.ralph import adopt, store, texts, watch
    from sisyphus.ralph.arguments import BadArgumentsError

    with store.LoopStore(space.ours, payload.session) as held:
        held.memory.learn({*held.memory.starts, start.early})
        try:
            loop, _ = adopt.adopt(start, payload.session, space)
        except BadArgumentsError as error:
            held.save_memory()
            return _refuse(payload, str(error))
        notes = [f"loop {old.loop_id} cancelled: a new one replaces it" for old in held.loops]
        held.memory.begin_anew(payload.transcript, watch.size(payload.transcript))
        held.save([loop])
    left = adopt.not_done(loop)
    return Outcome(
        messages=[texts.not_done(left)] if left else [],
        notes=[*held.faults, *notes, f"loop {loop.loop_id} started"],
    )


def _refuse(payload: Payload, reason: str) -> Outcome:
    """Our own command is answered here; another plugin's runs on without a loop of ours."""
    from sisyphus.ralph import texts

    text, notes = texts.refused(reason), [f"no loop started: {reason}"]
    if payload.prompt.lstrip().startswith("/sisyphus:"):
        return Outcome(reason=text, notes=notes)
    return Outcome(messages=[text], notes=notes)


def _hear_user(payload: Payload, space: Workspace) -> Outcome | None:
    from sisyphus.ralph import store
    from sisyphus.ralph.loop import BY_HOST_CAP

    with store.LoopStore(space.ours, payload.session) as held:
        held.memory.blocks = 0
        loop = held.loops[-1] if held.loops else None
        resumes = loop is not None and loop.paused_by == BY_HOST_CAP
        if loop and resumes:
            loop.resume()
        held.save(held.loops)
    return Outcome(notes=["the loop goes on: the user spoke"]) if resumes else None


def _failed(space: Workspace, error: Exception) -> Outcome:
    space.log(f"ralph: {error}")
    return Outcome(notes=[f"the loop's state is left alone: {error}"])
