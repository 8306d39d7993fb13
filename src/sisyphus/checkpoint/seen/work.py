"""What a session has done so far, read from its transcript."""

from __future__ import annotations

from itertools import chain

from sisyphus import transcript
from sisyphus.checkpoint.seen.prompts import asked
from sisyphus.checkpoint.seen.results import Results
from sisyphus.checkpoint.seen.todos_seen import TOOLS as OF_TODOS
from sisyphus.errors import UnreadableError
from sisyphus.reading import read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Json
    from sisyphus.checkpoint.seen.edits import Edit
    from sisyphus.checkpoint.seen.shell import Command

_SPEAKERS = (b'"type":"user"', b'"type": "user"', b'"type":"assistant"', b'"type": "assistant"')
_SIDECHAIN = b'"isSidechain":true'
_NOTED = b'"toolUseResult"'
_TELLING = (
    b'"is_error":true', b'"is_error": true', b'"structuredPatch"', b'"stdout"', b'"task":',
    b'"taskId"', b'"newTodos"', b'"updated_file"',
)  # fmt: skip
"""Results that tell something; those of reading and searching can be megabytes long."""

_HEAD_BYTES = 4_000_000
"""Of the beginning of a very long transcript: the first prompt is an early line, but it may hold an
image."""

_ANSWER = {"type": "assistant"}
_POINTS = 2_000
_SAID = 20_000
_BRIEF = 200
_TOLD = ("command", "file_path", "path", "pattern", "url", "query", "description", "skill")


class Work:
    """The facts of a transcript, "" and empty where nothing was seen.

    `task` and `last_prompt` are the first and the last thing that the user asked for, `said` is
    what the model said last. `last_action` is the last tool call in brief, those that keep todos
    aside. `failed` is the last command that failed and did not succeed afterwards, `verified` the
    last run of each check, the newest last. `points` are tool calls so far and tokens of the
    context, one an answer since the last compaction.
    """

    __slots__ = (
        "began_at", "commands", "edits", "failed", "failed_tool", "last_action", "last_prompt",
        "points", "said", "task", "todos", "tool_calls", "verified",
    )  # fmt: skip

    def __init__(self) -> None:
        self.began_at = ""  # ISO time
        self.task = ""
        self.last_prompt = ""
        self.said = ""
        self.last_action = ""
        self.edits: list[Edit] = []
        self.commands: list[Command] = []
        self.failed: Command | None = None
        self.verified: list[Command] = []
        self.todos: list[Json] = []  # {"content", "status"}
        self.failed_tool = ""
        self.tool_calls = 0
        self.points: list[tuple[int, int]] = []


def read(records: Iterable[Json]) -> Work:
    """What the main thread's records tell, oldest first. Whatever they hold, it raises nothing."""
    reader = _Reader()
    for record in records:
        reader.take(record)
    return reader.finished()


def read_file(path: str, late: Iterable[Json] = (), most: int = transcript.TAIL_BYTES) -> Work:
    """The same of a transcript: of one longer than `most` bytes what its end tells, and `task` and
    `began_at` from its beginning.

    `late`: calls that have just succeeded, of which the transcript may not tell yet: `id`, `name`,
    `input`, and `answer` as the client notes it.
    """
    reader = _Reader()
    found = transcript.lines(path, 0, most)
    start, line = next(found, (_HEAD_BYTES, b""))
    if start:
        reader.begin(read(_records(_head(path, start))))
    for record in _records(chain([line], (line for _, line in found))):
        reader.take(record)
    for call in late:
        reader.catch_up(call)
    return reader.finished()


class _Reader:
    __slots__ = ("_answer", "_results", "_work")

    def __init__(self) -> None:
        self._work = Work()
        self._results = Results()
        self._answer: object = None  # the id of the last one

    def begin(self, begun: Work) -> None:
        """What is known of a beginning that is far from what is read next."""
        self._work.began_at, self._work.task = begun.began_at, begun.task

    def take(self, record: Json) -> None:
        if record.get("isSidechain"):
            return
        at = record.get("timestamp")
        if not self._work.began_at and isinstance(at, str):
            self._work.began_at = at
        if record.get("type") == "assistant":
            self._hear(record)
        elif record.get("isCompactSummary"):
            self._work.points.clear()
        elif record.get("type") == "user":
            self._results.take(record)
            self._ask(record)

    def catch_up(self, call: Json) -> None:
        if self._results.is_answered(call["id"]):
            return
        if not self._results.is_known(call["id"]):
            self._hear({"message": {"content": [{"type": "tool_use", **call}]}, **_ANSWER})
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": ""}
        self._results.take({"message": {"content": [result]}, "toolUseResult": call["answer"]})

    def finished(self) -> Work:
        work, results = self._work, self._results
        work.edits = results.edits.all()
        work.commands = results.shell.commands()
        work.verified = results.shell.verified()
        work.failed = results.shell.failed()
        work.todos = results.todos.all()
        work.failed_tool = results.failed_tool
        return work

    def _ask(self, record: Json) -> None:
        if prompt := asked(record):
            self._work.task = self._work.task or prompt
            self._work.last_prompt = prompt

    def _hear(self, record: Json) -> None:
        self._measure(record)
        if record.get("isApiErrorMessage"):
            return
        for text in transcript.texts(record):
            self._work.said = text.strip()[-_SAID:] or self._work.said
        for block in transcript.tool_uses(record):
            given = block.get("input")
            call = str(block.get("id")), str(block.get("name"))
            self._results.expect(*call, given if isinstance(given, dict) else {})
            self._work.tool_calls += 1
            if block.get("name") not in OF_TODOS:
                self._work.last_action = brief(block)

    def _measure(self, record: Json) -> None:
        tokens = transcript.context_tokens(record)
        if not tokens:
            return
        answer = record["message"].get("id") or record.get("uuid")
        if answer != self._answer:
            self._work.points.append((self._work.tool_calls, tokens))
            del self._work.points[:-_POINTS]
        self._answer = answer


def brief(block: Json) -> str:
    """A tool call in a few words: `Edit: /p/a.py`."""
    given = block.get("input")
    fields = given if isinstance(given, dict) else {}
    told = next((fields[key] for key in _TOLD if isinstance(fields.get(key), str)), "")
    name = str(block.get("name"))[:_BRIEF]
    return f"{name}: {' '.join(told[:_BRIEF].split())}" if told else name


def _head(path: str, end: int) -> list[bytes]:
    """The first lines, those in front of byte `end`."""
    try:
        return read_head(path, min(end, _HEAD_BYTES)).split(b"\n")[:-1]
    except UnreadableError:
        return []


def _records(lines: Iterable[bytes]) -> Iterator[Json]:
    return transcript.records(_telling(lines))


def _telling(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        if _SIDECHAIN in line or not any(mark in line for mark in _SPEAKERS):
            continue
        if _NOTED not in line or any(mark in line for mark in _TELLING):
            yield line
