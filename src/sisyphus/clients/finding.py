"""What `sisyphus doctor` finds."""

from enum import StrEnum

from sisyphus.ground.record import Record


class Level(StrEnum):
    """GOOD: all is well. WARNING: it works, and not as it could. PROBLEM: something that sisyphus
    is for does not work."""

    GOOD = "good"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(Record, frozen=True):
    """One thing that was looked at.

    subject: what, in a word or two, such as "hooks". text: how it stands, in a sentence. mend:
    what to do, with the command; "" = nothing. Both are for people and hold no control characters.
    """

    subject: str
    level: Level
    text: str
    mend: str = ""
