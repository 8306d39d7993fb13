"""A session begins, or goes on: who is given the handoff that waits."""

from __future__ import annotations

import os

from sisyphus.checkpoint import handoffs, store
from sisyphus.clients.base import Outcome, Text
from sisyphus.text import line
from sisyphus.workspace import run_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint
    from sisyphus.checkpoint.handoffs import Wanted
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

OTHERWISE = "If the user asks for something else, do that; the handoff can wait."

_DAY = 86_400


def begin(payload: Payload, space: Workspace) -> Outcome | None:
    """The resume block of the handoff that this session goes on from; given once."""
    store.begin_anew(space.ours, payload.session)
    if payload.is_fresh:
        _forget(payload, space)
    _reclaim(space)
    if not handoffs.active(space.ours, space.root):
        return None
    wanted = _wanted(payload, space)
    entry = _take(payload, space, wanted) if wanted else None
    if entry is None:
        return None
    if not os.path.exists(os.path.join(space.root, entry.get("handoff_file", ""))):
        entry["handoff_file"] = ""  # somebody removed it; what else is known still helps
    file = line(entry.get("handoff_file", ""))
    return Outcome(
        texts=[_piece(entry, space, _body(entry, payload))],
        messages=[_told(entry, payload, space)],
        notes=[f"the handoff {file or '(its file is gone)'} was given to this session"],
    )


def _reclaim(space: Workspace) -> None:
    """A client that was killed gives nothing back: what its session was given and never answered
    waits again."""
    from sisyphus.checkpoint.size import gauge
    from sisyphus.session.client_process import recorded
    from sisyphus.session.process import is_alive
    from sisyphus.session.transcripts import transcript_path

    last = handoffs.last_given(space.ours, space.root)
    session = last.get("given_to", "") if last else ""
    process = recorded(space.ours, session) if session else None
    if not last or process is None or is_alive(process) is not False:
        return
    path = transcript_path(space.home, session)
    found = gauge.read(path, since=last.get("given_at", ""))
    if found.tokens or (path and not found.is_readable):
        handoffs.note_used(space.ours, space.root, session)
    else:  # the client writes no transcript before the first prompt
        handoffs.give_back(space.ours, space.root, session)


def _take(payload: Payload, space: Workspace, wanted: Wanted) -> Checkpoint | None:
    from sisyphus.times import iso

    at = iso(space.now)
    return handoffs.take(space.ours, space.root, wanted, payload.session, at)


def _forget(payload: Payload, space: Workspace) -> None:
    """Every level may be told anew; what was answered so far fills no context."""
    if payload.source == "compact":
        from sisyphus.times import iso

        store.note(space.ours, payload.session, {"told": 0, "cut": iso(space.now)})
    else:
        store.forget(space.ours, payload.session)


def _wanted(payload: Payload, space: Workspace) -> Wanted | None:
    """None where no handoff is for this session: a fork's model holds what its parent's does, and
    the first prompt of a fresh-context run's iteration holds what is to be resumed."""
    own = handoffs.of_session(payload.session)
    if payload.source in ("resume", "compact"):
        return own
    if payload.source == "fork" or run_id():
        return None
    if payload.source == "clear" and (before := _before(payload, space)):
        return handoffs.of_session(before)
    return lambda entry: _is_left(entry, space)


def _before(payload: Payload, space: Workspace) -> str:
    """The session of this client process until /clear, if it has a handoff to give."""
    from sisyphus.session.client_process import session_before

    before = session_before(space.ours, payload.session)
    return before if before and handoffs.open_of(space.ours, space.root, before) else ""


def _is_left(entry: Checkpoint, space: Workspace) -> bool:
    """Whether nobody else goes on from it: no living client is in its session, and no run."""
    from sisyphus.session.client_process import is_held
    from sisyphus.times import epoch

    age = space.now - epoch(entry.get("timestamp", ""))
    if entry.get("in_run") or age > _DAY * space.settings.get("checkpoint.keep_days"):
        return False
    return is_held(space.ours, entry.get("session_id", "")) is not True


def _body(entry: Checkpoint, payload: Payload) -> str:
    """Who begins a session anew may want something else."""
    from sisyphus.checkpoint.paper.resume import block

    if payload.source in ("resume", "compact"):
        return block(entry)
    return f"{block(entry)}\n\n{OTHERWISE}"


def _piece(entry: Checkpoint, space: Workspace, body: str) -> Text:
    file = entry.get("handoff_file", "")
    name = f"handoff {file} {entry.get('timestamp', '')}"
    path = os.path.join(space.root, file) if file else ""
    return Text("checkpoint", body, hash=name, path=path)


def _told(entry: Checkpoint, payload: Payload, space: Workspace) -> str:
    file = line(entry.get("handoff_file", ""))
    named = f"the handoff {file}" if file else "a handoff whose file is gone"
    told = f"This session goes on from {named}."
    session = entry.get("session_id", "")
    if payload.source != "startup" or not _has_loop(space, session):
        return told
    from sisyphus.session.transcripts import resume_command

    command = resume_command(space.home, session)
    return f"{told}\nIts loop is held in session {session}: `{command}`."


def _has_loop(space: Workspace, session: str) -> bool:
    from sisyphus.paths import is_safe_id
    from sisyphus.ralph.store import has_loop

    return is_safe_id(session) and has_loop(space.ours, session)
