"""The promise law: which text keeps a completion promise, and why another one does not.

A promise is kept by `<promise>TOKEN</promise>` where the message says it itself (code, comments and
quotations only show it), either alone on its line or at the end of the message. At the end, the
words before it in that sentence must not negate, condition or postpone it (`doubts.py`). Emphasis
marks around the tag and a final `.` or `!` are no words.
"""

from __future__ import annotations

LONGEST_MESSAGE = 1_000_000
"""Characters; no model answers with so many. Of a longer text only the end is looked at."""

NO_PROMISE = "the loop has no promise"
NO_TAG = "the message holds no promise tag"
SHOWN = "the tag stands in code, a comment or a quotation"
MALFORMED = "the tag is not closed, or tags are nested"
IN_SENTENCE = "the tag stands in the middle of a line"
HELD_BACK = "the words before the tag hold it back: "


class Finding:
    """Whether the promise is kept; if not, `reason` says in plain words what came nearest."""

    __slots__ = ("kept", "reason")

    def __init__(self, reason: str = "") -> None:
        self.kept = not reason
        self.reason = reason


def near_miss(reason: str) -> str:
    """What the model did wrong where it gave this promise's own tag, "" where it did not."""
    is_near = reason in (SHOWN, MALFORMED, IN_SENTENCE) or reason.startswith(HELD_BACK)
    return reason if is_near else ""


def kept(text: str, promise: str) -> bool:
    """Whether one assistant text keeps the promise."""
    return find(text, promise).kept


def find(text: str, promise: str) -> Finding:
    """Looks for the promise in one assistant text; case counts, runs of white space are one space.

    Linear in the length of the text.
    """
    wanted = fold(promise)
    if not wanted:
        return Finding(NO_PROMISE)
    text = text[-LONGEST_MESSAGE:].strip()
    if "<promise>" not in text:
        return Finding(NO_TAG)
    from sisyphus.ralph import tags  # the patterns of a rare case cost 3 ms

    return Finding(tags.refusal(text, wanted))


def fold(text: str) -> str:
    return " ".join(text.split())
