"""A session's transcript: lines that its client appends while we read, up to gigabytes of them.

What a line says is a `Record`; the client's module (`clients.files_of`) reads it. Many lines repeat
prompts and system text, so only records of the conversation count. At Stop the last one of the
model is often not there yet (Claude Code 2.1.329): the payload's own last message comes first.
"""

from __future__ import annotations

import os

from sisyphus.errors import UnreadableError
from sisyphus.reading import open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sisyphus._types import Json

    Read = Callable[[bytes], "Record | None"]

USER, ASSISTANT = "user", "assistant"

MESSAGE, ANSWER, CALL, SKILL_CALL, RESULT, FAILURE, COMMAND, COMPACTION, GOAL, SUBAGENT, HOOK = (
    "message", "answer", "call", "skill call", "result", "failure", "command", "compaction", "goal",
    "subagent", "hook",
)  # fmt: skip
"""What a line may tell of. A client's `MARKS` name the bytes without which it does not, so that
most lines need not be parsed: what was said, an answer's tokens, a tool call, one of a skill, its
result, one that failed, a typed command, a compaction, the client's own goal, a subagent's work,
how a hook ended."""

TAIL_BYTES = 64_000_000
"""What is read at most in one go: about 30 ms from the page cache."""

_NEAR_BYTES = 65_536
_BRIEF = 200  # characters


class Call:
    """A tool call. `kind` is one of `clients.base`, "" for all others; `path` the file that it
    names; `about`: what people are told of its input, which is known to `clients.tools`."""

    __slots__ = ("about", "id", "input", "kind", "path", "tool")

    def __init__(
        self, call: str, tool: str, kind: str, given: Json, path: str, about: str
    ) -> None:  # one a trait
        self.id = call
        self.tool = tool
        self.kind = kind
        self.input = given
        self.path = path
        self.about = about

    @property
    def brief(self) -> str:
        """In a few words: `Edit: /p/a.py`."""
        name = self.tool[:_BRIEF]
        return f"{name}: {' '.join(self.about[:_BRIEF].split())}" if self.about else name


class Result:
    """What became of the tool call `id`: `text` for the model, `answer` for us, {} where the client
    notes nothing."""

    __slots__ = ("answer", "failed", "id", "text")

    def __init__(self, call: str, text: str, answer: Json, *, failed: bool) -> None:
        self.id = call
        self.text = text
        self.answer = answer
        self.failed = failed


class Command:
    """A slash command that the user typed, without the slash; `name` with its plugin's prefix.
    `is_clients`: one of the client's own that asks for no work."""

    __slots__ = ("arguments", "is_clients", "name")

    def __init__(self, name: str, arguments: str, *, is_clients: bool) -> None:
        self.name = name
        self.arguments = arguments
        self.is_clients = is_clients


class HookRun:
    """How a hook ended, as the client saw it. `event` is in its words, `code` None where it has
    none; `is_late`: the client ended it, for it took too long."""

    __slots__ = ("code", "command", "event", "is_late", "ok", "words")

    def __init__(self, event: str, command: str, code: int | None, words: str) -> None:
        self.event = event
        self.command = command
        self.code = code
        self.words = words
        self.ok = False
        self.is_late = False


class Record:
    """One line of a transcript. Texts are "" and numbers 0 where nothing is told.

    `role` is whose message it is, "" where it is none. `at`: ISO time; `uuid` names the line,
    `answer` the model's answer that it is a part of; `prompt_id` the prompt that it is. `parts` are
    the texts, calls and results in order; thinking is left out. `typed` are the texts of a prompt
    that the client did not add to it.

    `is_subagents`: its tokens count, nothing else. `is_prompt`: the user himself said it;
    `is_continuation`: a Stop hook did. `is_clients`: the client said it in the model's place.
    `is_compaction`: what stands before it has left the context, which held `tokens_before`.
    `tokens` is what the answer cost, `context` what it found filled, `model` which was asked;
    `resets_at`: when the account's limit that refused it ends, in epoch seconds.
    `goal` is the client's own goal that was set, "" where it ended, None where it is not told.
    """

    __slots__ = (
        "answer", "at", "command", "context", "cwd", "goal", "hook", "is_clients", "is_compaction",
        "is_continuation", "is_prompt", "is_subagents", "model", "parts", "prompt_id", "resets_at",
        "role", "tokens", "tokens_before", "typed", "uuid",
    )  # fmt: skip

    def __init__(self, role: str = "", parts: Iterable[str | Call | Result] = ()) -> None:
        self.role = role
        self.parts: list[str | Call | Result] = list(parts)
        self.typed: list[str] = []
        self.at = self.uuid = self.cwd = self.answer = self.model = self.prompt_id = ""
        self.is_subagents = self.is_prompt = self.is_continuation = False
        self.is_clients = self.is_compaction = False
        self.tokens = self.context = self.tokens_before = 0
        self.resets_at = 0.0
        self.command: Command | None = None
        self.goal: str | None = None
        self.hook: HookRun | None = None

    @property
    def texts(self) -> list[str]:
        return [part for part in self.parts if isinstance(part, str)]

    @property
    def calls(self) -> list[Call]:
        return [part for part in self.parts if isinstance(part, Call)]

    @property
    def results(self) -> list[Result]:
        return [part for part in self.parts if isinstance(part, Result)]


def size(path: str) -> int:
    """In bytes; 0 where there is no file."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def lines(path: str, offset: int, limit: int = TAIL_BYTES) -> Iterator[tuple[int, bytes]]:
    """The complete lines behind byte `offset`, each with its own offset; of a lot only the end.

    A file shorter than `offset` is another one and is read from its start; an unreadable file has
    no lines. One line at a time is held, so that a gigabyte costs no memory.
    """
    try:
        with open_regular(path) as file:
            end = os.fstat(file.fileno()).st_size
            start = offset if 0 <= offset <= end else 0
            position = max(start, end - limit)
            file.seek(position)
            if position > start:
                position += len(file.readline())  # the rest of the line that the jump cut
            for line in file:
                if not line.endswith(b"\n"):
                    return
                yield position, line
                position += len(line)
    except (UnreadableError, OSError):
        return


def backwards(path: str) -> Iterator[bytes]:
    """The lines, the last one first. Nearly always it is one of the last ones that tells, and what
    reads on costs an import. Raises `UnreadableError` and `OSError`."""
    with open_regular(path) as file:
        end = os.fstat(file.fileno()).st_size
        start = max(end - _NEAR_BYTES, 0)
        file.seek(start)
        first, *found = file.read(end - start).split(b"\n")
    yield from reversed(found)
    if not start:
        yield first
        return
    from sisyphus.state.jsonl import backwards as before

    yield from before(path, start + len(first))


def tail(path: str, limit: int) -> bytes:
    """The end of a regular file; b"" where it cannot be read."""
    try:
        with open_regular(path) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - limit, 0))
            return file.read(limit)
    except (UnreadableError, OSError):
        return b""


def messages(lines: Iterable[bytes], read: Read, *, subagents: bool = False) -> Iterator[Record]:
    """The messages of user and model among the lines, oldest first; with `subagents`, theirs as
    well."""
    for line in lines:
        record = read(line)
        if record and record.role and (subagents or not record.is_subagents):
            yield record
