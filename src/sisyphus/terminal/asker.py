"""Finds the session that a command means: the one that it names, else the one that it runs in."""

import re

import typer

from sisyphus import clients
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.paths import is_id
from sisyphus.ground.store import Store
from sisyphus.sessions import sessions
from sisyphus.terminal import show

_WHOLE_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
"""An id as Claude Code gives them, and takes with its own --session-id."""


def session_of(store: Store, id: str) -> str:
    """Returns the id of the session to act on: the one with this id or the only one that it is the
    start of; without an id, the one that this command runs in; "" = none. A whole id may be that of
    a session that has not started. Raises `SisyphusError`."""
    if not id:
        _, process = clients.current_session()
        return show.asker().session or sessions.id_of_process(store, process)
    if not is_id(id):
        raise SisyphusError(f"{id!r} cannot be the id of a session.")
    if id == show.asker().session:
        return id
    known = sessions.whole_id(store, id)
    if not known and not _WHOLE_ID.fullmatch(id):
        raise SisyphusError(_unknown(id))
    return known or id


def session_number(store: Store, id: str) -> int:
    """Returns the number of that session's row; 0 = it has none. Raises `SisyphusError`."""
    whole = session_of(store, id)
    return sessions.find(store, whole) if whole else 0


def known_session(store: Store, id: str) -> str:
    """Returns the id of that session; "" = none. Raises `SisyphusError` if one is named that we
    have not heard of."""
    whole = session_of(store, id)
    if id and not sessions.find(store, whole):
        raise SisyphusError(_unknown(id))
    return whole


def warn_of_new(store: Store, id: str) -> None:
    """Warns that a session has not started yet, which a command has named by its whole id."""
    row = sessions.find(store, id)
    if id and not row:
        typer.echo(f"warning: session {id} has not started yet.", err=True)


def _unknown(id: str) -> str:
    return f"No session {id}. `sisyphus sessions --all` lists them."
