"""Waits beside a session of Claude Code until it has rested for long enough, or moves again.

One waits for a session, the newest: its token lies in `enforce/SESSION.waiter`, and whoever finds
another one there leaves. It holds no lock while it waits, and leaves with its client.
"""

from __future__ import annotations

import os

from sisyphus import memory
from sisyphus.clients.base import Outcome
from sisyphus.enforce import marks, rest, store
from sisyphus.enforce.store import milliseconds
from sisyphus.errors import UnreadableError
from sisyphus.ralph import store as loops
from sisyphus.ralph import watch
from sisyphus.reading import read_bytes
from sisyphus.session import client_process
from sisyphus.session.process import is_alive
from sisyphus.times import iso
from sisyphus.transcript import ASSISTANT, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sisyphus.clients.base import Payload
    from sisyphus.enforce.rest import Seen
    from sisyphus.workspace import Workspace

LOOK_SECONDS = 2.0
NOTED_SECONDS = 10.0
"""The hook that notes the Stop was started when we were and has so long to do it; until then what
an earlier Stop left is there."""

LATE_SECONDS = 2.0
"""The same where a Stop of this moment is noted: two may follow each other that fast."""

_SAME_MOMENT = 1_000  # milliseconds between two processes that were started at once, at most
_LEAST_NAP = 0.01

GONE = "the client has gone"
REPLACED = ""  # nothing to tell: another one waits
LOOP = "a loop holds the session"

_TOKEN_BYTES = 200


class Waiter:
    """One process beside one session."""

    __slots__ = (
        "_clock", "_payload", "_process", "_size", "_sleep", "_space", "_started", "_token",
    )  # fmt: skip

    def __init__(
        self,
        payload: Payload,
        space: Workspace,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
    ) -> None:
        self._payload = payload
        self._space = space
        self._sleep = sleep
        self._clock = clock
        self._started = milliseconds(space.now)
        self._process = client_process.client_process()
        self._token = f"{os.getpid()}-{os.urandom(8).hex()}"
        self._size = -1

    def wait(self) -> Outcome | None:
        """Raises `OSError` and `SisyphusError`."""
        self._register()
        while (why := self._unwanted()) is None:
            now = milliseconds(self._clock())
            seen = rest.see(store.glance(self._space), self._payload, self._space, now)
            if self._is_over(seen, now):
                why = seen.why or rest.AT_WORK
                break
            if seen.due is not None and seen.due <= now:
                outcome = rest.look(self._payload, self._space, now / 1_000)
                if outcome.reason is not None:
                    return outcome
            memory.close()  # or what is written beside it stays there for as long as we wait
            self._sleep(_nap(seen, now))
        return Outcome(notes=[f"not woken: {why}"]) if why else None

    def _register(self) -> None:
        from sisyphus.state.files import ensure_folder, write_text

        path = marks.waiter_path(self._space.ours, self._payload.session)
        ensure_folder(os.path.dirname(path))
        write_text(path, self._token)  # needs no lock: the last one stands

    def _unwanted(self) -> str | None:
        """Why nobody is to wait here any more."""
        ours, session = self._space.ours, self._payload.session
        try:
            token = read_bytes(marks.waiter_path(ours, session), _TOKEN_BYTES)
        except UnreadableError:  # the session has ended
            return REPLACED
        if token != self._token.encode():
            return REPLACED
        if self._process is None or is_alive(self._process) is False:
            return GONE
        return LOOP if loops.has_loop(ours, session) else None

    def _is_over(self, seen: Seen, now: int) -> bool:
        if seen.due is not None:
            return self._has_moved(seen.last_stop)
        is_noted = seen.last_stop >= self._started - _SAME_MOMENT
        patience = milliseconds(LATE_SECONDS if is_noted else NOTED_SECONDS)
        return seen.is_final or now - self._started >= patience

    def _has_moved(self, last_stop: int) -> bool:
        """Whether the transcript has lines of a later turn: no hook hears of every one (Claude Code
        2.1.329: a command that the user types behind `!` starts one). The last lines of the turn
        that has ended are written late, but their own time is that of the turn; and it ended no
        earlier than we began, whether its Stop is noted yet or not."""
        path = self._payload.transcript
        before, self._size = self._size, size(path)
        if self._size == before:
            return False
        ended_at = iso((max(last_stop, self._started) + _SAME_MOMENT) / 1_000)
        return any(
            record.at > ended_at
            for record in watch.last_records(path)
            if record.role == ASSISTANT or record.is_prompt
        )


def _nap(seen: Seen, now: int) -> float:
    """Seconds until the next look."""
    if seen.due is None:
        return LOOK_SECONDS
    return min(max((seen.due - now) / 1_000, _LEAST_NAP), LOOK_SECONDS)
