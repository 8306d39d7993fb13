"""Finds the session that a command means: the one that it names, else the one that it runs in."""

import re

import typer

from sisyphus import clients
from sisyphus.ground.errors import SisyphusError
from sisyphus.ground.paths import is_id
from sisyphus.ground.store import Store
from sisyphus.hook.session import Session
from sisyphus.sessions import sessions
from sisyphus.terminal import show

_IS_WHOLE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
"""An id as Claude Code gives them, and takes with its own --session-id."""


def session_of(store: Store, id: str) -> Session:
    """Returns the session to act on: the one with this id or the only one that it is the start of;
    without an id, the one that this command runs in. A whole id may be that of a session that has
    not started: it is not in the store yet. One without an id = there is none. Raises
    `SisyphusError`."""
    whole = _whole_id(store, id)
    session = Session.find(store, whole) if whole else Session()
    session.id = whole
    return session


def _whole_id(store: Store, id: str) -> str:
    if not id:
        _, process = clients.current_session()
        return show.asker().session or sessions.of_process(store, process).id
    if not is_id(id):
        raise SisyphusError(f"{id!r} cannot be the id of a session.")
    if id == show.asker().session:
        return id
    known = sessions.whole_id(store, id)
    if not known and not _IS_WHOLE.fullmatch(id):
        raise SisyphusError(_unknown(id))
    return known or id


def known_session(store: Store, id: str) -> Session:
    """Returns that session. Raises `SisyphusError` if one is named that we have not heard of."""
    session = session_of(store, id)
    if id and not session.n:
        raise SisyphusError(_unknown(id))
    return session


def warn_of_new(session: Session) -> None:
    """Warns that a session has not started yet, which a command has named by its whole id."""
    if session.id and not session.n:
        typer.echo(f"warning: session {session.id} has not started yet.", err=True)


def _unknown(id: str) -> str:
    return f"No session {id}. `sisyphus sessions --all` lists them."
