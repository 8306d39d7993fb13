"""Which of the files that were found may go. Pure."""

from __future__ import annotations

from sisyphus.upkeep import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sisyphus.upkeep.kept import File

DAY = 86_400
MOMENT = 3_600
"""Seconds for which nothing goes that was written, whatever was asked for: clients that we cannot
ask about write at least that often while somebody works with them."""

NOBODYS = ("", "")


def old(files: Iterable[File], now: float, days: int) -> list[File]:
    """Those whose session or loop wrote nothing for so many days; of nobody's, each by itself."""
    limit = now - max(days * DAY, MOMENT)
    every = list(files)
    last = _last_written(every)
    return [file for file in every if last.get(file.owner, file.changed) < limit]


def without_held(going: Iterable[File], there: Collection[File]) -> list[File]:
    """A lock stays for as long as what it guards does; so does that of what is not ours to judge.

    `there`: every file that was found.
    """
    chosen = list(going)
    gone = {file.path for file in chosen}
    staying = {file.path for file in there} - gone
    return [file for file in chosen if file.kind != kept.LOCKS or file.guarded not in staying]


def _last_written(files: Iterable[File]) -> dict[tuple[str, str], float]:
    """When each session and loop wrote last; one of which only locks and the like are left is as
    old as the youngest of these."""
    state: dict[tuple[str, str], float] = {}
    rest: dict[tuple[str, str], float] = {}
    for file in files:
        if file.owner != NOBODYS:
            times = state if file.is_state else rest
            times[file.owner] = max(times.get(file.owner, 0), file.changed)
    return {**rest, **state}
