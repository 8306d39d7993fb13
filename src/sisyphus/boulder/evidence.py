"""Says what stands behind a tick: a box that an agent ticks is a claim.

Pure: the first fact that holds decides.
"""

from __future__ import annotations

from sisyphus.ground.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

CHECKED, CHANGED, UNCHANGED, FAILED, UNPROVEN = (
    "checked", "changed", "unchanged", "failed", "unproven",
)  # fmt: skip
"""What stands behind a tick.

CHECKED: its check passed after the last change of a file besides the plan. CHANGED: it has no
check, or nobody ran that, and files besides the plan changed. UNCHANGED: only the plan did. FAILED:
its check ran after the last change, and did not pass. UNPROVEN: its check passed before the work
began, or ran no test.
"""

PASSED, NO_TEST, RUNNING = "passed", "no_test", "running"
"""How a run of a check ended, besides FAILED. NO_TEST: it exited 0, but ran no test. RUNNING:
nobody has written down yet how it ended."""

WORDS = (CHECKED, CHANGED, UNCHANGED, FAILED, UNPROVEN)


class TickFacts(Record):
    """What is known of a tick.

    runs: how each command of its check ended when it ran last on the finished work, "" = it did
    not. has_changed: a file besides the plan changed since the tick before, or a commit changed
    one. passed_before: the check passed before the work began. is_lost: a command was taken out of
    the plan.
    """

    runs: Collection[str] = ()
    has_changed: bool = False
    passed_before: bool = False
    is_lost: bool = False


def judge(facts: TickFacts) -> str:
    """Returns what stands behind a tick."""
    if FAILED in facts.runs:
        return FAILED
    has_passed = bool(facts.runs) and all(run in (PASSED, NO_TEST) for run in facts.runs)
    if has_passed and (facts.passed_before or NO_TEST in facts.runs):
        return UNPROVEN
    if has_passed and not facts.is_lost:
        return CHECKED
    return CHANGED if facts.has_changed else UNCHANGED


def counts(words: Iterable[str]) -> dict[str, int]:
    """Returns how many ticks have which evidence, in the order of `WORDS`."""
    found = list(words)
    return {word: number for word in WORDS if (number := found.count(word))}
