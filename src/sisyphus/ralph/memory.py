"""What is remembered of a session between two looks at it. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard, TypeVar

    from sisyphus._types import Json

    T = TypeVar("T")

REMEMBERED_STARTS = 1_000

_MOMENTS = 1e12  # epoch seconds; what lies beyond is no time


class Memory:
    """What is remembered of a session, tolerant of whatever the file holds.

    `offset`: how far `transcript` was read. `starts`: what started loops, by name, oldest first.
    `blocks`: Stops blocked in a row without a tool call, the last one at `blocked_at` (epoch
    seconds). `tasks`: when a background task first
    excused a Stop, in epoch seconds; 0 = it ran before the loop. `agents`: how far the subagents'
    transcripts were read, by name. `spent`: tokens of the last answers counted, by id.
    `cancelled_at`: what began before it in the transcript was cancelled with the rest. `news`: what
    the user is told at the next Stop. `heard`: the id of the last prompt that a hook heard.
    """

    __slots__ = (
        "_raw", "agents", "blocked_at", "blocks", "cancelled_at", "forked_at", "heard", "met_at",
        "news", "offset", "spent", "starts", "tasks", "transcript",
    )  # fmt: skip

    def __init__(self, raw: Json) -> None:
        self._raw = raw
        self.transcript = _typed(raw.get("transcript"), "")
        self.offset = max(_typed(raw.get("offset"), 0), 0)
        self.blocks = max(_typed(raw.get("blocks"), 0), 0)
        blocked_at = raw.get("blocked_at")
        self.blocked_at = float(blocked_at) if _is_moment(blocked_at) else 0.0
        self.forked_at = _typed(raw.get("forked_at"), "")
        self.met_at = _typed(raw.get("met_at"), "")
        self.cancelled_at = _typed(raw.get("cancelled_at"), "")
        self.heard = _typed(raw.get("heard"), "")
        self.agents = _counts(raw.get("agents"))
        self.spent = _counts(raw.get("spent"))
        news: list[object] = _typed(raw.get("news"), [])
        self.news = [text for text in news if isinstance(text, str)]
        starts: list[object] = _typed(raw.get("starts"), [])
        self.starts = [name for name in starts if isinstance(name, str)]
        self.tasks = moments(raw.get("tasks"))

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

    def begin_anew(self, transcript: str, offset: int, agents: dict[str, int]) -> None:
        """A loop begins now: what was said, what ran and what was spent before is not its own."""
        self.transcript, self.offset, self.agents = transcript, offset, agents
        self.blocks = 0
        self.forget_tasks()

    def note_block(self, blocks: int, now: float) -> None:
        """`blocks`: in a row, the one that is made `now` included."""
        self.blocks, self.blocked_at = blocks, now

    def count(self, spent: dict[str, int], latest: dict[str, int]) -> int:
        """How many of the tokens `spent`, by answer, are new; `latest` of them may still grow."""
        new = sum(max(n - self.spent.get(answer, 0), 0) for answer, n in spent.items())
        if latest:
            self.spent = latest
        return new

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
            "blocked_at": self.blocked_at,
            "tasks": self.tasks,
            "forked_at": self.forked_at,
            "met_at": self.met_at,
            "cancelled_at": self.cancelled_at,
            "agents": self.agents,
            "spent": self.spent,
            "news": self.news,
            "heard": self.heard,
        }

    def has_changed(self) -> bool:
        return self.as_json() != self._raw and self.as_json() != Memory({}).as_json()


def moments(value: object) -> dict[str, float]:
    """Name -> epoch seconds, of whatever a file holds."""
    found: dict[str, object] = _typed(value, {})
    return {name: float(at) for name, at in found.items() if _is_moment(at)}


def _is_moment(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and 0 <= value < _MOMENTS


def _counts(value: object) -> dict[str, int]:
    found: dict[str, object] = _typed(value, {})
    return {name: n for name, n in found.items() if type(n) is int and n >= 0}


def _typed(value: object, default: T) -> T:
    return value if type(value) is type(default) else default
