"""Offers the plans of other tools. The user alone can say that one of them is to be followed.

Where a project has no other plan, a session starts with this module alone: what follows a plan
would cost as much as all that is read here.
"""

from __future__ import annotations

from sisyphus.boulder import find
from sisyphus.ground.partial import partial
from sisyphus.ground.paths import display
from sisyphus.ground.record import Record
from sisyphus.hook.outcome import Outcome
from sisyphus.sessions import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.hook import Hook
    from sisyphus.hook.outcome import Act

_MAX_READ = 30
"""The most files that we read to offer them, 0.2 ms each: a repository may have hundreds, and each
start of a session reads them."""

_MAX_OFFERED = 10
"""The most of them that we offer."""


class Offer(Record):
    """paths: of the newest plans with open tasks, sorted. unread: how many files nobody looked
    into."""

    paths: list[str]
    unread: int


def look_at_start(hook: Hook) -> Act | None:
    paths = open_plans(hook.project).paths
    return partial(act, hook, paths) if paths else None


def act(hook: Hook, paths: list[str]) -> Outcome:
    """Offers these plans, once."""
    text = offered(paths, hook.project)
    return Outcome(messages=[text] if ledger.record_advice(hook, text) else [])


def open_plans(project: str) -> Offer:
    """Returns what can be offered. It looks at so many files as a start can read without a delay
    that anybody feels."""
    everything = find.of_other_tools(project)
    found: list[str] = []
    number = 0
    for path in find.newest(everything)[:_MAX_READ]:
        if len(found) == _MAX_OFFERED:
            break
        number += 1
        if find.is_open(path, project):
            found.append(path)
    return Offer(sorted(found), len(everything) - number)


def offered(paths: list[str], project: str) -> str:
    names = ", ".join(display(path, project) for path in paths)
    return f"Plans of other tools: {names}. `sisyphus boulder start NAME` follows one."


def not_read(number: int) -> str:
    what = "1 more file" if number == 1 else f"{number:,} more files"
    are = "is" if number == 1 else "are"
    return (
        f"{what} in the places of other tools {are} not read: too many, or too large. "
        "`sisyphus boulder start PATH` follows one."
    )
