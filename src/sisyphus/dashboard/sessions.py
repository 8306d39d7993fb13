"""The page of all sessions, and the page of one with its journal."""

from __future__ import annotations

from typing import Any

from sisyphus import clients
from sisyphus.dashboard import paging
from sisyphus.dashboard.page import Desk, NotThereError, Params
from sisyphus.dashboard.paging import Pages
from sisyphus.ground.record import Record
from sisyphus.ground.store import Store
from sisyphus.ground.text import one_line
from sisyphus.loops import iterations
from sisyphus.sessions import journal, messages, stops, usage
from sisyphus.sessions import sessions as session_rows

WORKING, WAITING, IDLE, OPEN, ENDED = "working", "waiting", "idle", "open", "ended"
"""States. WAITING: for its user. IDLE: it has stopped. OPEN: it has not ended, and nobody notes
whether it works, because no loop, hold, run or enforcement is in charge of it."""

SIZE = 50
_EVENTS = 100
"""The entries of a page."""

_LOOPS = 5
_ALL_LOOPS = 100
"""The most loops of a session in the list, and on its page."""

_SENT = 300
_TITLE = 120
"""The most characters of a first prompt, and of a task."""


class LoopLink(Record, frozen=True):
    """A loop, hold or run that went through a session. state: its status or, if it has ended, its
    result."""

    id: str
    kind: str
    task: str
    state: str


class SessionRow(Record, frozen=True):
    """A session in the list.

    title: its first prompt or, of an iteration of a run, what that worked on; "" = unknown. state:
    one of those above; why: what it waits for. source: why it last started. percent: of its
    context; None = unknown. plan, plan_number: the name and row of the plan that it follows; "" and
    0 = none. loops: the newest first; loop_count: of all that there are.
    """

    id: str
    title: str
    client: str
    project: str
    source: str
    seen_at: float
    state: str
    why: str
    percent: int | None
    plan: str
    plan_number: int
    loops: list[LoopLink]
    loop_count: int


class Sessions(Record, frozen=True):
    """A page of sessions, the one seen last first. q, project: what the address asks for.
    projects: all that have sessions. is_empty: there are no sessions at all."""

    sessions: list[SessionRow]
    pages: Pages
    q: str
    project: str
    projects: list[str]
    is_empty: bool


class Event(Record, frozen=True):
    """A hook that did something. agent: of the subagent; "" = the session's own. sent: kind and
    file of each text. ms: from its start to its reply."""

    at: float
    name: str
    agent: str
    ms: float
    decision: str
    notes: list[str]
    sent: list[str]


class Sent(Record, frozen=True):
    """A file, or texts without one (""), that the model has in its context. texts: how many."""

    kind: str
    file: str
    agent: str
    texts: int
    at: float


class Queued(Record, frozen=True):
    """A text that goes out with one of the next replies. part: of a document; "" = all of it."""

    kind: str
    file: str
    agent: str
    part: str
    characters: int


class SessionPage(Record, frozen=True):
    """A session, and a page of its journal, newest first. started_at: its last start; None =
    unknown. agents: how many subagents of it are known. sent: at most 300, newest first."""

    session: SessionRow
    started_at: float | None
    ended_at: float | None
    transcript: str
    agents: int
    events: list[Event]
    pages: Pages
    sent: list[Sent]
    waiting: list[Queued]


# ---------------------------------------------------------------- all sessions

_COLUMNS = """session.n, session.id, client, session.project, source, seen_at, ended_at, transcript,
    idle_since, coalesce((SELECT dialog FROM session AS each WHERE each.client = session.client
    AND each.id = session.id AND dialog <> '' LIMIT 1), failed), question,
    coalesce(plan.name, ''), coalesce(plan.n, 0)"""


def query(desk: Desk, params: Params) -> Sessions:
    store, q, project = desk.store, params.get("q", "").strip(), params.get("project", "")
    where = (
        "session.agent = '' AND ? IN ('', session.project) AND (? = '' "
        "OR instr(lower(session.id), ?) OR instr(lower(session.project), ?))"
    )
    values = (project, q, q.lower(), q.lower())
    count = store.one(f"SELECT count(*) FROM session WHERE {where}", *values)
    pages = paging.choose(params, count[0] if count else 0, SIZE)
    rows = store.all(
        f"SELECT {_COLUMNS} FROM session LEFT JOIN plan ON plan.n = session.plan WHERE {where} "
        "ORDER BY seen_at DESC, session.n DESC LIMIT ? OFFSET ?",
        *values, SIZE, SIZE * (pages.number - 1),
    )  # fmt: skip
    names = store.all("SELECT DISTINCT project FROM session WHERE agent = '' ORDER BY project")
    return Sessions(
        _rows(desk, rows, _LOOPS), pages, q, project, [name[0] for name in names], not names
    )


def _rows(desk: Desk, rows: list[tuple[Any, ...]], most: int) -> list[SessionRow]:
    """most: loops of each session."""
    numbers = [row[0] for row in rows]
    loops, noted = _loops(desk.store, numbers, most), _noted(desk.store, numbers)
    titles = _titles(desk.store, numbers)
    return [
        _row(desk, row, titles.get(row[0], ""), loops.get(row[0], ([], 0)), row[0] in noted)
        for row in rows
    ]


