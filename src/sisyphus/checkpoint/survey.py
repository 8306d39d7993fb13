"""What is known of a session: its work, its plan, its loop, the files of the project."""

from __future__ import annotations

import os

from sisyphus.checkpoint import handoffs, in_run
from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json, PlanStatus
    from sisyphus.checkpoint.paper.situation import Situation
    from sisyphus.clients.base import ToolCall
    from sisyphus.ralph.loop import Loop
    from sisyphus.workspace import Workspace

SOURCE_BYTES = 2_000_000


def survey(  # one a fact
    space: Workspace,
    session: str,
    transcript: str,
    *,
    loop: Json | None = None,
    run: Json | None = None,
    late: Sequence[ToolCall] = (),
) -> Situation:
    """What is known of the session's work; of what cannot be read, nothing."""
    from sisyphus.checkpoint.paper.situation import Situation
    from sisyphus.checkpoint.seen import work
    from sisyphus.checkpoint.tree import changes
    from sisyphus.git import branch, head

    found = Situation()
    found.now, found.root, found.session_id = space.now, space.root, session
    found.work = work.read_file(transcript, late=late)
    found.plan = plan_of(space, session)
    run = run or in_run.state(space)
    found.loop = loop or _of_run(run) or loop_of(space, session)
    found.item, found.items_left, found.items_total = _items(run)
    found.head, found.branch = head(space.root), branch(space.root)
    edited = [edit.path for edit in found.work.edits]
    found.changed = changes.changed(space.root, _epoch(found.work.began_at), edited)
    found.notes = _notes(space, session)
    found.text_of = lambda path: _text_of(path, space.root)
    return found


def is_held(space: Workspace, session: str) -> bool:
    """Whether a loop, a run or an open plan makes this session more than a conversation."""
    if run_id() or loop_of(space, session):
        return True
    return plan_of(space, session) is not None


def plan_of(space: Workspace, session: str) -> PlanStatus | None:
    """The open plan of this project that the session is at; None = none."""
    if not space.settings.get("boulder.enabled"):
        return None
    from sisyphus.boulder import actions

    try:
        plan = actions.status(space, session, elsewhere=False)
    except SisyphusError as error:
        space.log(f"checkpoint: the plan is left out: {error}")
        return None
    return plan if plan["state"] == "active" else None


def loop_of(space: Workspace, session: str) -> Json | None:
    """What a handoff says of the session's current loop; None = it has none that is at work."""
    from sisyphus.ralph import store

    loop = store.peek(store.loop_path(space.ours, session)) if session else None
    return None if loop is None or loop.is_paused else described(loop)


def described(loop: Loop) -> Json:
    """What a handoff says of a loop."""
    return {
        "loop_id": loop.loop_id,
        "description": loop.description,
        "prompt": "" if loop.plan else loop.prompt,
        "iteration": loop.iteration,
        "max_iterations": loop.max_iterations,
        "completion_promise": loop.completion_promise,
    }


def _of_run(run: Json) -> Json | None:
    if not run:
        return None
    return {
        "loop_id": _text(run, "loop_id"),
        "description": _text(run, "task_name"),
        "prompt": _text(run, "prompt") or _text(run, "objective"),
        "iteration": _number(run, "iteration"),
        "max_iterations": _number(run, "max_iterations"),
        "completion_promise": _text(run, "completion_promise") or None,
    }


def _items(run: Json) -> tuple[str, int | None, int | None]:
    """The item of the iteration, how many are left and how many there are."""
    left, done = run.get("todo_items"), run.get("completed_items")
    if not isinstance(left, list) or not isinstance(done, list) or not (left or done):
        return "", None, None
    flight = run.get("in_flight")
    item = flight.get("item") if isinstance(flight, dict) else ""
    first = str(left[0]) if left else ""
    return (item if isinstance(item, str) else "") or first, len(left), len(left) + len(done)


def _notes(space: Workspace, session: str) -> dict[str, str]:
    """What the model added to the handoff of this session that nobody was given yet."""
    from sisyphus.checkpoint.paper import sections

    before = handoffs.open_of(space.ours, space.root, session)
    if before is None:
        return {}
    path = os.path.join(space.root, before.get("handoff_file", ""))
    ours = os.path.join(space.ours, "projects")
    return sections.notes(_text_of(path, space.root) or _text_of(path, ours))


def _text_of(path: str, inside: str) -> str:
    """ "" where it cannot be read."""
    from sisyphus.reading import read_text

    try:
        return read_text(path, SOURCE_BYTES, inside)
    except UnreadableError:
        return ""


def _epoch(at: str) -> float:
    from sisyphus.times import epoch

    return epoch(at)


def _text(found: Json, field: str) -> str:
    value = found.get(field)
    return value if isinstance(value, str) else ""


def _number(found: Json, field: str) -> int:
    value = found.get(field)
    return value if type(value) is int else 0
