"""Door for programs: one event in on stdin, at most one JSON object out, exit code 0.

A failing handler is skipped and logged; the others still answer. Blocking is said in the reply,
never by the exit code, so that a crash can never be read as a decision.
"""

from __future__ import annotations

import json
import os
import sys
import time

from sisyphus import state
from sisyphus.contract import EVENTS, Outcome, Payload, merge, session_folder
from sisyphus.hook.routes import ROUTES
from sisyphus.session.delivery import deliver
from sisyphus.state import debug, journal
from sisyphus.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sisyphus._types import Json

STDIN_BYTES = 64_000_000
"""A Write of a 5 MB file arrives as about 15 MB; nothing sensible is larger than this."""

LOCK_SECONDS = 4.0
"""All waiting for locks together; the client gives up on the hook after ten seconds."""

USAGE = 2

OPENCODE = "opencode"
"""The client whose plugin speaks and reads a little more than Claude Code's hooks."""

IDLE, WAKE = "idle", 2
"""The one event whose exit code speaks: an asynchronous hook wakes its session with 2."""


def run(event: str, options: Sequence[str] = ()) -> int:
    """Answers one event; returns the exit code. `options` of newer clients are ignored."""
    if event not in EVENTS:
        names = ", ".join(EVENTS)
        _complain(f"error: no such event: {event!r}. Events: {names}\n")
        return USAGE
    if os.environ.get("SISYPHUS_DISABLE", "0") not in ("", "0"):
        return 0
    state.lock_deadline = time.monotonic() + LOCK_SECONDS if event != IDLE else None
    try:
        return _answer(event, options)
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # the client's user goes on
        debug.log(f"{event}: {type(error).__name__}: {error}")
    finally:
        state.lock_deadline = None
    return 0


def _answer(event: str, options: Sequence[str]) -> int:
    started = time.perf_counter()
    raw = _read_stdin(event)
    if raw is None:
        return 0
    client = _client(options)
    if client == OPENCODE:
        from sisyphus.hook import opencode

        raw = opencode.hear(raw)
    payload = Payload(event, raw)
    space = Workspace(payload.cwd if client == OPENCODE else session_folder(payload), client=client)
    outcome = merge(_ask_all(payload, space))
    sent = _reply(payload, space, outcome)
    if payload.session and (event != IDLE or outcome.notes):  # one more process at each Stop
        _note(payload, space, outcome, sent, started)
    if event != IDLE or outcome.reason is None or client == OPENCODE:
        return 0
    _complain(f"{outcome.reason}\n")
    return WAKE


def _reply(payload: Payload, space: Workspace, outcome: Outcome) -> int:
    """Says what there is to say; returns the UTF-16 units of text sent to the model."""
    if space.client != OPENCODE:
        return 0 if payload.event == IDLE else deliver(payload, space, outcome, _print)
    from sisyphus.hook import opencode

    answer = opencode.Answer(outcome, space, _print)
    sent = deliver(payload, space, outcome, answer)
    answer.end()
    return sent


def _client(options: Sequence[str]) -> str:
    named = [options[i + 1] for i, word in enumerate(options[:-1]) if word == "--client"]
    return named[0] if named else "claude"


def _read_stdin(event: str) -> Json | None:
    """The payload; None where stdin holds none, with a line in the debug log."""
    if sys.stdin is None or sys.stdin.isatty():
        _complain(f"sisyphus hook {event} reads its payload (JSON) from stdin\n")
        return None
    raw = sys.stdin.buffer.read(STDIN_BYTES + 1)
    if len(raw) > STDIN_BYTES:
        debug.log(f"{event}: payload passed over: more than {STDIN_BYTES:,} bytes")
        return None
    try:
        value = json.loads(raw.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        debug.log(f"{event}: payload not understood: {error}")
        return None
    if not isinstance(value, dict):
        debug.log(f"{event}: payload not understood: {type(value).__name__} instead of an object")
        return None
    return value


def _ask_all(payload: Payload, space: Workspace) -> Iterator[Outcome | None]:
    """The outcomes of the event's handlers. A prompt that one of them answered never reaches the
    model, so it is no news to the others."""
    for route in ROUTES.get(payload.event, ()):
        outcome = _ask(route, payload, space)
        yield outcome
        if payload.event == "user-prompt-submit" and outcome and outcome.reason is not None:
            return


def _ask(route: str, payload: Payload, space: Workspace) -> Outcome | None:
    module, _, function = route.partition(":")
    try:
        __import__(module)  # importlib would bring `warnings` along
        answer: Outcome | None = getattr(sys.modules[module], function)(payload, space)
    except Exception as error:  # noqa: BLE001  # one feature's failure is not the others'
        debug.log(f"{payload.event}: {route}: {type(error).__name__}: {error}")
        return Outcome(notes=[f"{module.split('.')[1]} failed: {type(error).__name__}: {error}"])
    return answer


def _complain(text: str) -> None:
    if sys.stderr is not None:  # closed before we started
        sys.stderr.write(text)


def _print(reply: str) -> None:
    if sys.stdout is None:  # closed before we started
        raise OSError("stdout is closed")
    sys.stdout.write(reply)
    sys.stdout.flush()


def _note(payload: Payload, space: Workspace, outcome: Outcome, sent: int, started: float) -> None:
    entry: Json = {
        "at": round(time.time() if payload.event == IDLE else space.now, 3),  # some wait for hours
        "event": payload.event,
        "ms": round((time.perf_counter() - started) * 1000, 1),
        "sent": sent,
        "blocked": outcome.reason is not None,
        "notes": outcome.notes,
    }
    if payload.agent:
        entry["agent"] = payload.agent
    try:
        journal.append(payload.session, entry)
    except OSError as error:  # what was said stands
        debug.log(f"{payload.event}: {type(error).__name__}: {error}")
