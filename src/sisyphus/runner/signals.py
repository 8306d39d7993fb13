"""Ctrl-C and SIGTERM while a run works."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType


class Signals:
    """A `with` block in which Ctrl-C is counted, and SIGTERM and SIGHUP end the run at once.

    is_terminated: it was SIGTERM or SIGHUP.

    A handler only counts: it may interrupt a line that is being printed, or the drawing of the
    screen. Whoever waits asks what is to be done.
    """

    def __init__(self) -> None:
        self._count = 0
        self._has_news = False
        self.is_terminated = False
        self._handlers: dict[int, object] = {}

    @property
    def ends_after_iteration(self) -> bool:
        return self._count > 0

    @property
    def ends_now(self) -> bool:
        return self._count > 1

    def take_news(self) -> bool:
        """Tells, once, that the run is to end after this iteration."""
        has_news, self._has_news = self._has_news and not self.ends_now, False
        return has_news

    def __enter__(self) -> Signals:
        self._handlers[signal.SIGINT] = signal.signal(signal.SIGINT, self._interrupt)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                self._handlers[number] = signal.signal(number, self._terminate)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)  # type: ignore[arg-type]

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self._has_news = self._count == 1
        if self.ends_now:  # ends a check, too: `processes.run` heeds SIGTERM
            os.kill(os.getpid(), signal.SIGTERM)

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        self.is_terminated = self._count == 0  # the second Ctrl-C sends it, too
        self._count += 2
