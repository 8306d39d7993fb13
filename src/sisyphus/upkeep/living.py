"""What is still needed: sessions that somebody is in, loops and runs that have not ended, and what
they lead to."""

from __future__ import annotations

import os

from sisyphus.paths import INSTALLS
from sisyphus.ralph import store as loops
from sisyphus.ralph.past.living import living as living_loops
from sisyphus.runner.client import launch
from sisyphus.runner.keep.state import COMPLETED, Run
from sisyphus.runner.report import is_at_work
from sisyphus.session import client_process
from sisyphus.session.transcripts import resumable
from sisyphus.state.files import read_json
from sisyphus.upkeep import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from sisyphus.upkeep.kept import File

HANDOFF_LIST = "handoffs.json"
_LOOP, _CURRENT, _OUTER = "ralph-loop.", ".local.md", ".outer.md"


class Living:
    """`sessions` and `loops` by their ids. `knows_loops`: whether every loop could be read; if not,
    nothing of any loop goes. `handoffs`: names of files that a run will be given; `resumable`: the
    sessions of which the client has the transcript."""

    __slots__ = ("handoffs", "knows_loops", "loops", "ours", "resumable", "sessions")

    def __init__(self, ours: str) -> None:
        self.ours = ours
        files = _loop_files(ours)
        found = living_loops(ours)
        self.knows_loops = len(found) == len(files)
        self.sessions = {*client_process.open_sessions(ours), *map(_session_of, files)}
        self.loops = {loop.loop_id for loop, _ in found}
        self.resumable = resumable(os.path.dirname(ours))
        self.handoffs: set[str] = set()
        for run in _runs(ours):
            self._add(run)

    def has(self, owner: tuple[str, str]) -> bool:
        whose, name = owner
        if whose == kept.LOOP:
            return not self.knows_loops or name in self.loops
        return whose == kept.SESSION and name in self.sessions

    def needs(self, file: File) -> bool:
        """Whether a file leads to something that is not over: the client may go on with a session
        for as long as it has its transcript."""
        if file.kind in kept.SAID_ONCE:
            return file.owner[1] in self.resumable
        if file.kind == kept.HANDOFFS:
            return self._is_waited_for(file.path)
        return file.kind == kept.REPLACED and _is_installed(self.ours, file.path)

    def _add(self, run: Run) -> None:
        if run.status != COMPLETED:
            self.handoffs.add(_base(run.context_checkpoint.get("handoff_file")))
        if is_at_work(run) or launch.living(run.in_flight):
            self.loops.add(run.loop_id)
            self.sessions.add(str(run.in_flight.get("session_id")))

    def _is_waited_for(self, path: str) -> bool:
        """Whether a handoff, or one of a project's list of them, was not given to anybody yet."""
        folder, name = os.path.split(path)
        if name == HANDOFF_LIST:
            waiting = _waiting(path)
            return waiting is None or bool(waiting)  # an unreadable list is set aside, not removed
        waiting = _waiting(os.path.join(os.path.dirname(folder), HANDOFF_LIST))
        return name in self.handoffs or name in (waiting or ())


def _waiting(path: str) -> list[str] | None:
    """Names of the handoffs in a list that wait for somebody; None = it cannot be read."""
    found = read_json(path)
    if found is None:
        return None
    entries = found.get("handoffs")
    rows = entries if isinstance(entries, list) else []
    active = (row for row in rows if isinstance(row, dict) and row.get("active"))
    return [_base(row.get("handoff_file")) for row in active]


def _runs(ours: str) -> Iterator[Run]:
    folder = os.path.join(ours, "ralph", "runs")
    for name in _names(folder):
        if name.endswith(".json"):
            yield Run(read_json(os.path.join(folder, name)))


def _loop_files(ours: str) -> list[str]:
    ends = (_CURRENT, _OUTER)
    return [n for n in _names(loops.folder(ours)) if n.startswith(_LOOP) and n.endswith(ends)]


def _session_of(name: str) -> str:
    if name.endswith(_CURRENT):
        return name[len(_LOOP) : -len(_CURRENT)]
    return name[len(_LOOP) : -len(_OUTER)].rpartition(".")[0]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _base(path: object) -> str:
    return os.path.basename(path) if isinstance(path, str) else ""


def _is_installed(ours: str, path: str) -> bool:
    """Whether an installation names the copy, by its checksum, or has a file of the name that it
    was made of: it may be given back when that is uninstalled."""
    book = os.path.join(ours, INSTALLS)
    found = read_json(book)
    if found is None:
        return os.path.lexists(book)
    checksum, _, name = os.path.basename(path).partition("-")
    return any(_base(text) == name or text.startswith(checksum) for text in _texts(found))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        yield from value if isinstance(value, dict) else ()
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
