"""Which process of the client we belong to, and which session it is in.

    ralph/sessions/ppid_PID.id     the session that the client process PID is in
    sessions/SESSION.json          `process`: who runs the session, told from a later process of the
                                   same pid by its start; more of it in `binding`

The first counts only where the second agrees. Every Stop imports this module: what is seldom
needed is elsewhere.
"""

from __future__ import annotations

import os
import sys
import time

from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.paths import is_safe_id, our_home
from sisyphus.reading import read_bytes
from sisyphus.state import debug

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.session.process import Process
    from sisyphus.session.store import SessionStore

CONTINUES = ("clear", "resume")
"""Why a session ends while its client process goes on, in the client's words."""

SESSION = "SISYPHUS_SESSION_ID"
"""In the shell of a client that names its session itself: OpenCode, by our plugin."""

_PID_DIGITS = 10
_ID_BYTES = 256
_STAT_BYTES = 4_096
_BOOT_CHARACTERS = 8


def client_process() -> Process | None:
    """The client process that this hook or command belongs to; None = there is none."""
    from sisyphus.session.process import identify

    pid = client_pid()
    return identify(pid) if pid else None


def is_inside_client() -> bool:
    """Whether this command line is the model's: it came from the client's own shell."""
    return bool(os.environ.get("CLAUDECODE") or os.environ.get(SESSION)) or client_pid() > 0


def current_session(ours: str) -> str:
    """The session that a person's command is about where it names none; "" = none is known."""
    for variable in ("CLAUDE_CODE_SESSION_ID", SESSION):
        named = os.environ.get(variable, "")
        if is_safe_id(named):
            return named
    from sisyphus.session.binding import bound

    process = client_process()
    return bound(ours, process) if process else ""


def bind(ours: str, session: str, now: float | None = None) -> None:
    """Notes that our client process is in this session. Where it was already, costs one small
    file; never raises."""
    try:
        pid = client_pid()
        if pid and session_named(ours, pid) != session:
            _bind(ours, session, time.time() if now is None else now)
    except (OSError, SisyphusError) as error:
        debug.log(f"session {session} is not bound to its client: {error}")


def _bind(ours: str, session: str, now: float) -> None:
    from sisyphus.session.store import SessionStore

    with SessionStore(ours, session) as held:
        pid = take_up(held, ours, session, now)
        held.save()
    publish(ours, session, pid)


def take_up(
    held: SessionStore, ours: str, session: str, now: float, *, is_cleared: bool = False
) -> int:
    """Notes in the session's file which process runs it; returns its pid, 0 = none is known.

    Once the file is saved, `publish` follows. `is_cleared`: /clear has just begun the session.
    """
    pid = client_pid()
    if not pid:
        return 0
    process = {"pid": pid, "started": linux_start(pid) or ""}
    if not process["started"] or held.state.get("process") != process:
        from sisyphus.session import binding

        if is_cleared:
            binding.note_before(held, ours, session, pid)
        binding.note(held, pid, now)
    return pid


def publish(ours: str, session: str, pid: int) -> None:
    """Writes which session the process is in, unless that is said already."""
    if pid and session_named(ours, pid) != session:
        from sisyphus.session import binding

        binding.write(ours, session, pid)


def unbind(ours: str, session: str) -> None:
    """The client process leaves this session. What it is in by now is left alone."""
    pid = client_pid()
    if pid and session_named(ours, pid) == session:
        from sisyphus.session import binding

        binding.remove(ours, session, pid)


def ppid_path(ours: str, pid: int) -> str:
    return os.path.join(ours, "ralph", "sessions", f"ppid_{pid}.id")


def session_named(ours: str, pid: int) -> str:
    """What the file of a process says, whichever process that was; "" = nothing usable."""
    try:
        text = read_bytes(ppid_path(ours, pid), _ID_BYTES).decode("ascii").removesuffix("\n")
    except (UnreadableError, ValueError):
        return ""
    return text if is_safe_id(text) else ""


def client_pid() -> int:
    """0 = none."""
    named = os.environ.get("CLAUDE_PID", "")
    if named.isascii() and named.isdigit() and len(named) <= _PID_DIGITS and int(named):
        return int(named)
    from sisyphus.session.binding import client_pid_above

    return client_pid_above(our_home())


def linux_start(pid: int) -> str | None:
    """When a process began and which run of the machine that was; "" = it has ended.

    None where that cannot be told.
    """
    found = linux_stat(pid)
    if found is None:
        return "" if is_linux() and os.path.exists("/proc/self/stat") else None
    if found[1] in "ZX":  # kept only until its parent asks how it ended
        return ""
    boot = read_proc("sys/kernel/random/boot_id", _BOOT_CHARACTERS)
    return f"{found[20]}-{os.fsdecode(boot)}"


def linux_stat(pid: int) -> list[str] | None:
    """Name, state, parent and so on as in proc(5), its number left out; None = no such process."""
    raw = read_proc(f"{pid}/stat", _STAT_BYTES)
    if not raw:
        return None
    head, _, rest = os.fsdecode(raw).rpartition(")")  # a name may hold anything, brackets too
    return [head.partition("(")[2], *rest.split()]


def read_proc(name: str, limit: int) -> bytes:
    """b"" where there is no such file, or no /proc."""
    if not is_linux():
        return b""
    try:
        fd = os.open(f"/proc/{name}", os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, limit)
    except OSError:  # the process ended meanwhile
        return b""
    finally:
        os.close(fd)


def is_linux() -> bool:
    return sys.platform == "linux"