def _row(
    desk: Desk, row: tuple[Any, ...], title: str, loops: tuple[list[LoopLink], int], is_noted: bool
) -> SessionRow:
    """title: "" = its first prompt."""
    (n, id, client, project, source, seen_at, _, transcript, idle_since, trouble, question, plan,
     plan_number) = row  # fmt: skip
    why = trouble or stops.why_waits(desk.store, n) or question
    if session_rows.is_over(desk.store, n):
        state, why = ENDED, ""
    elif why:
        state = WAITING
    elif idle_since is not None:
        state = IDLE
    else:
        state = WORKING if is_noted else OPEN
    used = usage.read(desk.store, dict(desk.settings), client, n, transcript)
    title = title or clients.transcript(client).first_prompt(transcript)
    return SessionRow(
        id, one_line(title, _TITLE), client, project, source, seen_at, state, one_line(why),
        used.percent if used.tokens else None, plan, plan_number, *loops,
    )  # fmt: skip


def _titles(store: Store, sessions: list[int]) -> dict[int, str]:
    """Returns what sessions of runs worked on."""
    found = iterations.by_session(store, sessions)
    return {session: messages.of_run(*iteration) for session, iteration in found.items()}


def _loops(store: Store, sessions: list[int], most: int) -> dict[int, tuple[list[LoopLink], int]]:
    """Returns the loops, holds and runs that went through sessions, and how many these are."""
    marks = ", ".join("?" * len(sessions))
    rows = store.all(
        "WITH through (session, loop) AS ("
        f"SELECT session, n FROM loop WHERE session IN ({marks}) "
        f"UNION SELECT session, loop FROM iteration WHERE session IN ({marks}) "
        f"UNION SELECT session, loop FROM run WHERE session IN ({marks})) "
        "SELECT each.session, amount, id, kind, substr(ltrim(prompt), 1, ?), "
        "iif(outcome = '', status, outcome) FROM (SELECT session, loop, row_number() OVER "
        "(PARTITION BY session ORDER BY loop DESC) AS place, count(*) OVER (PARTITION BY session) "
        "AS amount FROM through) AS each JOIN loop ON loop.n = each.loop WHERE place <= ? "
        "ORDER BY each.session, place",
        *sessions * 3, _TITLE, most,
    )  # fmt: skip
    found: dict[int, tuple[list[LoopLink], int]] = {}
    for session, amount, id, kind, prompt, state in rows:
        task = one_line(prompt.strip().partition("\n")[0])
        found.setdefault(session, ([], amount))[0].append(LoopLink(id, kind, task, state))
    return found


def _noted(store: Store, sessions: list[int]) -> set[int]:
    """Returns the sessions whose Stops somebody decides, so that we know when they work."""
    marks = ", ".join("?" * len(sessions))
    rows = store.all(
        f"SELECT session.n FROM session WHERE session.n IN ({marks}) AND ("
        "project IN (SELECT project FROM enforced) OR EXISTS (SELECT 1 FROM loop "
        "WHERE loop.ended_at IS NULL AND status = 'active' AND (loop.session = session.n "
        "OR loop.plan = session.plan OR loop.n IN (SELECT loop FROM run "
        "WHERE run.session = session.n AND run.client <> ''))))",
        *sessions,
    )
    return {row[0] for row in rows}


# ---------------------------------------------------------------- one session


def query_one(desk: Desk, params: Params) -> SessionPage:
    """params: `id`, of the session, or the first characters of it. Raises `SisyphusError` if these
    fit several."""
    store, asked = desk.store, params.get("id", "")
    id = session_rows.whole_id(store, asked)
    rows = store.all(
        f"SELECT {_COLUMNS} FROM session LEFT JOIN plan ON plan.n = session.plan "
        "WHERE session.n = ?",
        session_rows.find(store, id),
    )
    if not (id and rows):
        raise NotThereError(
            f"No session {one_line(asked, 80)} is known here. It has ended long ago, or sisyphus "
            "was not wired into its client. The page Sessions lists all that are known."
        )
    facts = store.one(
        "SELECT started_at, ended_at, transcript, (SELECT count(*) FROM session WHERE id = ? "
        "AND agent <> ''), (SELECT count(*) FROM event JOIN session ON session.n = event.session "
        "WHERE session.id = ?) FROM session WHERE n = ?",
        id, id, rows[0][0],
    )  # fmt: skip
    assert facts is not None
    started_at, ended_at, transcript, agents, events = facts
    pages = paging.choose(params, events, _EVENTS)
    return SessionPage(
        _rows(desk, rows, _ALL_LOOPS)[0], started_at, ended_at, transcript, agents,
        _events(store, id, pages), pages, _sent(store, id), _waiting(store, id),
    )  # fmt: skip


def _events(store: Store, id: str, pages: Pages) -> list[Event]:
    newer = _EVENTS * (pages.number - 1)
    events = journal.read(store, id, newer + _EVENTS)
    shown = list(reversed(events))[newer:]
    return [
        Event(
            each["at"], each["event"], each["agent"], each["ms"], each["decision"], each["notes"],
            each["sent"],
        )
        for each in shown
    ]  # fmt: skip


def _sent(store: Store, id: str) -> list[Sent]:
    rows = store.all(
        "SELECT kind, path, agent, count(*), max(at) FROM sent JOIN session "
        "ON session.n = sent.session WHERE session.id = ? AND kind <> 'notice' "
        "GROUP BY kind, path, agent ORDER BY max(at) DESC, kind, path LIMIT ?",
        id, _SENT,
    )  # fmt: skip
    return [Sent(*row) for row in rows]


def _waiting(store: Store, id: str) -> list[Queued]:
    rows = store.all(
        "SELECT kind, path, agent, part, length(text) FROM waiting JOIN session "
        "ON session.n = waiting.session WHERE session.id = ? ORDER BY agent, seq",
        id,
    )
    return [Queued(*row) for row in rows]
