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
from sisyphus.clients.base import (
    EVENTS,
    PLUGIN,
    PREFIX,
    Outcome,
    Payload,
    merge,
    session_folder,
    spelled,
)
from sisyphus.hook.routes import ONLY_WHERE, ROUTES
from sisyphus.session.delivery import deliver
from sisyphus.state import debug, journal
from sisyphus.workspace import Workspace, run_id

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
    folder = payload.cwd if client == OPENCODE else session_folder(payload)
    space = Workspace(folder, client=client, scope=_scope(options))
    silent = _silence(payload, space)
    if silent is not None:
        if silent.notes:
            _note(payload, space, started, {**_said(silent), "silent": True})
        return 0
    outcome = merge(_ask_all(payload, space))
    sent = _reply(payload, space, outcome)
    if payload.session and (event != IDLE or outcome.notes):  # one more process at each Stop
        _note(payload, space, started, _said(outcome, sent))
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


def _scope(options: Sequence[str]) -> str:
    return "plugin" if os.environ.get(PLUGIN) else _named(options, "--scope") or "user"


def _silence(payload: Payload, space: Workspace) -> Outcome | None:
    """None where this hook is to answer: always, unless another wiring of ours does."""
    if space.scope == "user" or space.client == OPENCODE or payload.event == "session-start":
        return None
    from sisyphus.hook import precedence

    try:
        return precedence.silence(payload, space)
    except Exception as error:  # noqa: BLE001  # twice is better than never
        debug.log(f"{payload.event}: {type(error).__name__}: {error}")
        return None


def _client(options: Sequence[str]) -> str:
    return _named(options, "--client") or "claude"


def _named(options: Sequence[str], option: str) -> str:
    """What follows `option`; "" = nothing does."""
    named = [options[i + 1] for i, word in enumerate(options[:-1]) if word == option]
    return named[0] if named else ""


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
        if route in ONLY_WHERE and not ONLY_WHERE[route](space):
            return None
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
    sys.stdout.write(reply if PREFIX not in reply or os.environ.get(PLUGIN) else _bare(reply))
    sys.stdout.flush()


def _bare(reply: str) -> str:
    return json.dumps(spelled(json.loads(reply))) + "\n"


def _said(outcome: Outcome, sent: int = 0) -> Json:
    said: Json = {"sent": sent, "blocked": outcome.reason is not None, "notes": outcome.notes}
    return {**said, "texts": outcome.texts} if outcome.texts else said


def _note(payload: Payload, space: Workspace, started: float, said: Json) -> None:
    entry: Json = {
        "at": round(time.time() if payload.event == IDLE else space.now, 3),  # some wait for hours
        "event": payload.event,
        "ms": round((time.perf_counter() - started) * 1000, 1),
        **said,
    }
    if payload.agent:
        entry["agent"] = payload.agent
    if payload.event == "session-start":
        entry |= _beginning(payload, space)
    try:
        journal.append(payload.session, entry)
    except OSError as error:  # what was said stands
        debug.log(f"{payload.event}: {type(error).__name__}: {error}")


def _beginning(payload: Payload, space: Workspace) -> Json:
    """What the other lines of the session need not repeat."""
    found = {"project": space.root, "client": space.client, "source": payload.source}
    run = run_id()
    return {**found, "run": run} if run else found
