"""The sessions in the store: which one is meant, and which there are."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.ground import quick_json
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.processes import is_alive
from sisyphus.hook.event import BOTH, PLUGIN, SETTINGS
from sisyphus.hook.session import COLUMNS, NEW_FORK, Session
from sisyphus.sessions import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from sisyphus.ground.store import Store, Value
    from sisyphus.hook.hook import Hook

TWIN_SECONDS = 0.5
"""The most between the hooks of one start where two settings files wire us: they run at once."""

ONE_START_SECONDS = 10
"""A plugin and the settings may both call us at one start. A second call within this time is the
same start."""

_OF_ENDED_RUN = (
    "session.n IN (SELECT own.n FROM session AS own JOIN "
    "(SELECT loop, session FROM iteration UNION SELECT loop, session FROM run) AS part "
    "ON part.session = own.n JOIN loop ON loop.n = part.loop "
    "WHERE loop.kind IN ('run', 'worker') AND loop.ended_at >= ifnull(own.started_at, 0))"
)
"""A session was an iteration of a run that has ended, and nobody has started it again since."""

_NAMES = ", ".join(f"session.{name}" for name in COLUMNS)


def _select(store: Store, rest: str, *values: Value) -> list[Session]:
    return [Session(row) for row in store.all(f"SELECT {_NAMES} FROM session {rest}", *values)]


def clients_of(store: Store, numbers: set[int]) -> dict[int, str]:
    """Returns the clients of sessions. Both are by the sessions' numbers."""
    rows = store.all(
        "SELECT n, client FROM session WHERE n IN (SELECT value FROM json_each(?))",
        quick_json.dumps([*numbers]),
    )
    return dict(rows)


# ---------------------------------------------------------------- the session of an event


def ensure(hook: Hook) -> Session:
    """Returns the session of an event as it is now, and makes its row if it has none."""
    event = hook.event
    if not hook.session.n:
        _claim(hook)
    return Session.ensure(
        hook.store, event.client, event.session, event.agent, hook.project, hook.now, event.process
    )


def _claim(hook: Hook) -> None:
    """Takes the row that a command has made for the session before its first event. The command
    knew its id alone, and may have taken it for one of another client."""
    event, guess = hook.event, clients.of_id(hook.event.session)
    if guess != event.client and not event.agent:
        hook.store.run(
            "UPDATE OR IGNORE session SET client = ? "
            "WHERE client = ? AND id = ? AND agent = '' AND started_at IS NULL",
            event.client, guess, event.session,
        )  # fmt: skip


def start(hook: Hook) -> str:
    """Notes a start of the session, and clears the ledger if the context starts empty. Returns
    whose hooks the session runs (see `hook.event.BOTH`)."""
    session, event = hook.session, hook.event
    is_repeated = _is_same_start(hook)
    if event.starts_empty and not is_repeated:
        ledger.forget(hook)
    if event.source == "fork":
        session.fork = session.fork or NEW_FORK
    own = PLUGIN if event.is_from_plugin else SETTINGS
    session.wiring = BOTH if is_repeated and session.wiring not in ("", own) else own
    session.source, session.started_at, session.ended_at = event.source, hook.now, None
    session.project, session.transcript = hook.project, event.transcript
    session.level = 0 if event.starts_empty else session.level
    session.started_in = event.process
    return session.wiring


def _is_same_start(hook: Hook) -> bool:
    """Tells whether another hook of ours has just noted this start."""
    session, event = hook.session, hook.event
    is_same = session.source == event.source
    seconds: float = ONE_START_SECONDS
    if event.loses_start:  # with each process, and with a resume in the same one
        is_same = is_same and "" != session.started_in == event.process
        seconds = TWIN_SECONDS
    return is_same and hook.now - (session.started_at or 0) < seconds


def close_dialogs(hook: Hook) -> None:
    """Notes that neither the session nor a subagent of it has a dialog open."""
    hook.session.dialog = ""
    hook.store.run(
        "UPDATE session SET dialog = '' WHERE client = ? AND id = ? AND dialog <> ''",
        hook.event.client, hook.event.session,
    )  # fmt: skip


def before_clear(hook: Hook) -> Session:
    """Returns the session that the client's process had before `/clear`; one that is not in the
    store if nobody knows."""
    if not hook.event.process:
        return Session()
    found = _select(
        hook.store,
        "WHERE process = ? AND agent = '' AND id <> ? ORDER BY seen_at DESC LIMIT 1",
        hook.event.process, hook.event.session,
    )  # fmt: skip
    return found[0] if found else Session()


