"""A run of a client without a terminal, in our own words: what it tells, and why it fails.

`Event` is what one line of its report says; `Program` what a client must know that can be run so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sisyphus.transcript import Record

AUTHENTICATION, BILLING, CLIENT, DISK, MODEL = (
    "authentication", "billing", "client", "disk", "model",
)  # fmt: skip
LIMIT, NETWORK, OVERLOADED = "limit", "network", "overloaded"
CONTEXT = "context"
CRASH, INTERRUPTED, PERMISSION, TIMEOUT, TURNS = (
    "crash", "interrupted", "permission", "timeout", "turns",
)  # fmt: skip
"""Kinds of failure."""


@dataclass(frozen=True)
class Retry:
    """The client asks once more: try number `attempt`, in `delay` seconds. `status`: of the answer
    that failed, 0 where none came; `error`: the client's name for it."""

    attempt: int
    status: int
    delay: float
    error: str = ""


@dataclass(frozen=True)
class Refusal:
    """A request failed, and the client answered in the model's place: `error` and `cause` are its
    two names for why, `status` is the HTTP status, None where there was none."""

    error: str
    cause: str
    status: int | None
    texts: list[str]


@dataclass(frozen=True)
class End:
    """How the run ended. `subtype`, `ended_by` and `cause` are the client's names; `text` is its
    last word, None where it has none, `problems` are its words for what went wrong.

    `denied`: ids of the tool calls that were not permitted; `spent`: tokens of all models, those of
    subagents too; `windows`: what the context of each holds.
    """

    subtype: str
    ended_by: str
    cause: str
    status: int | None
    is_error: bool
    text: str | None
    problems: list[str] = field(default_factory=list)
    denied: list[str] = field(default_factory=list)
    spent: int = 0
    windows: dict[str, int] = field(default_factory=dict)


@dataclass
class Event:
    """What a line tells; "" and None where it does not.

    `is_main`: it is of the main thread, and of no subagent. `folder`: where the run began; `model`:
    by which it did. `compacted`: tokens that were left when the context had been compacted;
    `resets_at`: when the limit that refused us ends, in epoch seconds.
    """

    session: str = ""
    is_main: bool = True
    message: Record | None = None
    is_interruption: bool = False
    folder: str = ""
    model: str = ""
    compacted: int | None = None
    retry: Retry | None = None
    refusal: Refusal | None = None
    resets_at: int | None = None
    end: End | None = None


class Program(Protocol):
    """A client that fresh-context runs can start."""

    def find(self, root: str) -> str:
        """The full path of its program, on the PATH and never in the project; "" = none."""

    def argv(self, program: str, session: str, flags: Sequence[str] = ()) -> list[str]:
        """Runs it on the prompt that its input holds. `flags`: the user's own for it.

        Raises `SisyphusError` for one that takes from the run what it stands on.
        """

    def events(self, line: bytes, *, is_report: bool) -> list[Event]:
        """What a line of its output tells, [] where another program printed it; `is_report`: a line
        before it was the client's."""

    def report_lines(self, output: bytes) -> list[bytes]:
        """The lines of a whole output, in whichever of its forms it was asked for."""

    def kind_of_names(self, *names: str) -> str:
        """The kind of failure that the first known name shows; "" = none is known."""

    def kind_of_status(self, status: int) -> str:
        """That of an HTTP status; "" for most."""

    def kind_of_words(self, words: str) -> str:
        """That of a message; "" where it shows none."""
