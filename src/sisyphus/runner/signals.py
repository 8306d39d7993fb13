"""Ctrl-C and SIGTERM: the first is noted, the second ends everything at once. So does SIGQUIT.

SIGHUP ends nothing: a run goes on when its terminal is closed.
"""

from __future__ import annotations

import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_ENDING = ("SIGINT", "SIGTERM", "SIGBREAK")
_AS_ONE_OF_THEM = ("SIGQUIT",)
_PASSED_OVER = ("SIGHUP",)


class Interrupts:
    """Asked inside a `with` block whether the user wants to end. A signal that was ignored before
    stays so. The second one raises `KeyboardInterrupt`."""

    __slots__ = ("_before", "_count")

    def __init__(self) -> None:
        self._count = 0
        self._before: dict[signal.Signals, Any] = {}

    def __call__(self) -> bool:
        return self._count > 0

    def __enter__(self) -> Interrupts:
        for name in _ENDING:
            self._replace(name, self._note)
        for name in _AS_ONE_OF_THEM:  # a command that checks the work listens to the others alone
            self._replace(name, lambda *_: signal.raise_signal(signal.SIGTERM))
        for name in _PASSED_OVER:  # what we start does not inherit a function, as it would SIG_IGN
            self._replace(name, lambda *_: None)
        return self

    def __exit__(self, *raised: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _replace(self, name: str, handler: Any) -> None:
        number = getattr(signal, name, None)  # which there are depends on the system
        if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
            self._before[number] = signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002  # its shape
        self._count += 1
        if self._count > 1:
            raise KeyboardInterrupt
