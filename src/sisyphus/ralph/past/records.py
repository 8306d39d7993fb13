"""What the lines of the history say of each loop. Pure; tolerant of whatever a line holds."""

from __future__ import annotations

import os
from copy import copy

from sisyphus.numbers import count
from sisyphus.ralph.loop import PLAN
from sisyphus.ralph.past import history
from sisyphus.ralph.past.history import TEXT_CHARACTERS
from sisyphus.text import sound
from sisyphus.times import is_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sisyphus._types import Json
    from sisyphus.ralph.loop import Loop

ACTIVE, PAUSED, COMPLETED, LOST = "active", "paused", "completed", "lost"
"""`LOST`: it started, its end was never noted, and its state file is gone."""

_STARTED = ("project", "project_name", "state_file_path", "task", "started_at")
_ENDED = ("outcome", "ended_at")
_FIELDS = (
    "loop_id", "session_id", "status", "outcome", "project", "project_name", "task", "started_at",
    "ended_at", "duration_seconds", "iterations", "max_iterations", "completion_promise",
    "error_reason", "state_file_path", "options",
)  # fmt: skip


class Record:
    """One loop, from its lines and its state file. Texts are "" where nothing is known.

    `duration_seconds` and `iterations` are None where they are not known; those of a loop that has
    not ended are None and the current iteration. `outcome` and `error_reason` are those of the end.
    `options`: limits, checks and the plan that it held the session to; {} = not known.
    """

    __slots__ = (
        "completion_promise", "duration_seconds", "ended_at", "error_reason", "iterations",
        "loop_id", "max_iterations", "options", "outcome", "project", "project_name", "session_id",
        "started_at", "state_file_path", "status", "task",
    )  # fmt: skip

    def __init__(self, loop_id: str, session_id: str) -> None:
        self.loop_id = loop_id
        self.session_id = session_id
        self.status = LOST
        self.outcome = ""
        self.project = ""
        self.project_name = ""
        self.task = ""
        self.started_at = ""
        self.ended_at = ""
        self.duration_seconds: int | None = None
        self.iterations: int | None = None
        self.max_iterations = 0
        self.completion_promise: str | None = None
        self.error_reason: str | None = None
        self.state_file_path = ""
        self.options: Json = {}

    @property
    def is_active(self) -> bool:
        """Whether it has not ended; it may be paused."""
        return self.status in (ACTIVE, PAUSED)

    @property
    def result(self) -> str:
        """The outcome of a loop that has ended, else its status."""
        return self.outcome or self.status

    @property
    def moment(self) -> str:
        """What it is sorted by: when it started, as far as that is known."""
        return self.started_at or self.ended_at

    def as_json(self) -> Json:
        return {name: getattr(self, name) for name in _FIELDS}


class Merge:
    """Lines in the order in which they were written -> one record a loop."""

    def __init__(self) -> None:
        self._found: dict[str, list[Record]] = {}  # by loop id; ids of five letters may meet again

    def take(self, line: Json) -> Record | None:
        """The record that the line belongs to; None = to none."""
        loop_id, session = _text(line.get("loop_id")), _text(line.get("session_id"))
        status = line.get("status")
        if not loop_id or status not in (ACTIVE, COMPLETED):
            return None
        began = _text(line.get("started_at")) if status == ACTIVE else ""
        record = self._record(loop_id, session, began)
        record.session_id = session
        if status == ACTIVE:
            _start(record, line)
        else:
            _end(record, line)
        return record

    def fork(self, loop_ids: Collection[str]) -> Merge:
        """One that goes on from here; of what is known here only these loops may change in it."""
        made = Merge()
        copies = {name: [copy(one) for one in self._found.get(name, ())] for name in loop_ids}
        made._found = {**self._found, **{name: found for name, found in copies.items() if found}}
        return made

    def settle(self, living: Iterable[tuple[Loop, str]]) -> list[Record]:
        """The records, newest first. `living`: the loops that have a state file, and its path."""
        for loop, path in living:
            _live(self._record(loop.loop_id, loop.session_id, loop.started_at), loop, path)
        found = [record for records in self._found.values() for record in records]
        found.sort(key=lambda record: (not is_before(record.moment, ""), record.moment))
        found.reverse()
        return found

    def _record(self, loop_id: str, session: str, began: str) -> Record:
        """The loop of these names. `/clear` gives a loop another session: then the time when it
        began tells that it is the same one, at its end that it had not ended."""
        records = self._found.setdefault(loop_id, [])
        for record in records:
            if record.session_id == session or (began and record.started_at == began):
                return record
        for record in records:
            if not began and record.status != COMPLETED:
                return record
        records.append(Record(loop_id, session))
        return records[-1]


def _start(record: Record, line: Json) -> None:
    _reopen(record, LOST)  # its state file may say otherwise
    for name in _STARTED:
        setattr(record, name, _text(line.get(name)))
    promise = line.get("completion_promise")
    record.completion_promise = None if promise is None else _text(promise)
    record.max_iterations = count(line.get("max_iterations")) or 0
    record.options = _options(line.get("options"))


def _end(record: Record, line: Json) -> None:
    for name in _ENDED:
        setattr(record, name, _text(line.get(name)))
    record.status = COMPLETED
    record.duration_seconds = count(line.get("duration_seconds"))
    record.iterations = count(line.get("iterations"))
    record.error_reason = _text(line.get("error_reason")) or None


def _live(record: Record, loop: Loop, path: str) -> None:
    """The state file knows better than the history what the loop is at now."""
    if not record.started_at:
        record.project = _text(loop.project)
        record.project_name = os.path.basename(record.project)
        record.task, record.completion_promise = _text(loop.prompt), loop.completion_promise
        record.started_at, record.max_iterations = loop.started_at, loop.max_iterations
    record.options = _options(history.options(loop))
    _reopen(record, loop.status)
    record.iterations = loop.iteration
    record.session_id = loop.session_id
    record.state_file_path = path


def _reopen(record: Record, status: str) -> None:
    record.status = status
    record.outcome = record.ended_at = ""
    record.duration_seconds = record.iterations = record.error_reason = None


def _options(found: object) -> Json:
    """Those that are known and of the right kind."""
    if not isinstance(found, dict):
        return {}
    kept: Json = {name: True for name in history.CHECKS if found.get(name) is True}
    for name in ("max_minutes", "max_tokens"):
        if (most := count(found.get(name))) is not None:
            kept[name] = most
    texts = {name: _text(found.get(name)) for name in (history.COMMAND, PLAN)}
    return kept | {name: text for name, text in texts.items() if text}


def _text(value: object) -> str:
    return sound(value[:TEXT_CHARACTERS]) if isinstance(value, str) else ""


def by_session(records: Sequence[Record]) -> dict[str, list[Json]]:
    """Of each session what became of its loops, the oldest first. `records`: newest first."""
    found: dict[str, list[Json]] = {}
    for record in reversed(records):
        row = {"loop_id": record.loop_id, "result": record.result}
        found.setdefault(record.session_id, []).append(row)
    return found
