"""What `sisyphus doctor` finds."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """GOOD: all is well. WARNING: it works, and not as it could. PROBLEM: something that sisyphus
    is for does not work."""

    GOOD = "good"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    subject: what, in a word or two, such as "hooks". text: how it stands, in a sentence. mend:
    what to do, with the command; "" = nothing. Both are for people and hold no control characters.
    """

    subject: str
    level: Level
    text: str
    mend: str = ""


@dataclass(frozen=True)
class Checked:
    """What a client's wiring is compared with.

    home: the client's (see `paths.client_home`). project: its root. hooks, commands: what `install`
    writes, as `setup.plugin` gives them. start: the words that start this sisyphus in a shell.
    """

    home: str
    project: str
    hooks: dict[str, Any]
    commands: dict[str, bytes]
    start: str
