"""What a client tells us and what we answer, in our own words.

`Payload` is one event, `Outcome` what a handler asks for, `Client` what a module of `clients/`
must offer. No word of any client stands here.
"""

from __future__ import annotations

import os

from sisyphus.paths import is_safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal, Protocol

    from sisyphus._types import Json, Kept, Toast
    from sisyphus.memory import Change

    Kind = Literal["boulder", "loop", "checkpoint", "rules", "agents", "readme"]

    class Client(Protocol):
        """A client is a module with these names. It is quick: a hook with nothing to say loads it.

        `read` understands whatever comes on stdin, and never raises; `render` spells what the
        client reads on stdout, None where there is nothing to say. What the client keeps on disk
        is known to a second module, NAME_files, which only those load who need it.
        """

        NAME: str
        KEPT: tuple[Kept, ...]  # what we keep for it in files
        HAS_PROCESS: bool  # its hooks run below the session's process; others' below anybody's
        HAS_TOASTS: bool  # it shows an outcome's toasts
        WAKES_BY_EXIT: bool  # `hook idle` wakes a session with exit code 2 and the text on stderr
        CLEARS: bool  # its /clear begins a session in which a loop goes on; else it only compacts
        LOADS_RULES: bool  # it sends rules of `.claude/rules` by itself

        def read(self, event: str, raw: Json, ours: str) -> Payload: ...

        def render(
            self, payload: Payload, outcome: Outcome, text: str, setting: Callable[[str], object]
        ) -> Json | None: ...

        def block_cap(self) -> int:
            """After how many blocked Stops in a row it goes on to stop; 0 = never."""

        def can_be_woken(self) -> bool:
            """Whether `hook idle` can wake this session."""


EVENTS = (
    "session-start", "session-end", "user-prompt-submit", "permission-request", "post-tool-use",
    "stop", "stop-failure", "subagent-stop", "pre-compact", "post-compact", "notification",
    "interrupt", "idle",
)  # fmt: skip
"""The names on our command line. `idle` is a second, asynchronous entry of Stop."""

EARLIER = {"post-tool-batch": "post-tool-use", "post-tool-use-failure": "post-tool-use"}
"""Names that settings of earlier versions call. The payload says what happened."""

PREFIX = "/sisyphus:"
"""Before the names of a plugin's commands. Texts of ours spell all of them so, and whoever prints
one for people respells it."""

READ, EDIT, WRITE, SHELL, SKILL, TODO, ASK, AGENT = (
    "read", "edit", "write", "shell", "skill", "todo", "ask", "agent",
)  # fmt: skip
"""Kinds of tools. Of any other tool the kind is ""."""

FILE_KINDS = frozenset((READ, EDIT, WRITE))

PATH_CHARACTERS = 4_096
"""Linux opens none longer, and to resolve the links of a path of megabytes takes minutes."""

UNUSABLE = "?"
"""Stands for a subagent's id that cannot name a file."""


class ToolCall:
    """A tool call that has ended. `path`: the file that it names, absolute; "" = none. What `input`
    and `answer` say is known to `clients.tools`; of a batch the answer holds only what the text for
    the model tells."""

    __slots__ = ("answer", "failed", "id", "input", "kind", "path", "tool")

    def __init__(  # one a trait
        self,
        call: str,
        tool: str,
        kind: str,
        given: Json,
        *,
        path: str = "",
        answer: Json | None = None,
        failed: bool = False,
    ) -> None:
        self.id = call
        self.tool = tool
        self.kind = kind
        self.input = given
        self.path = path
        self.answer = answer or {}
        self.failed = failed


class Payload:
    """One event of a session. Texts are "" where they are missing, lists are [].

    `named` is the event in the client's words; `source` why a session began (startup, resume,
    clear, compact, fork), `reason` why it ended; `error` why a turn failed, by its kind;
    `last_message` is None where the client said none; `is_batch`: all tool calls of an answer
    have ended; `folder` is where the session began, and `cwd` moves with every `cd` of the agent.
    """

    __slots__ = (
        "accepts_edits",
        "agent",
        "background",
        "calls",
        "client",
        "crons",
        "cwd",
        "error",
        "event",
        "folder",
        "follows_failure",
        "follows_stop",
        "is_batch",
        "is_machines",
        "is_waking",
        "last_message",
        "named",
        "plans_only",
        "prompt",
        "prompt_id",
        "reason",
        "session",
        "source",
        "transcript",
        "window",
    )  # fmt: skip

    def __init__(self, client: str, event: str) -> None:
        self.client = client
        self.event = event
        self.named = ""
        self.session = ""
        self.agent = ""  # the subagent's id
        self.cwd = self.folder = ""
        self.transcript = ""
        self.source = self.reason = self.error = ""
        self.prompt = self.prompt_id = ""
        self.is_machines = False  # the client made this prompt, and not the user
        self.is_waking = False  # and it is the one by which an asynchronous hook wakes the session
        self.accepts_edits = False  # the user lets the agent write files without being asked
        self.plans_only = False  # in plan mode, where nothing is done but planned
        self.last_message: str | None = None
        self.background: list[object] = []
        self.crons: list[object] = []
        self.calls: list[ToolCall] = []
        self.is_batch = False
        self.follows_stop = False  # of our event `idle`: the session has come to rest
        self.follows_failure = False  # or a turn failed
        self.window = 0  # tokens that the model's context holds; 0 = the client does not say

    @property
    def is_subagent(self) -> bool:
        return bool(self.agent) or self.event == "subagent-stop"

    @property
    def is_fresh(self) -> bool:
        """Whether the model's context begins empty here: nothing that was sent is in it."""
        return self.event == "session-start" and self.source not in ("resume", "fork")

    @property
    def is_known(self) -> bool:
        """Whether it can be told whose event this is."""
        return bool(self.session) and self.agent != UNUSABLE

    @property
    def call_ids(self) -> list[str]:
        return [call.id for call in self.calls if call.id]

    @property
    def paths(self) -> list[str]:
        """The files that its tool calls touched, each once."""
        return list(dict.fromkeys(c.path for c in self.calls if c.path and c.kind in FILE_KINDS))


