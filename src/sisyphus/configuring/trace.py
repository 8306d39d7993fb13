"""Which value of a setting is in force, where it comes from, and what was passed over for it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

from sisyphus import settings
from sisyphus.configuring import complaints, sources
from sisyphus.settings import ENVIRONMENT, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sisyphus._types import Json
    from sisyphus.configuring.sources import Source

DEFAULT = "default"
_STRONGER = {
    settings.USER: "your own file",
    settings.PROJECT: "the project's file",
    ENVIRONMENT: "a variable",
}


@dataclass(frozen=True)
class Passed:
    """A value that does not count. `where`: a file, or the name of a variable."""

    where: str
    value: object
    why: str


@dataclass
class Traced:
    """`origin`: default, user, project or environment; `where`: the file or variable, "" = none."""

    key: str
    value: Any
    origin: str = DEFAULT
    where: str = ""
    passed: list[Passed] = field(default_factory=list)

    def take(self, value: Any, origin: str, where: str) -> None:
        """`value` is stronger than what was in force."""
        if self.origin != DEFAULT:
            self.passed.append(Passed(self.where, self.value, f"{_STRONGER[origin]} is stronger"))
        self.value, self.origin, self.where = value, origin, where

    def as_json(self) -> Json:
        return {
            "key": self.key,
            "value": self.value,
            "default": SETTINGS[self.key].default,
            "origin": self.origin,
            "where": self.where,
            "passed_over": [
                {"where": one.where, "value": _plain(one.value), "why": one.why}
                for one in self.passed
            ],
        }


def trace_all(ours: str, root: str) -> list[Traced]:
    """Every setting, in order, as a hook in the project at `root` has it."""
    found = sources.read_all(ours, root)
    return [_trace(key, found) for key in SETTINGS]


def trace(ours: str, root: str, key: str) -> Traced:
    return _trace(key, sources.read_all(ours, root))


def _trace(key: str, found: Sequence[Source]) -> Traced:
    traced = Traced(key, SETTINGS[key].default)
    for source in found:
        for name, value in source.values():
            if name != key:
                continue
            if why := complaints.objection(key, value, found[0], source.origin):
                traced.passed.append(Passed(source.path, value, why))
            else:
                traced.take(value, source.origin, source.path)
    if settings.variable(key) in os.environ:
        _hear_environment(traced, found[0])
    return traced


def _hear_environment(traced: Traced, users: Source) -> None:
    name = settings.variable(traced.key)
    if why := complaints.objection_to_variable(traced.key, users):
        traced.passed.append(Passed(name, os.environ[name], why))
    else:
        traced.take(settings.from_environment(os.environ)[traced.key], ENVIRONMENT, name)


def _plain(value: object) -> object:
    """What JSON has no word for, as a text: dates, numbers that are none."""
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, (str, bool, int)) else str(value)
