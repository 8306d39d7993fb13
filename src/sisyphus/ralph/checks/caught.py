"""Signals that tell us to end, held back until something else has ended."""

from __future__ import annotations

import signal
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_ENDING = ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK")


class Caught:
    """Lists the signals that come inside a `with` block, and has the first take effect behind it.

    A signal that is ignored stays so. SIGCHLD alone does not: while it is ignored, a command that
    failed looks like one that succeeded.
    """

    __slots__ = ("_before", "_list")

    def __init__(self) -> None:
        self._list: list[signal.Signals] = []
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> list[signal.Signals]:
        if threading.current_thread() is threading.main_thread():  # no other may do this
            for name in _ENDING:
                self._replace(name, self._note, unless=(signal.SIG_IGN, None))
            self._replace("SIGCHLD", signal.SIG_DFL, unless=(signal.SIG_DFL, None))
        return self._list

    def __exit__(self, *raised: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._list:
            signal.raise_signal(self._list[0])

    def _replace(self, name: str, handler: Any, unless: tuple[object, ...]) -> None:
        number = getattr(signal, name, None)  # which there are depends on the system
        if number is not None and signal.getsignal(number) not in unless:
            self._before[number] = signal.signal(number, handler)

    def _note(self, number: int, _: FrameType | None) -> None:
        self._list.append(signal.Signals(number))
