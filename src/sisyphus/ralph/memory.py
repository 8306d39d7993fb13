"""What is remembered of a session between two looks at it. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from sisyphus._types import Json

    T = TypeVar("T")

REMEMBERED_STARTS = 1_000


class Memory:
    """What is remembered of a session, tolerant of whatever the file holds.

    `offset`: how far `transcript` was read. `starts`: what started loops, by name, oldest first.
    `blocks`: Stops blocked in a row without a tool call. `tasks`: when a background task first
    excused a Stop, in epoch seconds; 0 = it ran before the loop.
    """

    __slots__ = ("_raw", "blocks", "forked_at", "met_at", "offset", "starts", "tasks", "transcript")

    def __init__(self, raw: Json) -> None:
        self._raw = raw
        self.transcript = _typed(raw.get("transcript"), "")
        self.offset = max(_typed(raw.get("offset"), 0), 0)
        self.blocks = max(_typed(raw.get("blocks"), 0), 0)
        self.forked_at = _typed(raw.get("forked_at"), "")
        self.met_at = _typed(raw.get("met_at"), "")
        starts: list[object] = _typed(raw.get("starts"), [])
        self.starts = [name for name in starts if isinstance(name, str)]
        tasks: dict[str, object] = _typed(raw.get("tasks"), {})
        self.tasks = {
            task: float(since) for task, since in tasks.items() if isinstance(since, (int, float))
        }

    @property
    def is_new(self) -> bool:
        """Whether nothing was remembered of the session so far."""
        return not self._raw

    def offset_in(self, transcript: str) -> int:
        return self.offset if transcript == self.transcript else 0

    def learn(self, starts: set[str]) -> None:
        """Takes over the names that are known now; new ones come last."""
        kept = [name for name in self.starts if name in starts]
        self.starts = kept + sorted(starts.difference(kept, {""}))

    def begin_anew(self, transcript: str, offset: int) -> None:
        """A loop begins now: what was said and what ran before is not its own."""
        self.transcript, self.offset = transcript, offset
        self.blocks = 0
        self.forget_tasks()

    def forget_tasks(self) -> None:
        """What runs now ran before the loop."""
        self.tasks = dict.fromkeys(self.tasks, 0.0)

    def as_json(self) -> Json:
        return {
            **self._raw,
            "transcript": self.transcript,
            "offset": self.offset,
            "starts": self.starts[-REMEMBERED_STARTS:],
            "blocks": self.blocks,
            "tasks": self.tasks,
            "forked_at": self.forked_at,
            "met_at": self.met_at,
        }

    def has_changed(self) -> bool:
        return self.as_json() != self._raw and self.as_json() != Memory({}).as_json()


def _typed(value: object, default: T) -> T:
    return value if type(value) is type(default) else default
