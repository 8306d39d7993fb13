"""What ties a session to its client process, where it changes or is asked for.

In the session's file: `process`, the one that runs it; `process_before`, which ran it until
`bound_at` (epoch seconds); `before`, the session that the same process was in until /clear.
"""

from __future__ import annotations

import os

from sisyphus.paths import is_safe_id
from sisyphus.session.client import ppid_path, session_named
from sisyphus.session.process import ancestors, from_json, identify, is_alive
from sisyphus.session.store import session_path
from sisyphus.state.files import ensure_folder, read_json, set_aside, write_text
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.session.process import Process
    from sisyphus.session.store import SessionStore


def session_file(ours: str, session: str) -> Json:
    """A glance without the lock."""
    return read_json(session_path(ours, session)) or {}


def recorded(ours: str, session: str, field: str = "process") -> Process | None:
    """The process that runs, or ran last, the session; `field` may be `process_before`."""
    return from_json(session_file(ours, session).get(field))


def bound(ours: str, process: Process) -> str:
    """The session that this process was in last; "" = none, or it was another of the same pid."""
    session = session_named(ours, process.pid)
    known = recorded(ours, session) if session else None
    return session if known and known.is_same(process) else ""


def is_held(ours: str, session: str) -> bool | None:
    """Whether a living process is in this session; None = that cannot be told."""
    process = recorded(ours, session)
    if process is None:
        return None
    return is_alive(process) if session_named(ours, process.pid) == session else False


def open_sessions(ours: str) -> list[str]:
    """The sessions that a living client process is in."""
    try:
        names = os.listdir(os.path.dirname(ppid_path(ours, 0)))
    except OSError:
        return []
    pids = [n[len("ppid_") : -len(".id")] for n in names if n.startswith("ppid_")]
    named = {session_named(ours, int(pid)) for pid in pids if pid.isascii() and pid.isdigit()}
    return sorted(session for session in named if session and is_held(ours, session))


def session_before(ours: str, session: str) -> str:
    """The session that its client process was in until /clear; "" = none, or another began it."""
    before = session_file(ours, session).get("before")
    if isinstance(before, str) and is_safe_id(before) and before != session:
        return before
    return ""


def note_before(held: SessionStore, ours: str, session: str, pid: int) -> None:
    """Notes which session the client process was in until now, before `write` covers it."""
    before = bound(ours, identify(pid))
    if before not in ("", session):
        held.set(before=before)


def note(held: SessionStore, pid: int, now: float) -> None:
    """Notes the client process in the session's file, and what was there before it."""
    process, former = identify(pid), from_json(held.state.get("process"))
    if former is None or not former.may_be(process):
        left = former.as_json() if former else None
        held.set(process=process.as_json(), process_before=left, bound_at=now)
    elif process.started and not former.started:
        held.set(process=process.as_json())


def write(ours: str, session: str, pid: int) -> None:
    path = ppid_path(ours, pid)
    ensure_folder(os.path.dirname(path))
    with _lock(path):
        if os.path.isdir(path):
            set_aside(path)
        write_text(path, f"{session}\n")


def remove(ours: str, session: str, pid: int) -> None:
    """Removes the file of a process if it still names this session."""
    path = ppid_path(ours, pid)
    with _lock(path):
        if session_named(ours, pid) == session:
            os.unlink(path)


def client_pid_above(ours: str) -> int:
    """The nearest ancestor that is the client, or that was bound before; 0 = none."""
    for above in ancestors():
        is_known = session_named(ours, above.pid) and bound(ours, identify(above.pid))
        if is_known or above.is_client:
            return above.pid
    return 0


def _lock(path: str) -> Lock:
    """One for all processes: they come and go, and the file of a lock stays."""
    return Lock(os.path.join(os.path.dirname(path), "ppid"))
