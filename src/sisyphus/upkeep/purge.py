"""What would go of our own folder, and its removal."""

from __future__ import annotations

import os

from sisyphus.session import store
from sisyphus.upkeep import choose, kept, look
from sisyphus.upkeep.remove import Removed, remove

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Json
    from sisyphus.memory import Memory, Row
    from sisyphus.upkeep.kept import File
    from sisyphus.upkeep.look import Tell


def find(
    ours: str, now: float, days: int, *, without: Iterable[str] = kept.ON_REQUEST, tell: Tell = bool
) -> list[File]:
    """What nobody needs and nobody has written for so many days, in the order of removal.

    `without`: kinds that stay. `tell` hears how many files were looked at.
    """
    every = look.every_file(ours, tell)
    asked = [file for file in choose.old(every, now, days) if file.kind not in set(without)]
    if not asked:
        return []
    from sisyphus.upkeep.living import Living  # most days nothing is old, and it is not loaded

    living = Living(ours)
    free = [f for f in asked if not living.has(f.owner) and not living.needs(f)]
    going = choose.without_held(free, every)
    return sorted(going, key=lambda file: (kept.KINDS.index(file.kind), file.path))


class Sessions:
    """What the memory need not keep. `ended`: the numbers of sessions that go whole; `resumable`:
    of those that the client can still resume, so that what they were sent stays; `events`: how
    many lines of the journal go with them."""

    def __init__(self, memory: Memory, now: float, days: int) -> None:
        self.ended: list[int] = []
        self.resumable: list[int] = []
        limit = now - max(days * choose.DAY, choose.MOMENT)
        rows = memory.rows("SELECT n, id FROM session WHERE coalesce(seen_at, 0) < ?", limit)
        if rows:
            self._sort(rows, os.path.dirname(memory.path))
        counts = (
            memory.row("SELECT count(*) FROM event WHERE session = ?", n) or (0,)
            for n in (*self.ended, *self.resumable)
        )
        self.events = sum(count for (count,) in counts)

    def _sort(self, rows: list[Row], ours: str) -> None:
        from sisyphus.upkeep.living import Living  # most days nothing is old

        living = Living(ours)
        for n, session in rows:
            if session not in living.sessions:
                (self.resumable if session in living.resumable else self.ended).append(n)

    def remove(self, memory: Memory, now: float) -> None:
        """Removes them, and rule indexes that were made long ago: they are made anew."""
        with memory.transaction():
            store.delete(memory, self.ended)
            for n in self.resumable:
                memory.write("DELETE FROM event WHERE session = ?", n)
            memory.write("DELETE FROM rule_index WHERE made < ?", (now - _INDEX_SECONDS) * 10**9)

    def __bool__(self) -> bool:
        return bool(self.ended or self.events)

    def __str__(self) -> str:
        count = len(self.ended)
        return f"{count:,} session{'s' * (count != 1)}, {self.events:,} lines of the journal"


def again(
    agreed: Iterable[File], ours: str, now: float, days: int, without: Iterable[str]
) -> list[File]:
    """Of what was agreed on, what still may go: somebody may have taken a session up meanwhile."""
    paths = {file.path for file in agreed}
    return [file for file in find(ours, now, days, without=without) if file.path in paths]


def carry_out(files: Iterable[File], deadline: float | None = None) -> Removed:
    return remove(files, deadline)


def by_kind(files: Iterable[File]) -> list[Json]:
    """[{"kind", "files", "bytes"}] in the order of the kinds; those that there are none of are
    left out."""
    counts: dict[str, list[int]] = {}
    for file in files:
        count = counts.setdefault(file.kind, [0, 0])
        count[0] += 1
        count[1] += file.size
    return [
        {"kind": kind, "files": counts[kind][0], "bytes": counts[kind][1]}
        for kind in kept.KINDS
        if kind in counts
    ]


def lines(files: Iterable[File]) -> Iterator[str]:
    """A line a kind: its name, how many files, how large together."""
    rows = [(row["kind"], f"{row['files']:,}", size(row["bytes"])) for row in by_kind(files)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    for kind, count, bytes_ in rows:
        yield f"  {kind:<{widths[0]}}  {count:>{widths[1]}}  {bytes_:>{widths[2]}}"


def total(files: list[File]) -> str:
    """`27 files, 3.4 MB`"""
    count = f"{len(files):,} file{'s' if len(files) != 1 else ''}"
    return f"{count}, {size(sum(file.size for file in files))}"


def size(count: int) -> str:
    """`740 B`, `1.2 MB`: a thousand bytes to the kB."""
    if count < _STEP:
        return f"{count} B"
    amount = float(count)
    for unit in ("kB", "MB", "GB"):
        amount /= _STEP
        if amount < _STEP or unit == "GB":
            return f"{amount:,.1f} {unit}"
    raise AssertionError("the loop ends at the largest unit")


_STEP = 1_000
_INDEX_SECONDS = 30 * choose.DAY
