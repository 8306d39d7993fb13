"""Door for programs: one event in on stdin, at most one JSON object out, exit code 0.

A failing handler is skipped and logged; the others still answer. Blocking is said in the reply,
never by the exit code, so that a crash can never be read as a decision.
"""

from __future__ import annotations

import os
import sys
import time

from sisyphus import memory, state
from sisyphus.clients import DEFAULT, client_named
from sisyphus.clients.base import EARLIER, EVENTS, Outcome
from sisyphus.clients.claude_code import plugin_folder
from sisyphus.hook.routes import ONLY_WHERE, ROUTES
from sisyphus.quick_json import loads
from sisyphus.session.reply import Reply
from sisyphus.state import debug
from sisyphus.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Json
    from sisyphus.clients.base import Client, Payload

STDIN_BYTES = 64_000_000
"""A Write of a 5 MB file arrives as about 15 MB; nothing sensible is larger than this."""

FAILED, USAGE, WAKE = 1, 2, 2
"""Exit codes: with `--strict` where anything failed, where a person typed something wrong, and of
`idle` where it wakes a session. Every other hook exits with 0."""

IDLE, STRICT = "idle", "--strict"


def run(event: str, options: Sequence[str] = ()) -> int:
    """Answers one event; returns the exit code. `options` of newer clients are ignored."""
    event = EARLIER.get(event, event)
    if event not in EVENTS or sys.stdin is None or sys.stdin.isatty():
        return _misused(event, options)
    if os.environ.get("SISYPHUS_DISABLE", "0") not in ("", "0"):
        return 0
    state.lock_deadline = time.monotonic() + memory.LOCK_SECONDS if event != IDLE else None
    door = Door(event, options)
    try:
        code = door.answer()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  # the client's user goes on
        code = door.fail(f"{event}: {type(error).__name__}: {error}")
    finally:
        state.lock_deadline = None
        memory.close()
    return FAILED if STRICT in options and door.has_failed else code


class Door:
    """One event on its way in and out."""

    def __init__(self, event: str, options: Sequence[str]) -> None:
        self._event = event
        self._options = options
        self._started = time.perf_counter()
        self.has_failed = False

    def answer(self) -> int:
        raw = self._read_stdin()
        if raw is None:
            return 0
        client = client_named(_named(self._options, "--client") or DEFAULT)
        space = Workspace("", client=client.NAME, scope=_scope(self._options))
        payload = client.read(self._event, raw, space.ours)
        space.cwd = payload.folder
        if payload.calls:
            self._leave_out_answered(payload, space)
        wakes = self._event == IDLE and client.WAKES_BY_EXIT
        reply = Reply(
            payload, space, client, lambda route: self._ask(route, payload, space),
            _complain if wakes else _print, self._started,
        )  # fmt: skip
        if self._is_silent(payload, space, client, reply):
            return 0
        outcome = reply.send(self._ask_all(payload, space))
        return WAKE if wakes and outcome.reason is not None else 0

    def fail(self, text: str) -> int:
        """Notes what went wrong; the client's user goes on."""
        self.has_failed = True
        debug.log(text)
        if STRICT in self._options:
            _complain(f"error: {text}\n")
        return 0

    def _read_stdin(self) -> Json | None:
        """The payload; None where stdin holds none."""
        raw = sys.stdin.buffer.read(STDIN_BYTES + 1)
        if len(raw) > STDIN_BYTES:
            self.fail(f"{self._event}: payload passed over: more than {STDIN_BYTES:,} bytes")
            return None
        try:
            value = loads(raw.decode("utf-8", "replace").removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            self.fail(f"{self._event}: payload not understood: {error}")
            return None
        if not isinstance(value, dict):
            what = type(value).__name__
            self.fail(f"{self._event}: payload not understood: {what} instead of an object")
            return None
        return value

    def _leave_out_answered(self, payload: Payload, space: Workspace) -> None:
        """A call that another entry of ours was told of is no news: settings of earlier versions
        and of this one may both be there."""
        from sisyphus.session import store

        session = store.load_of(space.memory, payload)
        if session.n:
            new = store.new_calls(space.memory, session, payload.call_ids)
            payload.calls = [call for call in payload.calls if not call.id or call.id in new]

    def _is_silent(self, payload: Payload, space: Workspace, client: Client, reply: Reply) -> bool:
        """Whether another wiring of ours answers."""
        if space.scope == "user" or not client.HAS_PROCESS or self._event == "session-start":
            return False
        from sisyphus.hook import precedence

        try:
            notes = precedence.silence(payload, space)
            if notes:
                reply.note(Outcome(notes=notes), is_silent=True)
        except Exception as error:  # noqa: BLE001  # twice is better than never
            self.fail(f"{self._event}: {type(error).__name__}: {error}")
            return False
        return notes is not None

    def _ask_all(self, payload: Payload, space: Workspace) -> dict[str, Outcome | None]:
        """The outcomes of the event's handlers. A prompt that one of them answered never reaches
        the model, so it is no news to the others."""
        outcomes: dict[str, Outcome | None] = {}
        for route in ROUTES.get(self._event, ()):
            outcome = outcomes[route] = self._ask(route, payload, space)
            if self._event == "user-prompt-submit" and outcome and outcome.reason is not None:
                break
        return outcomes

    def _ask(self, route: str, payload: Payload, space: Workspace) -> Outcome | None:
        module, _, function = route.partition(":")
        try:
            if route in ONLY_WHERE and not ONLY_WHERE[route](payload, space):
                return None
            __import__(module)  # importlib would bring `warnings` along
            answer: Outcome | None = getattr(sys.modules[module], function)(payload, space)
        except Exception as error:  # noqa: BLE001  # one feature's failure is not the others'
            what = f"{type(error).__name__}: {error}"
            self.fail(f"{self._event}: {route}: {what}")
            return Outcome(notes=[f"{module.split('.')[1]} failed: {what}"])
        return answer


def _misused(event: str, options: Sequence[str]) -> int:
    """A person is told; a client must not take the exit code for a decision."""
    if event not in EVENTS:
        text = f"no such event: {event!r}. Events: {', '.join(EVENTS)}"
        debug.log(text)
    else:
        text = f"sisyphus hook {event} reads its payload (JSON) from stdin"
    is_persons = sys.stdin is not None and sys.stdin.isatty()
    if is_persons or STRICT in options:
        _complain(f"error: {text}\n")
    if STRICT in options:
        return FAILED
    return USAGE if is_persons else 0


def _scope(options: Sequence[str]) -> str:
    return "plugin" if plugin_folder() else _named(options, "--scope") or "user"


def _named(options: Sequence[str], option: str) -> str:
    """What follows `option`; "" = nothing does."""
    named = [options[i + 1] for i, word in enumerate(options[:-1]) if word == option]
    return named[0] if named else ""


def _complain(text: str) -> None:
    if sys.stderr is not None:  # closed before we started
        sys.stderr.write(text)


def _print(reply: str) -> None:
    if sys.stdout is None:  # closed before we started
        raise OSError("stdout is closed")
    sys.stdout.write(reply)
    sys.stdout.flush()
