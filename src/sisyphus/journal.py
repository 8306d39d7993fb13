"""What hooks decided and why, and what that cost: the memory's events, asked by people.

An event's line: when, which, how long the hook took, what it sent (UTF-16 units), whether it held
the session, notes in plain words, and what went out, each by kind and file ("rules a.md", "loop").
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING

from sisyphus.errors import SisyphusError
from sisyphus.paths import is_safe_id
from sisyphus.text import one_line
from sisyphus.times import local

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sisyphus._types import Json
    from sisyphus.memory import Memory, Row, Value

COMMAND, IDLE, PROMPT = "command", "idle", "user-prompt-submit"
"""Lines that no hook wrote; waits beside a session, for which nobody waits; and where a block is an
answer to the user."""

_NAMED = 5
_LARGEST = 2**63 - 1
"""No event has a larger number."""

_WHOLE_MS = 100
_NOT_NEWS = ("left to the client", "sent before")
_COLUMNS = (
    "event.n, session.id, session.agent, event.at, event.event, event.ms, event.sent, "
    "event.blocked, event.is_silent, event.notes, event.texts"
)
_HOOKS = f"event.event <> '{COMMAND}'"
_HELD = f"event.blocked AND event.event <> '{PROMPT}'"
_TOOK = f"CASE WHEN event.event IN ('{COMMAND}', '{IDLE}') THEN 0 ELSE event.ms END"


@dataclass(slots=True)
class Event:
    """A line of the journal; `agent`: the subagent whose it is; `n` counts up through all."""

    n: int
    session: str
    agent: str
    at: float
    event: str
    ms: float
    sent: int
    blocked: bool
    is_silent: bool
    notes: list[str]
    texts: list[str]

    @property
    def is_quiet(self) -> bool:
        """Whether nothing happened that anybody would ask about."""
        return not (self.blocked or self.sent or any(map(news, self.notes)))

    def as_json(self) -> Json:
        found: Json = {
            "at": round(self.at, 3), "event": self.event, "ms": self.ms, "sent": self.sent,
            "blocked": self.blocked, "notes": self.notes,
        }  # fmt: skip
        if self.texts:
            found["texts"] = self.texts
        if self.agent:
            found["agent"] = self.agent
        if self.is_silent:
            found["silent"] = True
        return found

    @property
    def clock(self) -> str:
        return local(self.at, "%H:%M:%S")

    @property
    def day(self) -> str:
        return local(self.at, "%Y-%m-%d")

    @property
    def took(self) -> str:
        if not self.ms:
            return ""
        return f"{self.ms:,.1f} ms" if self.ms < _WHOLE_MS else f"{self.ms:,.0f} ms"

    def said(self, *, everything: bool = True) -> list[str]:
        """What the hook did and why, that it blocked, and how much it sent: a sentence each.

        `everything`: also that a rule was sent before, or is left to the client.
        """
        told = self.notes if everything or self.is_quiet else filter(None, map(news, self.notes))
        said = [one_line(note) for note in told]
        if self.blocked and not self._tells_of_block(said):
            said.insert(0, "blocked")
        if self.sent:
            count = f"{self.sent:,} characters"
            at = next((i for i, note in enumerate(said) if note.startswith("sent ")), None)
            if at is None:
                said.append(f"{count} sent")
            else:
                said[at] += f" ({count})"
        first, *more = said or ["nothing to say"]
        return [f"(subagent {self.agent}) {first}" if self.agent else first, *more]

    def _tells_of_block(self, said: list[str]) -> bool:
        if self.event == PROMPT:
            return bool(said)
        return any(note.startswith(("blocked", "woken")) for note in said)


def news(note: str) -> str:
    """A note without the rules that the model has already, or gets from the client; "" where it
    tells of no others."""
    if not note.startswith("rules for "):
        return note
    head, _, rest = note.partition(": ")
    parts = [part for part in rest.split("; ") if not part.startswith(_NOT_NEWS)]
    return f"{head}: {'; '.join(parts)}" if parts else ""


def events(  # each a filter
    memory: Memory,
    *,
    session: str = "",
    event: str = "",
    quiet: bool = True,
    before: int = 0,
    after: int = 0,
    limit: int = 0,
) -> list[Event]:
    """The latest `limit` events (0 = all), oldest first: of one session, of one kind, without the
    `quiet` ones, with numbers below `before` and above `after`."""
    found: list[Event] = []
    while True:
        wanted: list[tuple[str, Value]] = [("event.n > ?", after)]
        wanted += [("session.id = ?", session)] if session else []
        wanted += [("event.event = ?", event)] if event else []
        wanted += [("event.n < ?", before)] if before else []
        rows = memory.rows(
            f"SELECT {_COLUMNS} FROM event JOIN session ON event.session = session.n "
            f"WHERE {' AND '.join(one for one, _ in wanted)} ORDER BY event.n DESC LIMIT ?",
            *(value for _, value in wanted), limit * 4 or -1,
        )  # fmt: skip
        for row in rows:
            one = _event(row)
            if quiet or not one.is_quiet:
                found.append(one)
            if limit and len(found) == limit:
                return found[::-1]
        if not limit or len(rows) < limit * 4:
            return found[::-1]
        before = rows[-1][0]


def _event(row: Row) -> Event:
    n, session, agent, at, event, ms, sent, blocked, is_silent, notes, texts = row
    return Event(
        n, session, agent, at, event, ms, sent, bool(blocked), bool(is_silent),
        json.loads(notes), json.loads(texts),
    )  # fmt: skip


def latest_event(memory: Memory) -> int:
    """The largest number that an event of this memory ever had; 0 = there was none. None gets it a
    second time."""
    row = memory.row("SELECT seq FROM sqlite_sequence WHERE name = 'event'")
    return int(row[0]) if row else 0


@dataclass(slots=True)
class SessionSums:
    """A session with its subagents. `began`, `ended`: epoch seconds of its start and of what was
    last seen of it, 0 = unknown; `ms`: milliseconds of its hooks together; `sent`: UTF-16 units;
    `run`: the fresh-context run that it is an iteration of."""

    session: str
    client: str = ""
    project: str = ""
    run: str = ""
    began: float = 0
    ended: float = 0
    hooks: int = 0
    ms: float = 0
    sent: int = 0
    blocked: int = 0


def sessions(memory: Memory, *, project: str = "", session: str = "") -> list[SessionSums]:
    """All of them, the one that was seen last at the end."""
    where = "project = ?" if project else "id = ?" if session else "?"
    rows = memory.rows(
        "SELECT id, client, coalesce(max(project), ''), coalesce(max(run), ''), "
        "coalesce(min(coalesce(began_at, seen_at)), 0), coalesce(max(seen_at), 0), sum(hooks), "
        f"sum(ms), sum(units), sum(blocks) FROM session WHERE {where} GROUP BY client, id "
        "HAVING sum(hooks) > 0 ORDER BY max(seen_at)",
        project or session or 1,
    )  # fmt: skip
    return [SessionSums(*row) for row in rows]


def rows(
    memory: Memory,
    found: Sequence[SessionSums],
    loops: Mapping[str, list[Json]],
    plans: Mapping[str, str],
) -> list[Json]:
    """The sessions in the order of `found`, each with its loops and the name of its plan."""
    return [
        {
            "session_id": one.session,
            "began": one.began or None,
            "ended": one.ended or None,
            "seconds": round(one.ended - one.began, 3),
            "project": one.project or None,
            "client": one.client or None,
            "hooks": one.hooks,
            "ms": round(one.ms, 1),
            "median_ms": median_ms(memory, session=one.session),
            "sent": one.sent,
            "blocked": one.blocked,
            "run": one.run or None,
            "loops": loops.get(one.session, []),
            "plan": plans.get(one.session) or None,
        }
        for one in found
    ]


def totals(memory: Memory, found: Sequence[SessionSums], project: str = "") -> Json:
    return {
        "sessions": len(found),
        "hooks": sum(one.hooks for one in found),
        "ms": round(sum(one.ms for one in found), 1),
        "median_ms": median_ms(memory, project=project),
        "sent": sum(one.sent for one in found),
        "blocked": sum(one.blocked for one in found),
    }


def latest_session(memory: Memory, project: str = "") -> str:
    """The session that hooks saw last, in this project or in any; "" = none."""
    where = "AND project = ?" if project else "AND ?"
    row = memory.row(
        f"SELECT id FROM session WHERE agent = '' {where} ORDER BY seen_at DESC LIMIT 1",
        project or 1,
    )
    return str(row[0]) if row else ""


def about(memory: Memory, session: str) -> Json:
    """Where the session began: `project`, `client` and, of a fresh-context run, `run`."""
    found = sessions(memory, session=session)
    if not found:
        return {}
    known = {"project": found[0].project, "client": found[0].client, "run": found[0].run}
    return {name: value for name, value in known.items() if value}


def find_session(memory: Memory, named: str) -> str:
    """The session whose id is, or begins, so. Raises `SisyphusError` where there is none, or
    several begin so."""
    if not is_safe_id(named):
        raise SisyphusError(
            f"{one_line(named, 80)!r} is no session id. `sisyphus sessions` shows them."
        )
    found = matching(memory, named)
    if not found:
        raise SisyphusError(
            f"no session {named} is known: no hook ran in it, or it was purged. "
            "`sisyphus sessions` shows those that are."
        )
    if len(found) > 1:
        names = ", ".join(found[:_NAMED]) + (", …" if len(found) > _NAMED else "")
        raise SisyphusError(
            f"{len(found)} sessions begin with {named}: {names}. Name one of them with --session."
        )
    return found[0]


def matching(memory: Memory, named: str) -> list[str]:
    """The sessions whose id begins so, the latest first; the one that is called so alone."""
    rows = memory.rows(
        "SELECT DISTINCT id FROM session WHERE agent = '' AND substr(id, 1, ?) = ? "
        "ORDER BY seen_at DESC",
        len(named), named,
    )  # fmt: skip
    names = [str(row[0]) for row in rows]
    return [named] if named in names else names


def of_run(memory: Memory, named: str) -> str:
    """The last session of the fresh-context run whose id begins so; "" = there is none."""
    row = memory.row(
        "SELECT id FROM session WHERE substr(run, 1, ?) = ? ORDER BY seen_at DESC LIMIT 1",
        len(named), named,
    )  # fmt: skip
    return str(row[0]) if row else ""


def median_ms(memory: Memory, *, session: str = "", project: str = "") -> float | None:
    """What the middle one of the hooks took that somebody waited for, of a session, of a project
    or of all; None = there is none."""
    where = "session.id = ?" if session else "session.project = ?" if project else "?"
    rows = memory.rows(
        "SELECT event.ms, count(*) FROM event JOIN session ON event.session = session.n "
        f"WHERE {where} AND {_TOOK} > 0 GROUP BY event.ms ORDER BY event.ms",
        session or project or 1,
    )
    ends = list(accumulate(count for _, count in rows))
    if not ends:
        return None
    low, high = (rows[bisect_right(ends, at)][0] for at in ((ends[-1] - 1) // 2, ends[-1] // 2))
    return _two_digits((low + high) / 2)


def _two_digits(ms: float) -> float:
    return float(f"{ms:.2g}")


@dataclass(slots=True)
class Cost:
    """What the hooks of one event cost. `times`: milliseconds of each that somebody waited for."""

    event: str
    hooks: int = 0
    ms: float = 0
    blocked: int = 0
    times: list[float] = field(default_factory=list)

    def as_json(self) -> Json:
        return {
            "event": self.event, "hooks": self.hooks, "ms": self.ms,
            "median_ms": _two_digits(median(self.times)) if self.times else None,
            "blocked": self.blocked,
        }  # fmt: skip


def costs(memory: Memory, *, session: str = "", after: int = 0, to: int = _LARGEST) -> list[Cost]:
    """A row an event, the one that took most time first; of one session or of all, with numbers
    above `after` and up to `to`."""
    where = "session.id = ?" if session else "?"
    found: dict[str, Cost] = {}
    for name, ms, blocked in memory.rows(
        f"SELECT event.event, {_TOOK}, {_HELD} FROM event "
        f"JOIN session ON event.session = session.n WHERE {where} AND {_HOOKS} "
        "AND event.n > ? AND event.n <= ?",
        session or 1, after, to,
    ):  # fmt: skip
        cost = found.setdefault(name, Cost(name))
        cost.hooks += 1
        cost.ms += ms
        cost.blocked += bool(blocked)
        cost.times += [ms] if ms > 0 else []
    return sorted(found.values(), key=lambda cost: (-cost.ms, cost.event))


class Sendings:
    """How often one text was sent, to which sessions, and when last (epoch seconds)."""

    def __init__(self) -> None:
        self.times = 0
        self.last = 0.0
        self.sessions: Counter[str] = Counter()

    def add(self, session: str, at: float) -> None:
        self.times += 1
        self.last = max(self.last, at)
        self.sessions[session] = max(self.sessions[session], int(at))


def sendings(memory: Memory, project: str) -> dict[str, Sendings]:
    """What was sent in a project, by kind and file; the text that was sent last first."""
    found: dict[str, Sendings] = {}
    for session, at, texts in memory.rows(
        "SELECT session.id, event.at, event.texts FROM event "
        "JOIN session ON event.session = session.n "
        "WHERE session.project = ? AND event.texts <> '[]' ORDER BY event.n DESC",
        project,
    ):
        for text in json.loads(texts):
            found.setdefault(text, Sendings()).add(session, at)
    return found
