"""What `sisyphus doctor` finds."""

from dataclasses import dataclass
from enum import StrEnum


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
