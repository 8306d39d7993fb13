"""Each wired command, started as the client does it: it must end well and note what it did."""

from __future__ import annotations

import json
import os
import tempfile

from sisyphus.doctor.finding import Finding, ok, problem, warning
from sisyphus.doctor.sources import MANAGED, USER
from sisyphus.plain import one_line
from sisyphus.state import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.doctor.case import Case, Hook
    from sisyphus.doctor.trial import Tried

CHECK = "round trip"

SESSION = "doctor"
_SILENT = {"idle"}
"""Notes something only where it has waited for a session."""

_FIELDS = {
    "session-start": {"source": "startup"},
    "user-prompt-submit": {"prompt": "hello"},
    "session-end": {"reason": "other"},
    "pre-compact": {"trigger": "manual"},
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
        noted = [line.get("event") for line in jsonl.read(_journal(home))]
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


def _journal(home: str) -> str:
    return os.path.join(home, ".sisyphus", "logs", f"journal-{SESSION}.jsonl")


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
