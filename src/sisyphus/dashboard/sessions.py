"""The page of all sessions, and the page of one with its journal."""

from __future__ import annotations

import json

from sisyphus import clients, work
from sisyphus.boulder import plans
from sisyphus.boulder.evidence import FAILED
from sisyphus.dashboard import paging
from sisyphus.dashboard.page import Desk, NotThereError, Params
from sisyphus.dashboard.paging import Pages
from sisyphus.ground.record import Record, field
from sisyphus.ground.store import Store
from sisyphus.ground.text import one_line
from sisyphus.hook.session import Session
from sisyphus.loops import iterations, loops
from sisyphus.runner import decide
from sisyphus.sessions import journal, messages, usage
from sisyphus.sessions import sessions as session_rows

_NOTABLE = (decide.BLOCKED, decide.FATAL, decide.STUCK)
"""The decisions after an iteration that a person should look at."""

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
    context; None = unknown. plan, plan_number: the name and row of the plan that it follows; ""
    and 0 = none. loops: the newest first; loop_count: of all that there are. earlier: the sessions
    of the same run that are folded below this one.
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
    earlier: list[SessionRow] = field(default_factory=list)


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


def query(desk: Desk, params: Params) -> Sessions:
    store, q, project = desk.store, params.get("q", "").strip(), params.get("project", "")
    worked = iterations.sessions_at(store, q) if q else []
    pages = paging.choose(params, session_rows.count(store, project, q, worked), SIZE)
    found = session_rows.find_all(
        store, project, q, worked, most=SIZE, skipped=SIZE * (pages.number - 1)
    )
    names = session_rows.projects(store)
    of_runs = iterations.by_session(store, found)
    rows = _folded(store, found, of_runs, _rows(desk, found, of_runs, _LOOPS))
    return Sessions(rows, pages, q, project, names, not names)


_OfRuns = dict[int, tuple[str, int, str]]
"""What `iterations.by_session` returns."""


def _rows(desk: Desk, found: list[Session], of_runs: _OfRuns, most: int) -> list[SessionRow]:
    """most: loops of each session."""
    links = _loops(desk.store, [each.n for each in found], most)
    titles = {session: messages.of_run(*iteration) for session, iteration in of_runs.items()}
    return [_row(desk, each, titles.get(each.n, ""), links.get(each.n, ([], 0))) for each in found]


def _folded(
    store: Store, found: list[Session], of_runs: _OfRuns, rows: list[SessionRow]
) -> list[SessionRow]:
    """Folds the sessions of a run below its last one, but for those that a person should look
    at."""
    notable = _notable(store, [each.n for each in found])
    last: dict[str, SessionRow] = {}
    shown = []
    for session, row in zip(found, rows, strict=True):
        run = of_runs[session.n][0] if session.n in of_runs else ""
        if run in last and row.state != WAITING and session.n not in notable:
            last[run].earlier.append(row)
            continue
        shown.append(row)
        if run:
            last.setdefault(run, row)
    return shown


def _notable(store: Store, sessions: list[int]) -> set[int]:
    """Returns those of these sessions in which an iteration of a run failed, or needs the user."""
    found = store.all(
        "SELECT session FROM iteration WHERE session IN (SELECT value FROM json_each(?)) "
        "AND (evidence = ? OR decision IN (SELECT value FROM json_each(?)))",
        json.dumps(sessions), FAILED, json.dumps(_NOTABLE),
    )  # fmt: skip
    return {row[0] for row in found}


def _row(desk: Desk, session: Session, title: str, loops: tuple[list[LoopLink], int]) -> SessionRow:
    """title: "" = its first prompt."""
    state, why = _state(desk.store, session)
    used = usage.of_session(session, dict(desk.settings))
    plan = plans.of_session(desk.store, session)
    title = title or clients.transcript(session.client).first_prompt(session.transcript)
    return SessionRow(
        session.id, one_line(title, _TITLE), session.client, session.project, session.source,
        session.seen_at, state, one_line(why), used.percent if used.tokens else None,
        plan.name if plan else "", session.plan or 0, *loops,
    )  # fmt: skip


def _state(store: Store, session: Session) -> tuple[str, str]:
    """Returns the state of a session, and what it waits for."""
    if session.is_over:
        return ENDED, ""
    dialogs = (each.dialog for each in session_rows.contexts(store, session.id) if each.dialog)
    trouble = next(dialogs, session.failed)
    if why := trouble or session.why_waits or session.question:
        return WAITING, why
    if session.idle_since is not None:
        return IDLE, ""
    return (WORKING if _is_noted(store, session) else OPEN), ""


def _loops(store: Store, sessions: list[int], most: int) -> dict[int, tuple[list[LoopLink], int]]:
    """Returns the loops, holds and runs that went through sessions, and how many these are."""
    found: dict[int, tuple[list[LoopLink], int]] = {}
    for session, amount, id, kind, prompt, state in loops.through(store, sessions, most, _TITLE):
        task = one_line(prompt.strip().partition("\n")[0])
        found.setdefault(session, ([], amount))[0].append(LoopLink(id, kind, task, state))
    return found


def _is_noted(store: Store, session: Session) -> bool:
    """Tells whether somebody decides its Stops, so that we know when it works."""
    run = loops.run_of(store, session)
    return work.is_unattended(store, session) or bool(run and run.is_active)


# ---------------------------------------------------------------- one session


def query_one(desk: Desk, params: Params) -> SessionPage:
    """params: `id`, of the session, or the first characters of it. Raises `SisyphusError` if these
    fit several."""
    store, asked = desk.store, params.get("id", "")
    id = session_rows.whole_id(store, asked)
    contexts = session_rows.contexts(store, id) if id else []
    session = next((each for each in contexts if not each.agent), None)
    if session is None:
        raise NotThereError(
            f"No session {one_line(asked, 80)} is known here. It has ended long ago, or sisyphus "
            "was not wired into its client. The page Sessions lists all that are known."
        )
    pages = paging.choose(params, journal.count(store, [each.n for each in contexts]), _EVENTS)
    (row,) = _rows(desk, [session], iterations.by_session(store, [session]), _ALL_LOOPS)
    return SessionPage(
        row, session.started_at, session.ended_at,
        session.transcript, len(contexts) - 1, _events(store, id, pages), pages,
        _sent(store, contexts), _waiting(store, contexts),
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


def _sent(store: Store, contexts: list[Session]) -> list[Sent]:
    agents = {each.n: each.agent for each in contexts}
    rows = store.all(
        "SELECT kind, path, session, count(*), max(at) FROM sent WHERE session IN "
        "(SELECT value FROM json_each(?)) AND kind <> 'notice' GROUP BY kind, path, session "
        "ORDER BY max(at) DESC, kind, path LIMIT ?",
        json.dumps(list(agents)), _SENT,
    )  # fmt: skip
    return [Sent(kind, path, agents[n], count, at) for kind, path, n, count, at in rows]


def _waiting(store: Store, contexts: list[Session]) -> list[Queued]:
    agents = {each.n: each.agent for each in sorted(contexts, key=lambda each: each.agent)}
    rows = store.all(
        "SELECT kind, path, session, part, length(text) FROM waiting WHERE session IN "
        "(SELECT value FROM json_each(?)) ORDER BY seq",
        json.dumps(list(agents)),
    )
    queued = [Queued(kind, path, agents[n], part, size) for kind, path, n, part, size in rows]
    return sorted(queued, key=lambda each: each.agent)
