"""A fresh-context run as `ralph-state.json` holds it. Pure; tolerant of whatever a file holds."""

from __future__ import annotations

from typing import Any

from sisyphus.paths import is_safe_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sisyphus._types import Checkpoint, Json

RUNNING, COMPLETED, CHECKPOINTED = "running", "completed", "checkpointed"
FATAL, MAX_ITERATIONS, BREAKER = "fatal_error", "max_iterations", "circuit_breaker"
CANCELLED = "cancelled"

VERSION = 1
MAX_ITERATIONS_DEFAULT = 50
MAX_MINUTES_DEFAULT = 1_440
ITERATION_MINUTES_DEFAULT = 60

KEPT_HISTORY = 1_000
KEPT_ERRORS = 10
KEPT_COSTS = 200

_MOST = 10**12
_TEXTS = ("task_name", "objective", "started_at", "last_diff_hash", "loop_id", "prompt", "reason")
_NUMBERS = ("iteration", "no_change_count", "judged", "tokens", "tries")
_OBJECTS = ("context_checkpoint", "options", "breaker", "signs", "in_flight", "waiting", "last")

NO_CHECKPOINT: Json = {
    "active": False, "level": "", "percent_at_checkpoint": 0, "timestamp": "", "handoff_file": "",
    "resume_summary": "", "files_in_progress": [], "current_todo_item": "", "progress_on_item": "",
}  # fmt: skip
"""What the state file says before there was any."""

_ORDER = (
    "task_name", "objective", "iteration", "started_at", "status", "reason", "no_change_count",
    "last_diff_hash", "error_hashes", "max_iterations", "completion_promise", "todo_items",
    "completed_items", "context_checkpoint", "context_history", "loop_id", "prompt", "options",
    "judged", "tokens", "worked_seconds", "peak", "item_costs", "breaker", "signs", "in_flight",
    "waiting", "tries", "last", "note",
)  # fmt: skip


class Run:
    """One run. `iteration` is the one at work, or the last one; `judged` the last one that came to
    its end. `options`: what the user asked for besides. `in_flight`: the client that
    works on `iteration`, {} = none. `waiting`: for what, and `until` when. `last`: what the
    iteration before left (`action`, `refused`). `note`: an entry of `progress.txt` that may not be
    there yet. `tries`: passing failures in a row.
    `extra`: fields of others.
    """

    __slots__ = (
        "breaker", "completed_items", "completion_promise", "context_checkpoint",
        "context_history", "error_hashes", "extra", "in_flight", "item_costs", "iteration",
        "judged", "last", "last_diff_hash", "loop_id", "max_iterations", "no_change_count", "note",
        "objective", "options", "peak", "prompt", "reason", "signs", "started_at", "status",
        "task_name", "todo_items", "tokens", "tries", "waiting", "worked_seconds",
    )  # fmt: skip

    task_name: str
    objective: str
    started_at: str
    last_diff_hash: str
    loop_id: str
    prompt: str
    reason: str
    iteration: int
    no_change_count: int
    judged: int
    tokens: int
    tries: int
    options: Json
    breaker: Json
    signs: Json
    in_flight: Json
    waiting: Json
    last: Json
    context_checkpoint: Json

    def __init__(self, raw: Json | None = None) -> None:
        raw = raw or {}
        self.extra = dict(raw)
        for name in _TEXTS:
            setattr(self, name, _typed(raw.get(name), ""))
        for name in _NUMBERS:
            setattr(self, name, _count(raw.get(name)))
        for name in _OBJECTS:
            setattr(self, name, dict(_typed(raw.get(name), {})))
        self.loop_id = self.loop_id if is_safe_id(self.loop_id) else ""  # names files
        self.status = _typed(raw.get("status"), RUNNING)
        self.note = _typed(raw.get("note"), "")
        self.peak = _count(raw.get("peak"))
        self.worked_seconds = float(_count(raw.get("worked_seconds")))
        self.max_iterations = _count(raw.get("max_iterations", MAX_ITERATIONS_DEFAULT))
        promise = raw.get("completion_promise")
        self.completion_promise: str | None = promise if isinstance(promise, str) else None
        self.error_hashes = _texts(raw.get("error_hashes"))
        self.todo_items = _texts(raw.get("todo_items"))
        self.completed_items = _texts(raw.get("completed_items"))
        self.context_history: list[Json] = _objects(raw.get("context_history"))
        self.item_costs = _costs(raw.get("item_costs"))

    def number(self, option: str, default: int = 0) -> int:
        """An option that is a whole number, 0 = no limit."""
        value = self.options.get(option, default)
        return value if type(value) is int and value >= 0 else default

    def text(self, option: str) -> str:
        return str(_typed(self.options.get(option), ""))

    @property
    def flags(self) -> list[str]:
        """What the client is started with besides."""
        return _texts(self.options.get("flags"))

    @property
    def of_most(self) -> str:
        return f"of {self.max_iterations:,}" if self.max_iterations else "without a limit"

    @property
    def item(self) -> str:
        """What is being done; "" = nothing in particular."""
        return str(_typed(self.in_flight.get("item"), ""))

    @property
    def began(self) -> float:
        """When the client in flight began, in epoch seconds; 0 = unknown."""
        value = self.in_flight.get("began")
        return float(value) if isinstance(value, (int, float)) and 0 <= value < _MOST else 0.0

    @property
    def open_checkpoint(self) -> Checkpoint | None:
        """The handoff that no client was given yet."""
        found = self.context_checkpoint
        is_open = found.get("active") is True and isinstance(found.get("handoff_file"), str)
        return sound(found) if is_open else None

    def as_json(self) -> Json:
        """Known fields first, in the order in which people look for them."""
        known = {name: getattr(self, name) for name in _ORDER}
        known["context_checkpoint"] = {**NO_CHECKPOINT, **self.context_checkpoint}
        known["worked_seconds"] = round(self.worked_seconds)
        known["context_history"] = self.context_history[-KEPT_HISTORY:]
        known["error_hashes"] = self.error_hashes[-KEPT_ERRORS:]
        costs = self.item_costs[-KEPT_COSTS:]
        known["item_costs"] = [{"complexity": name, "percent": part} for name, part in costs]
        return {**known, **{name: v for name, v in self.extra.items() if name not in known}}


def sound(found: Json) -> Checkpoint:
    """A checkpoint whose every field has its type; what has not is left out."""
    texts = (
        "level", "timestamp", "handoff_file", "resume_summary", "current_todo_item",
        "progress_on_item", "occasion", "session_id", "loop_id", "next_step", "task",
    )  # fmt: skip
    kept: Any = {name: found[name] for name in texts if isinstance(found.get(name), str)}
    for name in ("percent_at_checkpoint", "iteration"):
        if type(found.get(name)) is int:
            kept[name] = found[name]
    files = _objects(found.get("files_in_progress"))
    kept["files_in_progress"] = [
        {name: str(_typed(file.get(name), "")) for name in ("path", "lines", "description")}
        for file in files
    ]
    kept["active"] = found.get("active") is True
    return kept  # type: ignore[no-any-return]


def _typed(value: object, default: Any) -> Any:
    return value if type(value) is type(default) else default


def _count(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) and 0 <= value < _MOST else 0


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _objects(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _costs(value: object) -> list[tuple[str, float]]:
    """(Complexity's name, percent of the context) of the items that were done."""
    pairs = [(row.get("complexity"), row.get("percent")) for row in _objects(value)]
    return [(n, float(p)) for n, p in pairs if isinstance(n, str) and isinstance(p, (int, float))]
