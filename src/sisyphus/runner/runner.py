"""Our process that drives a run: where it works, what it shows, which signals it gets."""

from __future__ import annotations

from typing import Any

from sisyphus.ground.record import Record
from sisyphus.ground.store import Store
from sisyphus.runner.screen import Lines
from sisyphus.runner.signals import Signals
from sisyphus.terminal.show import Place


class Runner(Record):
    place: Place
    screen: Lines
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
