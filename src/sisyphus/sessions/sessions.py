"""The row of a session: its client and project, its last start and its last event."""

from __future__ import annotations

from sisyphus import clients
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.processes import is_alive
from sisyphus.hook.event import BOTH, PLUGIN, SETTINGS
from sisyphus.sessions import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.store import Store
    from sisyphus.hook.hook import Hook

NEW_FORK, KNOWN_FORK = "new", "known"
"""States of a fork. NEW_FORK: nobody has looked for its parent yet, because the client copies the
parent's transcript only when the model has answered."""

TWIN_SECONDS = 0.5
"""The most between the hooks of one start where two settings files wire us: they run at once."""

ONE_START_SECONDS = 10
"""A plugin and the settings may both call us at one start. A second call within this time is the
same start."""


def ensure(hook: Hook) -> int:
    """Creates the session's row, or updates the time of its last event; returns its number."""
    event = hook.event
    if not hook.session:
        _claim(hook)
    return ensure_named(
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


def ensure_named(
    store: Store, client: str, session: str, agent: str, project: str, now: float, process: str = ""
) -> int:
    """Does the same for a session that a command names. process: the client's, as "PID START"."""
    row = store.one(
        "INSERT INTO session (client, id, agent, project, seen_at, process) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (client, id, agent) DO UPDATE SET "
        "seen_at = excluded.seen_at, "
        "process = iif(excluded.process = '', process, excluded.process) RETURNING n",
        client, session, agent, project, now, process,
    )  # fmt: skip
    assert row is not None
    return int(row[0])


def ensure_by_id(store: Store, session: str, project: str, now: float) -> int:
    """Does the same for a session of which only the id is known. If the store does not know it, its
    client is the one whose ids look so."""
    row = store.one("SELECT client FROM session WHERE id = ? AND agent = ''", session)
    client = str(row[0]) if row else clients.of_id(session)
    return ensure_named(store, client, session, "", project, now)


def start(hook: Hook) -> str:
    """Records a start of the session, and clears the ledger if the context starts empty. Returns
    whose hooks the session runs (see `hook.event.BOTH`)."""
    row = hook.store.one(
        "SELECT source, started_at, wiring, started_in FROM session WHERE n = ?", hook.session
    )
    assert row is not None
    source, started_at, wiring, started_in = row
    is_same = source == hook.event.source
    seconds: float = ONE_START_SECONDS
    if hook.event.loses_start:  # with each process, and with a resume in the same one
        is_same = is_same and "" != started_in == hook.event.process
        seconds = TWIN_SECONDS
    is_repeated = is_same and hook.now - (started_at or 0) < seconds
    if hook.event.starts_empty and not is_repeated:
        ledger.forget(hook)
    if hook.event.source == "fork":
        new = "UPDATE session SET fork = ? WHERE n = ? AND fork = ''"
        hook.store.run(new, NEW_FORK, hook.session)
    own = PLUGIN if hook.event.is_from_plugin else SETTINGS
    wiring = BOTH if is_repeated and wiring not in ("", own) else own
    hook.store.run(
        "UPDATE session SET source = ?, started_at = ?, ended_at = NULL, project = ?, wiring = ?, "
        "transcript = ?, level = iif(?, 0, level), started_in = ? WHERE n = ?",
        hook.event.source, hook.now, hook.project, wiring, hook.event.transcript,
        hook.event.starts_empty, hook.event.process, hook.session,
    )  # fmt: skip
    return wiring


def end(hook: Hook) -> None:
    hook.store.run(
        "UPDATE session SET ended_at = ?, idle_since = NULL, dialog = '' WHERE n = ?",
        hook.now, hook.session,
    )  # fmt: skip


def open_dialog(hook: Hook, tool: str) -> None:
    """Notes that the client asks the user whether a tool may run. tool: with what it asks for."""
    hook.store.run(
        "UPDATE session SET dialog = ?, dialog_at = ? WHERE n = ?", tool, hook.now, hook.session
    )


def close_dialog(hook: Hook) -> None:
    hook.store.run("UPDATE session SET dialog = '' WHERE n = ? AND dialog <> ''", hook.session)


def close_dialogs(hook: Hook) -> None:
    """Notes that neither the session nor a subagent of it has a dialog open."""
    hook.store.run(
        "UPDATE session SET dialog = '' WHERE client = ? AND id = ? AND dialog <> ''",
        hook.event.client, hook.event.session,
    )  # fmt: skip


def find(store: Store, session: str) -> int:
    """Returns the number of a session's row by its id, whatever its client is; 0 if it has none."""
    row = store.one("SELECT n FROM session WHERE id = ? AND agent = ''", session)
    return int(row[0]) if row else 0


def client_of(store: Store, session: int) -> str:
    """Returns the client of a session by the number of its row."""
    row = store.one("SELECT client FROM session WHERE n = ?", session)
    return str(row[0]) if row else clients.DEFAULT


def newest(store: Store) -> int:
    """Returns the number of the session that was noted last; 0 = none is known."""
    row = store.one("SELECT max(n) FROM session")
    return row[0] or 0 if row else 0


def process_of(store: Store, session: int) -> str:
    """Returns the process of a session's client, as "PID START"; "" = unknown."""
    row = store.one("SELECT process FROM session WHERE n = ?", session)
    return str(row[0]) if row else ""


def is_over(store: Store, session: int) -> bool:
    """Tells whether a session has ended, or its client's process is gone."""
    row = store.one("SELECT ended_at IS NOT NULL, process FROM session WHERE n = ?", session)
    return bool(row and (row[0] or (row[1] and not is_alive(row[1]))))


def is_fork(store: Store, session: int) -> bool:
    row = store.one("SELECT fork FROM session WHERE n = ?", session)
    return row is not None and row[0] != ""


def before_clear(hook: Hook) -> int:
    """Returns the number of the session that the client's process had before `/clear`; 0 if
    unknown."""
    if not hook.event.process:
        return 0
    row = hook.store.one(
        "SELECT n FROM session WHERE process = ? AND agent = '' AND id <> ? "
        "ORDER BY seen_at DESC LIMIT 1",
        hook.event.process, hook.event.session,
    )  # fmt: skip
    return int(row[0]) if row else 0


def is_left(hook: Hook, since: float) -> bool:
    """Tells whether the user has gone on in another session since a time, for clients that do not
    say so: one has started in the same process or, if a server runs the sessions, in the same
    project, but not in a process of its own."""
    event = hook.event
    if not event.leaves_silently:
        return False
    rows = hook.store.all(
        "SELECT process FROM session WHERE client = ? AND agent = '' AND n <> ? "
        "AND started_at > ? AND ended_at IS NULL AND iif(? = '', project = ?, process = ?)",
        event.client, hook.session, since, event.process, hook.project, event.process,
    )  # fmt: skip
    return any(process == event.process or not is_alive(process) for (process,) in rows)


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


def open_ids(store: Store, project: str) -> list[str]:
    """Returns the ids of the project's sessions that have not ended, the last used first. One that
    only a command named has not started."""
    rows = store.all(
        "SELECT id, process FROM session WHERE agent = '' AND project = ? AND ended_at IS NULL "
        "AND (started_at IS NOT NULL OR process <> '' "
        "OR EXISTS (SELECT 1 FROM event WHERE event.session = session.n)) ORDER BY seen_at DESC",
        project,
    )
    return [id for id, process in rows if not process or is_alive(process)]


def plan_of(store: Store, session: int, project: str) -> tuple[str, str]:
    """Returns the file and the state of the plan that a session follows, else of the open one that
    was used last in the project, else of the complete one that was; ("", "") = none."""
    row = store.one(
        "SELECT path, state FROM plan WHERE state <> 'dismissed' AND used_at > 0 AND (project = ? "
        "OR n = (SELECT plan FROM session WHERE n = ?)) ORDER BY "
        "n = (SELECT plan FROM session WHERE n = ?) DESC, state = 'complete', used_at DESC, n DESC",
        project, session, session,
    )  # fmt: skip
    return (row[0], row[1]) if row else ("", "")


def id_of(store: Store, session: int) -> str:
    """Returns the id of a session by the number of its row; "" if it has none."""
    row = store.one("SELECT id FROM session WHERE n = ?", session)
    return str(row[0]) if row else ""


def id_of_process(store: Store, process: str) -> str:
    """Returns the id of the session that a client's process ("PID START") is in; "" if unknown."""
    if not process:
        return ""
    row = store.one(
        "SELECT id FROM session WHERE process = ? AND agent = '' ORDER BY seen_at DESC LIMIT 1",
        process,
    )
    return str(row[0]) if row else ""


def latest_id(store: Store, project: str) -> str:
    """Returns the id of the project's last used session; "" if it has none."""
    row = store.one(
        "SELECT id FROM session WHERE project = ? ORDER BY seen_at DESC LIMIT 1", project
    )
    return str(row[0]) if row else ""
