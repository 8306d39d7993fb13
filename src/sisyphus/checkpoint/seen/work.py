"""What a session has done so far, read from its transcript."""

from __future__ import annotations

from itertools import chain

from sisyphus import transcript as ts
from sisyphus.checkpoint.seen.prompts import asked
from sisyphus.checkpoint.seen.results import Results
from sisyphus.clients import files_of
from sisyphus.clients.base import TODO
from sisyphus.errors import UnreadableError
from sisyphus.reading import read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sisyphus._types import Json
    from sisyphus.checkpoint.seen.edits import Edit
    from sisyphus.checkpoint.seen.shell import Command
    from sisyphus.clients import Files
    from sisyphus.clients.base import ToolCall
    from sisyphus.transcript import Call, Record

_HEAD_BYTES = 4_000_000
"""Of the beginning of a very long transcript: the first prompt is an early line, but it may hold an
image."""

_POINTS = 2_000
_SAID = 20_000


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


def read(records: Iterable[Record]) -> Work:
    """What the main thread's records tell, oldest first. Whatever they hold, it raises nothing."""
    reader = _Reader()
    for record in records:
        reader.take(record)
    return reader.finished()


def read_file(path: str, late: Iterable[ToolCall] = (), most: int = ts.TAIL_BYTES) -> Work:
    """The same of a transcript: of one longer than `most` bytes what its end tells, and `task` and
    `began_at` from its beginning.

    `late`: calls that have just succeeded, of which the transcript may not tell yet.
    """
    reader = _Reader()
    client = files_of(path)
    found = ts.lines(path, 0, most)
    start, line = next(found, (_HEAD_BYTES, b""))
    if start:
        reader.begin(read(_records(_head(path, start), client)))
    for record in _records(chain([line], (line for _, line in found)), client):
        reader.take(record)
    for call in late:
        reader.catch_up(client.call(call.id, call.tool, call.input), call.answer)
    return reader.finished()


class _Reader:
    __slots__ = ("_answer", "_results", "_work")

    def __init__(self) -> None:
        self._work = Work()
        self._results = Results()
        self._answer = ""  # the id of the last one

    def begin(self, begun: Work) -> None:
        """What is known of a beginning that is far from what is read next."""
        self._work.began_at, self._work.task = begun.began_at, begun.task

    def take(self, record: Record) -> None:
        if record.is_subagents:
            return
        self._work.began_at = self._work.began_at or record.at
        if record.role == ts.ASSISTANT:
            self._hear(record)
        elif record.is_compaction:
            self._work.points.clear()
        elif record.role == ts.USER:
            self._results.take(record)
            self._ask(record)

    def catch_up(self, call: Call, answer: Json) -> None:
        if self._results.is_answered(call.id):
            return
        if not self._results.is_known(call.id):
            self._hear(ts.Record(ts.ASSISTANT, [call]))
        self._results.take(ts.Record(ts.USER, [ts.Result(call.id, "", answer, failed=False)]))

    def finished(self) -> Work:
        work, results = self._work, self._results
        work.edits = results.edits.all()
        work.commands = results.shell.commands()
        work.verified = results.shell.verified()
        work.failed = results.shell.failed()
        work.todos = results.todos.all()
        work.failed_tool = results.failed_tool
        return work

    def _ask(self, record: Record) -> None:
        if prompt := asked(record):
            self._work.task = self._work.task or prompt
            self._work.last_prompt = prompt

    def _hear(self, record: Record) -> None:
        self._measure(record)
        if record.is_clients:
            return
        for text in record.texts:
            self._work.said = text.strip()[-_SAID:] or self._work.said
        for call in record.calls:
            self._results.expect(call)
            self._work.tool_calls += 1
            if call.kind != TODO:
                self._work.last_action = call.brief

    def _measure(self, record: Record) -> None:
        if not record.context:
            return
        if record.answer != self._answer:
            self._work.points.append((self._work.tool_calls, record.context))
            del self._work.points[:-_POINTS]
        self._answer = record.answer


def _head(path: str, end: int) -> list[bytes]:
    """The first lines, those in front of byte `end`."""
    try:
        return read_head(path, min(end, _HEAD_BYTES)).split(b"\n")[:-1]
    except UnreadableError:
        return []


def _records(lines: Iterable[bytes], client: Files) -> Iterator[Record]:
    """The messages of the main thread that tell something."""
    said, agents = client.MARKS[ts.MESSAGE], client.MARKS[ts.SUBAGENT]
    for line in lines:
        if any(mark in line for mark in agents) or not any(mark in line for mark in said):
            continue
        record = None if client.is_bulk(line) else client.read_record(line)
        if record and record.role:
            yield record
