"""Ctrl-C and SIGTERM while a run works."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType


class Signals:
    """A `with` block in which Ctrl-C is counted, and SIGTERM and SIGHUP end the run at once.

    on_first: is called at the first Ctrl-C, which lets the iteration finish.
    """

    def __init__(self, on_first: Callable[[], None]) -> None:
        self._on_first = on_first
        self._count = 0
        self._handlers: dict[int, object] = {}

    @property
    def ends_after_iteration(self) -> bool:
        return self._count > 0

    @property
    def ends_now(self) -> bool:
        return self._count > 1

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
        if self._count == 1:
            self._on_first()

    def _terminate(self, number: int, frame: FrameType | None) -> None:
        self._count += 2
