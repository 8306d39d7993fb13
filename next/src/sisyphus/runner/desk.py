"""What a run works with: the place, the screen, the signals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sisyphus.cli.show import Place
from sisyphus.clients.reports import Report
from sisyphus.runner.signals import Signals
from sisyphus.runner.state import Iteration, Run
from sisyphus.store import Store


class Screen(Protocol):
    """What a run shows while it works (`screen.py`)."""

    def begin(self, run: Run, now: float) -> None:
        """Shows that a process begins."""

    def show(self, run: Run, report: Report, now: float) -> None:
        """Shows what it has reported so far. Called about five times a second."""

    def end(self, run: Run, iteration: Iteration) -> None:
        """Shows how it has ended."""

    def say(self, text: str) -> None:
        """Shows a line."""


@dataclass
class Desk:
    place: Place
    screen: Screen
    signals: Signals

    @property
    def store(self) -> Store:
        return self.place.store

    @property
    def project(self) -> str:
        return self.place.project

    @property
    def settings(self) -> dict[str, Any]:
        return self.place.settings
