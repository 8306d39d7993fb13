"""`sisyphus statusline`: one line for the client's `statusLine` setting.

The client hands it how full the context is and how much it holds; hooks, which are not told, get
the window from here. What fails is left out of the line, and the exit code is 0.
"""

from __future__ import annotations

import os
import sys
import time

from sisyphus import memory, state
from sisyphus.clients.base import as_object
from sisyphus.clients.claude_code import read_status
from sisyphus.hook import status_words
from sisyphus.quick_json import loads
from sisyphus.state import debug
from sisyphus.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus._types import Json
    from sisyphus.clients.base import Status
    from sisyphus.hook.status_words import Part

STDIN_BYTES = 1_000_000

LOCK_SECONDS = 0.5
"""All waiting for locks: the line is drawn again soon."""

_FOR_PEOPLE = (
    "sisyphus statusline reads JSON from stdin: it is for the client's statusLine setting. "
    "See: sisyphus statusline --help\n"
)
_DIGITS = 6


def run() -> int:
    """Prints the line for the payload on stdin; returns the exit code."""
    if os.environ.get("SISYPHUS_DISABLE", "0") not in ("", "0"):
        return 0
    if sys.stdin is None or sys.stdin.isatty():
        if sys.stderr is not None:  # closed before we started
            sys.stderr.write(_FOR_PEOPLE)
        return 0
    state.lock_deadline = time.monotonic() + LOCK_SECONDS
    try:
        _print(_line(read_status(_payload())))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # the client's user goes on
        debug.log(f"statusline: {type(error).__name__}: {error}")
    finally:
        state.lock_deadline = None
        memory.close()
    return 0


def _payload() -> Json:
    """{} where stdin holds no object."""
    try:
        return as_object(loads(sys.stdin.buffer.read(STDIN_BYTES)))
    except (ValueError, RecursionError):
        return {}


def _line(status: Status) -> str:
    space = Workspace(_folder(status.folders))
    named = _tried(_plan, status, space)
    others = [
        part for look in (_loop, _enforcement, _context) for part in _tried(look, status, space)
    ]
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return status_words.joined(named, others, _width(), coloured=not is_plain)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    is_number = columns.isascii() and columns.isdigit() and len(columns) <= _DIGITS
    return min(int(columns) if is_number else 0, status_words.WIDTH) or status_words.WIDTH


def _tried(
    look: Callable[[Status, Workspace], list[Part]], status: Status, space: Workspace
) -> list[Part]:
    try:
        return look(status, space)
    except Exception as error:  # noqa: BLE001  # one part's failure is not the others'
        debug.log(f"statusline: {type(error).__name__}: {error}")
        return []


def _plan(status: Status, space: Workspace) -> list[Part]:
    """From the project's book alone: no plan is read for a line that is drawn all the time."""
    if not space.settings.get("boulder.enabled"):
        return []
    from sisyphus.boulder.discover import at_its_place
    from sisyphus.boulder.store import read_plans

    root = at_its_place(space).root
    plans = read_plans(space.home, root)
    path = plans.of_session(status.session)
    if not path:
        return []
    shown = plans.shown if _is_about(plans.shown, path, root) else {}
    return status_words.plan(plans.records[path], shown.get("wave"), shown.get("story"))


def _is_about(shown: Json, path: str, root: str) -> bool:
    named = shown.get("plan")
    return isinstance(named, str) and os.path.normpath(os.path.join(root, named)) == path


def _loop(status: Status, space: Workspace) -> list[Part]:
    if not status.session or not space.settings.get("ralph.enabled"):
        return []
    from sisyphus.ralph.store import has_loop, loop_path, peek

    if not has_loop(space.ours, status.session):
        return []
    found = peek(loop_path(space.ours, status.session))
    return [status_words.loop(found)] if found else []


def _enforcement(_: Status, space: Workspace) -> list[Part]:
    from sisyphus.enforce import marks

    if not marks.may_be_on(space):
        return []
    from sisyphus.enforce.store import seems_on

    return [status_words.ENFORCED] if seems_on(space) else []


def _context(status: Status, space: Workspace) -> list[Part]:
    if not status.session or not space.settings.get("checkpoint.enabled"):
        return []
    from sisyphus.checkpoint import handoffs, store
    from sisyphus.checkpoint.size.fullness import weigh
    from sisyphus.checkpoint.size.gauge import Reading

    if status.window:
        store.note_reported(space.ours, status.session, status.window)
    if not status.tokens:
        return []
    known = store.glance(space.ours, status.session)
    full = weigh(space, Reading(status.tokens, status.model), known)
    handoff = handoffs.open_of(space.ours, space.root, status.session)
    return [status_words.context(full.percent, full.level, handoff)]


def _print(text: str) -> None:
    """In UTF-8, which the client reads whatever the locale says."""
    if sys.stdout is not None:
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
        sys.stdout.flush()


def _folder(named: list[str]) -> str:
    """Where the session began, else where it is, else where we stand."""
    found = [path for path in named if path.isprintable() and os.path.isabs(path)]
    return next((path for path in found if os.path.isdir(path)), "") or _here()


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody removed the folder we stand in
        return os.sep
