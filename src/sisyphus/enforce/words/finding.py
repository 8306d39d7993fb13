"""What was found in a message."""

from __future__ import annotations


class Finding:
    """Whether a message says that the work is done, and what decided it.

    `claim`: the sentence that says so, on one line of at most 120 characters; "" if none does.
    `why`: plain words for a log.
    """

    __slots__ = ("claim", "says_done", "why")

    def __init__(self, why: str, claim: str = "") -> None:
        self.says_done = claim != ""
        self.claim = claim
        self.why = why
