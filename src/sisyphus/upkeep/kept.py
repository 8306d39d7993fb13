"""What we keep below HOME/.sisyphus and may be removed one day: by folder and name. Pure.

Whatever is not named here stays for ever: settings, installs.json, boulder and run records, the
state of enforcement, the history of loops, and files of anybody else.
"""

from __future__ import annotations

from sisyphus.paths import is_safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from sisyphus._types import Json

LEDGERS = "lists of what was sent"
CONTEXTS = "context sizes"
MARKS = "marks of enforcement"
OPENCODE = "OpenCode transcripts"
MEMORIES = "loop memories"
TRANSCRIPTS = "transcripts of loops"
CHECKLISTS = "checklists"
HANDOFFS = "handoffs"
LOGS = "old logs"
REPLACED = "replaced files"
LEFT_OVER = "files of killed writers"
LOCKS = "locks"
ITERATIONS = "iterations of loops"
CORRUPT = "unreadable files set aside"

KINDS = (
    OPENCODE, LEDGERS, CONTEXTS, MARKS, MEMORIES, TRANSCRIPTS, CHECKLISTS, HANDOFFS, LOGS,
    REPLACED, LEFT_OVER, LOCKS, ITERATIONS, CORRUPT,
)  # fmt: skip
"""In the order in which they are listed, and removed: a lock goes after what it guards, what a
session was sent after its transcript, so that what is cut off says nothing twice."""

SAID_ONCE = (LEDGERS, CONTEXTS)
"""What tells that a text was sent, or is still to be: without it a session that is resumed gets
its texts a second time."""

ON_REQUEST = (ITERATIONS, CORRUPT)
"""What goes only where everything is asked for: numbers that `ralph log` and `ralph stats` read,
and what somebody may want to look at."""

FOR_PEOPLE = (REPLACED, *ON_REQUEST)
"""What no hook removes by itself."""

SESSION, LOOP = "session", "loop"

_OWN = "."  # guarded by a lock of its own

_FOLDERS: dict[str, tuple[tuple[str, str, str, str, str], ...]] = {
    "rules-injector": (("session-", ".json", LEDGERS, SESSION, ""),),
    "context-injector": (("session-", ".json", LEDGERS, SESSION, ""),),
    "checkpoint": (("", ".json", CONTEXTS, SESSION, _OWN),),
    "enforce": (("", ".tools", MARKS, SESSION, ""), ("", ".waiter", MARKS, SESSION, "")),
    "opencode": (("", ".jsonl", OPENCODE, SESSION, ""),),
    "ralph/loops": (
        ("session-", ".json", MEMORIES, SESSION, _OWN),
        ("ralph-loop.", ".local.md.verify", "", SESSION, _OWN),  # the lock beside it alone
    ),
    "ralph/checklists": (("", "-checklist.json", CHECKLISTS, LOOP, _OWN),),
    "ralph/transcripts": (
        ("", "_iterations.jsonl", ITERATIONS, LOOP, ""),
        ("", "_full.txt", TRANSCRIPTS, LOOP, ""),
        ("", "_verify.txt", TRANSCRIPTS, LOOP, ""),
    ),
}
"""Folder -> how names begin and end, what that is, whose, and the folder with the lock."""

FOLDERS = tuple(_FOLDERS)

_ITERATION = "_iter_"
_CORRUPT = ".corrupt-"


class File:
    """A file as it was found. `owner`: ("session" or "loop", its id), ("", "") = nobody's;
    `changed`: epoch seconds; `stamp`: what tells whether somebody has written it since; `guarded`:
    the path whose lock guards it, "" = none."""

    __slots__ = ("changed", "guarded", "kind", "owner", "path", "size", "stamp")

    def __init__(  # one a trait
        self,
        path: str,
        kind: str,
        owner: tuple[str, str],
        guarded: str,
        found: os.stat_result,
        changed: float = 0,
    ) -> None:
        self.path = path
        self.kind = kind
        self.owner = owner
        self.guarded = guarded
        self.size = found.st_size
        self.stamp = stamp(found)
        self.changed = changed or found.st_mtime

    @property
    def is_state(self) -> bool:
        """Whether its age tells when its owner was there last."""
        return self.kind not in (LOCKS, LEFT_OVER, CORRUPT)

    def as_json(self) -> Json:
        return {"path": self.path, "kind": self.kind, "bytes": self.size}


def stamp(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_mtime_ns, found.st_size, found.st_ino


class Name:
    """What a name in one of the folders says. `guarded`: relative to our folder, or ""."""

    __slots__ = ("guarded", "kind", "owner")

    def __init__(self, kind: str, owner: tuple[str, str], guarded: str) -> None:
        self.kind = kind
        self.owner = owner
        self.guarded = guarded


def read(folder: str, name: str) -> Name | None:
    """What `name` in `folder`, relative to our own, is; None = nothing that ever goes."""
    for mark, kind in ((".lock", LOCKS), (".tmp", LEFT_OVER)):
        if name.endswith(mark):
            of = _plain(folder, name.removesuffix(mark))
            guarded = f"{folder}/{name.removesuffix(mark)}" if kind == LOCKS else ""
            return Name(kind, of.owner, guarded or of.guarded) if of else None
    base, mark, _ = name.partition(_CORRUPT)
    if mark:
        of = _plain(folder, base)
        return Name(CORRUPT, of.owner if of else ("", ""), "")
    found = _plain(folder, name)
    return found if found and found.kind else None


def _plain(folder: str, name: str) -> Name | None:
    for start, end, kind, whose, lock in _FOLDERS[folder]:
        key = name[len(start) : len(name) - len(end)]
        if name.startswith(start) and name.endswith(end) and _is_key(key):
            guarded = f"{folder}/{name}" if lock == _OWN else lock and f"{lock}/{key}.json"
            return Name(kind, (whose, key.partition("@")[0]), guarded)
    loop, mark, rest = name.rpartition(_ITERATION)
    if folder == "ralph/transcripts" and mark and is_safe_id(loop) and rest[:1].isdecimal():
        return Name(TRANSCRIPTS, (LOOP, loop), "")
    return None


def _is_key(text: str) -> bool:
    """A session's or loop's id, and behind `@` that of a subagent."""
    session, mark, agent = text.partition("@")
    return is_safe_id(session) and (not mark or is_safe_id(agent))