def is_left(hook: Hook, since: float) -> bool:
    """Tells whether the user has gone on in another session since a time, for clients that do not
    say so: one has started in the same process or, if a server runs the sessions, in the same
    project, but not in a process of its own."""
    event = hook.event
    if not event.leaves_silently:
        return False
    others = _select(
        hook.store,
        "WHERE client = ? AND agent = '' AND n <> ? AND started_at > ? AND ended_at IS NULL "
        "AND iif(? = '', project = ?, process = ?)",
        event.client, hook.session.n, since, event.process, hook.project, event.process,
    )  # fmt: skip
    return any(each.process == event.process or not is_alive(each.process) for each in others)


# ---------------------------------------------------------------- which one is meant


def ensure_by_id(store: Store, id: str, project: str, now: float) -> Session:
    """Returns the session with an id, and makes its row if it has none. Its client is then the one
    whose ids look so."""
    client = Session.find(store, id).client or clients.of_id(id)
    return Session.ensure(store, client, id, "", project, now)


def whole_id(store: Store, prefix: str) -> str:
    """Returns the session id that is `prefix`, else the only one that starts with it; "" if none
    does. Raises `SisyphusError` if several do."""
    rows = store.all(
        "SELECT id FROM session WHERE agent = '' AND substr(id, 1, ?) = ? ORDER BY seen_at DESC",
        len(prefix), prefix,
    )  # fmt: skip
    ids = [row[0] for row in rows]
    if prefix in ids:
        return prefix
    if len(ids) > 1:
        raise SisyphusError(f"Several sessions start with {prefix}: {', '.join(ids[:5])}.")
    return str(ids[0]) if ids else ""


def of_process(store: Store, process: str) -> Session:
    """Returns the session that a client's process ("PID START") is in; one that is not in the store
    if nobody knows."""
    rest = "WHERE process = ? AND agent = '' ORDER BY seen_at DESC LIMIT 1"
    found = _select(store, rest, process) if process else []
    return found[0] if found else Session()


def latest(store: Store, project: str) -> Session:
    """Returns the project's last used session; one that is not in the store if it has none."""
    found = _select(store, "WHERE project = ? ORDER BY seen_at DESC LIMIT 1", project)
    return found[0] if found else Session()


def meant_in(store: Store, project: str) -> Session:
    """Returns the session of a project that a command in a terminal means: the only open one, else
    the last used. Iterations of runs that have ended are the last resort. One that is not in the
    store = there is none."""
    is_open = [each for each in open_in(store, project) if not is_of_ended_run(store, each)]
    if len(is_open) == 1:
        return is_open[0]
    own = _select(
        store,
        f"WHERE project = ? AND agent = '' AND NOT {_OF_ENDED_RUN} ORDER BY seen_at DESC LIMIT 1",
        project,
    )
    return own[0] if own else Session.find(store, latest(store, project).id)


def is_of_ended_run(store: Store, session: Session) -> bool:
    """Tells whether a session was an iteration of a run that has ended, and no more than that."""
    query = f"SELECT 1 FROM session WHERE n = ? AND {_OF_ENDED_RUN}"
    return store.one(query, session.n) is not None


# ---------------------------------------------------------------- which there are


def newest(store: Store) -> int:
    """Returns the number of the session that was noted last; 0 = none was."""
    row = store.one("SELECT max(n) FROM session")
    return row[0] or 0 if row else 0


def open_in(store: Store, project: str) -> list[Session]:
    """Returns the project's sessions that have not ended, the last used first. One that only a
    command named has not started."""
    found = _select(
        store,
        "WHERE agent = '' AND project = ? AND ended_at IS NULL AND (started_at IS NOT NULL "
        "OR process <> '' OR EXISTS (SELECT 1 FROM event WHERE event.session = session.n)) "
        "ORDER BY seen_at DESC",
        project,
    )
    return [each for each in found if not each.is_gone]


def following(store: Store, plan: int | None) -> list[Session]:
    """Returns the sessions that follow a plan (the number of its row), the last used first."""
    return _select(store, "WHERE plan = ? AND agent = '' ORDER BY seen_at DESC", plan)


def asking(store: Store) -> list[Session]:
    """Returns the open sessions that have failed, need something, or asked their user."""
    return _select(
        store, "WHERE ended_at IS NULL AND (rests <> '' OR question <> '' OR failed <> '')"
    )


