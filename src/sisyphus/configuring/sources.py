"""The settings files as they stand, with what is wrong with them; hooks read them by `settings`."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sisyphus import settings
from sisyphus.errors import UnreadableError
from sisyphus.paths import is_inside
from sisyphus.reading import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sisyphus._types import Json


@dataclass(frozen=True)
class Source:
    """A settings file. `inside`: the folder that it must not leave, "" = it is the user's own.
    `problem`: why nothing in it counts, "" where it does, or where there is no file."""

    path: str
    inside: str
    text: str = ""
    table: Json = field(default_factory=dict)
    problem: str = ""
    exists: bool = True

    @property
    def origin(self) -> str:
        return settings.PROJECT if self.inside else settings.USER

    def values(self) -> Iterator[tuple[str, Any]]:
        """What it sets, as "section.key"."""
        for section, part in self.table.items():
            if isinstance(part, dict):
                yield from ((f"{section}.{key}", value) for key, value in part.items())

    def value(self, key: str) -> Any:
        """What counts of it, if it is the user's file."""
        setting = settings.SETTINGS[key]
        value = dict(self.values()).get(key)
        return value if setting.accepts(value) else setting.default


def read_all(ours: str, root: str) -> list[Source]:
    """The later the stronger."""
    return [read(path, inside) for path, inside in settings.files(ours, root)]


def read(path: str, inside: str) -> Source:
    if not os.path.lexists(path):
        leaves = inside and not is_inside(path, inside)
        return Source(path, inside, problem=f"leaves {inside}" if leaves else "", exists=False)
    try:
        text = read_text(path, settings.CONFIG_BYTES, inside)
        return Source(path, inside, text, tomllib.loads(text))
    except UnreadableError as error:
        return Source(path, inside, problem=str(error).removeprefix(f"{path}: "))
    except (ValueError, RecursionError) as error:
        return Source(path, inside, problem=f"no TOML: {error}")
