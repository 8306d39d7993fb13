"""A session's loops on disk: a file exists as long as its loop has not ended.

    ralph/loops/ralph-loop.SESSION.local.md        the current loop
    ralph/loops/ralph-loop.SESSION.LOOP.outer.md   a loop that waits for a nested one
    ralph/loops/session-SESSION.json               what is remembered of the session

The lock of the last guards all of them. The order of writes makes a killed writer harmless: a loop
lies twice for a moment, never nowhere, and what lies twice is the current one.
"""

from __future__ import annotations

import os

from sisyphus.errors import NewerVersionError, UnreadableError
from sisyphus.ralph.memory import Memory
from sisyphus.reading import read_bytes
from sisyphus.state.files import (
    check_version,
    ensure_folder,
    load_json,
    read_json,
    set_aside,
    write_json,
    write_text,
)
from sisyphus.state.lock import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus._types import Kept
    from sisyphus.ralph.loop import Loop

_TEXTS = "transcripts of loops"
KEPT: tuple[Kept, ...] = (
    {"path": "ralph/loops/session-SESSION.json", "kind": "loop memories", "lock": ""},
    {"path": "ralph/loops/ralph-loop.SESSION.local.md", "kind": ""},
    {"path": "ralph/loops/ralph-loop.SESSION.local.md.verify", "kind": "", "lock": ""},
    {"path": "ralph/loops/ralph-loop.SESSION.local.md.wake", "kind": "", "lock": ""},
    {"path": "ralph/transcripts/LOOP_iter_N.txt", "kind": _TEXTS},
    {"path": "ralph/transcripts/LOOP_full.txt", "kind": _TEXTS},
    {"path": "ralph/transcripts/LOOP_verify.txt", "kind": _TEXTS},
    {"path": "ralph/checklists/LOOP-checklist.json", "kind": "checklists", "lock": ""},
    {
        "path": "ralph/transcripts/LOOP_iterations.jsonl",
        "kind": "iterations of loops",
        "on_request": True,  # numbers that `ralph log` and `ralph stats` show
    },
)
"""What purge removes of loops and sessions that are over; of a loop's own file what a killed
writer left, and what was set aside."""

LOOP_BYTES = 8_000_000

_OUTER = ".outer.md"


def folder(ours: str) -> str:
    return os.path.join(ours, "ralph", "loops")


def loop_path(ours: str, session: str) -> str:
    return os.path.join(folder(ours), f"ralph-loop.{session}.local.md")


def memory_path(ours: str, session: str) -> str:
    return os.path.join(folder(ours), f"session-{session}.json")


def has_loop(ours: str, session: str) -> bool:
    """Whether a loop of the session has not ended; a glance without the lock."""
    return os.path.lexists(loop_path(ours, session)) or bool(_outer_names(ours, session))


def glance(ours: str, session: str) -> Memory:
    """What is remembered of the session, without the lock."""
    return Memory(read_json(memory_path(ours, session)) or {})


def peek(path: str) -> Loop | None:
    """The loop in a state file, without the lock: the file is always whole. None where it holds
    none."""
    from sisyphus.ralph import statefile

    try:
        return statefile.parse(_text(path))
    except (UnreadableError, ValueError):
        return None


def _text(path: str) -> str:
    return read_bytes(path, LOOP_BYTES).decode("utf-8", "surrogatepass")


class LoopStore:
    """The loops and the memory of one session, under its lock inside a `with` block.

    Raises `NewerVersionError` where a newer version wrote them: nothing can be noted there, so
    nobody can be held. `faults` says what was set aside.
    """

    def __init__(self, ours: str, session: str) -> None:
        self._ours = ours
        self._session = session
        self._texts: dict[str, str] = {}  # path -> what lies there
        self._lock = Lock(memory_path(ours, session))
        self.memory = Memory({})
        self.loops: list[Loop] = []  # the outermost first, the current one last
        self.faults: list[str] = []

    def __enter__(self) -> LoopStore:
        ensure_folder(folder(self._ours))
        self._lock.enter(self._load)
        return self

    def __exit__(self, *raised: object) -> None:
        self._lock.__exit__(None, None, None)

    def path(self, loop: Loop) -> str:
        """Where the loop lies after `save`."""
        if loop is self.loops[-1]:
            return loop_path(self._ours, self._session)
        name = f"ralph-loop.{self._session}.{loop.loop_id}{_OUTER}"
        return os.path.join(folder(self._ours), name)

    def save(self, loops: Sequence[Loop]) -> None:
        """Writes the loops that have not ended, and the memory; removes the others' files."""
        from sisyphus.ralph import statefile

        self.loops = list(loops)
        for depth, loop in enumerate(self.loops):
            loop.depth = depth
        wanted = {self.path(loop): statefile.render(loop) for loop in self.loops}
        for path, text in wanted.items():
            if self._texts.get(path) != text:
                write_text(path, text)
        self.save_memory()
        for path in self._texts.keys() - wanted.keys():
            if os.path.lexists(path):  # somebody may have removed it by hand
                os.unlink(path)
        self._texts = wanted

    def save_memory(self) -> None:
        if self.memory.has_changed():
            write_json(memory_path(self._ours, self._session), self.memory.as_json())

    def _load(self) -> None:
        raw = load_json(memory_path(self._ours, self._session))
        check_version(memory_path(self._ours, self._session), raw)
        self.memory = Memory(raw)
        current = self._read(loop_path(self._ours, self._session))
        names = _outer_names(self._ours, self._session)
        outer = [self._read(os.path.join(folder(self._ours), name)) for name in names]
        twice = current.loop_id if current else ""
        waiting = [loop for loop in outer if loop and loop.loop_id != twice]
        waiting.sort(key=lambda loop: loop.depth)
        self.loops = [*waiting, current] if current else waiting

    def _read(self, path: str) -> Loop | None:
        """The loop in `path`; what holds no loop of this session is set aside."""
        from sisyphus.ralph import loop, statefile

        if not os.path.lexists(path):
            return None
        try:
            text = _text(path)
            if statefile.version(text) > loop.VERSION:
                raise NewerVersionError(f"{path} was written by a newer sisyphus")
            found = statefile.parse(text)
            if found.session_id != self._session:
                raise statefile.BadLoopError("it is another session's")
        except (UnreadableError, ValueError) as error:
            set_aside(path)
            self.faults.append(f"set aside {path}: {error}")
            return None
        self._texts[path] = text
        return found


def _outer_names(ours: str, session: str) -> list[str]:
    """Files of waiting loops. `a.outer.md` of the session `x.y` is none of the session `x`."""
    try:
        names = os.listdir(folder(ours))
    except OSError:
        return []
    start = f"ralph-loop.{session}."
    found = [n for n in names if n.startswith(start) and n.endswith(_OUTER)]
    return [n for n in found if n[len(start) : -len(_OUTER)].isalnum()]
