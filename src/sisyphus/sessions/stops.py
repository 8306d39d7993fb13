"""What we remember of a session's Stops, for loops, holds and enforcement alike: there is one count
of blocked Stops, whoever blocked them."""

from __future__ import annotations

from sisyphus.ground import quick_json
from sisyphus.ground.record import Record, asdict, field
from sisyphus.ground.text import fingerprint
from sisyphus.sessions import messages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.ground.store import Store
    from sisyphus.hook.event import Command, Stop
    from sisyphus.sessions.turns import Turn


_AGENTS_COMMANDS = 100
"""The most that we remember of a session. Each is 16 characters."""


class Stops(Record):
    """The Stops of one session.

    at: when we last decided one; 0 = never. offset: in the transcript, where its reading ended.
    counted_at: when we last decided one that the breaker counts; 0 = never.
    blocks: Stops that we blocked in a row, as the client counts them.
    idle, error, same_error: used by the breaker (`loops/breaker.py`).
    waits: background work that let the session stop → since when. standstill: why the last Stop was
        let go though a loop, a hold or enforcement stands: the agent plans, or waits; "" = it was
        not.
    scheduled: fingerprints of the prompts that the agent had scheduled at the last Stop.
    agents_commands: those of the agent's prompts that came since, and the commands that it typed in
        a client of its own; the last ones. A Stop finds them in the transcript, again and again.
    cancelled_at: when its user last cancelled what loops it had; 0 = never.
    tested: the test command that passed after the last edit; "" = none did.
    name: of the one that we last decided, see `_name`; "" = it has none.
    """

    at: float = 0.0
    offset: int = 0
    counted_at: float = 0.0
    blocks: int = 0
    idle: int = 0
    error: str = ""
    same_error: int = 0
    waits: dict[str, float] = field(default_factory=dict)
    tested: str = ""
    name: str = ""
    scheduled: list[str] = field(default_factory=list)
    standstill: str = ""
    agents_commands: list[str] = field(default_factory=list)
    cancelled_at: float = 0.0

    def give_to_agent(self, fingerprints: list[str]) -> None:
        """Remembers prompts that are the agent's."""
        known = dict.fromkeys([*self.agents_commands, *fingerprints])
        self.agents_commands = list(known)[-_AGENTS_COMMANDS:]

    def is_of_agent(self, command: Command) -> bool:
        """Tells whether the agent had scheduled or typed a command: those start nothing."""
        return fingerprint_of(command) in (*self.scheduled, *self.agents_commands)

    def add_turn(self, turn: Turn, stop: Stop, now: float) -> None:
        """Takes in what happened since the last Stop."""
        begins = turn.uses_tools if stop.is_first is None else stop.is_first
        self.at = now
        self.offset = turn.end or self.offset
        self.blocks = 0 if begins else self.blocks
        if turn.tested is not None:
            self.tested = turn.tested
        self.waits = {name: self.waits.get(name, now) for name in stop.background}
        self.name = _name(stop)

    def is_named(self, stop: Stop) -> bool:
        """Tells whether a Stop has the name of the one that we last decided: it may be the same."""
        return "" != self.name == _name(stop)

    def offset_since(self, since: float) -> int:
        """Returns where to read on for what happened since a time; 0 = we have read nothing since
        then, so the offset is of no use."""
        return self.offset if self.at >= since else 0

    def excuses(self, now: float, patience: int, since: float = 0.0) -> list[str]:
        """Returns the background work that still lets the session stop: what we first saw after
        `since`, for at most `patience` seconds."""
        return [
            name
            for name, first in self.waits.items()
            if first >= since and abs(now - first) < patience  # the clock may have been set back
        ]

    def patience_ends(self, patience: int) -> float:
        """Returns when background work lets the session stop no more, in seconds since 1970; 0 =
        it waits for none."""
        return max(self.waits.values()) + patience if self.standstill and self.waits else 0.0

    def close_breaker(self) -> None:
        """Lets the breaker begin to count again."""
        self.idle = self.same_error = 0

    def forget_trouble(self) -> None:
        """Begins to count again: the user has spoken, or the context starts empty."""
        self.close_breaker()
        self.blocks = 0
        self.standstill = ""


