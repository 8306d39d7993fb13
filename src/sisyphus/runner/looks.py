"""Whether an iteration changed anything, and which error it ended with."""

from __future__ import annotations

import os

from sisyphus import transcript, work_tree
from sisyphus.clients import CLAUDE, files
from sisyphus.git import head
from sisyphus.text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.runner.desk import Desk

ERROR_TAIL_BYTES = 8_000_000
ERROR_CHARACTERS = 2_000


class Change:
    """`progress` None = it cannot be told. `files`: how many changed, None = not counted.
    `is_commit`: of something besides our own files."""

    __slots__ = ("files", "is_commit", "progress")

    def __init__(self, progress: bool | None, files: int | None, *, is_commit: bool) -> None:
        self.progress = progress
        self.files = files
        self.is_commit = is_commit


def begin(desk: Desk) -> None:
    """Notes how the project is, where no look was taken before."""
    if not desk.run.signs:
        look(desk, done=0)


def look(desk: Desk, done: int) -> Change:
    """What changed since the look before; `done`: items that were done in between."""
    run, root = desk.run, desk.places.root
    before, since = run.signs.get("head"), _moment(run.signs.get("at"))
    known = run.signs.get("names")
    known = known if isinstance(known, str) else ""
    now, commit = desk.now(), head(root)
    aside = _aside(desk)
    found = work_tree.look(root, since or now, known, aside)
    is_commit = isinstance(before, str) and before != commit and found.changed is not False
    run.signs = {"head": commit, "names": found.names, "at": now}
    progress = True if is_commit or done > 0 else found.changed
    files = _count(root, since, aside) if found.changed and since else 0
    if progress or not run.last_diff_hash:
        run.last_diff_hash = fingerprint(
            f"{commit} {found.names} {found.why} {now if progress else 0}"
        )
    return Change(progress, files, is_commit=is_commit)


def _aside(desk: Desk) -> list[str]:
    """What is no work: also where `.claude` is a link, or the state lies elsewhere."""
    places = desk.places
    own = (places.state, places.prompt, places.progress, places.handoffs)
    return [desk.space.home, *map(os.path.realpath, own)]


def _count(root: str, since: float, aside: Sequence[str]) -> int | None:
    names, problem = work_tree.changes(root, since, aside)
    return None if problem else len(names)


def last_error(path: str) -> str:
    """The text of the last tool call that failed, of what a client wrote; "" = none did."""
    last = ""
    client = files(CLAUDE)
    marks = client.MARKS[transcript.FAILURE]
    found = (line for _, line in transcript.lines(path, 0, ERROR_TAIL_BYTES))
    lines = (line for line in found if any(mark in line for mark in marks))
    for record in transcript.messages(lines, client.read_record):
        failed = [result.text for result in record.results if result.failed]
        last = failed[-1][:ERROR_CHARACTERS] if failed else last
    return last


def _moment(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value < 1e12 else 0.0  # noqa: PLR2004
