"""A session's record in the memory: who it is, what its model was sent, what waits for its reply.

A session is known by client, id and agent: a subagent's context is its own.
"""

from __future__ import annotations

import os

from sisyphus.clients.base import Text
from sisyphus.memory import OF_SESSIONS, Change
from sisyphus.quick_json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sisyphus._types import Kept
    from sisyphus.clients.base import Payload
    from sisyphus.memory import Memory, Value

LEDGERS = {
    "rules": "rules-injector",
    "agents": "context-injector",
    "readme": "context-injector",
}
"""Kinds of texts -> the folder whose files tell other programs what was sent."""

_SENT = "lists of what was sent"
KEPT: tuple[Kept, ...] = (
    {"path": "rules-injector/session-SESSION.json", "kind": _SENT, "resumable": True},
    {"path": "context-injector/session-SESSION.json", "kind": _SENT, "resumable": True},
)

_COLUMNS = (
    "n", "version", "project", "source", "began_at", "seen_at", "pid", "process_started",
    "bound_at", "in_process", "former_pid", "former_started", "before", "forked_at", "parents",
    "forgot_at", "forgot_for",
)  # fmt: skip
_TEXT_COLUMNS = "kind, body, head, tail, late_head, hash, path"


class Session:
    """A session's row as it was read. `n` 0: there is none yet, and all else is None."""

    __slots__ = ("agent", "client", "id", *_COLUMNS)

    def __init__(self, client: str, session: str, agent: str, row: Sequence[object] | None) -> None:
        self.client = client
        self.id = session
        self.agent = agent
        for name, value in zip(_COLUMNS, row or (0, 0, *[None] * len(_COLUMNS)), strict=False):
            setattr(self, name, value)

    def change(self, **values: Value) -> Change:
        return Change("session", self.key, self.version, values)

    @property
    def key(self) -> dict[str, Value]:
        return {"client": self.client, "id": self.id, "agent": self.agent}

    @property
    def misses_parents(self) -> bool:
        """Whether it is a fork of which nobody knows yet what its model was sent."""
        return self.forked_at is not None and self.parents is None

    if TYPE_CHECKING:
        n: int
        version: int
        project: str | None
        source: str | None
        began_at: float | None
        seen_at: float | None
        pid: int | None
        process_started: str | None
        bound_at: float | None
        in_process: int | None
        former_pid: int | None
        former_started: str | None
        before: str | None
        forked_at: float | None
        parents: str | None
        forgot_at: float | None
        forgot_for: str | None


class Beginning(Change):
    """A session's start: its new values, that hooks of this `scope` saw it, and, where its context
    begins empty, that nothing was sent and nothing waits."""

    __slots__ = ("at", "forgets", "scope")

    def __init__(
        self,
        session: Session,
        scope: str,
        at: float,
        values: dict[str, Value],
        *,
        forgets: bool,
    ) -> None:
        super().__init__("session", session.key, session.version, values)
        self.scope = scope
        self.at = at
        self.forgets = forgets

    @property
    def touches_sent(self) -> bool:
        return self.forgets

    def apply(self, memory: Memory) -> bool:
        if not super().apply(memory):
            return False
        n = number(memory, *self.key.values())
        memory.write(
            "INSERT INTO wiring (session, scope, started_at) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET started_at = excluded.started_at",
            n, self.scope, self.at,
        )  # fmt: skip
        if self.values.get("in_process"):
            leave_others(memory, n, self.values["pid"])
        if self.forgets:
            for table in ("sent", "waiting"):
                memory.write(f"DELETE FROM {table} WHERE session = ?", n)  # our names
        return True


class Inheritance(Change):
    """A fork's model holds what each of the sessions that may be its parent was sent."""

    __slots__ = ("parents",)

    def __init__(self, session: Session, parents: Sequence[str]) -> None:
        told = dumps(parents)
        super().__init__("session", session.key, session.version, {"parents": told})
        self.parents = parents

    @property
    def touches_sent(self) -> bool:
        return True

    def apply(self, memory: Memory) -> bool:
        """Counts once, whatever else has changed, and unless there is nothing left to inherit."""
        if not memory.write(
            "UPDATE session SET parents = ?, version = version + 1 "
            "WHERE client = ? AND id = ? AND agent = ? AND parents IS NULL",
            self.values["parents"], *self.key.values(),
        ):  # fmt: skip
            return True
        marks = ", ".join("?" * len(self.parents))
        memory.write(
            "INSERT OR IGNORE INTO sent (session, hash, kind, path, at) "
            "SELECT ?, hash, kind, path, max(at) FROM sent JOIN session ON session = session.n "
            f"WHERE client = ? AND agent = '' AND id IN ({marks}) "  # marks alone
            "GROUP BY hash HAVING count(DISTINCT session) = ?",
            number(memory, *self.key.values()), self.key["client"], *self.parents,
            len(self.parents),
        )  # fmt: skip
        return True


def load(memory: Memory, client: str, session: str, agent: str = "") -> Session:
    row = memory.row(
        f"SELECT {', '.join(_COLUMNS)} FROM session WHERE client = ? AND id = ? AND agent = ?",
        client, session, agent,
    )  # fmt: skip
    return Session(client, session, agent, row)


def load_of(memory: Memory, payload: Payload) -> Session:
    return load(memory, payload.client, payload.session, payload.agent)


def number(memory: Memory, client: Value, session: Value, agent: Value) -> int:
    """The session's number in the other tables; a session that nobody saw before gets one. Inside
    a transaction."""
    query = "SELECT n FROM session WHERE client = ? AND id = ? AND agent = ?"
    found = memory.row(query, client, session, agent)
    if found is None:
        memory.write(
            "INSERT INTO session (client, id, agent, version) VALUES (?, ?, ?, 1)",
            client, session, agent,
        )  # fmt: skip
        found = memory.row(query, client, session, agent)
    assert found is not None  # noqa: S101  # it was written just now
    return int(found[0])


