"""Which process of the client we belong to, and which session it is in.

A session's record names the process that runs it (`pid`, `process_started`, since `bound_at`), the
one before (`former_pid`, `former_started`), whether the process is in this session still
(`in_process`), and the session that the same process was in until /clear (`before`). A process is
told from a later one of the same pid by its start.
"""

from __future__ import annotations

import _sqlite3
import os
import time

from sisyphus.clients import claude_code
from sisyphus.errors import SisyphusError
from sisyphus.memory import open_memory
from sisyphus.paths import is_safe_id, our_home
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.memory import Value
    from sisyphus.session.process import Process
    from sisyphus.session.store import Session

CLIENT = claude_code.NAME
"""The client whose hooks run below the process that their session is in."""

CONTINUES = ("clear", "resume")
"""Why a session ends while its client process goes on."""

SESSION_VARIABLES = (claude_code.SESSION_VARIABLE, "SISYPHUS_SESSION_ID")
"""In the shell of a client: which session's it is. The second is set by our own plugin."""


def client_process() -> Process | None:
    """The client process that this hook or command belongs to; None = there is none."""
    from sisyphus.session.process import identify

    pid = client_pid()
    return identify(pid) if pid else None


def is_inside_client() -> bool:
    """Whether this command line is the model's: it came from the client's own shell."""
    is_inside = claude_code.is_inside() or bool(os.environ.get(SESSION_VARIABLES[1]))
    return is_inside or client_pid() > 0


def current_session(ours: str) -> str:
    """The session that a person's command is about where it names none; "" = none is known."""
    for variable in SESSION_VARIABLES:
        named = os.environ.get(variable, "")
        if is_safe_id(named):
            return named
    process = client_process()
    return bound(ours, process) if process else ""


def client_pid() -> int:
    """0 = none."""
    if named := claude_code.process_id():
        return named
    from sisyphus.session.process import ancestors, identify

    ours = our_home()
    for above in ancestors():
        if above.is_client or bound(ours, identify(above.pid)):
            return above.pid
    return 0


def bind(ours: str, session: str, now: float | None = None) -> None:
    """Notes that our client process is in this session; never raises."""
    try:
        from sisyphus.session import store

        memory, pid = open_memory(ours), client_pid()
        found = store.load(memory, CLIENT, session)
        if not pid or (found.in_process and found.pid == pid and _is_running(found)):
            return
        values = taken_up(found, time.time() if now is None else now)
        with memory.transaction():
            if found.change(**values).apply(memory):
                store.leave_others(memory, store.number(memory, CLIENT, session, ""), pid)
    except (OSError, SisyphusError, _sqlite3.Error) as error:
        debug.log(f"session {session} is not bound to its client: {error}")


def taken_up(session: Session, now: float, *, is_cleared: bool = False) -> dict[str, Value]:
    """What its record says from now on of the process that runs the session; {} where none is
    known. `is_cleared`: /clear has just begun the session."""
    process = client_process()
    if process is None:
        return {}
    values: dict[str, Value] = {
        "pid": process.pid, "process_started": process.started, "in_process": 1,
    }  # fmt: skip
    if is_cleared:
        before = bound(our_home(), process)
        if before not in ("", session.id):
            values["before"] = before
    former = _process(session)
    if former is None or not former.may_be(process):
        values |= {
            "former_pid": former.pid if former else None,
            "former_started": former.started if former else None,
            "bound_at": now,
        }
    elif not process.started:
        values["process_started"] = former.started
    return values


def bound(ours: str, process: Process) -> str:
    """The session that this process is in; "" = none, or it was another of the same pid."""
    row = open_memory(ours).row(
        "SELECT id FROM session WHERE pid = ? AND in_process AND process_started = ?",
        process.pid, process.started,
    )  # fmt: skip
    return str(row[0]) if row and process.started else ""


def recorded(ours: str, session: str) -> Process | None:
    """The process that runs, or ran last, the session."""
    from sisyphus.session import store

    return _process(store.load(open_memory(ours), CLIENT, session))


def taken_over(ours: str, session: str, now: float) -> tuple[Process | None, float | None]:
    """The process that ran the session before the one of now, and when that took it up: at `now`,
    where it is about to."""
    from sisyphus.session import store
    from sisyphus.session.process import Process

    found, process = store.load(open_memory(ours), CLIENT, session), client_process()
    last = _process(found)
    if process and not (last and last.may_be(process)):
        return last, now
    if not found.former_pid:
        return None, found.bound_at
    return Process(found.former_pid, found.former_started or ""), found.bound_at


def _process(session: Session) -> Process | None:
    from sisyphus.session.process import Process

    return Process(session.pid, session.process_started or "") if session.pid else None


def is_held(ours: str, session: str) -> bool | None:
    """Whether a living process is in this session; None = that cannot be told."""
    from sisyphus.session.process import is_alive

    process = recorded(ours, session)
    if process is None:
        return None
    is_in = open_memory(ours).row(
        "SELECT 1 FROM session WHERE client = ? AND id = ? AND agent = '' AND in_process",
        CLIENT, session,
    )  # fmt: skip
    return is_alive(process) if is_in else False


def open_sessions(ours: str) -> list[str]:
    """The sessions that a living client process is in."""
    rows = open_memory(ours).rows("SELECT id FROM session WHERE in_process AND agent = ''")
    return sorted(session for (session,) in rows if is_held(ours, session))


def session_before(ours: str, session: str) -> str:
    """The session that its client process was in until /clear; "" = none, or another began it.
    As a session begins, the process is still in the one before."""
    from sisyphus.session import store

    found = store.load(open_memory(ours), CLIENT, session)
    process = None if found.n else client_process()
    before = bound(ours, process) if process else found.before
    return before if before and before != session else ""


def _is_running(session: Session) -> bool:
    from sisyphus.session.process import linux_start

    return session.process_started == (linux_start(session.pid or 0) or "")
