"""Each wired command, started as the client does it: it must end well and note what it did."""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from contextlib import closing

from sisyphus.doctor.finding import Finding, ok, problem, warning
from sisyphus.doctor.sources import MANAGED, USER
from sisyphus.memory import memory_path
from sisyphus.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus._types import Json
    from sisyphus.doctor.case import Case, Hook
    from sisyphus.doctor.trial import Tried

CHECK = "round trip"

SESSION = "doctor"
_SILENT = {"idle"}
"""Notes something only where it has waited for a session."""

_FIELDS: dict[str, Json] = {
    "session-start": {"source": "startup"},
    "user-prompt-submit": {"prompt": "hello"},
    "session-end": {"reason": "other"},
    "pre-compact": {"trigger": "manual"},
    "post-tool-use": {"hook_event_name": "PostToolBatch", "tool_calls": []},
}
_WORDS = 200


def check(case: Case) -> Iterator[Finding]:
    tried = [hook for hook in case.trusted if case.file(hook) or not hook.program]
    hooks = {case.command(hook): hook for hook in tried}
    failed = [one for hook in hooks.values() if (one := _tried(case, hook))]
    yield from failed
    yield from _untried(case)
    if hooks and not failed:
        yield ok(CHECK, f"{len(tried)} hooks answered through `sh -c`")


def _untried(case: Case) -> Iterator[Finding]:
    """One for each file: a stranger's may hold thousands."""
    left: dict[tuple[str, bool], list[str]] = {}
    for hook in case.hooks:
        if not case.command(hook):
            is_own = hook.source.kind in (USER, MANAGED) and not hook.program
            file = case.shown(hook.source.path), is_own
            left.setdefault(file, []).append(hook.wired.command)
    for (where, is_own), found in left.items():
        commands = list(dict.fromkeys(found))
        more = f" and {len(commands) - 1} more" if len(commands) > 1 else ""
        named = f"{one_line(commands[0], _WORDS)}{more} ({where})"
        if is_own:
            text = f"not tried, for it is more than a call of ours: {named}"
            yield warning(CHECK, text, "One program with `hook EVENT` at the end is tried")
        else:
            yield ok(CHECK, f"not tried, for it may be a stranger's: {named}")


def _tried(case: Case, hook: Hook) -> Finding | None:
    with tempfile.TemporaryDirectory(prefix="sisyphus-doctor-") as home:
        tried = case.trials.as_hook(case.command(hook), _payload(hook, home), home)
        noted = noted_events(home)
    if told := _told(tried):
        return problem(CHECK, f"{hook.wired.command}: {told}", _hint(tried))
    if hook.name not in noted and hook.name not in _SILENT:
        return warning(
            CHECK,
            f"{hook.wired.command} ends well but notes nothing",
            "Is it another program of that name, or SISYPHUS_DISABLE in its way?",
        )
    return None


def _payload(hook: Hook, home: str) -> str:
    told = {"session_id": SESSION, "cwd": home}
    return json.dumps({**told, **_FIELDS.get(hook.name, {})}) + "\n"


def noted_events(home: str) -> list[str]:
    """The events that hooks noted which had `home` for the client's folder, without those that
    left the answer to another wiring."""
    path = memory_path(os.path.join(home, ".sisyphus"))
    if not os.path.isfile(path):
        return []
    with closing(sqlite3.connect(path)) as database:
        try:
            rows = database.execute("SELECT event FROM event WHERE NOT is_silent").fetchall()
        except sqlite3.Error:  # another sisyphus's, or none
            return []
    return [event for (event,) in rows]


def _told(tried: Tried) -> str:
    """What is wrong with an answer; "" = nothing."""
    if tried.code is None:
        return tried.error
    if tried.code:
        return f"exit code {tried.code}: {one_line(tried.error or tried.output, _WORDS)}"
    if tried.output.strip() and not _is_object(tried.output):
        return f"it prints what is no JSON object: {one_line(tried.output, _WORDS)}"
    return ""


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _hint(tried: Tried) -> str:
    if tried.code is None:
        return "`sisyphus why` says what takes so long in a session"
    return "Install sisyphus again, then `sisyphus install`"
