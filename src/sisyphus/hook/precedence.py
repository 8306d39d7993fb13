"""Which of several wirings answers, where a client calls us more than once for one event.

The user's own settings come first, then those that a project shares, then its local ones, then a
plugin. Two commands that differ in a single character both run, and a plugin's runs whatever the
settings say (Claude Code 2.1.329, measured); a Stop that is heard twice would count as two.

At a session's start all of them answer, and leave a mark: that a stronger one really works in this
session is proven, and not only said by a file. From then on a weaker one stays silent, as long as
the stronger one's settings call us for the event.
"""

from __future__ import annotations

from sisyphus.clients import claude_code
from sisyphus.clients.base import EARLIER, as_object, as_text
from sisyphus.errors import UnreadableError
from sisyphus.quick_json import loads
from sisyphus.reading import DOCUMENT_BYTES, read_bytes
from sisyphus.session import store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Json
    from sisyphus.clients.base import Payload
    from sisyphus.workspace import Workspace

SCOPES = ("user", "project", "local", "plugin")
"""The stronger first."""

_ONE_START_SECONDS = 60
_OPTION = "--scope"
_QUOTES = "'\""


def silence(payload: Payload, space: Workspace) -> list[str] | None:
    """None where this hook is to answer; else what the journal is to be told, once a session."""
    memory = space.memory
    n = store.load_of(memory, payload).n
    rows = memory.rows("SELECT scope, started_at, is_silent FROM wiring WHERE session = ?", n)
    working = _working({scope: at for scope, at, _ in rows}, space.scope)
    called = _called(payload, space) if working else set()
    for scope in working:
        if scope in called:
            is_new = not any(silent for own, _, silent in rows if own == space.scope)
            if is_new:
                memory.write(
                    "UPDATE wiring SET is_silent = 1 WHERE session = ? AND scope = ?",
                    n, space.scope,
                )  # fmt: skip
            told = f"the hooks of the {space.scope} stay silent here: those of the {scope} answer"
            return [told] if is_new else []
    return None


def _working(started: dict[str, float], own: str) -> list[str]:
    """The stronger wirings that answered at the start at which this one did."""
    if own not in SCOPES or own not in started:
        return []
    since = started[own] - _ONE_START_SECONDS
    stronger = SCOPES[: SCOPES.index(own)]
    return [scope for scope in stronger if started.get(scope, -1) >= since]


def _called(payload: Payload, space: Workspace) -> set[str]:
    """The scopes whose settings have the client call us for this event."""
    named = payload.named or claude_code.CLIENT_EVENTS[payload.event]
    return {
        _scope_of(as_text(hook.get("command")), payload.event)
        for path in claude_code.settings_paths(space.home, space.cwd, space.root)
        for event, _, hook in claude_code.wired(_read(path))
        if event == named and hook.get("type") == "command"
    }


def _scope_of(command: str, event: str) -> str:
    """The scope that a call of `sisyphus hook EVENT` names, "user" where it names none; "" where
    the command is anything else: a word more makes it somebody's own."""
    words = command.split()
    scope = words.pop() if words[-2:-1] == [_OPTION] else ""
    call = words[:-1] if scope else words
    if (
        call[-2:-1] != ["hook"]
        or EARLIER.get(call[-1], call[-1]) != event
        or not _is_program(" ".join(call[:-2]))
    ):
        return ""
    return scope or "user"


def _is_program(text: str) -> bool:
    """Whether this is one word to a shell, and that of our console script."""
    is_one = text[:1] in _QUOTES or " " not in text
    return is_one and text.rstrip(_QUOTES).endswith(("sisyphus", "sisyphus.exe"))


def _read(path: str) -> Json:
    """What the file holds; {} where the client cannot read it, either."""
    try:
        raw = read_bytes(path, DOCUMENT_BYTES)
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff") if b" hook " in raw else "{}"
        return as_object(loads(text))
    except (UnreadableError, ValueError, RecursionError):
        return {}