def number_of(memory: Memory, payload: Payload) -> int:
    return number(memory, payload.client, payload.session, payload.agent)


def leave_others(memory: Memory, n: int, pid: Value) -> None:
    """A process is in one session at a time. Inside a transaction."""
    memory.write(
        "UPDATE session SET in_process = 0 WHERE pid = ? AND in_process AND n <> ?", pid, n
    )


def sent_hashes(memory: Memory, client: str, session: str, agent: str = "") -> frozenset[str]:
    """The texts that this session's model was certainly sent, by their hashes."""
    rows = memory.rows(
        "SELECT hash FROM sent JOIN session ON session = session.n "
        "WHERE client = ? AND id = ? AND agent = ?",
        client, session, agent,
    )  # fmt: skip
    return frozenset(row[0] for row in rows)


def waiting(memory: Memory, n: int) -> list[Text]:
    """What waits for the next reply of session `n`, in order."""
    rows = memory.rows(
        f"SELECT {_TEXT_COLUMNS} FROM waiting WHERE session = ? ORDER BY seq",
        n,
    )
    return [_text(*row) for row in rows]


def _text(kind: str, body: str, *rest: str) -> Text:
    names = ("head", "tail", "late_head", "hash", "path")
    return Text(kind, body, **dict(zip(names, rest, strict=True)))  # type: ignore[arg-type]


def wait(memory: Memory, n: int, texts: Iterable[Text]) -> None:
    """Replaces what waits. Inside a transaction."""
    memory.write("DELETE FROM waiting WHERE session = ?", n)
    for seq, text in enumerate(texts):
        memory.write(
            f"INSERT INTO waiting (session, seq, {_TEXT_COLUMNS}) "  # our names
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            n, seq, text.kind, text.body, text.head, text.tail, text.late_head, text.hash,
            text.path,
        )  # fmt: skip


def unsent(memory: Memory, n: int, texts: Iterable[Text]) -> list[Text]:
    """Those that the model of session `n` does not have."""
    query = "SELECT 1 FROM sent WHERE session = ? AND hash = ?"
    return [text for text in texts if not text.hash or not memory.row(query, n, text.hash)]


def remember(memory: Memory, n: int, text: Text, now: float) -> None:
    """Notes that the model was sent this text. Of a file the last text counts alone: one that
    comes back later is new to the model. Parts of a document share what stands before the `/`.
    Inside a transaction."""
    if not text.hash:
        return
    if text.path and text.kind != "loop":
        digest = text.hash.partition("/")[0]
        memory.write(
            "DELETE FROM sent WHERE session = ? AND kind = ? AND path = ? "
            "AND hash <> ? AND hash NOT GLOB ? || '/*'",
            n, text.kind, text.path, digest, digest,
        )  # fmt: skip
    memory.write(
        "INSERT OR IGNORE INTO sent (session, hash, kind, path, at) VALUES (?, ?, ?, ?, ?)",
        n, text.hash, text.kind, text.path, now,
    )  # fmt: skip


def ledger_path(ours: str, ledger: str, session: str, agent: str = "") -> str:
    key = f"{session}@{agent}" if agent else session
    return os.path.join(ours, ledger, f"session-{key}.json")


def ledger(memory: Memory, name: str, session: str, agent: str = "") -> dict[str, list[str]]:
    """What other programs are told that a session was sent, in S0's words: they know no client."""
    kinds = [kind for kind, ledger in LEDGERS.items() if ledger == name]
    rows = memory.rows(
        "SELECT hash, path FROM sent JOIN session ON session = session.n "
        f"WHERE id = ? AND agent = ? AND kind IN ({', '.join('?' * len(kinds))}) "  # marks
        "ORDER BY at, hash",
        session, agent, *kinds,
    )  # fmt: skip
    hashes = dict.fromkeys(found for found, _ in rows)
    paths = dict.fromkeys(path for _, path in rows if path)
    return {"injected_hashes": list(hashes), "injected_paths": list(paths)}


def unexported(memory: Memory, n: int) -> list[str]:
    """The ledgers of session `n` that say less than the memory: whoever wrote there last was
    killed, or found no room."""
    return [name for (name,) in memory.rows("SELECT name FROM export WHERE session = ?", n)]


def new_calls(memory: Memory, session: Session, calls: Iterable[str]) -> set[str]:
    """Of the ids of tool calls those that no hook has answered yet."""
    query = "SELECT 1 FROM call WHERE session = ? AND id = ?"
    return {call for call in calls if not memory.row(query, session.n, call)}


def note(memory: Memory, session: str, text: str, now: float) -> None:
    """A line of the journal about what a command did to a session, if the session is known."""
    row = memory.row("SELECT n FROM session WHERE id = ? AND agent = ''", session)
    if row is not None:
        memory.write(
            "INSERT INTO event (session, at, event, ms, sent, blocked, is_silent, notes, texts) "
            "VALUES (?, ?, 'command', 0, 0, 0, 0, ?, '[]')",
            row[0], now, dumps([text]),
        )  # fmt: skip


def is_known(memory: Memory, session: str) -> bool:
    """Whether a hook has seen this session."""
    return memory.row("SELECT 1 FROM session WHERE id = ? AND agent = ''", session) is not None


def delete(memory: Memory, sessions: Iterable[int]) -> None:
    """Removes sessions, and what belongs to them. Inside a transaction."""
    for n in sessions:
        for table in OF_SESSIONS:
            memory.write(f"DELETE FROM {table} WHERE session = ?", n)  # our names
        memory.write("DELETE FROM session WHERE n = ?", n)
