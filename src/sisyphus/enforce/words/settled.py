"""A phrase of work that speaks of none: it is past, negated, or means something else here."""

from __future__ import annotations

from sisyphus.enforce.words.english import JOINERS, NONE, NOT, PARTERS
from sisyphus.enforce.words.place import has_pair

_NEAR = 5  # words before it that may negate it
_NEARER = 3  # words before it that may say that it is past

_HARMLESS = frozenset({
    "know", "summarize", "summarise", "recap", "explain", "wait", "stop", "leave", "not", "never",
    "await", "conclude", "end", "describe", "mention", "note", "say", "admit", "point", "your",
    "review", "approval", "merge",
})  # fmt: skip
_HARMLESS_PAIRS = frozenset({
    ("be", "here"), ("be", "happy"), ("be", "glad"), ("be", "around"), ("be", "waiting"),
    ("be", "available"), ("be", "there"), ("be", "clear"), ("be", "honest"), ("show", "you"),
    ("give", "you"),
})  # fmt: skip
"""Behind a phrase such as "let me" or "pending"."""

_PAST = frozenset({
    "finished", "completed", "done", "fixed", "resolved", "implemented", "addressed", "closed",
    "handled", "removed", "tested", "asked", "requested", "required", "told", "supposed", "wanted",
    "stopped", "cleaned", "wrapped", "merged", "cleared", "was", "were", "been", "had", "used",
    "needed", "meant",
})  # fmt: skip
_BEFORE_GERUNDS = frozenset({"by", "of", "for", "without", "from", "after", "before", "with"})
_YOURS = frozenset({"you", "you'll", "can", "could", "ready"})
_NOT_MINE = _PAST | _YOURS
_STATES = frozenset({"remaining", "pending", "outstanding"})
_FIRST_WORDS = frozenset({
    "let", "let's", "i", "i'll", "i'm", "we", "we'll", "we're", "next", "moving", "move", "now",
    "on", "onto", "continue", "continuing", "proceeding", "starting",
})  # fmt: skip
"""Of phrases that a "not" before them does not negate."""


def is_no_work(words: list[str], start: int, end: int, behind: list[str]) -> bool:
    """Of the phrase from `start` to `end` in a clause; `behind`: the words behind the clause."""
    first, before = words[start], _statement(words[:start])
    return (
        not _HARMLESS.isdisjoint(words[end : end + 1])
        or has_pair(words[end : end + 2], _HARMLESS_PAIRS)
        or not NONE.isdisjoint((words[end:] or behind)[:1])
        or not _NOT_MINE.isdisjoint(before[-_NEARER:])
        or (_is_gerund(first) and not _BEFORE_GERUNDS.isdisjoint(before[-1:]))
        or (first not in _FIRST_WORDS and any(_negates(word) for word in before[-_NEAR:]))
    )


def _statement(before: list[str]) -> list[str]:
    """The words behind the last "and" or the like."""
    for at in range(len(before) - 1, max(-1, len(before) - 1 - _NEAR), -1):
        if before[at] in JOINERS or before[at] in PARTERS:
            return before[at + 1 :]
    return before


def _is_gerund(word: str) -> bool:
    return word.endswith("ing") and word not in _STATES


def _negates(word: str) -> bool:
    return word in NOT or word in NONE or word.endswith("n't")