def standing_still(store: Store) -> list[Session]:
    """Returns the idle sessions whose last Stop was let go though their work stands."""
    return _select(
        store, "WHERE idle_since IS NOT NULL AND json_extract(stops, '$.standstill') <> ''"
    )


def with_dialogs(store: Store, before: float) -> list[Session]:
    """Returns the sessions and subagents whose dialog opened before a time, and was not closed."""
    return _select(store, "WHERE dialog <> '' AND dialog_at <= ?", before)


def clients_that_started(store: Store) -> set[str]:
    """Returns the clients of which a session has started."""
    rows = store.all("SELECT DISTINCT client FROM session WHERE started_at IS NOT NULL")
    return {row[0] for row in rows}


def in_project(store: Store, project: str) -> list[Session]:
    """Returns all sessions and subagents of a project, the last used first."""
    return _select(store, "WHERE project = ? ORDER BY seen_at DESC", project)


def with_transcripts(store: Store, client: str, project: str, most: int) -> list[Session]:
    """Returns the sessions of a client in a project whose transcripts are known, the last used
    first."""
    return _select(
        store,
        "WHERE client = ? AND project = ? AND agent = '' AND transcript <> '' "
        "ORDER BY seen_at DESC LIMIT ?",
        client, project, most,
    )  # fmt: skip


def with_plans(store: Store) -> list[Session]:
    """Returns the sessions that follow a plan and have not ended, the last used first."""
    rest = "WHERE plan IS NOT NULL AND ended_at IS NULL AND agent = '' ORDER BY seen_at DESC"
    return _select(store, rest)


def unused_since(store: Store, before: float) -> list[Session]:
    """Returns the sessions and subagents that nobody has used since a time, and whose loops have
    ended before it."""
    return _select(
        store,
        "WHERE seen_at < ? AND NOT EXISTS (SELECT 1 FROM loop WHERE loop.session = session.n "
        "AND (loop.ended_at IS NULL OR loop.ended_at >= ? OR logged <> 2))",
        before, before,
    )  # fmt: skip


def plans_besides(store: Store, left_out: set[int]) -> set[int]:
    """Returns the numbers of the plans that sessions follow, without those of some sessions."""
    rows = store.all("SELECT plan, n FROM session WHERE plan IS NOT NULL")
    return {plan for plan, n in rows if n not in left_out}


def contexts(store: Store, id: str) -> list[Session]:
    """Returns a session and its subagents, by its id."""
    return _select(store, "WHERE id = ?", id)


def last_contexts(store: Store, most: int) -> list[Session]:
    """Returns the sessions and subagents that were used last."""
    return _select(store, "ORDER BY seen_at DESC LIMIT ?", most)


def find_all(
    store: Store,
    project: str = "",
    text: str = "",
    also: Collection[int] = (),
    most: int = -1,
    skipped: int = 0,
) -> list[Session]:
    """Returns the sessions of a project with a text in their id or folder, the last used first; ""
    = any. also: rows that have the text elsewhere. most: of these; -1 = all. skipped: leaves out so
    many of the first."""
    return _select(
        store,
        f"WHERE {_MATCHES} ORDER BY seen_at DESC, n DESC LIMIT ? OFFSET ?",
        project, text, text, text, quick_json.dumps([*also]), most, skipped,
    )  # fmt: skip


def count(store: Store, project: str = "", text: str = "", also: Collection[int] = ()) -> int:
    """Returns how many these are."""
    query = f"SELECT count(*) FROM session WHERE {_MATCHES}"
    row = store.one(query, project, text, text, text, quick_json.dumps([*also]))
    return row[0] if row else 0


_MATCHES = (
    "agent = '' AND ? IN ('', project) AND (? = '' OR instr(lower(id), lower(?)) "
    "OR instr(lower(project), lower(?)) OR n IN (SELECT value FROM json_each(?)))"
)


def count_open(store: Store) -> int:
    """Returns how many sessions have not ended."""
    row = store.one("SELECT count(*) FROM session WHERE agent = '' AND ended_at IS NULL")
    return row[0] if row else 0


def projects(store: Store) -> list[str]:
    """Returns the projects that have sessions, by name."""
    rows = store.all("SELECT DISTINCT project FROM session WHERE agent = '' ORDER BY project")
    return [row[0] for row in rows]
