"""What we remember of a session's Stops, for loops, holds and enforcement alike: there is one count
of blocked Stops, whoever blocked them."""

from __future__ import annotations

from sisyphus.ground.record import Record, field
from sisyphus.ground.text import fingerprint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.event import Command, Stop


_AGENTS_COMMANDS = 100
"""The most fingerprints of commands that we keep for a session, at 16 characters each."""


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
    agents_commands: fingerprints of the last commands that the agent itself scheduled, or typed in
        a client of its own. They start nothing, though each Stop finds them again.
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

    def add(
        self, stop: Stop, now: float, *, uses_tools: bool, end: int, tested: str | None
    ) -> None:
        """Takes in a Stop that is decided now. uses_tools: the agent has, since the last one. end:
        the offset in the transcript where the reading ended; 0 = nothing was read. tested: see
        `sessions.turns.Turn`."""
        begins = uses_tools if stop.is_first is None else stop.is_first
        self.at = now
        self.offset = end or self.offset
        self.blocks = 0 if begins else self.blocks
        if tested is not None:
            self.tested = tested
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
