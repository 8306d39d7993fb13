"""The page of enforcement: where it is on, what it said, and whether that helped."""

from __future__ import annotations

import time
from itertools import islice
from typing import Any

from sisyphus import clients
from sisyphus.dashboard import days as calendar
from sisyphus.dashboard.page import Desk, Params
from sisyphus.enforce import enforcements, gates, messages, state_file
from sisyphus.enforce.enforcements import CLAIM, WAKE, Enforcement
from sisyphus.ground.record import Record
from sisyphus.ground.store import Store
from sisyphus.hook.session import Session

DAYS = 14
_SHOWN = 20
_SESSIONS = 50
"""The most messages, and open sessions, that are shown."""

_TRANSCRIPT_BYTES = 400_000
"""The most that is read of a transcript, from its end, to see what followed a message."""


class Day(Record, frozen=True):
    """A day, which began at a moment: how often a session had to prove its claim, and how often an
    idle one was woken."""

    at: float
    claims: int
    wakes: int


class Project(Record, frozen=True):
    """since: when it was switched on; 0 = it is off. claims, wakes: of the last two weeks."""

    project: str
    since: float
    claims: int
    wakes: int


class Enforced(Record, frozen=True):
    """An open session that was enforced.

    iteration: how often. failures: of these, the last ones in a row without a tool call. status:
    in words. next_at: before which it is left alone, in seconds since 1970; 0 = time holds nothing
    back.
    """

    id: str
    project: str
    iteration: int
    failures: int
    status: str
    next_at: float


class Message(Record, frozen=True):
    """A message that made a session go on. kind: CLAIM or WAKE. text: what the journal says of it.
    is_followed: the agent used a tool before it stopped again; None = unknown, or too early."""

    at: float
    kind: str
    text: str
    session: str
    project: str
    is_followed: bool | None


class EnforcementPage(Record, frozen=True):
    """has_been_on: it was switched on somewhere, ever. is_allowed: the setting `enforce.enabled`.
    latest: the messages said last, newest first; followed: how many of them a tool call followed;
    known: of how many we know that."""

    has_been_on: bool
    is_allowed: bool
    projects: list[Project]
    days: list[Day]
    sessions: list[Enforced]
    latest: list[Message]
    followed: int
    known: int


def query(desk: Desk, params: Params) -> EnforcementPage:
    store, now = desk.store, time.time()
    starts = calendar.starts(now, DAYS)
    said = _said(store, starts[0])
    days = [
        Day(start, *_count([each for each in said if start <= each.at < end]))
        for start, end in zip(starts, [*starts[1:], now + 1], strict=True)
    ]
    latest = [
        Message(s.at, s.kind, s.text, s.session.id, s.session.project, _is_followed(store, s))
        for s in said[:_SHOWN]
    ]
    results = [each.is_followed for each in latest if each.is_followed is not None]
    projects, sessions = _projects(store, said), _sessions(desk, now)
    return EnforcementPage(
        bool(projects or sessions), bool(desk.settings["enforce.enabled"]), projects, days,
        sessions, latest, sum(results), len(results),
    )  # fmt: skip


# ---------------------------------------------------------------- what the journal says


class _Said(Record, frozen=True):
    """A message as the journal has it. n: of the event's row."""

    n: int
    at: float
    kind: str
    text: str
    session: Session


def _said(store: Store, since: float) -> list[_Said]:
    """Returns all messages since a time, the newest first."""
    rows = store.all(
        "SELECT n, at, json_extract(notes, fullkey || '[0]') AS kind, "
        "json_extract(notes, fullkey || '[1]'), session FROM event, json_each(notes) "
        "WHERE at >= ? AND name IN ('stop', 'idle') AND kind IN (?, ?) ORDER BY n DESC",
        since, CLAIM, WAKE,
    )  # fmt: skip
    known = {number: Session.load(store, number) for number in {row[4] for row in rows}}
    return [_Said(n, at, kind, text, known[session]) for n, at, kind, text, session in rows]


def _count(said: list[_Said]) -> tuple[int, int]:
    claims = sum(each.kind == CLAIM for each in said)
    return claims, len(said) - claims


def _is_followed(store: Store, said: _Said) -> bool | None:
    """Tells whether the agent used a tool after a message and before it stopped again. None = it
    has not stopped yet, or its transcript does not say."""
    next_stop = store.one(
        "SELECT at FROM event WHERE session = ? AND n > ? AND name = 'stop' ORDER BY n LIMIT 1",
        said.session.n, said.n,
    )  # fmt: skip
    read = clients.transcript(said.session.client).read
    reading = read(said.session.transcript, since=said.at, limit=_TRANSCRIPT_BYTES)
    end = next_stop[0] if next_stop else time.time()
    turn = [each for each in reading.records if said.at <= each.at <= end]
    if any(each.calls for each in turn):
        return True
    return False if next_stop and turn else None


# ---------------------------------------------------------------- projects and sessions


def _projects(store: Store, said: list[_Said]) -> list[Project]:
    """Returns the projects where it is on or was, those where it is on first."""
    since: dict[Any, float] = dict(store.all("SELECT project, at FROM enforced ORDER BY at DESC"))
    rows = store.all("SELECT session FROM enforcement WHERE iteration > 0 OR at > 0")
    sessions = [*(Session.load(store, n) for (n,) in rows), *(each.session for each in said)]
    names = dict.fromkeys([*since, *(each.project for each in sessions)])
    return [
        Project(name, since.get(name, 0.0), *_count([s for s in said if s.session.project == name]))
        for name in names
    ]


def _sessions(desk: Desk, now: float) -> list[Enforced]:
    """Returns the open sessions of projects where it is on, the one enforced last first."""
    store = desk.store
    on = {name for (name,) in store.all("SELECT project FROM enforced")}
    rows = store.all(
        "SELECT session FROM enforcement WHERE iteration > 0 OR is_stopped ORDER BY at DESC"
    )
    found = (Session.load(store, n) for (n,) in rows)
    shown = (each for each in found if each.project in on and not each.agent and not each.is_over)
    return [
        _session(desk, each, enforcements.load(store, each), now)
        for each in islice(shown, _SESSIONS)
    ]


def _session(desk: Desk, session: Session, enforcement: Enforcement, now: float) -> Enforced:
    """The settings are the user's; a project may have lowered some."""
    values = dict(desk.settings)
    enforcement = gates.recovered(enforcement, now, values)
    status = state_file.status(enforcement, values, now)
    opens = gates.cooldown_ends(enforcement, values)
    if status == state_file.RECOVERING:
        opens = max(opens, gates.recovers_at(enforcement, values))
    return Enforced(
        session.id, session.project, enforcement.iteration, enforcement.failures,
        messages.STATUS[status], opens if opens > now else 0.0,
    )  # fmt: skip
