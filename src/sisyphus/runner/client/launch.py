"""Starts the client of an iteration, so that it is found again whatever becomes of the runner.

LOOP_iter_N.jsonl   what it wrote; a second try of an iteration writes LOOP_iter_N.2.jsonl
LOOP_iter_N.err     its stderr
LOOP_iter_N.pid     its process, written by itself before it begins
LOOP_iter_N.exit    its exit code, written as it ends
"""

from __future__ import annotations

import os

from sisyphus import clients
from sisyphus.errors import SisyphusError, UnreadableError
from sisyphus.reading import read_bytes
from sisyphus.runner.client.child import Child
from sisyphus.session.process import is_linux, read_proc
from sisyphus.state.files import ensure_folder
from sisyphus.workspace import RUN_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.runner.keep.places import Places
    from sisyphus.runner.keep.state import Run

SESSION_VARIABLE = "SISYPHUS_SESSION_ID"

_SHELL = "/bin/sh"
_MOST_TRIES = 1_000

# The shell that writes the two files leads the client's process group and waits for it.
_NOTING = (
    '(umask 077; echo $$ >"$0.pid"); "$@"; code=$?; (umask 077; echo $code >"$0.exit"); exit $code'
)
_NUMBER_BYTES = 32
_COMMAND_BYTES = 65_536


def words(run: Run, root: str, session: str) -> list[str]:
    """What starts the client. Raises `SisyphusError` where there is none, or for a bad flag."""
    custom = run.text("client_command")
    if custom:
        return custom_argv(custom)
    client = clients.program()
    program = client.find(root)
    if not program:
        raise SisyphusError(
            "there is no `claude` on the PATH (one inside the project is not used). Install it, or "
            "name another client with --client-command."
        )
    return client.argv(program, session, run.flags)


def custom_argv(command: str, system: str = os.name) -> list[str]:
    """Runs a command line of the user's by the system's shell."""
    if system == "nt":
        return [os.environ.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c", command]
    return ["/bin/sh", "-c", command]


def stem(places: Places, run: Run) -> str:
    """What the names of the next client's files begin with; no earlier client wrote them."""
    first = places.stem(run.loop_id, run.iteration)
    tries = (f"{first}.{number}" for number in range(2, _MOST_TRIES))
    return next((name for name in (first, *tries) if not _is_taken(name)), first)


def program(run: Run) -> str:
    """What the system is asked to start."""
    argv = run.in_flight.get("argv")
    if os.name != "nt":
        return _SHELL
    return str(argv[0]) if isinstance(argv, list) and argv else ""


def start(places: Places, run: Run) -> Child:
    """Raises `OSError` where the client cannot be started."""
    flight = run.in_flight
    name = str(flight["stem"])
    ensure_folder(places.transcripts)
    argv = [str(word) for word in flight["argv"]]
    if os.name != "nt":
        argv = [_SHELL, "-c", _NOTING, name, *argv]
    environment = {**os.environ, RUN_VARIABLE: run.loop_id}
    environment[SESSION_VARIABLE] = str(flight["session_id"])
    return Child.start(
        argv,
        folder=places.root,
        prompt=places.prompt,
        output=output(flight),
        errors=errors(flight),
        environment=environment,
    )


def output(flight: Json) -> str:
    """What the client writes; "" where there is none of ours."""
    return _beside(flight, ".jsonl")


def errors(flight: Json) -> str:
    return _beside(flight, ".err")


def exit_code(flight: Json) -> int | None:
    """How a client ended that is no child of ours; None = it did not end by itself."""
    return _number(_beside(flight, ".exit"))


def living(flight: Json) -> Child | None:
    """The client that still works, started by whichever runner; None = there is none."""
    child = Child.attach(flight.get("child"))
    if child is None and not flight.get("child"):
        child = _unnoted(flight)
    return child if child is not None and child.poll() is None else None


def _unnoted(flight: Json) -> Child | None:
    """The client of a runner that was killed before it could note it."""
    from sisyphus.session.process import identify

    pid = _number(_beside(flight, ".pid"))
    if pid is None or exit_code(flight) is not None:
        return None
    try:
        leads = os.getsid(pid) == pid  # as every client of ours does
    except OSError:
        return None
    return Child.attach(identify(pid).as_json()) if leads and _is_of_stem(pid, flight) else None


def _is_of_stem(pid: int, flight: Json) -> bool:
    """Not a later process of its number: our shell was given the name of its files."""
    if not is_linux():
        return True
    return os.fsencode(str(flight["stem"])) in read_proc(f"{pid}/cmdline", _COMMAND_BYTES)


def _beside(flight: Json, end: str) -> str:
    stem = flight.get("stem")
    return f"{stem}{end}" if isinstance(stem, str) and stem else ""


def _is_taken(name: str) -> bool:
    return any(os.path.lexists(name + end) for end in (".jsonl", ".pid"))


def _number(path: str) -> int | None:
    try:
        text = read_bytes(path, _NUMBER_BYTES).strip()
    except UnreadableError:
        return None
    return int(text) if text.isdigit() else None