def _name(stop: Stop) -> str:
    """Returns what two reports of one Stop have in common: the turn, whether a blocked Stop came
    before it, and what the agent said last; "" = the client does not say in which turn it is."""
    said = fingerprint(stop.last_message or "")
    return f"{stop.turn} {stop.is_first} {said}" if stop.turn else ""


def fingerprint_of(command: Command) -> str:
    """Returns the fingerprint of a typed command, which is that of its prompt."""
    return fingerprint_of_prompt(f"/{command.name} {command.arguments}")


def fingerprint_of_prompt(text: str) -> str:
    """Returns the same fingerprint for a prompt however its words are spaced."""
    return fingerprint(" ".join(text.split()))


def load(store: Store, session: int) -> Stops:
    row = store.one("SELECT stops FROM session WHERE n = ?", session)
    return Stops(**quick_json.loads(row[0])) if row else Stops()


def save(store: Store, session: int, stops: Stops) -> None:
    store.run("UPDATE session SET stops = ? WHERE n = ?", quick_json.dumps(asdict(stops)), session)


def forget_trouble(store: Store, session: int) -> None:
    """Does the same for a session's row; see `Stops.forget_trouble`."""
    stops = load(store, session)
    stops.forget_trouble()
    save(store, session, stops)


def rest(store: Store, session: int, why: str) -> None:
    """Lets a session stop until its user's next prompt. why: what it needs from them."""
    store.run("UPDATE session SET rests = ? WHERE n = ?", why, session)


def why_rests(store: Store, session: int) -> str:
    """Returns why a session may stop until its user's next prompt; "" = it may not."""
    row = store.one("SELECT rests FROM session WHERE n = ?", session)
    return str(row[0]) if row else ""


def set_idle(store: Store, session: int, since: float | None, question: str = "") -> None:
    """Notes that a session has stopped, or, with None, that it goes on: that its last turn failed
    or was interrupted no longer matters. question: what it asked the user last; "" = nothing."""
    store.run(
        "UPDATE session SET idle_since = ?, question = ?, failed = '', interrupted = 0 WHERE n = ?",
        since, question, session,
    )  # fmt: skip


def fail(store: Store, session: int, error: str) -> None:
    """Notes that the session's turn ended with an error, until it goes on."""
    store.run("UPDATE session SET failed = ? WHERE n = ?", error, session)


def interrupt(store: Store, session: int, now: float) -> None:
    """Notes that the user has interrupted a session: nobody wakes it until it goes on."""
    set_idle(store, session, now, question_of(store, session))
    store.run("UPDATE session SET interrupted = 1 WHERE n = ?", session)


def is_interrupted(store: Store, session: int) -> bool:
    """Tells whether the user has interrupted a session that has not gone on since."""
    row = store.one("SELECT interrupted FROM session WHERE n = ?", session)
    return bool(row and row[0])


def why_waits(store: Store, session: int) -> str:
    """Returns why a session that has stopped waits for its user's next prompt: what it needs from
    them, or that they interrupted it; "" = it does not."""
    interrupted = messages.INTERRUPTED if is_interrupted(store, session) else ""
    return why_rests(store, session) or interrupted


def failure_of(store: Store, session: int) -> str:
    """Returns the error that ended the session's last turn; "" = it did not fail."""
    row = store.one("SELECT failed FROM session WHERE n = ?", session)
    return str(row[0]) if row else ""


def idle_since(store: Store, session: int) -> float | None:
    """Returns since when a session is idle, in seconds since 1970; None = it is not."""
    row = store.one("SELECT idle_since FROM session WHERE n = ?", session)
    return row[0] if row else None


def take_prompt(store: Store, session: int, *, is_personal: bool) -> None:
    """Notes that a session goes on because of a prompt. Only a person's ends its rest and answers
    its question."""
    set_idle(store, session, None, "" if is_personal else question_of(store, session))
    if is_personal:
        rest(store, session, "")
        forget_trouble(store, session)


def question_of(store: Store, session: int) -> str:
    """Returns what a session asked its user when it stopped; "" = nothing, or it was answered."""
    row = store.one("SELECT question FROM session WHERE n = ?", session)
    return str(row[0]) if row else ""