class Status:
    """What the client tells its status line of a session: the folders where it began and where it
    is, how much its context holds (`window`) and how much of that is full (`tokens`); 0 and "" for
    what it does not tell."""

    __slots__ = ("folders", "model", "session", "tokens", "window")

    def __init__(
        self, session: str, folders: list[str], model: str, tokens: int, window: int
    ) -> None:
        self.session = session
        self.folders = folders
        self.model = model
        self.tokens = tokens
        self.window = window


class Text:
    """A text for the model. Neighbours with the same head and tail share one frame.

    `late_head` stands in for the head of a text that waited for a later reply. `hash` is what the
    session remembers; "" = never remembered, always sent. `path`: the file that it came from.
    """

    __slots__ = ("body", "hash", "head", "kind", "late_head", "path", "tail")

    def __init__(  # one a trait
        self,
        kind: Kind,
        body: str,
        *,
        head: str = "",
        tail: str = "",
        late_head: str = "",
        hash: str = "",  # noqa: A002  # it is called so
        path: str = "",
    ) -> None:
        self.kind = kind
        self.body = body
        self.head = head
        self.tail = tail
        self.late_head = late_head
        self.hash = hash
        self.path = path


class Outcome:
    """What a handler asks for. A handler without an opinion returns None instead."""

    __slots__ = (
        "allows", "announced", "changes", "keep", "messages", "notes", "reason", "texts", "toasts",
        "wake_after",
    )  # fmt: skip

    def __init__(
        self,
        reason: str | None = None,
        texts: Sequence[Text] = (),
        messages: Sequence[str] = (),
        notes: Sequence[str] = (),
        announced: Sequence[str] = (),
        changes: Sequence[Change] = (),
    ) -> None:
        self.reason = reason  # Stop: go on, because …; UserPromptSubmit: the answer to the user
        self.texts = list(texts)  # for the model
        self.messages = list(messages)  # for the user
        self.notes = list(notes)  # for the journal, in plain words
        self.announced = list(announced)  # for the user, where texts are sent or wait
        self.changes = list(changes)  # of records in the memory
        self.allows = False  # PermissionRequest: the agent may, and nobody is asked
        self.keep: list[str] = []  # PreCompact: for the summariser, one item each
        self.wake_after: float | None = None  # Stop: seconds until `idle` is to be asked
        self.toasts: list[Toast] = []  # for the user, where the client has such


def merge(outcomes: Iterable[Outcome | None]) -> Outcome:
    """Many outcomes as one: the first reason and the soonest waking stand; texts, notes and
    toasts follow each other in order; a message is said once."""
    merged = Outcome()
    for outcome in outcomes:
        if outcome is None:
            continue
        if merged.reason is None:
            merged.reason = outcome.reason
        merged.allows = merged.allows or outcome.allows
        merged.texts += outcome.texts
        merged.notes += outcome.notes
        merged.keep += outcome.keep
        merged.announced += outcome.announced
        merged.toasts += outcome.toasts
        merged.changes += outcome.changes
        waits = [w for w in (merged.wake_after, outcome.wake_after) if w is not None]
        merged.wake_after = min(waits, default=None)
        merged.messages = list(dict.fromkeys([*merged.messages, *outcome.messages]))
    return merged


_CARRY_TEXT = ("session-start", "user-prompt-submit", "post-tool-use")


def can_carry_text(event: str, reason: str | None) -> bool:
    """Whether text for the model reaches it with this reply and does nothing else.

    At Stop a text alone would make the session go on, so it rides on a block only; a prompt that
    is answered by us never reaches the model.
    """
    return reason is not None if event == "stop" else event in _CARRY_TEXT and reason is None


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def as_object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def as_id(value: object) -> str:
    """A text that may name a session, or part of a file; "" for any other."""
    text = as_text(value)
    return text if is_safe_id(text) else ""


def as_path(value: object) -> str:
    text = as_text(value)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can spell
        return ""
    return "" if "\0" in text or len(text) > PATH_CHARACTERS else text


def as_folder(value: object) -> str:
    """An absolute folder; a relative one is below where we stand."""
    path = as_path(value)
    if os.path.isabs(path):
        return path
    try:
        here = os.getcwd()
    except FileNotFoundError:  # somebody removed the folder we stand in
        here = os.sep
    return os.path.normpath(os.path.join(here, path))


def without_prefix(reply: Mapping[str, object]) -> Json:
    """A reply with our commands as they are called where we are no plugin. Texts of others stay as
    they are."""
    return {
        name: value.replace(PREFIX, "/") if isinstance(value, str) else value
        for name, value in reply.items()
    }
