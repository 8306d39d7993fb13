"""A session: one context of a model, as we remember it. An event loads its row once, and saves it
once.

`look` reads the session as it was when the event came. `act` gets it anew, within the transaction,
changes it, and the door saves what has changed. Everybody else who changes one loads it within a
transaction and saves it there.
"""

from __future__ import annotations

from sisyphus.ground import quick_json
from sisyphus.ground.processes import is_alive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sisyphus.ground.store import Store
    from sisyphus.hook.event import Event
    from sisyphus.hook.stops import Stops

NEW_FORK, KNOWN_FORK = "new", "known"
"""States of a fork. NEW_FORK: nobody has looked for its parent yet, because the client copies the
parent's transcript only when the model has answered."""

INTERRUPTED = "you interrupted it"
"""Why a session waits whose user has broken its turn off."""


class Session:
    """A session of a client or, with an agent, a subagent of one.

    Its fields are the columns of the table, in their order (`ground/schema.sql`).

    n: the number of its row; 0 = it has none. plan: the number of the plan that it follows.
    process: the client's, as "PID START". started_in: that at its last start. transcript: the
    client's file of it. wiring: whose hooks its last start ran (see `hook.event.BOTH`).
    context_tokens, context_window: by its status line; 0 = unknown.
    rests: why it may stop until its user's next prompt. question: what it asked them when it
    stopped. failed: the error that ended its last turn. interrupted: its user broke that off.
    idle_since: when we let it stop, or its user interrupted it; None = it works, or nobody noted
    it. level: of its context, that it was told of (see `sessions.usage`). dialog: the tool that
    waits for the user's permission, since dialog_at. Each text is "" where there is nothing.
    """

    n: int = 0
    client: str = ""
    id: str = ""
    agent: str = ""
    project: str = ""
    source: str = ""
    fork: str = ""
    started_at: float | None = None
    seen_at: float = 0.0
    ended_at: float | None = None
    process: str = ""
    plan: int | None = None
    transcript: str = ""
    wiring: str = ""
    context_tokens: int = 0
    context_window: int = 0
    rests: str = ""
    question: str = ""
    failed: str = ""
    interrupted: int = 0
    idle_since: float | None = None
    level: int = 0
    dialog: str = ""
    dialog_at: float | None = None
    started_in: str = ""

    def __init__(self, row: tuple[Any, ...] = ()) -> None:
        """row: the values of `COLUMNS`; () = it is not in the store."""
        self._row = row
        self._stops: Stops | None = None
        self.__dict__.update(zip(COLUMNS, row, strict=False))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Session) and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]  # it changes

    # ------------------------------------------------------------ its row

    @classmethod
    def of_event(cls, store: Store, event: Event, *, of_parent: bool = False) -> Session:
        """Returns the session of an event; it may not be in the store yet. of_parent: of an event
        of a subagent, the session that it works for."""
        return cls.of_client(store, event.client, event.session, "" if of_parent else event.agent)

    @classmethod
    def of_client(cls, store: Store, client: str, id: str, agent: str = "") -> Session:
        """Returns a session by what its client calls it."""
        row = store.one(f"{_SELECT} client = ? AND id = ? AND agent = ?", client, id, agent)
        session = cls(row or ())
        session.client, session.id, session.agent = client, id, agent
        return session

    @classmethod
    def load(cls, store: Store, n: int | None) -> Session:
        """Returns the session with this number; one that is not in the store if there is none."""
        return cls(store.one(f"{_SELECT} n = ?", n) or ()) if n else cls()

    @classmethod
    def find(cls, store: Store, id: str) -> Session:
        """Returns the session with this id, whatever its client is; one that is not in the store if
        there is none."""
        return cls(store.one(f"{_SELECT} id = ? AND agent = ''", id) or ())

    @classmethod
    def ensure(
        cls,
        store: Store,
        client: str,
        id: str,
        agent: str,
        project: str,
        now: float,
        process: str = "",
    ) -> Session:
        """Returns a session that something happens to at `now`, and makes its row if it has none.
        process: the client's; "" = unknown."""
        row = store.one(
            "INSERT INTO session (client, id, agent, project, seen_at, process) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (client, id, agent) DO UPDATE SET "
            "seen_at = excluded.seen_at, "
            f"process = iif(excluded.process = '', process, excluded.process) RETURNING {_NAMES}",
            client, id, agent, project, now, process,
        )  # fmt: skip
        assert row is not None
        return cls(row)

    def save(self, store: Store) -> None:
        """Writes what has changed since the session was loaded, if anything has. One that is not in
        the store stays so."""
        if not self._row:
            return
        row = self._values()
        pairs = zip(COLUMNS, row, self._row, strict=True)
        changed = {name: value for name, value, before in pairs if value != before}
        if changed:
            sets = ", ".join(f"{name} = ?" for name in changed)
            store.run(f"UPDATE session SET {sets} WHERE n = ?", *changed.values(), self.n)
            self._row = row

    def _values(self) -> tuple[Any, ...]:
        own = [getattr(self, name) for name in COLUMNS[:-1]]
        if self._stops is None:
            return (*own, self._row[-1] if self._row else "{}")
        from sisyphus.ground.record import asdict

        return (*own, quick_json.dumps(asdict(self._stops)))

    # ------------------------------------------------------------ what it is

    @property
    def stops(self) -> Stops:
        """What we remember of its Stops."""
        if self._stops is None:
            from sisyphus.hook.stops import Stops  # imported late: few hooks need it

            self._stops = Stops(**quick_json.loads(self._row[-1])) if self._row else Stops()
        return self._stops

    @property
    def has_schedule(self) -> bool:
        """Tells whether its agent had scheduled prompts when it last stopped."""
        return bool(self._row) and '"scheduled": ["' in self._row[-1]

    @property
    def is_over(self) -> bool:
        """Tells whether it has ended, or its client's process is gone."""
        return self.ended_at is not None or self.is_gone

    @property
    def is_gone(self) -> bool:
        """Tells whether its client's process is gone, as far as we know that process."""
        return bool(self.process) and not is_alive(self.process)

    @property
    def awaits_prompt(self) -> bool:
        """Tells whether it has stopped or failed, and its user's next prompt changes what we
        remember of that."""
        is_idle = self.idle_since is not None or bool(self.interrupted)
        return is_idle or bool(self.rests or self.question or self.failed)

    @property
    def why_waits(self) -> str:
        """Says why it waits for its user's next prompt: what it needs from them, or that they
        interrupted it; "" = it does not."""
        return self.rests or (INTERRUPTED if self.interrupted else "")

    # ------------------------------------------------------------ what happens to it

    def end(self, now: float) -> None:
        self.ended_at, self.idle_since, self.dialog = now, None, ""

    def go_on(self) -> None:
        """Notes that it works again: that its last turn failed, or was interrupted, no longer
        matters. What it asked its user stays open."""
        self.idle_since, self.failed, self.interrupted = None, "", 0

    def fail(self, error: str) -> None:
        """Notes that its turn ended with an error, until it goes on."""
        self.go_on()
        self.failed = error

    def interrupt(self, now: float) -> None:
        """Notes that its user has interrupted it: nobody wakes it until it goes on."""
        self.go_on()
        self.idle_since, self.interrupted = now, 1

    def take_prompt(self, *, is_personal: bool) -> None:
        """Notes that it goes on because of a prompt. Only a person's ends its rest and answers its
        question."""
        self.go_on()
        if is_personal:
            self.question = self.rests = ""
            self.stops.forget_trouble()


COLUMNS = (*Session.__annotations__, "stops")
"""The names of the columns, in the order of the fields. The last is JSON of `hook.stops.Stops`."""

_NAMES = ", ".join(COLUMNS)
_SELECT = f"SELECT {_NAMES} FROM session WHERE"
