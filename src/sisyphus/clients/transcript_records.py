"""A transcript in our words: what was said and done in a session, line by line."""

from __future__ import annotations

from sisyphus.ground.record import Record, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus.hook.event import Command

PROMPT, CONTINUATION, AGENT, TOOL, OTHER = "prompt", "continuation", "agent", "tool", "other"
"""The author of a record: the user, us (the reason of a blocked Stop), the agent, a tool, anybody
else."""


class RecordedCall(Record):
    """A tool call in a transcript.

    action: what it does to a file (see `hook.event`). command: the slash command that a Skill call
    runs. asks_user: the call waits for an answer of the user. target: what the tool works on, for
    people: a file, a command line, a pattern; "" = nothing that we know. shell: the command line
    that it runs and waits for; "" = none. folder: where it runs; "" = unknown. text: what it puts
    into a file. prompt: what it schedules for the client to submit. at: when it began, in seconds
    since 1970; 0 = when its line was written.
    """

    id: str
    name: str
    action: str
    command: Command | None = None
    asks_user: bool = False
    target: str = ""
    shell: str = ""
    text: str = ""
    prompt: str = ""
    folder: str = ""
    at: float = 0.0


class ToolResult(Record):
    """is_refused: the user refused or interrupted the call, or the client did not allow it.
    goes_on: the command runs on in the background, so that nobody knows yet how it ends."""

    id: str
    text: str
    is_error: bool
    is_refused: bool = False
    goes_on: bool = False


class TranscriptLine(Record):
    """One line of a transcript. A subagent's lines are OTHER: we count their tokens and ignore
    their text.

    at: seconds since 1970; 0 = unknown. ids: the client's ids of the line and of its prompt.
    calls: the tools that the agent calls. results: what tools answered. command: the slash command
    that the user typed. tokens: what the answer has cost that no line of it before has counted.
    is_personal: it is a prompt that a person typed for the agent, and not the client.
    is_interrupt: it notes that the user interrupted the agent.
    """

    author: str
    at: float
    ids: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()
    calls: tuple[RecordedCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    command: Command | None = None
    tokens: int = 0
    is_personal: bool = False
    is_interrupt: bool = False


class Reading(Record):
    """A part of a transcript. records: in file order. end: the offset after the last complete
    line."""

    records: list[TranscriptLine] = field(default_factory=list)
    end: int = 0
